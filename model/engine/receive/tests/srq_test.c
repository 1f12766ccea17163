/* SPDX-License-Identifier: Apache-2.0 */
/* Expected values: mlx4 SRQ and doorbell record formats; IBA 9.7.5 (credits), annex A14. */
#include "model/engine/receive/tests/responder_world.h"
#include "model/interface/macros.h"

enum { ACK = 0, RNR = 1, NAK = 3, FIRST_PSN = 0xfffffe };

static int srq_setup(void **state)
{
	world_setup(state);
	qpc_set_srq(&w->qpc, 1);
	qpc_set_srqn(&w->qpc, WORLD_SRQN);
	qpc_set_ric(&w->qpc, 1);
	qpc_set_db_rec_addr(&w->qpc, 0);
	srqc_set_log_size(&w->srqc, 3);
	srqc_set_srqn(&w->srqc, WORLD_SRQN);
	srqc_set_log_stride(&w->srqc, 2);
	srqc_set_db_rec_addr(&w->srqc, WORLD_RECORD);
	srqc_set_cqn(&w->srqc, 0x44);
	srqc_set_xrcd(&w->srqc, 6);
	return 0;
}

static void slot_make(unsigned slot, unsigned next, uint64_t addr)
{
	uint8_t *wqe = at(WORLD_QUEUE + (uint64_t)slot * WORLD_STRIDE);

	srq_next_set_next_wqe_index((struct srq_next *)(void *)wqe, next);
	segment(wqe, 1, addr, 64, KEY_GOOD);
	segment(wqe, 2, 0, 0, LKEY_INVALID);
}

static void send_one(uint32_t psn)
{
	give(request(BTH_RC_SEND_ONLY, psn, 8, true));
}

static void test_links(void **state)
{
	slot_make(0, 5, WORLD_DATA);
	slot_make(5, 2, WORLD_DATA + 64);
	slot_make(2, 1, WORLD_DATA + 128);
	receives_posted(2);
	for (unsigned i = 0; i < 3; i++)
		send_one(FIRST_PSN + i);
	assert_int_equal(w->n_cqes, 2);
	assert_int_equal(cqe_get_wqe_index(&w->cqes[0]), 0);
	assert_int_equal(cqe_get_wqe_index(&w->cqes[1]), 5);
	/* with an SRQ no credits are counted */
	assert_response(0, BTH_RC_ACKNOWLEDGE, FIRST_PSN, ACK, 31);
	assert_response(2, BTH_RC_ACKNOWLEDGE, FIRST_PSN + 2, RNR, 12);
	receives_posted(3);
	send_one(FIRST_PSN + 2);
	assert_int_equal(cqe_get_wqe_index(&w->cqes[2]), 2);
	assert_int_equal(srqc_get_wqe_counter(&w->srqc), 3);
	assert_int_equal(srqc_get_next_wqe(&w->srqc), 1);
	assert_int_equal(*at(WORLD_DATA + 128), (uint8_t)((FIRST_PSN + 2) * 31u + 1));
}

static void test_limit(void **state)
{
	for (unsigned i = 0; i < 8; i++)
		slot_make(i, i + 1, WORLD_DATA);
	srqc_set_limit(&w->srqc, 3);
	receives_posted(4);
	send_one(FIRST_PSN);
	assert_int_equal(w->n_events, 0);
	/* two of the known receives are left, but more have been posted since */
	receives_posted(7);
	send_one(FIRST_PSN + 1);
	assert_int_equal(w->n_events, 0);
	send_one(FIRST_PSN + 2);
	send_one(FIRST_PSN + 3);
	assert_int_equal(w->n_events, 0);
	send_one(FIRST_PSN + 4);
	send_one(FIRST_PSN + 5);
	assert_int_equal(w->n_events, 1);
	assert_int_equal(w->events[0], EVENT_SRQ_LIMIT);
	assert_int_equal(srqc_get_limit(&w->srqc), 0);
}

static void test_limit_armed_late(void **state)
{
	receives_posted(2);
	srqc_set_limit(&w->srqc, 3);
	srq_limit_changed(&w->hca, WORLD_SRQN);
	srq_limit_changed(&w->hca, WORLD_SRQN);
	run();
	assert_int_equal(w->n_events, 1);
}

static void test_last_wqe(void **state)
{
	slot_make(0, 1, WORLD_DATA);
	receives_posted(1);
	give(request(BTH_RC_SEND_FIRST, FIRST_PSN, WORLD_MTU, false));
	assert_int_equal(w->errors, 1); /* the receive has 64 bytes of room */
	assert_int_equal(cqe_err_get_syndrome(cqe_as_err(&w->cqes[0])), CQE_SYND_LOC_LEN_ERR);
	assert_int_equal(w->events[w->n_events - 1], EVENT_SRQ_QP_LAST_WQE);
	responder_half.flush(&w->qp, QP_STATE_ERR);
	assert_int_equal(w->n_events, 1); /* not posted a second time */
}

static struct packet *xrc_send(uint32_t psn, uint32_t srqn)
{
	struct packet *pkt = request(BTH_XRC_SEND_ONLY, psn, 8, true);

	xrceth_set_srqn((void *)(pkt->wire + pkt->bth_off + pkt->op->at[BTH_EXT_XRCETH]), srqn);
	return pkt;
}

static void become_xrc_target(void)
{
	w->qp.qpn = WORLD_QPN | QPN_XRC_TARGET;
	qpc_set_local_qpn(&w->qpc, w->qp.qpn);
	qpc_set_service(&w->qpc, QP_ST_XRC);
	qpc_set_srq(&w->qpc, 0);
	qpc_set_xrcd(&w->qpc, 6);
}

static void test_xrc(void **state)
{
	become_xrc_target();
	slot_make(0, 1, WORLD_DATA);
	receives_posted(1);
	give(xrc_send(FIRST_PSN, WORLD_SRQN));
	assert_int_equal(w->n_cqes, 1);
	assert_int_equal(w->cqns[0], 0x44);
	assert_int_equal(cqe_get_rqpn(&w->cqes[0]), WORLD_SRQN);
	assert_int_equal(cqe_get_my_qpn(&w->cqes[0]), WORLD_QPN | QPN_XRC_TARGET);
	assert_response(0, BTH_XRC_ACKNOWLEDGE, FIRST_PSN, ACK, 31);
	give(xrc_send(FIRST_PSN + 1, WORLD_SRQN + 1));
	assert_response(1, BTH_XRC_ACKNOWLEDGE, FIRST_PSN + 1, NAK, 1);
}

static void test_xrc_domain(void **state)
{
	become_xrc_target();
	qpc_set_xrcd(&w->qpc, 7);
	receives_posted(1);
	give(xrc_send(FIRST_PSN, WORLD_SRQN));
	assert_int_equal(w->n_cqes, 0);
	assert_response(0, BTH_XRC_ACKNOWLEDGE, FIRST_PSN, NAK, 1);
}

/* The ACK's credit code is that of the largest table value not above the number of free
 * receives. */
static void test_credits(void **state)
{
	static const struct {
		uint16_t posted;
		uint8_t code;
	} rows[] = {{1, 0}, {2, 1}, {5, 4}, {6, 4}, {7, 5}, {13, 7}, {16, 7}};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		world_teardown(state);
		world_setup(state);
		receive_make(0, WORLD_DATA, 64);
		receives_posted(rows[i].posted);
		send_one(FIRST_PSN);
		assert_response(0, BTH_RC_ACKNOWLEDGE, FIRST_PSN, ACK, rows[i].code);
	}
}

/* The free-running 16-bit count wraps. */
static void test_record_wraps(void **state)
{
	qpc_set_rq_wqe_counter(&w->qpc, 0xffff);
	qpc_set_rx_rq_posted(&w->qpc, 0xffff);
	receive_make(15, WORLD_DATA, 64);
	receive_make(0, WORLD_DATA, 64);
	receives_posted(1);
	send_one(FIRST_PSN);
	send_one(FIRST_PSN + 1);
	assert_int_equal(w->n_cqes, 2);
	assert_int_equal(cqe_get_wqe_index(&w->cqes[0]), 0xffff);
	assert_int_equal(cqe_get_wqe_index(&w->cqes[1]), 0);
	assert_int_equal(w->guest_errors, 0);
}

#define T(name)  cmocka_unit_test_setup_teardown(name, srq_setup, world_teardown)
#define TQ(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_links), T(test_limit),      T(test_limit_armed_late), T(test_last_wqe),
		T(test_xrc),   T(test_xrc_domain), TQ(test_credits),         TQ(test_record_wraps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
