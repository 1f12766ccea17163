/* The event core: order, moving, real deletion, foreign events. */
#include "model/engine/event_core.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

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
	struct named_event a = {.ev.job = note, .name = 1}, b = {.ev.job = note, .ev.foreign = true, .name = 2},
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(equal_times_run_in_the_order_they_were_set, start, finish),
		cmocka_unit_test_setup_teardown(random_times_run_sorted_and_cancelled_ones_never, start, finish),
		cmocka_unit_test_setup_teardown(a_time_in_the_past_means_now, start, finish),
		cmocka_unit_test_setup_teardown(running_up_to_a_time_stops_before_foreign_events, start, finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
