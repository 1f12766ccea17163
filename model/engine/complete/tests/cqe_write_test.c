/* SPDX-License-Identifier: Apache-2.0 */
/* Completion queues: owner bits over the wrap, overrun, arming, moderation, resize. Indices start
 * near the 24-bit wrap. */
#include "model/engine/tests/host_fixture.h"

enum {
	CQN = 7,
	EQN = 5,
	VECTOR = 3,
	UAR = 130,
	SIZE = 4,
	FIRST = 0xfffffe,
	BUFFER = 0x1000, /* of the ring, in memory */
	RECORD = 0x2000,
	EQ_BUFFER = 0x3000,
};

static struct cqc *cqc;
static struct eqc *eqc;

static int cq_start(void **state)
{
	fx_start(state);
	fx_vector_open(VECTOR);
	eqc = (struct eqc *)fx.contexts[CONTEXT_EQ][EQN];
	fx.valid[CONTEXT_EQ][EQN] = true;
	eqc_set_log_size(eqc, 8);
	eqc_set_mtt_addr(eqc, MEMORY_BUS + EQ_BUFFER);
	eqc_set_intr(eqc, VECTOR);
	eqc_set_state(eqc, EQ_STATE_ALWAYS_ARMED);
	event_queue_map(&fx.hca, EVENT_CQ_ERROR, EQN, true);

	cqc = (struct cqc *)fx.contexts[CONTEXT_CQ][CQN];
	fx.valid[CONTEXT_CQ][CQN] = true;
	cqc_set_log_size(cqc, 2);
	cqc_set_usr_page(cqc, UAR);
	cqc_set_comp_eqn(cqc, EQN);
	cqc_set_mtt_addr(cqc, MEMORY_BUS + BUFFER);
	cqc_set_db_rec_addr(cqc, MEMORY_BUS + RECORD);
	cqc_set_producer_index(cqc, FIRST);
	cqc_set_consumer_index(cqc, FIRST);
	cqc_set_last_notified(cqc, FIRST);
	be32_store(fx.memory + RECORD, FIRST);
	for (unsigned i = 0; i < SIZE; i++)
		fx.memory[BUFFER + (FIRST + i) % SIZE * 32 + 31] = (FIRST + i) & SIZE ? 0 : 0x80;
	return 0;
}

/* Software writes the arm record, then rings the doorbell. */
static void arm_cq(unsigned sn, unsigned cmd, uint32_t ci, uint32_t uar)
{
	be32_store(fx.memory + RECORD + 4, sn << 28 | cmd << 24 | (ci & 0xffffff));
	cqe_write_arm(&fx.hca, CQN, sn, cmd, ci, uar);
}

static const uint8_t *entry(uint32_t index)
{
	return fx.memory + BUFFER + index % SIZE * 32;
}

static bool is_there(uint32_t index)
{
	return (entry(index)[31] >> 7) == ((index & SIZE) != 0);
}

static void post_of(uint32_t qpn, uint32_t byte_cnt, bool solicited)
{
	struct cqe cqe = {{0}};

	cqe_set_my_qpn(&cqe, qpn);
	cqe_set_byte_cnt(&cqe, byte_cnt);
	cqe_set_opcode(&cqe, CQE_RECV_SEND);
	cqe_write_post(&fx.hca, CQN, &cqe, solicited, 0);
}

static void post(uint32_t byte_cnt)
{
	post_of(0x48, byte_cnt, false);
}

static void consumed(uint32_t index)
{
	be32_store(fx.memory + RECORD, index & 0xffffff);
}

static unsigned events(void)
{
	return eqc_get_producer_index(eqc);
}

static void cqes_over_the_wrap(void **state)
{
	for (uint32_t i = 0; i < 4 * SIZE; i++) {
		uint32_t index = (FIRST + i) & 0xffffff;

		post(1000 + i);
		assert_false(is_there(index));
		fx_run();
		assert_true(is_there(index));
		assert_int_equal(be32_load(entry(index) + 0x14), 1000 + i);
		consumed(index + 1);
	}
	assert_int_equal(cqc_get_status(cqc), 0);
	assert_int_equal(cqc_get_producer_index(cqc), (FIRST + 4 * SIZE) & 0xffffff);
	/* the doorbell record is read when the ring looks full: after 4, 8 and 12 entries */
	assert_int_equal(fx.hca.stats.pcie_read_requests, 3);
	assert_int_equal(cqe_write_pending(&fx.hca), 0);
	assert_int_equal(fx.errors, 0);
}

static void not_before_the_data(void **state)
{
	const uint8_t byte = 1;

	pcie_write_small(&fx.hca, MEMORY_BUS, &byte, 1, "payload", 0, NULL, NULL);
	post(1);
	while (!is_there(FIRST)) {
		assert_int_not_equal(fx.core.count, 0);
		event_core_step(&fx.core);
	}
	assert_int_equal(fx.memory[0], 1);
}

static void time_of_a_cqe(void **state)
{
	struct cqe cqe = {{0}};

	cqe_write_post(&fx.hca, CQN, &cqe, false, 1000000);
	fx_run();
	/* 24 ns, (32 + 26) bytes at 126.95 ps, 50 + 100 + 150 ns */
	assert_int_equal(fx.core.now_ps, 1000000 + 24000 + 7363 + 300000);
}

static void overrun(void **state)
{
	for (uint32_t i = 0; i < SIZE + 2; i++)
		post(i);
	fx_run();
	assert_int_equal(cqc_get_status(cqc), 9);
	assert_int_equal(cqc_get_producer_index(cqc), (FIRST + SIZE) & 0xffffff);
	assert_int_equal(fx.hca.stats.cqe_write_overruns, 1);
	assert_int_equal(events(), 1);
	assert_int_equal(fx.memory[EQ_BUFFER + 1], 0x04);
	assert_int_equal(be32_load(fx.memory + EQ_BUFFER + 4), CQN);
	assert_int_equal(fx.memory[EQ_BUFFER + 0x0f], 1);
	/* the first CQE has not been overwritten */
	assert_int_equal(be32_load(entry(FIRST) + 0x14), 0);
	/* two completions were lost: their queue pair cannot report any more */
	assert_int_equal(fx.n_lost, 2);
	assert_int_equal(fx.lost_qpn, 0x48);
}

static void overrun_ignored(void **state)
{
	cqc_set_ignore_overrun(cqc, 1);
	for (uint32_t i = 0; i < SIZE + 2; i++)
		post(i);
	fx_run();
	assert_int_equal(cqc_get_status(cqc), 0);
	assert_int_equal(be32_load(entry(FIRST) + 0x14), SIZE);
}

static void consumer_index_beyond_producer(void **state)
{
	consumed(FIRST + SIZE + 1);
	for (uint32_t i = 0; i < SIZE + 1; i++)
		post(i);
	fx_run();
	expect_errors(1, "cq_consumer_index");
	assert_int_equal(cqc_get_status(cqc), 9);
	arm_cq(1, CQ_ARM_NEXT, FIRST + SIZE + 1, UAR);
	expect_errors(2, "cq_consumer_index");
}

/* A doorbell arrives late: meanwhile more CQEs than the queue has entries have come and have been
 * polled. It makes an event. */
static void late_arm_doorbell(void **state)
{
	for (uint32_t i = 0; i < 2 * SIZE; i++) {
		post(i);
		fx_run();
		consumed(FIRST + i + 1);
	}
	arm_cq(1, CQ_ARM_NEXT, FIRST + SIZE - 1, UAR);
	fx_run();
	assert_int_equal(events(), 1);
	assert_int_equal(fx.errors, 0);
}

static void arm_record(void **state)
{
	arm_cq(1, CQ_ARM_NEXT, FIRST, UAR);
	fx_run();
	assert_int_equal(fx.errors, 0);
	/* the record of a later request is right */
	post(1);
	fx_run();
	cqe_write_arm(&fx.hca, CQN, 1, CQ_ARM_SOLICITED, FIRST, UAR);
	be32_store(fx.memory + RECORD + 4, 1 << 28 | CQ_ARM_NEXT << 24 | ((FIRST + 1) & 0xffffff));
	cqe_write_arm(&fx.hca, CQN, 1, CQ_ARM_NEXT, FIRST, UAR);
	fx_run();
	assert_int_equal(fx.errors, 0);
	/* that of an earlier one is not */
	be32_store(fx.memory + RECORD + 4, 1 << 28 | CQ_ARM_NEXT << 24 | (FIRST & 0xffffff));
	cqe_write_arm(&fx.hca, CQN, 1, CQ_ARM_NEXT, FIRST + 1, UAR);
	fx_run();
	expect_errors(1, "arm_record");
	be32_store(fx.memory + RECORD + 4,
		   1 << 28 | CQ_ARM_SOLICITED << 24 | ((FIRST + 1) & 0xffffff));
	cqe_write_arm(&fx.hca, CQN, 1, CQ_ARM_NEXT, FIRST + 1, UAR);
	cqe_write_arm(&fx.hca, CQN, 1, CQ_ARM_SOLICITED, FIRST + 1, UAR);
	cqe_write_arm(&fx.hca, CQN, 1, CQ_ARM_NEXT, FIRST + 1, UAR);
	fx_run();
	expect_errors(1, "arm_record");
	/* no doorbell has come for that record */
	cqe_write_arm(&fx.hca, CQN, 1, CQ_ARM_NEXT, FIRST + 1, UAR);
	fx_run();
	expect_errors(2, "arm_record");
	/* one that asks for nothing is none of a later request */
	be32_store(fx.memory + RECORD + 4, 1 << 28 | ((FIRST + 1) & 0xffffff));
	cqe_write_arm(&fx.hca, CQN, 1, CQ_ARM_NEXT, FIRST + 1, UAR);
	fx_run();
	expect_errors(3, "arm_record");
}

static void armed_with(uint32_t record_ci, uint32_t ci)
{
	be32_store(fx.memory + RECORD, record_ci & 0xffffff);
	be32_store(fx.memory + RECORD + 4, 1 << 28 | CQ_ARM_NEXT << 24 | (ci & 0xffffff));
	cqe_write_arm(&fx.hca, CQN, 1, CQ_ARM_NEXT, ci, UAR);
	fx_run();
}

static void record_stays_behind(void **state)
{
	for (uint32_t i = 0; i < SIZE; i++) {
		post(i);
		fx_run();
	}
	armed_with(FIRST, FIRST + 2); /* another processor polls, and stores its index now */
	armed_with(FIRST + 2, FIRST + 2);
	armed_with(FIRST + 2, FIRST + 3); /* an entry that ended a resize */
	armed_with(FIRST + 2, FIRST + 4);
	armed_with(FIRST + 2, FIRST + 4); /* the same doorbell again */
	assert_int_equal(fx.errors, 0);
	post(SIZE);
	fx_run();
	armed_with(FIRST + 2, FIRST + 5);
	expect_errors(1, "cq_record_stale");
}

static void timestamps(void **state)
{
	uint64_t stamp;

	cqc_set_timestamp(cqc, 1);
	event_core_run_until(&fx.core, UINT64_C(1) << 50);
	post(1);
	fx_run();
	stamp = (uint64_t)be32_load(entry(FIRST) + 0x0c) << 16 | entry(FIRST)[0x1d] << 8 |
		entry(FIRST)[0x1e];
	/* the time when the CQE was made: 2^50 ps in cycles of 4 ns */
	assert_int_equal(stamp, (UINT64_C(1) << 50) / 4000);
	assert_true(is_there(FIRST));
}

static void arm_next(void **state)
{
	post(1);
	fx_run();
	assert_int_equal(events(), 0);
	arm_cq(1, CQ_ARM_NEXT, FIRST + 1, UAR);
	assert_int_equal(cqc_get_state(cqc), CQ_STATE_ARMED);
	post(2);
	post(3);
	fx_run();
	assert_int_equal(events(), 1);
	assert_int_equal(cqc_get_state(cqc), CQ_STATE_FIRED);
	assert_int_equal(fx.memory[EQ_BUFFER + 1], 0);
	assert_int_equal(be32_load(fx.memory + EQ_BUFFER + 4), CQN);
	assert_int_equal(fx.n_irqs, 1);
}

static void arm_late_fires_at_once(void **state)
{
	post(1);
	post(2);
	fx_run();
	arm_cq(1, CQ_ARM_NEXT, FIRST + 1, UAR);
	fx_run();
	assert_int_equal(events(), 1);
	assert_int_equal(cqc_get_state(cqc), CQ_STATE_FIRED);
}

/* Software arms again before it polls. CQEs that an event has announced make no second event. */
static void arm_before_poll(void **state)
{
	arm_cq(1, CQ_ARM_NEXT, FIRST, UAR);
	post(1);
	fx_run();
	assert_int_equal(events(), 1);
	arm_cq(2, CQ_ARM_NEXT, FIRST, UAR);
	fx_run();
	assert_int_equal(events(), 1);
	assert_int_equal(cqc_get_state(cqc), CQ_STATE_ARMED);
	post(2);
	post(3); /* comes after the event for 2, before the next arm */
	fx_run();
	assert_int_equal(events(), 2);
	arm_cq(3, CQ_ARM_NEXT, FIRST + 2, UAR);
	fx_run();
	assert_int_equal(events(), 3);
}

/* An event for completions of any kind also announces the solicited ones among them. */
static void arm_solicited_before_poll(void **state)
{
	arm_cq(1, CQ_ARM_NEXT, FIRST, UAR);
	post_of(0x48, 1, true);
	fx_run();
	arm_cq(2, CQ_ARM_SOLICITED, FIRST, UAR);
	post(2);
	fx_run();
	assert_int_equal(events(), 1);
	post_of(0x48, 3, true);
	fx_run();
	assert_int_equal(events(), 2);
}

static void arm_solicited(void **state)
{
	struct cqe error = {{0}};

	post(1);
	fx_run();
	/* there is a CQE, but it is not solicited */
	arm_cq(1, CQ_ARM_SOLICITED, FIRST, UAR);
	post(2);
	fx_run();
	assert_int_equal(events(), 0);
	assert_int_equal(cqc_get_state(cqc), CQ_STATE_ARMED_SOLICITED);
	post_of(0x48, 3, true);
	fx_run();
	assert_int_equal(events(), 1);
	/* An event at once for a CQE that has come since the last event. An error CQE counts as
	 * solicited. */
	post_of(0x48, 4, true);
	fx_run();
	arm_cq(2, CQ_ARM_SOLICITED, FIRST + 3, UAR);
	fx_run();
	assert_int_equal(events(), 2);
	arm_cq(3, CQ_ARM_SOLICITED, FIRST + 4, UAR);
	fx_run();
	assert_int_equal(events(), 2);
	cqe_set_opcode(&error, CQE_OP_ERROR);
	cqe_write_post(&fx.hca, CQN, &error, false, 0);
	fx_run();
	assert_int_equal(events(), 3);
}

static void arm_is_not_weakened(void **state)
{
	arm_cq(1, CQ_ARM_NEXT, FIRST, UAR);
	arm_cq(1, CQ_ARM_SOLICITED, FIRST, UAR);
	post(1);
	fx_run();
	assert_int_equal(events(), 1);
}

static void arm_through_another_page(void **state)
{
	arm_cq(1, CQ_ARM_NEXT, FIRST, UAR + 1);
	expect_errors(1, "doorbell_wrong_uar");
	assert_int_equal(cqc_get_state(cqc), CQ_STATE_DISARMED);
}

static void the_cqe_is_in_memory_before_the_event(void **state)
{
	arm_cq(1, CQ_ARM_NEXT, FIRST, UAR);
	fx.memory[EQ_BUFFER + 31] = 0x80;
	post(1);
	while (fx.memory[EQ_BUFFER + 31] & 0x80) {
		assert_int_not_equal(fx.core.count, 0);
		event_core_step(&fx.core);
	}
	assert_true(is_there(FIRST));
}

static void moderation_by_count(void **state)
{
	cqc_set_period(cqc, 100);
	cqc_set_max_count(cqc, 3);
	arm_cq(1, CQ_ARM_NEXT, FIRST, UAR);
	post(1);
	post(2);
	event_core_run_until(&fx.core, 50000000);
	assert_int_equal(events(), 0);
	post(3);
	event_core_run_until(&fx.core, 60000000);
	assert_int_equal(events(), 1);
	fx_run();
	assert_int_equal(events(), 1);
	assert_int_equal(cqe_write_pending(&fx.hca), 0);
}

static void moderation_by_time(void **state)
{
	cqc_set_period(cqc, 100);
	cqc_set_max_count(cqc, 3);
	arm_cq(1, CQ_ARM_NEXT, FIRST, UAR);
	post(1);
	event_core_run_until(&fx.core, 99999999);
	assert_int_equal(events(), 0);
	event_core_run_until(&fx.core, 100000000);
	assert_int_equal(events(), 1);
	fx_run();
	assert_int_equal(cqe_write_pending(&fx.hca), 0);
}

static void order_is_kept_while_something_is_read(void **state)
{
	fx.context_miss = true;
	post(1);
	arm_cq(1, CQ_ARM_NEXT, FIRST + 1, UAR);
	post(2);
	fx_run();
	assert_int_equal(cqc_get_producer_index(cqc), FIRST);
	fx.context_miss = false;
	fx.translate_miss = true;
	waiter_queue_wake(&fx.waiters);
	assert_int_equal(cqc_get_producer_index(cqc), FIRST);
	fx_there();
	fx_run();
	assert_int_equal(be32_load(entry(FIRST) + 0x14), 1);
	assert_int_equal(be32_load(entry(FIRST + 1) + 0x14), 2);
	assert_int_equal(events(), 1);
	assert_int_equal(fx.errors, 0);
}

static void a_buffer_that_cannot_be_written(void **state)
{
	cqc_set_mtt_addr(cqc, MEMORY_BUS + MEMORY_SIZE);
	post(1);
	fx_run();
	expect_errors(1, "dma_unmapped");
	assert_int_equal(cqc_get_status(cqc), 0xa);
	assert_int_equal(events(), 1);
	assert_int_equal(fx.memory[EQ_BUFFER + 0x0f], 2);
	assert_int_equal(cqe_write_pending(&fx.hca), 0);
}

static void dead_cq(void **state)
{
	struct cqe cqe = {{0}};

	cqe_write_post(&fx.hca, CQN + 1, &cqe, false, 0);
	expect_errors(1, "object_dead");
	cqe_write_arm(&fx.hca, CQN + 64, 1, CQ_ARM_NEXT, 0, UAR);
	expect_errors(2, "object_dead");
	assert_int_equal(cqe_write_pending(&fx.hca), 0);
}

static unsigned idle_calls;

static void idle(void *arg)
{
	idle_calls++;
	assert_true(is_there(*(const uint32_t *)arg));
}

static void drain(void **state)
{
	const uint32_t last = FIRST + 1;

	idle_calls = 0;
	post(1);
	post(2);
	cqe_write_drain(&fx.hca, CQN, idle, (void *)&last);
	assert_int_equal(idle_calls, 0);
	fx_run();
	assert_int_equal(idle_calls, 1);
	cqe_write_drain(&fx.hca, CQN, idle, (void *)&last);
	assert_int_equal(idle_calls, 2);
	assert_int_equal(cqe_write_pending(&fx.hca), 0);
}

static void idle_resizing(void *arg)
{
	idle_calls++;
	assert_true(is_there(FIRST + 1));
}

/* Resize, with firmware's part in the middle: the new buffer is twice as large and at another
 * place. */
static void resize(void **state)
{
	idle_calls = 0;
	fx.flush_wait = true;
	post(1);
	cqe_write_resize(&fx.hca, CQN, idle_resizing, NULL);
	post(2); /* belongs to the new buffer */
	fx_run();
	assert_int_equal(idle_calls, 1);
	assert_int_equal(entry(FIRST + 1)[31] & 0x1f, 0x16);
	/* no further CQE is written until the old context has left the cache */
	assert_int_equal(cqc_get_producer_index(cqc), 0);
	post(3);
	fx_run();
	assert_int_equal(cqc_get_producer_index(cqc), 0);
	cqc_set_mtt_addr(cqc, MEMORY_BUS + 0x8000);
	cqc_set_log_size(cqc, 3);
	fx.flushed(fx.flushed_arg, 0);
	fx_run();
	assert_int_equal(cqc_get_producer_index(cqc), 2);
	assert_int_equal(be32_load(fx.memory + 0x8000 + 0x14), 2);
	assert_int_equal(be32_load(fx.memory + 0x8000 + 32 + 0x14), 3);
	/* the rest of the old buffer is unchanged: owner 1 at index 0 */
	assert_int_equal(entry(FIRST + 2)[31] & 0x80, 0x80);
	assert_int_equal(cqe_write_pending(&fx.hca), 0);
}

static void purge(void **state)
{
	fx.context_miss = true;
	post_of(0x48, 1, false);
	post_of(0x49, 2, false);
	post_of(0x48, 3, false);
	cqe_write_purge_qp(&fx.hca, 0x48);
	fx_there();
	fx_run();
	assert_int_equal(cqc_get_producer_index(cqc), FIRST + 1);
	assert_int_equal(be32_load(entry(FIRST) + 0x14), 2);
	assert_int_equal(cqe_write_pending(&fx.hca), 0);
}

static void reset_forgets(void **state)
{
	cqc_set_period(cqc, 100);
	arm_cq(1, CQ_ARM_NEXT, FIRST, UAR);
	post(1);
	post(2);
	fx.context_miss = true;
	post(3);
	fx_soft_reset(&fx.hca);
	fx_run();
	assert_false(is_there(FIRST));
	assert_int_equal(cqe_write_pending(&fx.hca), 0);
	assert_int_equal(pcie_pending(&fx.hca), 0);
	assert_int_equal(events(), 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, cq_start, fx_finish)
	const struct CMUnitTest tests[] = {
		T(cqes_over_the_wrap),
		T(not_before_the_data),
		T(time_of_a_cqe),
		T(overrun),
		T(overrun_ignored),
		T(consumer_index_beyond_producer),
		T(late_arm_doorbell),
		T(timestamps),
		T(arm_record),
		T(record_stays_behind),
		T(arm_next),
		T(arm_late_fires_at_once),
		T(arm_before_poll),
		T(arm_solicited_before_poll),
		T(arm_solicited),
		T(arm_is_not_weakened),
		T(arm_through_another_page),
		T(the_cqe_is_in_memory_before_the_event),
		T(moderation_by_count),
		T(moderation_by_time),
		T(order_is_kept_while_something_is_read),
		T(a_buffer_that_cannot_be_written),
		T(dead_cq),
		T(drain),
		T(resize),
		T(purge),
		T(reset_forgets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
