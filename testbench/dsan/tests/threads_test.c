// SPDX-License-Identifier: Apache-2.0
/* What threads do to memory that they share: locks, waits and memory that was freed. The test plays
 * the threads of the simulation, and checker.c. */
#include "testbench/dsan/held/counts.h"
#include "testbench/dsan/hear/chain.h"
#include "testbench/dsan/hear/history.h"
#include "testbench/dsan/hear/trail.h"
#include "testbench/dsan/held/heap.h"
#include "testbench/dsan/threads/threads_impl.h"
#include "testbench/os/symbols.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

struct kernel_thread {
	unsigned number;
};

enum { PLACES = 16 };

static struct kernel_thread one = {1}, two = {2};
static const struct kernel_thread *running;
static struct checker c;
static const char
	places[PLACES]; /* in the driver: the first half is one function, the rest another */
static unsigned reports;
static enum guest_rule reported;
static int lock, other_lock;
static uint32_t shared;
static struct sleeping s;

/* --- what the test plays --- */

void heap_load(struct checker *of, uintptr_t at, size_t bytes, const void *pc)
{
}

void heap_store(struct checker *of, uintptr_t at, size_t bytes, const void *pc)
{
}

void heap_forget(void)
{
}

/* Memory that has a flag, and what the flag keeps from being freed. */
static struct {
	uint8_t busy, other;
	uint32_t work;
} piece;

static bool is_of_piece(uintptr_t at)
{
	return at - (uintptr_t)&piece < sizeof(piece);
}

bool heap_same(uintptr_t at, uintptr_t other)
{
	return is_of_piece(at) && is_of_piece(other);
}

unsigned heap_pointers(uintptr_t at, size_t bytes, const void **pcs, unsigned max)
{
	return 0;
}

void counts_forget(void)
{
}

void chain_take(struct calls *calls)
{
	calls->n = 0;
}

void chain_format(const struct calls *calls, char *text, size_t size)
{
	snprintf(text, size, "nobody");
}

struct kernel_thread *kernel_thread_running(void)
{
	return (struct kernel_thread *)running;
}

unsigned kernel_thread_number(const struct kernel_thread *thread)
{
	return thread->number;
}

const void *kernel_thread_outermost(const struct kernel_thread *thread)
{
	return NULL; /* nothing here is on a stack */
}

static void note(struct checker *of, const struct breach *b, const char *format, ...)
{
	reports++;
	reported = b->rule;
}

size_t symbols_find(const void *pc, struct symbol *symbols, size_t room)
{
	const bool second = (const char *)pc - places >= PLACES / 2;

	*symbols = (struct symbol){.line = (int)((const char *)pc - places)};
	snprintf(symbols->name, sizeof(symbols->name), second ? "second" : "first");
	snprintf(symbols->file, sizeof(symbols->file), second ? "second.c" : "first.c");
	return 1;
}

/* --- the driver's calls --- */

static bool played_wait(struct platform *p, struct platform_waitq *q, uint64_t deadline_ps)
{
	return true;
}

static void played_wake(struct platform *p, struct platform_waitq *q)
{
}

static void played_sleep(struct platform *p, uint64_t ps)
{
}

static void played_write(struct platform *p, unsigned bar, uint64_t offset, const void *bytes,
			 unsigned size)
{
}

static const struct platform_ops played = {.mmio_write = played_write,
					   .waitq_wait = played_wait,
					   .waitq_wake_all = played_wake,
					   .waitq_destroy = played_wake,
					   .sleep_ps = played_sleep};
static struct platform platform;
static struct platform_waitq *const queue = (void *)&lock;

static int begin(void **state)
{
	c.tell = note;
	platform.ops = &played;
	threads_hear(&c, &platform);
	running = &one;
	platform.ops->sleep_ps(&platform, 0);
	running = &two;
	platform.ops->sleep_ps(&platform, 0);
	running = &one;
	reports = 0;
	shared = 0;
	return 0;
}

static int end(void **state)
{
	waits_end(&s);
	locks_forget(&lock);
	locks_forget(&other_lock);
	threads_leave(&platform);
	return 0;
}

static void expect_rule(enum guest_rule rule)
{
	assert_int_equal(reports, 1);
	assert_int_equal(reported, rule);
}

static void take(const void *what, unsigned place)
{
	locks_want(&c, what, &places[place]);
	locks_got(&c, what, &places[place]);
}

static void others_run(void)
{
	platform.ops->sleep_ps(&platform, 0);
}

/* Reads in one turn and writes in the next one. */
static void span(unsigned place)
{
	locks_read(&c, (uintptr_t)&shared, &places[place]);
	others_run();
	locks_write(&c, (uintptr_t)&shared, "a register", &places[place]);
}

/* --- locks --- */

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

/* --- what a lock protects --- */

enum { FIRST = 0, SECOND = PLACES / 2 };

static void call_ends(void)
{
	locks_end(&c, "a call", 0, true);
}

static void stores(uintptr_t at, unsigned place)
{
	lockset_store(runner_now(), at, &places[place]);
}

static void calls_store_with_lock(unsigned n)
{
	while (n--) {
		take(&lock, FIRST);
		stores((uintptr_t)&shared, FIRST + 1);
		locks_back(&c, &lock, &places[FIRST]);
		call_ends();
	}
}

static void a_store_beside_the_lock_is_found_without_a_turn(void **state)
{
	calls_store_with_lock(2);
	running = &two;
	stores((uintptr_t)&shared, FIRST + 2);
	assert_int_equal(reports, 0);
	call_ends();
	expect_rule(RULE_lock_missing);
	stores((uintptr_t)&shared, FIRST + 2);
	call_ends();
	assert_int_equal(reports, 1);
}

static void one_call_does_not_show_what_a_lock_protects(void **state)
{
	calls_store_with_lock(1);
	stores((uintptr_t)&shared, FIRST + 2);
	call_ends();
	assert_int_equal(reports, 0);
}

static void other_files_may_go_without_the_lock(void **state)
{
	calls_store_with_lock(2);
	stores((uintptr_t)&shared, SECOND + 1);
	lockset_load(runner_now(), (uintptr_t)&shared, &places[SECOND + 1]);
	call_ends();
	assert_int_equal(reports, 0);
}

static void who_takes_a_lock_looks_with_it(void **state)
{
	calls_store_with_lock(2);
	lockset_load(runner_now(), (uintptr_t)&shared, &places[FIRST + 3]);
	call_ends();
	expect_rule(RULE_lock_missing);
}

static void what_has_several_locks_is_protected_by_none(void **state)
{
	calls_store_with_lock(2);
	take(&other_lock, FIRST);
	stores((uintptr_t)&shared, FIRST + 1);
	locks_back(&c, &other_lock, &places[FIRST]);
	stores((uintptr_t)&shared, FIRST + 2);
	call_ends();
	assert_int_equal(reports, 0);
}

static void who_ends_an_object_needs_no_lock(void **state)
{
	calls_store_with_lock(2);
	stores((uintptr_t)&shared, FIRST + 2);
	locks_forget(&lock);
	call_ends();
	calls_store_with_lock(2);
	stores((uintptr_t)&shared, FIRST + 2);
	lockset_memory_gone((uintptr_t)&shared, sizeof(shared));
	call_ends();
	assert_int_equal(reports, 0);
}

static void handlers_of_interrupts_have_no_locks(void **state)
{
	calls_store_with_lock(2);
	runner_now()->interrupts++;
	stores((uintptr_t)&shared, FIRST + 2);
	runner_now()->interrupts--;
	call_ends();
	assert_int_equal(reports, 0);
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

/* --- memory that was freed --- */

/* A function of depth 2 sets the flag, lets others run, and clears it. */
static struct runner *works(void)
{
	struct runner *r = runner_now();

	r->depth = 2;
	r->in[0] = r->in[1] = code_offset(&places[1]);
	busy_store(r, (uintptr_t)&piece.busy, 1, &places[1]);
	piece.busy = 1;
	busy_stored(r);
	others_run();
	busy_store(r, (uintptr_t)&piece.busy, 1, &places[2]);
	piece.busy = 0;
	busy_stored(r);
	return r;
}

static void returns(struct runner *r)
{
	r->depth = 1;
	busy_leave(r);
}

static void a_flag_is_cleared_behind_the_last_step(void **state)
{
	struct runner *r = works();

	busy_access(r, (uintptr_t)&piece.work, &places[3]); /* in the same turn */
	others_run();
	busy_access(r, (uintptr_t)&shared, &places[3]); /* other memory */
	returns(r);
	assert_int_equal(reports, 0);
	works();
	others_run();
	busy_access(r, (uintptr_t)&piece.work, &places[3]);
	busy_memory_gone(r, (uintptr_t)&piece, sizeof(piece), &places[4]); /* it ends it itself */
	returns(r);
	assert_int_equal(reports, 0);
	works();
	others_run();
	busy_access(r, (uintptr_t)&piece.work, &places[3]);
	assert_int_equal(reports, 0);
	returns(r);
	expect_rule(RULE_freed_in_use);
}

static void who_frees_memory_looks_at_its_flag(void **state)
{
	struct runner *ends;

	returns(works());
	running = &two;
	ends = runner_now();
	busy_load(ends, (uintptr_t)&piece.busy);
	busy_memory_gone(ends, (uintptr_t)&piece, sizeof(piece), &places[PLACES / 2]);
	assert_int_equal(reports, 0);
	running = &one;
	returns(works());
	running = &two;
	busy_load(ends, (uintptr_t)&piece.other);
	busy_memory_gone(ends, (uintptr_t)&piece, sizeof(piece), &places[PLACES / 2]);
	expect_rule(RULE_freed_in_use);
}

static void who_has_seen_the_thread_end_needs_no_look(void **state)
{
	struct runner *worker = works();

	returns(worker);
	worker->depth = 0;
	running = &two;
	busy_memory_gone(runner_now(), (uintptr_t)&piece, sizeof(piece), &places[PLACES / 2]);
	assert_int_equal(reports, 0);
}

static void what_was_stored_before_others_ran_is_old(void **state)
{
	struct runner *r = runner_now();

	r->stores.newest[0] = (struct access){(uintptr_t)&shared, 4, 1, &places[2], 0};
	r->stores.n = 1;
	assert_true(threads_stored(&shared, sizeof(shared)));
	others_run();
	assert_false(threads_stored(&shared, sizeof(shared)));
}

static void freed_memory_is_neither_used_nor_freed(void **state)
{
	uint32_t *at = malloc(64);

	freed_check(runner_now(), (uintptr_t)at, 4, false, places);
	assert_int_equal(reports, 0);
	assert_false(freed_take(at, places));
	freed_check(runner_now(), (uintptr_t)at + 32, 4, true, places);
	expect_rule(RULE_freed_in_use);
	assert_false(freed_take(at, places));
	assert_int_equal(reports, 2);
}

static void a_handler_is_taken_back_before_its_memory_is_freed(void **state)
{
	char *at = calloc(1, 64), *other = calloc(1, 64);

	handlers_add("events", &lock, 1, at + 8, places);
	handlers_add("events", &lock, 2, other, places);
	handlers_remove(&lock, 1);
	assert_false(freed_take(at, places));
	assert_int_equal(reports, 0);
	assert_false(freed_take(other, places));
	expect_rule(RULE_freed_in_use);
}

/* --- pointers to local variables --- */

static uintptr_t list;

/* The thread stores a pointer to a variable, and goes on. */
static void points(uintptr_t *at, const uintptr_t *to)
{
	struct runner *r = runner_now();

	*at = (uintptr_t)to;
	r->pointer = (uintptr_t)at;
	locals_stored(r);
}

static void a_list_forgets_a_local_before_its_function_ends(void **state)
{
	uintptr_t local = 0;
	struct runner *r = runner_now();

	r->outermost = (uintptr_t)__builtin_frame_address(0);
	points(&list, &local);
	locals_end(r, (uintptr_t)&local); /* a function that this one called */
	locals_load(r, (uintptr_t)&list, places);
	list = 0;
	locals_end(r, (uintptr_t)(&local + 1));
	locals_load(r, (uintptr_t)&list, places);
	assert_int_equal(reports, 0);
	points(&list, &local);
	locals_end(r, (uintptr_t)(&local + 1));
	assert_int_equal(reports, 0);
	locals_load(r, (uintptr_t)&list, places);
	expect_rule(RULE_local_ended);
}

static void another_thread_moves_a_pointer_to_a_local(void **state)
{
	uintptr_t local = 0, other, *heap = calloc(1, sizeof(*heap));
	struct runner *r = runner_now();

	r->outermost = (uintptr_t)__builtin_frame_address(0);
	points(heap, &local);
	running = &two;
	points(&list, &local);
	points(&list, &other); /* whose variable that is, nobody knows */
	points(&list, &local);
	running = &one;
	assert_false(freed_take(heap, places));
	locals_end(r, (uintptr_t)(&local + 1));
	locals_load(r, (uintptr_t)&list, places);
	expect_rule(RULE_local_ended);
}

/* --- where a call has come by --- */

static void what_ran_before_a_register_was_written_is_known_later(void **state)
{
	struct ran ran;

	trail_begin();
	trail_note(&places[1]);
	trail_note(&places[2]);
	trail_note(&places[1]);
	checkers_ran(0, &ran);
	assert_int_equal(ran.n, 2);
	assert_ptr_equal(ran.pc[0], &places[1]);
	platform.ops->mmio_write(&platform, 0, 0, &shared, sizeof(shared));
	trail_begin();
	checkers_ran(0, &ran);
	assert_int_equal(ran.n, 2);
	trail_note(&places[3]);
	checkers_ran(0, &ran);
	assert_int_equal(ran.n, 1);
	assert_ptr_equal(ran.pc[0], &places[3]);
}

static void what_a_long_call_entered_first_is_known(void **state)
{
	struct ran ran;

	trail_begin();
	entered_note(runner_now(), &places[3]);
	for (unsigned i = 0; i < 2 * TRAIL; i++)
		trail_note(&places[i % 2]);
	checkers_ran(0, &ran);
	assert_int_equal(ran.n, 3);
	assert_ptr_equal(ran.pc[2], &places[3]);
	trail_begin();
	trail_note(&places[2]);
	checkers_ran(0, &ran);
	assert_int_equal(ran.n, 1);
}

/* --- who made an object --- */

static void who_made_and_changed_an_object_is_known_later(void **state)
{
	const struct guest_object cq = {GUEST_CQ, 7}, other = {GUEST_QP, 7};
	struct ran made, changed;

	c.host.platform = &platform;
	trail_begin();
	trail_note(&places[1]);
	trail_note(&places[2]);
	history_made(&c, GUEST_CQ, 7);
	trail_begin();
	trail_note(&places[3]);
	history_changed(&c, GUEST_CQ, 7);
	trail_begin();
	trail_note(&places[4]);
	history_find(&c, cq, &made, &changed);
	assert_int_equal(made.n, 2);
	assert_ptr_equal(made.pc[0], &places[2]);
	assert_int_equal(changed.n, 1);
	assert_ptr_equal(changed.pc[0], &places[3]);
	history_find(&c, other, &made, &changed);
	assert_int_equal(made.n + changed.n, 0);
	history_made(&c, GUEST_CQ, 7); /* a new one with that number */
	history_find(&c, cq, &made, &changed);
	assert_int_equal(made.n, 1);
	assert_int_equal(changed.n, 0);
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
		T(a_store_beside_the_lock_is_found_without_a_turn),
		T(one_call_does_not_show_what_a_lock_protects),
		T(other_files_may_go_without_the_lock),
		T(who_takes_a_lock_looks_with_it),
		T(what_has_several_locks_is_protected_by_none),
		T(who_ends_an_object_needs_no_lock),
		T(handlers_of_interrupts_have_no_locks),
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
		T(a_flag_is_cleared_behind_the_last_step),
		T(who_frees_memory_looks_at_its_flag),
		T(who_has_seen_the_thread_end_needs_no_look),
		T(what_was_stored_before_others_ran_is_old),
		T(freed_memory_is_neither_used_nor_freed),
		T(a_handler_is_taken_back_before_its_memory_is_freed),
		T(a_list_forgets_a_local_before_its_function_ends),
		T(another_thread_moves_a_pointer_to_a_local),
		T(what_ran_before_a_register_was_written_is_known_later),
		T(what_a_long_call_entered_first_is_known),
		T(who_made_and_changed_an_object_is_known_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
