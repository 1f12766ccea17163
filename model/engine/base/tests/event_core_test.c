/* SPDX-License-Identifier: Apache-2.0 */
/* The event core: order, moving and cancelling of events, foreign events. */
#include "model/engine/base/event_core.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct named_event {
	struct event ev;
	int name;
	uint64_t ran_at_ps;
};

static int order[4096];
static unsigned ran;
static struct event_core core;

static void note(struct event *ev)
{
	struct named_event *ne = (struct named_event *)ev;

	ne->ran_at_ps = core.now_ps;
	order[ran++] = ne->name;
}

static int start(void **state)
{
	event_core_init(&core);
	ran = 0;
	return 0;
}

static int finish(void **state)
{
	event_core_free(&core);
	return 0;
}

static void equal_times_run_in_the_order_they_were_set(void **state)
{
	struct named_event e[100] = {0};

	for (int i = 0; i < 100; i++) {
		e[i].ev.job = note;
		e[i].name = i;
		event_set(&core, &e[i].ev, 1000);
	}
	while (event_core_peek(&core))
		event_core_step(&core);
	for (int i = 0; i < 100; i++)
		assert_int_equal(order[i], i);
}

static int by_time(const void *a, const void *b)
{
	const struct named_event *x = a, *y = b;

	return x->ev.at_ps < y->ev.at_ps ? -1 : x->ev.at_ps > y->ev.at_ps;
}

static void random_times_run_sorted_and_cancelled_ones_never(void **state)
{
	enum { N = 2000 };
	static struct named_event e[N];
	unsigned expected = 0, random = 1;

	for (int i = 0; i < N; i++) {
		random = random * 1103515245 + 12345;
		e[i] = (struct named_event){.ev.job = note, .name = i};
		event_set(&core, &e[i].ev, random % 5000);
	}
	for (int i = 0; i < N; i += 3)
		event_cancel(&core, &e[i].ev);
	for (int i = 1; i < N; i += 3) {
		random = random * 1103515245 + 12345;
		event_set(&core, &e[i].ev, 5000 + random % 5000);
	}
	assert_int_equal(core.count, N - (N + 2) / 3);
	while (event_core_peek(&core))
		event_core_step(&core);
	for (int i = 0; i < N; i++)
		expected += i % 3 != 0;
	assert_int_equal(ran, expected);
	for (int i = 0; i < N; i++) {
		if (i % 3 == 0)
			assert_int_equal(e[i].ran_at_ps, 0);
		else
			assert_int_equal(e[i].ran_at_ps, e[i].ev.at_ps);
	}
	for (unsigned i = 1; i < ran; i++)
		assert_true(by_time(&e[order[i - 1]], &e[order[i]]) <= 0);
}

static struct event *last_run;

static void remember(struct event *ev)
{
	last_run = ev;
}

static bool before_it(const struct event *a, const struct event *b)
{
	return a->at_ps < b->at_ps || (a->at_ps == b->at_ps && a->seq < b->seq);
}

/* Few events and many, alone and in a lane, moved and cancelled: the event that runs is always the
 * earliest of all that are set. */
static void what_runs_is_the_first_of_all(void **state)
{
	enum { N = 300, ROUNDS = 40000 };
	static struct event e[N];
	struct event_lane lane = {0};
	unsigned random = 7, steps = 0;

	memset(e, 0, sizeof(e));
	for (unsigned i = 0; i < ROUNDS; i++) {
		unsigned few = i / 5000 % 2 ? 10 : N, what;
		struct event *ev;

		random = random * 1103515245 + 12345;
		ev = &e[(random >> 8) % few];
		what = (random >> 4) % 8;
		ev->job = remember;
		if (what < 3) {
			event_set(&core, ev, core.now_ps + (random >> 16) % 700);
		} else if (what < 5) {
			event_lane_set(&core, &lane, ev, core.now_ps + 500 + (random >> 16) % 9);
		} else if (what == 5) {
			event_cancel(&core, ev);
			assert_false(event_is_set(ev));
		} else if (event_core_peek(&core)) {
			struct event *first = event_core_peek(&core);

			event_core_step(&core);
			steps++;
			assert_ptr_equal(last_run, first);
			assert_false(event_is_set(first));
			for (unsigned k = 0; k < N; k++)
				assert_false(event_is_set(&e[k]) && before_it(&e[k], first));
		}
	}
	assert_true(steps > ROUNDS / 8);
	for (unsigned k = 0; k < N; k++)
		event_cancel(&core, &e[k]);
	assert_null(event_core_peek(&core));
	assert_int_equal(core.count, 0);
}

static void a_time_in_the_past_means_now(void **state)
{
	struct named_event a = {.ev.job = note, .name = 1}, b = {.ev.job = note, .name = 2};

	event_set(&core, &a.ev, 500);
	event_core_step(&core);
	event_set(&core, &b.ev, 10);
	assert_int_equal(b.ev.at_ps, 500);
}

static void running_up_to_a_time_stops_before_foreign_events(void **state)
{
	struct named_event a = {.ev.job = note, .name = 1},
			   b = {.ev.job = note, .ev.foreign = true, .name = 2},
			   c = {.ev.job = note, .name = 3};

	event_set(&core, &a.ev, 100);
	event_set(&core, &b.ev, 200);
	event_set(&core, &c.ev, 300);
	event_core_run_until(&core, 1000);
	assert_int_equal(ran, 1);
	assert_int_equal(core.now_ps, 100);
	event_core_step(&core);
	event_core_run_until(&core, 1000);
	assert_int_equal(ran, 3);
	assert_int_equal(core.now_ps, 1000);
}

/* Polling with event_set_after_foreign(). If only foreign events write memory, the event sleeps
 * until one has run; otherwise it becomes due as any other. */
static void looks_wait_for_foreign_events(void **state)
{
	struct named_event look = {.ev.job = note, .name = 1}, other = {.ev.job = note, .name = 2},
			   host = {.ev.job = note, .ev.foreign = true, .name = 3};

	event_set_after_foreign(&core, &look.ev, 50, core.foreign_runs);
	event_cancel(&core, &look.ev);
	assert_int_equal(core.count, 0);
	core.foreign_only = true;
	event_set_after_foreign(&core, &other.ev, 70, core.foreign_runs);
	event_set_after_foreign(&core, &look.ev, 50, core.foreign_runs);
	assert_true(event_is_set(&look.ev));
	assert_null(event_core_peek(&core));
	event_cancel(&core, &other.ev);
	assert_false(event_is_set(&other.ev));
	event_set(&core, &other.ev, 10); /* not foreign, so it wakes no sleeper */
	event_set(&core, &host.ev, 100);
	event_core_step(&core);
	assert_int_equal(core.count, 1);
	event_core_step(&core);
	assert_ptr_equal(event_core_peek(&core), &look.ev);
	assert_int_equal(look.ev.at_ps, 150);
	event_core_step(&core);
	/* a foreign event has run since the last poll: no sleep */
	event_set_after_foreign(&core, &look.ev, 50, core.foreign_runs - 1);
	assert_int_equal(look.ev.at_ps, 200);
	/* set again: the event now sleeps */
	event_set_after_foreign(&core, &look.ev, 50, core.foreign_runs);
	assert_null(event_core_peek(&core));
	event_cancel(&core, &look.ev);
	assert_null(core.asleep);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(equal_times_run_in_the_order_they_were_set, start,
						finish),
		cmocka_unit_test_setup_teardown(random_times_run_sorted_and_cancelled_ones_never,
						start, finish),
		cmocka_unit_test_setup_teardown(what_runs_is_the_first_of_all, start, finish),
		cmocka_unit_test_setup_teardown(a_time_in_the_past_means_now, start, finish),
		cmocka_unit_test_setup_teardown(running_up_to_a_time_stops_before_foreign_events,
						start, finish),
		cmocka_unit_test_setup_teardown(looks_wait_for_foreign_events, start, finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
