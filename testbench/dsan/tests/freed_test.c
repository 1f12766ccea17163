// SPDX-License-Identifier: Apache-2.0
/* Memory that was freed, or ends with its function, and who still works on it. */
#include "testbench/dsan/tests/played_threads.h"

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

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, begin, end)
	const struct CMUnitTest tests[] = {
		T(a_flag_is_cleared_behind_the_last_step),
		T(who_frees_memory_looks_at_its_flag),
		T(who_has_seen_the_thread_end_needs_no_look),
		T(what_was_stored_before_others_ran_is_old),
		T(freed_memory_is_neither_used_nor_freed),
		T(a_handler_is_taken_back_before_its_memory_is_freed),
		T(a_list_forgets_a_local_before_its_function_ends),
		T(another_thread_moves_a_pointer_to_a_local),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
