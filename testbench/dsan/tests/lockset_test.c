// SPDX-License-Identifier: Apache-2.0
/* What a lock protects, as the stores of earlier calls show it. */
#include "testbench/dsan/tests/played_threads.h"

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

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, begin, end)
	const struct CMUnitTest tests[] = {
		T(a_store_beside_the_lock_is_found_without_a_turn),
		T(one_call_does_not_show_what_a_lock_protects),
		T(other_files_may_go_without_the_lock),
		T(who_takes_a_lock_looks_with_it),
		T(what_has_several_locks_is_protected_by_none),
		T(who_ends_an_object_needs_no_lock),
		T(handlers_of_interrupts_have_no_locks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
