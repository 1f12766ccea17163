/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every function of user verbs that allocates or executes commands. Its nth allocation or its nth
 * command fails, for all n. The function reports the failure, and right after it everything that
 * the kernel, the driver and the process hold is as it was before the call. The simulation runs
 * once, in one host thread; the tests judge its results afterwards.
 */
#include "host_driver/uverbs/tests/unwind_cases.h"
#include "model/interface/macros.h"
#include "traces/trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

/* --- running them --- */

static void wrong(const struct test_case *c, unsigned nth, const char *what)
{
	static const char *const kinds[KINDS] = {"allocation", "command"};

	if (rig.wrongs < CASES_MAX)
		snprintf(rig.wrong[rig.wrongs], TEXT, "%s, %s %u: %s", c->name, kinds[failure.kind],
			 nth, what);
	rig.wrongs++;
}

static void compare(const struct test_case *c, unsigned nth, const struct held *before,
		    const char *when)
{
	const unsigned *was = (const void *)before, *is;
	struct held after;
	char text[TEXT / 2];

	look(&after);
	is = (const void *)&after;
	for (size_t i = 0; i < sizeof(after) / sizeof(*is); i++)
		if (was[i] != is[i]) {
			snprintf(text, sizeof(text), "%s, word %zu was %u, is %u", when, i, was[i],
				 is[i]);
			wrong(c, nth, text);
			return;
		}
}

/* Runs a case in which the nth operation fails. False: there was no nth operation, and the call
 * succeeded. */
static bool run_nth(const struct test_case *c, unsigned nth)
{
	struct held start, before;
	void *made_before;
	int rc;

	look(&start);
	if (c->prepare && c->prepare()) {
		wrong(c, nth, "is not prepared");
		return false;
	}
	look(&before);
	made_before = rig.made;
	failure.count = 0;
	failure.nth = nth;
	failure.fired = false;
	failure.armed = true;
	errno = 0;
	rc = c->call();
	failure.armed = false;
	if (rc && !failure.fired)
		wrong(c, nth, "fails by itself");
	else if (rc)
		rig.failures[failure.kind]++;
	if (rc) {
		rig.made = made_before;
		/* a region whose registration was changed only in part can only be destroyed */
		if (c->call != call_rereg)
			compare(c, nth, &before, "right after the failure");
	} else if (c->undo) {
		c->undo();
		if (c->prepare)
			rig.made = made_before;
	}
	if (c->tidy)
		c->tidy();
	compare(c, nth, &start, "in the end");
	return failure.fired;
}

static void run_case(const struct test_case *c)
{
	/* A first run without failures: it makes what the driver keeps for later use. */
	failure.kind = FAIL_ALLOCATION;
	run_nth(c, 0);
	for (failure.kind = 0; failure.kind < KINDS; failure.kind++)
		for (unsigned nth = 1; nth < NTH_MAX && run_nth(c, nth); nth++)
			;
	rig.cases++;
}

static void run(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		run_case(&cases[i]);
}

static void every_failure_leaves_all_as_it_was(void **state)
{
	assert_true(rig.set_up);
	assert_int_equal(rig.cases, ARRAY_SIZE(cases));
	for (unsigned i = 0; i < rig.wrongs && i < CASES_MAX; i++)
		print_error("%s\n", rig.wrong[i]);
	assert_int_equal(rig.wrongs, 0);
	print_message("%u calls with a failed allocation, %u with a failed command\n",
		      rig.failures[FAIL_ALLOCATION], rig.failures[FAIL_COMMAND]);
	/* on average more than one allocation for each case, and a command for most */
	assert_true(rig.failures[FAIL_ALLOCATION] > 165);
	assert_true(rig.failures[FAIL_COMMAND] > 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_failure_leaves_all_as_it_was),
		cmocka_unit_test(nothing_is_left),
	};

	return rig_main(run, tests, ARRAY_SIZE(tests));
}
