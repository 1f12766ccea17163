/* SPDX-License-Identifier: Apache-2.0 */
/* Event queues: owner bits over the wrap, arming, order, overflow. Indices start near the 24-bit
 * wrap. */
#include "model/engine/tests/host_fixture.h"

enum {
	EQN = 5,
	VECTOR = 3,
	SIZE = 8,
	FIRST = 0xfffffc, /* four entries before the wrap */
	BUFFER = MEMORY_BUS + 0x1000,
};

static struct eqc *eqc;

static void eq_make(uint32_t index)
{
	eqc = (struct eqc *)fx.contexts[CONTEXT_EQ][EQN];
	memset(eqc, 0, sizeof(*eqc));
	fx.valid[CONTEXT_EQ][EQN] = true;
	eqc_set_log_size(eqc, 3);
	eqc_set_mtt_addr(eqc, BUFFER);
	eqc_set_intr(eqc, VECTOR);
	eqc_set_state(eqc, EQ_STATE_ARMED);
	eqc_set_producer_index(eqc, index);
	eqc_set_consumer_index(eqc, index);
	/* as firmware leaves the buffer at SW2HW_EQ: owner bits are 1 */
	memset(fx.memory + 0x1000, 0x80, SIZE * 32);
	event_queue_map(&fx.hca, EVENT_SRQ_LIMIT, EQN, true);
}

static int eq_start(void **state)
{
	fx_start(state);
	fx_vector_open(VECTOR);
	eq_make(FIRST);
	return 0;
}

static const struct eqe *entry(uint32_t index)
{
	return (const struct eqe *)(fx.memory + 0x1000 + index % SIZE * 32);
}

/* Whether an entry is valid, decided as software does: owner == ((index & size) != 0). */
static bool is_there(uint32_t index)
{
	return (entry(index)->b[31] >> 7) == ((index & SIZE) != 0);
}

static void post(uint32_t srqn)
{
	struct eqe eqe = {{0}};

	eqe_set_type(&eqe, EVENT_SRQ_LIMIT);
	eqe_srq_set_srqn(eqe_as_srq(&eqe), srqn);
	event_queue_post(&fx.hca, &eqe, NULL, NULL);
}

static void events_over_the_wrap(void **state)
{
	/* The first index, 0xfffffc, has bit 3 set, so owner 1 is valid. Software has consumed all
	 * entries before it. */
	for (unsigned i = 0; i < SIZE; i++)
		fx.memory[0x1000 + (FIRST + i) % SIZE * 32 + 31] = (FIRST + i) & SIZE ? 0 : 0x80;
	for (uint32_t i = 0; i < SIZE; i++)
		post(100 + i);
	fx_run();
	for (uint32_t i = 0; i < SIZE; i++) {
		uint32_t index = (FIRST + i) & 0xffffff;

		assert_true(is_there(index));
		assert_int_equal(entry(index)->b[1], 0x14);
		assert_int_equal(be32_load(entry(index)->b + 4), 100 + i);
	}
	assert_int_equal(eqc_get_producer_index(eqc), 4);
	assert_int_equal(fx.hca.stats.event_queue_eqes, SIZE);
	assert_int_equal(event_queue_pending(&fx.hca), 0);
}

static void interrupt_once_an_arm(void **state)
{
	post(1);
	post(2);
	fx_run();
	assert_int_equal(fx.n_irqs, 1);
	assert_int_equal(fx.irqs[0].vector, VECTOR);
	assert_int_equal(eqc_get_state(eqc), EQ_STATE_FIRED);
	/* consumer index without arming: no interrupt */
	event_queue_doorbell(&fx.hca, EQN, FIRST + 1, false);
	fx_run();
	assert_int_equal(fx.n_irqs, 1);
	assert_int_equal(eqc_get_consumer_index(eqc), FIRST + 1);
	/* armed with an event left: interrupts at once */
	event_queue_doorbell(&fx.hca, EQN, FIRST + 1, true);
	fx_run();
	assert_int_equal(fx.n_irqs, 2);
	/* armed while empty: interrupts with the next event */
	event_queue_doorbell(&fx.hca, EQN, FIRST + 2, true);
	fx_run();
	assert_int_equal(fx.n_irqs, 2);
	assert_int_equal(eqc_get_state(eqc), EQ_STATE_ARMED);
	post(3);
	fx_run();
	assert_int_equal(fx.n_irqs, 3);
}

static void always_armed(void **state)
{
	eqc_set_state(eqc, EQ_STATE_ALWAYS_ARMED);
	post(1);
	post(2);
	fx_run();
	assert_int_equal(fx.n_irqs, 2);
	event_queue_doorbell(&fx.hca, EQN, FIRST + 2, true);
	assert_int_equal(eqc_get_state(eqc), EQ_STATE_ALWAYS_ARMED);
}

static void the_event_is_in_memory_before_the_interrupt(void **state)
{
	eq_make(0);
	post(7);
	while (!fx.n_irqs) {
		assert_int_not_equal(fx.core.count, 0);
		event_core_step(&fx.core);
	}
	assert_true(is_there(0));
}

static void order_is_kept_while_the_context_is_read(void **state)
{
	eq_make(0);
	fx.context_miss = true;
	post(1);
	event_queue_completion(&fx.hca, EQN, 0x77);
	post(2);
	fx_run();
	assert_int_equal(eqc_get_producer_index(eqc), 0);
	fx.context_miss = false;
	fx.translate_miss = true;
	waiter_queue_wake(&fx.waiters);
	post(3);
	assert_int_equal(eqc_get_producer_index(eqc), 0);
	fx_there();
	fx_run();
	assert_int_equal(be32_load(entry(0)->b + 4), 1);
	assert_int_equal(entry(1)->b[1], 0x00);
	assert_int_equal(be32_load(entry(1)->b + 4), 0x77);
	assert_int_equal(be32_load(entry(2)->b + 4), 2);
	assert_int_equal(be32_load(entry(3)->b + 4), 3);
	assert_int_equal(event_queue_pending(&fx.hca), 0);
}

static void consumer_index_beyond_producer(void **state)
{
	event_queue_doorbell(&fx.hca, EQN, FIRST + 1, true);
	expect_errors(1, "eq_consumer_index");
	assert_int_equal(eqc_get_consumer_index(eqc), FIRST);
}

/* As when it is cut to the size of the queue: the queue would be full from then on. */
static void consumer_index_goes_back(void **state)
{
	for (uint32_t i = 0; i < 3; i++)
		post(i);
	fx_run();
	event_queue_doorbell(&fx.hca, EQN, FIRST + 2, true);
	event_queue_doorbell(&fx.hca, EQN, FIRST + 2, true);
	assert_int_equal(fx.errors, 0);
	event_queue_doorbell(&fx.hca, EQN, FIRST + 1, true);
	expect_errors(1, "eq_consumer_index");
	assert_int_equal(eqc_get_consumer_index(eqc), FIRST + 2);
}

static void overflow_stops_the_device(void **state)
{
	for (uint32_t i = 0; i < SIZE + 2; i++)
		post(i);
	fx_run();
	assert_int_equal(eqc_get_status(eqc), 9);
	assert_int_equal(eqc_get_producer_index(eqc), (FIRST + SIZE) & 0xffffff);
	assert_int_equal(fx.hca.stats.event_queue_overruns, 1);
	assert_int_equal(fx.catastrophes, 1);
}

static void overflow_is_an_event_elsewhere(void **state)
{
	struct eqc *other = (struct eqc *)fx.contexts[CONTEXT_EQ][6];

	fx.valid[CONTEXT_EQ][6] = true;
	eqc_set_log_size(other, 3);
	eqc_set_mtt_addr(other, MEMORY_BUS + 0x2000);
	event_queue_map(&fx.hca, EVENT_EQ_OVERFLOW, 6, true);
	for (uint32_t i = 0; i < SIZE + 1; i++)
		post(i);
	fx_run();
	assert_int_equal(fx.catastrophes, 0);
	assert_int_equal(eqc_get_producer_index(other), 1);
	assert_int_equal(fx.memory[0x2001], 0x0f);
}

static unsigned done_calls;

static void done(void *arg)
{
	done_calls++;
}

static void done_when_in_memory(void **state)
{
	struct eqe eqe = {{0}};

	done_calls = 0;
	eq_make(0);
	eqe_set_type(&eqe, EVENT_SRQ_LIMIT);
	event_queue_post(&fx.hca, &eqe, done, NULL);
	assert_int_equal(done_calls, 0);
	fx_run();
	assert_int_equal(done_calls, 1);
	assert_true(is_there(0));
	eqe_set_type(&eqe, EVENT_PORT_CHANGE); /* not routed to any EQ */
	event_queue_post(&fx.hca, &eqe, done, NULL);
	assert_int_equal(done_calls, 2);
	assert_int_equal(eqc_get_producer_index(eqc), 1);
}

static void dead_eqs(void **state)
{
	event_queue_doorbell(&fx.hca, 6, 0, true);
	expect_errors(1, "object_dead");
	/* a number beyond the table must not be taken modulo its size */
	event_queue_doorbell(&fx.hca, EQN + 64, FIRST, true);
	expect_errors(2, "object_dead");
	event_queue_completion(&fx.hca, 6, 1);
	expect_errors(3, "object_dead");
}

static void forgotten(void **state)
{
	fx.context_miss = true;
	post(1);
	event_queue_forget(&fx.hca, EQN);
	fx_there();
	fx_run();
	assert_int_equal(eqc_get_producer_index(eqc), FIRST);
	assert_int_equal(event_queue_pending(&fx.hca), 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, eq_start, fx_finish)
	const struct CMUnitTest tests[] = {
		T(events_over_the_wrap),
		T(interrupt_once_an_arm),
		T(always_armed),
		T(the_event_is_in_memory_before_the_interrupt),
		T(order_is_kept_while_the_context_is_read),
		T(consumer_index_beyond_producer),
		T(consumer_index_goes_back),
		T(overflow_stops_the_device),
		T(overflow_is_an_event_elsewhere),
		T(done_when_in_memory),
		T(dead_eqs),
		T(forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
