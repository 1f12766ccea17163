// SPDX-License-Identifier: Apache-2.0
/* What threads do to memory that they share: locks, waits and flags. */
#include "testbench/dsan/tests/played_threads.h"

/* --- locks --- */

/* Reads in one turn and writes in the next one. */
static void span(unsigned place)
{
	locks_read(&c, (uintptr_t)&shared, &places[place]);
	others_run();
	locks_write(&c, (uintptr_t)&shared, "a register", &places[place]);
}

static void a_lock_that_others_hold_is_missed(void **state)
{
	take(&lock, 0);
	span(1);
	locks_back(&c, &lock, &places[2]);
	assert_int_equal(reports, 0);
	span(3);
	expect_rule(RULE_lock_missing);
}

static void a_lock_that_is_taken_behind_the_look_does_not_help(void **state)
{
	take(&lock, 0);
	span(1);
	locks_back(&c, &lock, &places[2]);
	locks_read(&c, (uintptr_t)&shared, &places[3]);
	take(&lock, 4);
	locks_write(&c, (uintptr_t)&shared, "a register", &places[5]);
	expect_rule(RULE_lock_missing);
}

static void without_any_lock_nothing_is_known(void **state)
{
	span(1);
	running = &two;
	span(2);
	assert_int_equal(reports, 0);
}

static void a_lock_is_taken_once_and_given_back_by_its_holder(void **state)
{
	take(&lock, 0);
	locks_want(&c, &lock, &places[1]);
	expect_rule(RULE_lock_misused);
	running = &two;
	locks_back(&c, &lock, &places[2]);
	assert_int_equal(reports, 2);
	running = &one;
	locks_got(&c, &lock, &places[3]);
	running = &two;
	locks_got(&c, &lock, &places[4]);
	assert_int_equal(reports, 3);
	assert_int_equal(reported, RULE_lock_misused);
}

static void a_lock_is_given_back_when_the_call_returns(void **state)
{
	const unsigned before = locks_held();

	take(&lock, 0);
	locks_end(&c, "a call", before, true);
	expect_rule(RULE_lock_misused);
	assert_int_equal(locks_held(), 0);
}

static void locks_are_taken_in_one_order(void **state)
{
	take(&lock, 0);
	take(&other_lock, 1);
	locks_back(&c, &other_lock, &places[2]);
	locks_back(&c, &lock, &places[2]);
	take(&other_lock, 3);
	take(&lock, 4);
	expect_rule(RULE_lock_order);
	locks_back(&c, &other_lock, &places[5]);
	locks_back(&c, &lock, &places[5]);
}

/* --- waits --- */

static void falls_asleep(void)
{
	running = &one;
	s = (struct sleeping){0};
	waits_sleep(&s, runner_now(), queue, places);
	others_run();
	running = &two;
}

static void wakes(void)
{
	platform.ops->waitq_wake_all(&platform, queue);
	others_run();
	running = &one;
	waits_awake(&s);
}

static void looks(void)
{
	waits_store(runner_now(), 0, 0, places); /* nothing: a store touches no bytes */
	runner_now()->loads.newest[runner_now()->loads.n++ % ACCESSES] =
		(struct access){(uintptr_t)&shared, sizeof(shared), 2, &places[1], 0};
}

static void changes(void)
{
	waits_store(runner_now(), (uintptr_t)&shared, sizeof(shared), &places[9]);
	runner_now()->stores.newest[runner_now()->stores.n++ % ACCESSES] =
		(struct access){(uintptr_t)&shared, sizeof(shared), 1, &places[9], 0};
	shared++;
}

static void who_changes_what_a_sleeper_waits_for_wakes_it(void **state)
{
	looks();
	falls_asleep();
	changes();
	wakes();
	assert_int_equal(reports, 0);
	looks();
	falls_asleep();
	changes();
	waits_turn_ends(runner_now());
	expect_rule(RULE_wake_missing);
	waits_end(&s);
}

static void who_wakes_has_changed_before(void **state)
{
	looks();
	falls_asleep();
	platform.ops->waitq_wake_all(&platform, queue);
	changes();
	platform.ops->waitq_wake_all(&platform, queue);
	others_run();
	assert_int_equal(reports, 0);
	waits_end(&s);
	running = &one;
	looks();
	falls_asleep();
	platform.ops->waitq_wake_all(&platform, queue);
	changes();
	others_run();
	assert_int_equal(reports, 0);
	waits_turn_ends(runner_now());
	expect_rule(RULE_wake_missing);
	waits_end(&s);
}

static void a_look_in_an_older_turn_is_none(void **state)
{
	looks();
	others_run();
	falls_asleep();
	changes();
	wakes();
	looks();
	waits_load(runner_now(), (uintptr_t)&shared, sizeof(shared));
	expect_rule(RULE_wait_unchecked);
}

static void who_was_woken_looks_again(void **state)
{
	looks();
	falls_asleep();
	changes();
	wakes();
	looks();
	waits_load(runner_now(), (uintptr_t)&shared, sizeof(shared));
	changes();
	assert_int_equal(reports, 0);
	others_run();
	looks();
	falls_asleep();
	changes();
	wakes();
	changes();
	expect_rule(RULE_wait_unchecked);
}

static void a_queue_is_not_freed_while_a_thread_sleeps_in_it(void **state)
{
	falls_asleep();
	platform.ops->waitq_destroy(&platform, queue);
	expect_rule(RULE_freed_in_use);
	waits_end(&s);
}

static void handle(void *arg)
{
	platform.ops->sleep_ps(&platform, 1);
}

static void yields(void *arg)
{
	others_run();
}

static void handlers_of_interrupts_do_not_sleep(void **state)
{
	struct interrupt i = {&c, handle, NULL};

	platform.ops->sleep_ps(&platform, 1);
	assert_int_equal(reports, 0);
	threads_interrupt(&i);
	expect_rule(RULE_interrupt_sleeps);
}

static void handlers_of_interrupts_let_nobody_run(void **state)
{
	struct interrupt i = {&c, yields, NULL};

	platform.ops->sleep_ps(&platform, 0);
	assert_int_equal(reports, 0);
	threads_interrupt(&i);
	expect_rule(RULE_interrupt_sleeps);
}

static void handler_wakes(void *arg)
{
	platform.ops->waitq_wake_all(&platform, queue);
}

static void a_late_answer_wakes_nobody(void **state)
{
	struct interrupt i = {&c, handler_wakes, NULL};

	threads_interrupt(&i);
	assert_int_equal(reports, 0);
	c.late_answer.is = true;
	platform.ops->waitq_wake_all(&platform, queue); /* another thread */
	assert_int_equal(reports, 0);
	threads_interrupt(&i);
	c.late_answer.is = false;
	expect_rule(RULE_command_answer);
}

/* --- flags --- */

static uint8_t flag;

/* The running thread is in a function of a layer above mlx4, and stores there. */
static void set_in_call(uint8_t value)
{
	struct runner *r = runner_now();

	r->depth = 1;
	r->in[0] = code_offset(&places[1]);
	flag = value;
	flags_store(r, (uintptr_t)&flag, 1, &places[1]);
}

static void look(struct runner *r)
{
	r->loads.newest[0] = (struct access){(uintptr_t)&flag, 1, 1, &places[2], 0};
	r->loads.n = 1;
}

static void a_flag_that_is_a_lock_is_clear_when_the_call_returns(void **state)
{
	struct runner *holder = runner_now(), *waiter;

	set_in_call(1);
	running = &two;
	waiter = runner_now();
	look(waiter);
	flags_sleep(waiter, &places[3]);
	assert_int_equal(reports, 0);
	holder->returns++;
	flags_sleep(waiter, &places[PLACES / 2]); /* a function that only waits */
	assert_int_equal(reports, 0);
	flags_sleep(waiter, &places[3]);
	expect_rule(RULE_lock_misused);
	flag = 0;
	flags_sleep(waiter, &places[3]);
	assert_int_equal(reports, 1);
}

/* A handler of interrupts asks for work; a thread has armed the CQ, and clears the flag. */
static void asked_and_cleared(void)
{
	struct runner *r = runner_now();

	r->interrupts = 1;
	set_in_call(1);
	flags_interrupt_ends(r);
	r->interrupts = 0;
	threads_armed();
	set_in_call(0);
}

static void what_asks_for_work_is_not_cleared_behind_the_arming(void **state)
{
	struct runner *r = runner_now();

	asked_and_cleared();
	threads_found_empty(); /* it has looked for the work */
	flags_turn_ends(r);
	assert_int_equal(reports, 0);
	look(r);
	asked_and_cleared();
	flags_turn_ends(r);
	assert_int_equal(reports, 0);
	r->loads.n = 0;
	asked_and_cleared();
	r->depth = r->armed_depth = 0;
	flags_turn_ends(r);
	expect_rule(RULE_wait_unchecked);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, begin, end)
	const struct CMUnitTest tests[] = {
		T(a_lock_that_others_hold_is_missed),
		T(a_lock_that_is_taken_behind_the_look_does_not_help),
		T(without_any_lock_nothing_is_known),
		T(a_lock_is_taken_once_and_given_back_by_its_holder),
		T(a_lock_is_given_back_when_the_call_returns),
		T(locks_are_taken_in_one_order),
		T(who_changes_what_a_sleeper_waits_for_wakes_it),
		T(who_wakes_has_changed_before),
		T(a_look_in_an_older_turn_is_none),
		T(who_was_woken_looks_again),
		T(a_queue_is_not_freed_while_a_thread_sleeps_in_it),
		T(handlers_of_interrupts_do_not_sleep),
		T(handlers_of_interrupts_let_nobody_run),
		T(a_late_answer_wakes_nobody),
		T(a_flag_that_is_a_lock_is_clear_when_the_call_returns),
		T(what_asks_for_work_is_not_cleared_behind_the_arming),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
