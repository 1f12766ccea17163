/* SPDX-License-Identifier: Apache-2.0 */
/* Doorbells, BlueFlame, turns of a QP, and firmware stopping it. */
#include "model/engine/send/tests/requester_rig.h"

static int rc(void **state)
{
	rig_create(QP_ST_RC);
	return 0;
}

static int end(void **state)
{
	rig_destroy();
	return 0;
}

static const struct rig_wqe send64 = {.opcode = WQE_SEND, .sge = {{64, 0, RIG_DATA}}, .n_sge = 1};

/* Executes a WQE from the BlueFlame buffer. Memory is not read, not even to find the next WQE. */
static void blueflame(void **state)
{
	const struct rig_wqe w = {
		.opcode = WQE_SEND, .sge = {{16, 0, 0, "0123456789abcdef"}}, .n_sge = 1};
	uint8_t bytes[RIG_STRIDE];

	memcpy(bytes, rig_write_wqe(&w), sizeof(bytes));
	scheduler_blueflame(&rig->hca, RIG_QPN, 0, bytes, 64, RIG_UAR);
	rig_run_us(20);
	assert_int_equal(rig->n_sent, 1);
	assert_int_equal(rig->n_reads, 0);
	assert_memory_equal(rig->sent[0].payload, "0123456789abcdef", 16);
	rig_ack(0xfffffe);
	assert_int_equal(rig->n_errors, 0);
	/* an index ahead of the queue: the WQE is read from memory */
	memcpy(bytes, rig_write_wqe(&w), sizeof(bytes));
	scheduler_blueflame(&rig->hca, RIG_QPN, 7, bytes, 64, RIG_UAR);
	rig_run_us(20);
	assert_string_equal(rig->rule, "blueflame_mismatch");
	assert_int_equal(rig->n_sent, 2);
	assert_true(rig->n_reads > 0);
	rig_ack(0xffffff);
	assert_int_equal(rig->n_cqes, 2);
}

static void blueflame_in_a_row(unsigned n)
{
	const struct rig_wqe w = {
		.opcode = WQE_SEND, .sge = {{16, 0, 0, "0123456789abcdef"}}, .n_sge = 1};
	uint8_t bytes[RIG_STRIDE];

	for (unsigned i = 0; i < n; i++) {
		const uint16_t index = rig->posted;

		memcpy(bytes, rig_write_wqe(&w), sizeof(bytes));
		scheduler_blueflame(&rig->hca, RIG_QPN, index, bytes, 64, RIG_UAR);
	}
	rig_run_us(20);
}

/* BlueFlame WQEs beyond those that the device can hold are read from memory. A WQE that has been
 * started makes room again. */
static void blueflame_beyond_what_is_held(void **state)
{
	struct qp *qp = qp_make(&rig->hca, RIG_QPN);
	unsigned reads;

	wqe_fetch_destroy(rig->hca.wqe_fetch);
	rig->params.wqe_fetch_entries = 3;
	rig->hca.wqe_fetch = wqe_fetch_create(&rig->hca);
	for (unsigned i = 0; i < 3; i++)
		assert_true(wqe_fetch_announce(qp));
	assert_false(wqe_fetch_announce(qp));
	wqe_fetch_begun(qp, 4);
	blueflame_in_a_row(3);
	assert_int_equal(rig->n_sent, 3);
	assert_int_equal(rig->n_reads, 0);
	blueflame_in_a_row(4);
	assert_int_equal(rig->n_sent, 7);
	assert_true(rig->n_reads > 0);
	reads = rig->n_reads;
	rig_ack(psn_add(0xfffffe, 6));
	blueflame_in_a_row(3);
	assert_int_equal(rig->n_sent, 10);
	assert_int_equal(rig->n_reads, reads);
	assert_int_equal(rig->n_errors, 0);
}

static void doorbells(void **state)
{
	scheduler_doorbell(&rig->hca, RIG_QPN + 1, RIG_UAR);
	assert_int_equal(rig->n_errors, 1);
	assert_string_equal(rig->rule, "doorbell_dead_qp");
	rig_write_wqe(&send64);
	scheduler_doorbell(&rig->hca, RIG_QPN, RIG_UAR + 1);
	rig_run_us(20);
	assert_string_equal(rig->rule, "doorbell_wrong_uar");
	assert_int_equal(rig->n_sent, 0);
	qpc_set_state(&rig->qpc, QP_STATE_RTR);
	scheduler_doorbell(&rig->hca, RIG_QPN, RIG_UAR);
	rig_run_us(20);
	assert_int_equal(rig->n_errors, 3);
	assert_string_equal(rig->rule, "doorbell_dead_qp");
	assert_int_equal(qp_table_active(&rig->hca), 0);
}

static void rested(void *arg, int status)
{
	assert_int_equal(status, 0);
	rig->rested = true;
}

/* Firmware quiesces a QP with packets under way, changes its context and resumes it. Later it moves
 * the QP to ERR. */
static void quiesce(void **state)
{
	const struct rig_wqe w = {
		.opcode = WQE_RDMA_WRITE, .sge = {{40 * RIG_MTU, 0, RIG_DATA}}, .n_sge = 1};
	unsigned sent;

	rig_post(&w);
	event_core_run_until(&rig->core, 700000);
	qp_quiesce(&rig->hca, RIG_QPN, rested, NULL);
	rig_run_us(20);
	assert_true(rig->rested);
	sent = rig->n_sent;
	assert_in_range(sent, 1, 39);
	rig_ack(0xfffffe); /* not for a packet that is outstanding: ignored */
	rig_run_us(5000);
	assert_int_equal(rig->n_sent, sent);
	qp_resume(&rig->hca, RIG_QPN);
	rig_run_us(100);
	assert_int_equal(rig->n_sent, 40);
	rig_ack(0xfffffe);
	qp_quiesce(&rig->hca, RIG_QPN, rested, NULL);
	qpc_set_state(&rig->qpc, QP_STATE_ERR);
	qp_resume(&rig->hca, RIG_QPN);
	rig_run_us(20);
	rig_expect_cqe(0, 0, 0, CQE_SYND_WR_FLUSH_ERR);
	assert_int_equal(rig->n_cqes, 1);
	assert_int_equal(qp_table_active(&rig->hca), 0);
}

static void invalidate(void **state)
{
	rig_post(&send64);
	rig_post(&send64);
	rig_run_us(1);
	qp_invalidate(&rig->hca, RIG_QPN, rested, NULL);
	rig_run_us(5000);
	assert_true(rig->rested);
	assert_int_equal(rig->n_cqes, 0);
	assert_int_equal(qp_table_active(&rig->hca), 0);
}

/* More WQEs than the window, with only the last one signalled, over a wrap of the owner bit. */
static void many(void **state)
{
	unsigned sent = 0;

	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < 40; i++) {
			struct rig_wqe w = send64;

			w.unsignalled = i != 39;
			rig_write_wqe(&w);
		}
		scheduler_doorbell(&rig->hca, RIG_QPN, RIG_UAR);
		for (unsigned i = 0; i < 4; i++) {
			rig_run_us(100);
			sent += rig->n_sent;
			rig_ack(rig->sent[rig->n_sent - 1].psn);
			rig->n_sent = 0;
			if (sent == 40 * (round + 1))
				break;
		}
		assert_int_equal(sent, 40 * (round + 1));
		assert_int_equal(rig->n_cqes, round + 1);
		rig_expect_cqe(round, (uint16_t)(40 * round + 39), WQE_SEND, 0);
	}
}

/* There are two units, but the WQEs of one QP are executed in order. */
static void one_unit_a_qp(void **state)
{
	for (unsigned i = 0; i < 30; i++)
		rig_post(&send64);
	rig_run_us(100);
	assert_int_equal(rig->n_sent, 30);
	for (unsigned i = 0; i < 30; i++)
		assert_int_equal(rig->sent[i].psn, psn_add(0xfffffe, i));
	rig_ack(psn_add(0xfffffe, 29));
	assert_int_equal(rig->n_cqes, 30);
}

int main(void)
{
#define RC(test) cmocka_unit_test_setup_teardown(test, rc, end)
	const struct CMUnitTest tests[] = {
		RC(blueflame),     RC(blueflame_beyond_what_is_held),
		RC(doorbells),     RC(quiesce),
		RC(invalidate),    RC(many),
		RC(one_unit_a_qp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
