// SPDX-License-Identifier: Apache-2.0
/* Which functions a call has come by, and which made an object. */
#include "testbench/dsan/tests/played_threads.h"
#include "testbench/dsan/hear/history.h"
#include "testbench/dsan/hear/trail.h"

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
		T(what_ran_before_a_register_was_written_is_known_later),
		T(what_a_long_call_entered_first_is_known),
		T(who_made_and_changed_an_object_is_known_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
