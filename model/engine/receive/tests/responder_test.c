/* SPDX-License-Identifier: Apache-2.0 */
/* Expected values: InfiniBand Architecture Specification vol. 1, chapter 9. */
#include "model/engine/receive/tests/responder_world.h"
#include "model/interface/macros.h"

enum { ACK = 0, RNR = 1, NAK = 3, FIRST_PSN = 0xfffffe };

static void test_scatter(void **state)
{
	struct receive_piece p[RECEIVE_PIECES];
	uint8_t wqe[4 * WQE_UNIT];

	segment(wqe, 0, 0x1000, 100, 1);
	segment(wqe, 1, 0x9999, 0, 2); /* has length 0: skipped */
	segment(wqe, 2, 0x2000, 50, 3);
	segment(wqe, 3, 0x3000, 10, 4);
	assert_int_equal(receive_scatter(wqe, sizeof(wqe), 90, 70, p), 3);
	assert_int_equal(p[0].va, 0x1000 + 90);
	assert_int_equal(p[0].len, 10);
	assert_int_equal(p[1].va, 0x2000);
	assert_int_equal(p[1].len, 50);
	assert_int_equal(p[1].lkey, 3);
	assert_int_equal(p[2].va, 0x3000);
	assert_int_equal(p[2].len, 10);
	assert_int_equal(receive_scatter(wqe, sizeof(wqe), 100, 1, p), 1);
	assert_int_equal(p[0].va, 0x2000);
	assert_int_equal(receive_scatter(wqe, sizeof(wqe), 0, 161, p), -EMSGSIZE);
	assert_int_equal(receive_scatter(wqe, sizeof(wqe), 161, 1, p), -EMSGSIZE);
	/* a datagram without data needs room for a GRH */
	assert_int_equal(receive_scatter(wqe, sizeof(wqe), 160, 0, p), 0);
	assert_int_equal(receive_scatter(wqe, sizeof(wqe), 161, 0, p), -EMSGSIZE);
	segment(wqe, 2, 0, 0, LKEY_INVALID); /* segments after the terminator are not used */
	assert_int_equal(receive_scatter(wqe, sizeof(wqe), 0, 100, p), 1);
	assert_int_equal(receive_scatter(wqe, sizeof(wqe), 0, 101, p), -EMSGSIZE);
}

static void test_send_wraps_psn(void **state)
{
	receive_make(0, WORLD_DATA, 1024);
	receives_posted(6);
	give(request(BTH_RC_SEND_FIRST, FIRST_PSN, 256, false));
	give(request(BTH_RC_SEND_MIDDLE, FIRST_PSN + 1, 256, false));
	w->delay = true;
	give(request(BTH_RC_SEND_LAST_IMM, 0, 5, true));
	assert_int_equal(w->n_cqes, 1);
	assert_int_equal(w->cqns[0], 0x33);
	assert_int_equal(cqe_get_opcode(&w->cqes[0]), CQE_RECV_SEND_IMM);
	assert_int_equal(cqe_get_byte_cnt(&w->cqes[0]), 517);
	assert_int_equal(cqe_get_my_qpn(&w->cqes[0]), WORLD_QPN);
	assert_int_equal(cqe_get_wqe_index(&w->cqes[0]), 0);
	assert_int_equal(*at(WORLD_DATA + 255), (uint8_t)(FIRST_PSN * 31u + 256));
	assert_int_equal(*at(WORLD_DATA + 256), (uint8_t)((FIRST_PSN + 1) * 31u + 1));
	assert_int_equal(*at(WORLD_DATA + 516), 5);
	assert_int_equal(*at(WORLD_DATA + 517), 0);
	/* 5 receives are left: the code of the largest table value not above 5 is that of 4 */
	assert_response(w->n_sent - 1, BTH_RC_ACKNOWLEDGE, 0, ACK, 4);
	assert_int_equal(aeth_get_msn(sent_aeth(w->n_sent - 1)), 1);
	assert_int_equal(qpc_get_next_rcv_psn(&w->qpc), 1);
	assert_int_equal(qpc_get_rq_wqe_counter(&w->qpc), 1);
}

static void test_psn_regions(void **state)
{
	/* one packet ahead: one NAK that names the expected PSN, then silence */
	give(with_reth(request(BTH_RC_WRITE_ONLY, FIRST_PSN + 1, 8, true), WORLD_DATA, KEY_GOOD,
		       8));
	give(with_reth(request(BTH_RC_WRITE_ONLY, FIRST_PSN + 2, 8, true), WORLD_DATA, KEY_GOOD,
		       8));
	give(request(BTH_RC_SEND_ONLY, FIRST_PSN + 0x7fffff, 8, true));
	assert_int_equal(w->n_sent, 1);
	assert_response(0, BTH_RC_ACKNOWLEDGE, FIRST_PSN, NAK, 0);
	/* 2^23 PSNs away: a duplicate, acknowledged with the newest completed PSN */
	give(request(BTH_RC_SEND_ONLY, FIRST_PSN + 0x800000, 8, true));
	assert_int_equal(w->n_sent, 2);
	assert_response(1, BTH_RC_ACKNOWLEDGE, FIRST_PSN - 1, ACK, 0);
	/* the expected packet ends the silence */
	give(with_reth(request(BTH_RC_WRITE_ONLY, FIRST_PSN, 8, true), WORLD_DATA, KEY_GOOD, 8));
	give(with_reth(request(BTH_RC_WRITE_ONLY, FIRST_PSN + 2, 8, true), WORLD_DATA, KEY_GOOD,
		       8));
	assert_int_equal(w->n_sent, 4);
	assert_response(2, BTH_RC_ACKNOWLEDGE, FIRST_PSN, ACK, 0);
	assert_response(3, BTH_RC_ACKNOWLEDGE, FIRST_PSN + 1, NAK, 0);
	assert_int_equal(w->n_cqes, 0);
	assert_int_equal(w->errors, 0);
}

static void test_duplicate_write_touches_nothing(void **state)
{
	give(with_reth(request(BTH_RC_WRITE_ONLY, FIRST_PSN, 8, true), WORLD_DATA, KEY_GOOD, 8));
	memset(at(WORLD_DATA), 0x5a, 8);
	give(with_reth(request(BTH_RC_WRITE_ONLY, FIRST_PSN, 8, true), WORLD_DATA, KEY_GOOD, 8));
	assert_int_equal(*at(WORLD_DATA), 0x5a);
	assert_response(1, BTH_RC_ACKNOWLEDGE, FIRST_PSN, ACK, 0);
	assert_int_equal(qpc_get_msn(&w->qpc), 1);
}

static struct packet *before_request(uint8_t opcode, uint32_t psn)
{
	struct packet *pkt = request(opcode, psn, WORLD_MTU, false);

	return opcode == BTH_RC_WRITE_FIRST ? with_reth(pkt, WORLD_DATA, KEY_GOOD, 4 * WORLD_MTU)
					    : pkt;
}

/* Valid opcode sequences: whether packet `then` is right in a message whose last packet was
 * `before`. */
static void test_opcode_sequence(void **state)
{
	static const struct {
		int before; /* -1: no message */
		uint8_t then;
		bool right;
	} rows[] = {
		{-1, BTH_RC_SEND_MIDDLE, false},
		{-1, BTH_RC_WRITE_LAST, false},
		{-1, BTH_RC_SEND_ONLY, true},
		{BTH_RC_SEND_FIRST, BTH_RC_SEND_MIDDLE, true},
		{BTH_RC_SEND_FIRST, BTH_RC_SEND_LAST, true},
		{BTH_RC_SEND_FIRST, BTH_RC_WRITE_MIDDLE, false},
		{BTH_RC_SEND_FIRST, BTH_RC_SEND_FIRST, false},
		{BTH_RC_SEND_FIRST, BTH_RC_SEND_ONLY, false},
		{BTH_RC_SEND_FIRST, BTH_RC_READ_REQUEST, false},
		{BTH_RC_SEND_FIRST, BTH_RC_FETCH_ADD, false},
		{BTH_RC_WRITE_FIRST, BTH_RC_WRITE_MIDDLE, true},
		{BTH_RC_WRITE_FIRST, BTH_RC_SEND_MIDDLE, false},
		{BTH_RC_WRITE_FIRST, BTH_RC_SEND_LAST, false},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		unsigned len = bth_op_is(bth_op_find(rows[i].then), BTH_END) ? 7 : WORLD_MTU;
		uint32_t psn = FIRST_PSN;

		world_teardown(state);
		world_setup(state);
		receive_make(0, WORLD_DATA, 4096);
		receives_posted(1);
		if (rows[i].before >= 0)
			give(before_request((uint8_t)rows[i].before, psn++));
		if (rows[i].then == BTH_RC_READ_REQUEST || rows[i].then == BTH_RC_FETCH_ADD)
			len = 0;
		give(request(rows[i].then, psn, len, true));
		assert_int_equal(w->errors, !rows[i].right);
		if (!rows[i].right) {
			assert_response(w->n_sent - 1, BTH_RC_ACKNOWLEDGE, psn, NAK, 1);
			assert_int_equal(w->events[0], EVENT_WQ_INVAL_REQ_ERROR);
		}
	}
}

static void test_rnr(void **state)
{
	receive_make(0, WORLD_DATA, 64);
	give(request(BTH_RC_SEND_ONLY, FIRST_PSN, 64, true));
	give(request(BTH_RC_SEND_ONLY, FIRST_PSN + 1, 64, true));
	assert_int_equal(w->n_sent, 1);
	assert_response(0, BTH_RC_ACKNOWLEDGE, FIRST_PSN, RNR, 12);
	/* a plain WRITE needs no receive, but must come in order */
	receives_posted(1);
	give(request(BTH_RC_SEND_ONLY, FIRST_PSN, 64, true));
	assert_int_equal(w->n_cqes, 1);
	assert_response(1, BTH_RC_ACKNOWLEDGE, FIRST_PSN, ACK, 0);
	/* empty again, although the record was read before */
	give(request(BTH_RC_SEND_ONLY, FIRST_PSN + 1, 64, true));
	assert_response(2, BTH_RC_ACKNOWLEDGE, FIRST_PSN + 1, RNR, 12);
	receive_make(1, WORLD_DATA, 64);
	receives_posted(2);
	give(request(BTH_RC_SEND_ONLY, FIRST_PSN + 1, 64, true));
	assert_int_equal(w->n_cqes, 2);
	assert_int_equal(cqe_get_wqe_index(&w->cqes[1]), 1);
}

static void test_send_too_long(void **state)
{
	receive_make(0, WORLD_DATA, 300);
	receive_make(1, WORLD_DATA, 300);
	receives_posted(2);
	give(request(BTH_RC_SEND_FIRST, FIRST_PSN, 256, false));
	give(request(BTH_RC_SEND_LAST, FIRST_PSN + 1, 45, true));
	assert_response(w->n_sent - 1, BTH_RC_ACKNOWLEDGE, FIRST_PSN + 1, NAK, 1);
	assert_int_equal(w->errors, 1);
	assert_int_equal(*at(WORLD_DATA + 256), 0);
	assert_int_equal(w->n_cqes, 2);
	assert_int_equal(cqe_err_get_syndrome(cqe_as_err(&w->cqes[0])), CQE_SYND_LOC_LEN_ERR);
	assert_int_equal(cqe_err_get_syndrome(cqe_as_err(&w->cqes[1])), CQE_SYND_WR_FLUSH_ERR);
	assert_int_equal(cqe_err_get_wqe_index(cqe_as_err(&w->cqes[1])), 1);
}

static void test_receive_key_refused(void **state)
{
	receive_make(0, WORLD_DATA, 300);
	segment(at(WORLD_QUEUE), 0, WORLD_DATA, 300, KEY_BAD);
	receives_posted(1);
	give(request(BTH_RC_SEND_ONLY, FIRST_PSN, 16, true));
	assert_response(0, BTH_RC_ACKNOWLEDGE, FIRST_PSN, NAK, 3);
	assert_int_equal(cqe_err_get_syndrome(cqe_as_err(&w->cqes[0])), CQE_SYND_LOC_PROT_ERR);
	assert_int_equal(w->errors, 1);
}

static void test_ack_coalescing(void **state)
{
	uint32_t psn = FIRST_PSN;

	for (unsigned i = 0; i < 4; i++)
		responder_request(&w->qp, with_reth(request(BTH_RC_WRITE_ONLY, psn++, 8, false),
						    WORLD_DATA, KEY_GOOD, 8));
	/* the fourth packet reaches the coalescing count */
	assert_int_equal(w->n_sent, 1);
	assert_response(0, BTH_RC_ACKNOWLEDGE, FIRST_PSN + 3, ACK, 0);
	for (unsigned i = 0; i < 2; i++)
		responder_request(&w->qp, with_reth(request(BTH_RC_WRITE_ONLY, psn++, 8, false),
						    WORLD_DATA, KEY_GOOD, 8));
	assert_int_equal(w->n_sent, 1);
	assert_false(responder_half.is_idle(&w->qp));
	run();
	/* no packet asks for an ACK, but the last ones are acknowledged after a while, once */
	assert_int_equal(w->n_sent, 2);
	assert_response(1, BTH_RC_ACKNOWLEDGE, FIRST_PSN + 5, ACK, 0);
	assert_int_equal(aeth_get_msn(sent_aeth(1)), 6);
	assert_true(responder_half.is_idle(&w->qp));
}

static void test_write_checks_all_first(void **state)
{
	/* the first packet is inside the region, the whole message is not */
	uint64_t va = WORLD_BASE + WORLD_BYTES - 300;

	give(with_reth(request(BTH_RC_WRITE_FIRST, FIRST_PSN, 256, false), va, KEY_GOOD, 301));
	assert_int_equal(*at(va), 0);
	assert_response(0, BTH_RC_ACKNOWLEDGE, FIRST_PSN, NAK, 2);
	assert_int_equal(w->events[0], EVENT_WQ_ACCESS_ERROR);
}

static void test_write_lengths(void **state)
{
	give(with_reth(request(BTH_RC_WRITE_FIRST, FIRST_PSN, 256, false), WORLD_DATA, KEY_GOOD,
		       300));
	give(request(BTH_RC_WRITE_LAST, FIRST_PSN + 1, 43, true));
	assert_response(w->n_sent - 1, BTH_RC_ACKNOWLEDGE, FIRST_PSN + 1, NAK, 1);
	assert_int_equal(*at(WORLD_DATA + 256), 0);
}

static void test_zero_length_write(void **state)
{
	give(with_reth(request(BTH_RC_WRITE_ONLY, FIRST_PSN, 0, true), 0, KEY_BAD, 0));
	assert_response(0, BTH_RC_ACKNOWLEDGE, FIRST_PSN, ACK, 0);
	assert_int_equal(w->errors, 0);
}

static void test_write_imm(void **state)
{
	struct packet *pkt = with_reth(request(BTH_RC_WRITE_ONLY_IMM, FIRST_PSN, 8, true),
				       WORLD_DATA, KEY_GOOD, 8);

	receives_posted(1);
	bth_set_solicited((struct bth *)(pkt->wire + pkt->bth_off), 1);
	be32_store(pkt->wire + pkt->bth_off + pkt->op->at[BTH_EXT_IMMDT], 0x01020304);
	give(pkt);
	assert_int_equal(w->n_cqes, 1);
	assert_true(w->solicited[0]);
	assert_int_equal(cqe_get_opcode(&w->cqes[0]), CQE_RECV_WRITE_IMM);
	assert_int_equal(cqe_get_imm(&w->cqes[0]), 0x01020304);
	assert_int_equal(cqe_get_byte_cnt(&w->cqes[0]), 8);
}

static void test_states(void **state)
{
	static const struct {
		uint8_t qp_state;
		bool answers;
	} rows[] = {{QP_STATE_RST, false}, {QP_STATE_INIT, false}, {QP_STATE_RTR, true},
		    {QP_STATE_RTS, true},  {QP_STATE_SQER, true},  {QP_STATE_SQD, true},
		    {QP_STATE_ERR, false}};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		world_teardown(state);
		world_setup(state);
		qpc_set_state(&w->qpc, rows[i].qp_state);
		give(with_reth(request(BTH_RC_WRITE_ONLY, FIRST_PSN, 0, true), 0, 0, 0));
		assert_int_equal(w->n_sent, rows[i].answers);
	}
}

static void test_flush(void **state)
{
	receives_posted(3);
	qpc_set_state(&w->qpc, QP_STATE_ERR);
	responder_half.flush(&w->qp, QP_STATE_ERR);
	while (w->n_cqes < 3)
		event_core_step(&w->core);
	/* posted in ERR, which rings no doorbell: also flushed */
	receives_posted(4);
	run();
	assert_int_equal(w->n_cqes, 4);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(cqe_err_get_syndrome(cqe_as_err(&w->cqes[i])),
				 CQE_SYND_WR_FLUSH_ERR);
		assert_int_equal(cqe_err_get_wqe_index(cqe_as_err(&w->cqes[i])), i);
	}
	/* then nothing more is polled until software has run */
	assert_int_equal(w->core.count, 0);
	assert_false(responder_half.is_idle(&w->qp));
}

static void software_job(struct event *ev)
{
	(void)ev;
}

/* Lets software run once, one second later. */
static void software_runs(void)
{
	static struct event software;

	software = (struct event){.job = software_job, .foreign = true};
	event_set(&w->core, &software, w->core.now_ps + UINT64_C(1000000000000));
	run();
}

static void test_flush_late(void **state)
{
	uint64_t reads;

	qpc_set_state(&w->qpc, QP_STATE_ERR);
	qpc_set_cqn_recv(&w->qpc, 5);
	responder_half.flush(&w->qp, QP_STATE_ERR);
	run();
	reads = w->core.executed;
	receives_posted(1);
	assert_int_equal(w->n_cqes, 0); /* the record has not been polled yet */
	for (unsigned posted = 1; posted < 4; posted++) {
		receives_posted(posted);
		software_runs();
		assert_int_equal(w->n_cqes, posted);
	}
	assert_true(w->core.executed > reads);
	/* software has run without posting: one poll and no more */
	reads = w->core.executed;
	software_runs();
	assert_true(w->core.executed - reads < 10);
	assert_int_equal(w->n_cqes, 3);

	receives_posted(4);
	responder_cq_armed(&w->hca, 6);
	run();
	assert_int_equal(w->n_cqes, 3);
	responder_cq_armed(&w->hca, 5);
	run();
	assert_int_equal(w->n_cqes, 4);
	responder_half.drop(&w->qp);
	assert_null(w->hca.responder->flushed);
	assert_null(w->core.asleep);
}

static void test_overposted(void **state)
{
	receive_make(0, WORLD_DATA, 8);
	receives_posted(17);
	give(request(BTH_RC_SEND_ONLY, FIRST_PSN, 8, true));
	assert_int_equal(w->guest_errors, 1);
	assert_int_equal(w->n_cqes, 1);
}

static struct packet *datagram(bool grh, uint32_t qkey, unsigned len)
{
	struct packet *pkt = packet_alloc(&w->hca);
	struct deth *deth;

	lay_out(pkt, BTH_UD_SEND_ONLY, 5, len, grh);
	deth = (void *)(pkt->wire + pkt->bth_off + pkt->op->at[BTH_EXT_DETH]);
	deth_set_qkey(deth, qkey);
	deth_set_sqpn(deth, 0x55);
	lrh_set_slid((struct lrh *)pkt->wire, 17);
	lrh_set_sl((struct lrh *)pkt->wire, 3);
	bth_set_pkey((struct bth *)(pkt->wire + pkt->bth_off), 0x0123);
	if (grh)
		memset(pkt->wire + pkt->l3_off, 0xab, UD_GRH_AREA);
	memset(packet_payload(pkt), 0xcd, len);
	return pkt;
}

static void test_datagram(void **state)
{
	qpc_set_service(&w->qpc, QP_ST_UD);
	qpc_set_qkey(&w->qpc, 0x1234);
	qp_path_set_pkey_index(qpc_primary(&w->qpc), 3);
	for (unsigned i = 0; i < 3; i++)
		receive_make(i, WORLD_DATA + i * 1024u, 100);
	give(datagram(false, 0x1234, 60)); /* no receive is posted: dropped without an answer */
	receives_posted(3);
	give(datagram(false, 0x1235, 60)); /* wrong Q_Key: dropped */
	assert_int_equal(w->port.bad_qkey, 1);
	assert_int_equal(w->port.note.number, 258);
	assert_int_equal(w->ports_changed, 1 << 1);
	give(datagram(false, 0x1234, 61)); /* longer than the receive: dropped */
	assert_int_equal(w->n_cqes, 0);
	give(datagram(false, 0x1234, 60));
	give(datagram(true, 0x1234, 60));
	assert_int_equal(w->n_cqes, 2);
	assert_int_equal(w->n_sent, 0);
	for (unsigned i = 0; i < 2; i++) {
		const struct cqe *cqe = &w->cqes[i];

		assert_int_equal(cqe_get_opcode(cqe), CQE_RECV_SEND);
		assert_int_equal(cqe_get_byte_cnt(cqe), 100);
		assert_int_equal(cqe_get_rqpn(cqe), 0x55);
		assert_int_equal(cqe_get_slid(cqe), 17);
		assert_int_equal(cqe_get_sl(cqe), 3);
		assert_int_equal(cqe_get_pkey_index(cqe), 3);
		assert_int_equal(cqe_get_grh(cqe), i);
		assert_int_equal(cqe_get_wqe_index(cqe), i);
		assert_int_equal(*at(WORLD_DATA + i * 1024u), i ? 0xab : 0);
		assert_int_equal(*at(WORLD_DATA + i * 1024u + 39), i ? 0xab : 0);
		assert_int_equal(*at(WORLD_DATA + i * 1024u + 40), 0xcd);
		assert_int_equal(*at(WORLD_DATA + i * 1024u + 99), 0xcd);
	}
}

static void test_uc_drops_the_message(void **state)
{
	qpc_set_service(&w->qpc, QP_ST_UC);
	receive_make(0, WORLD_DATA, 1024);
	receives_posted(1);
	give(request(BTH_UC_SEND_FIRST, FIRST_PSN, 256, false));
	give(request(BTH_UC_SEND_LAST, FIRST_PSN + 2, 8, false)); /* the middle packet is lost */
	assert_int_equal(w->n_cqes, 0);
	give(request(BTH_UC_SEND_ONLY, FIRST_PSN + 3, 8, true)); /* uses the same receive */
	assert_int_equal(w->n_cqes, 1);
	assert_int_equal(cqe_get_wqe_index(&w->cqes[0]), 0);
	assert_int_equal(cqe_get_byte_cnt(&w->cqes[0]), 8);
	assert_int_equal(w->n_sent, 0);
	assert_int_equal(w->errors, 0);
}

static void test_pkey(void **state)
{
	static const struct {
		uint16_t own, theirs;
		bool meet;
	} rows[] = {
		{0xffff, 0xffff, true},  {0x7fff, 0xffff, true},  {0xffff, 0x7fff, true},
		{0x7fff, 0x7fff, false}, {0x8001, 0x8002, false}, {0x8000, 0x8000, false},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		struct packet *pkt;

		world_teardown(state);
		world_setup(state);
		w->port.pkeys[5] = rows[i].own;
		qp_path_set_pkey_index(qpc_primary(&w->qpc), 5);
		pkt = with_reth(request(BTH_RC_WRITE_ONLY, FIRST_PSN, 0, true), 0, 0, 0);
		bth_set_pkey((struct bth *)(pkt->wire + pkt->bth_off), rows[i].theirs);
		give(pkt);
		assert_int_equal(w->n_sent, rows[i].meet);
		assert_int_equal(w->port.bad_pkey, !rows[i].meet);
	}
}

#define T(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_scatter),
		T(test_send_wraps_psn),
		T(test_psn_regions),
		T(test_duplicate_write_touches_nothing),
		T(test_opcode_sequence),
		T(test_rnr),
		T(test_send_too_long),
		T(test_receive_key_refused),
		T(test_ack_coalescing),
		T(test_write_checks_all_first),
		T(test_write_lengths),
		T(test_zero_length_write),
		T(test_write_imm),
		T(test_states),
		T(test_flush),
		T(test_flush_late),
		T(test_overposted),
		T(test_datagram),
		T(test_uc_drops_the_message),
		T(test_pkey),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
