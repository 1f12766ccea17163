// SPDX-License-Identifier: Apache-2.0
/* Schedules as text, points that are counted, and the plan of schedules. */
#include "testbench/explore/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/schedule_test.XXXXXX";

static void put(const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* Reads what was put; the complaint goes to buf. */
static int take(struct schedule *s, char *buf, size_t size)
{
	FILE *err = fmemopen(buf, size, "w");
	int rc;

	assert_non_null(err);
	rc = schedule_read(s, path, err);
	fclose(err);
	return rc;
}

static void a_schedule_reads_back_as_it_was_written(void **state)
{
	const struct schedule s = {.scenario = "rc_send",
				   .sim_seed = 7,
				   .from_start = true,
				   .n = TURN_KIND_COUNT,
				   .turns = {{TURN_ACCESS, 3, 12, 1500},
					     {TURN_REGISTER, 4, 0, 1},
					     {TURN_AFTER, 4, 1, 2},
					     {TURN_WAKE, 5, 1, 1000000},
					     {TURN_INTERRUPT, 1, 2, 3000000},
					     {TURN_SPURIOUS, 0, 9, 999},
					     {TURN_READ, 0, 7, 500},
					     {TURN_WRITE, 1, 8, 600},
					     {TURN_DOORBELL, 6, 3, 700}}};
	struct schedule back;
	char complaint[256] = "";
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(schedule_write(&s, f), 0);
	fclose(f);
	assert_int_equal(take(&back, complaint, sizeof(complaint)), 0);
	assert_string_equal(back.scenario, s.scenario);
	assert_int_equal(back.sim_seed, 7);
	assert_true(back.from_start);
	assert_int_equal(back.n, s.n);
	assert_memory_equal(back.turns, s.turns, s.n * sizeof(s.turns[0]));
}

static void a_wrong_line_is_named(void **state)
{
	static const char *const wrong[] = {
		"hcasim schedule 1\nscenario x\naccess thread 3 nth 12\n",
		"hcasim schedule 1\nscenario x\naccess host 3 nth 12 for 1us\n",
		"hcasim schedule 1\nscenario x\nleap thread 3 nth 12 for 1us\n",
		"hcasim schedule 1\nscenario x\naccess thread 3 nth 12 for 1us and more\n",
		"hcasim schedule 1\nscenario x\naccess thread 3 nth 12 for long\n",
	};
	struct schedule s;
	char complaint[256], where[64];

	snprintf(where, sizeof(where), "%s:3: ", path);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		put(wrong[i]);
		assert_int_not_equal(take(&s, complaint, sizeof(complaint)), 0);
		assert_memory_equal(complaint, where, strlen(where));
	}
	put("schedule\n");
	assert_int_not_equal(take(&s, complaint, sizeof(complaint)), 0);
	put("hcasim schedule 1\n# nothing\n");
	assert_int_not_equal(take(&s, complaint, sizeof(complaint)), 0);
}

static void points_are_counted_for_each_party(void **state)
{
	struct struck struck[1] = {{.yes = false}};
	struct explorer e = {.schedule = {.n = 1, .turns = {{TURN_ACCESS, 2, 1, 500}}},
			     .struck = struck};
	const struct point other = {.kind = TURN_ACCESS, .party = 1},
			   mine = {.kind = TURN_ACCESS, .party = 2, .at = 64};

	assert_int_equal(explorer_point(&e, &mine), 0); /* has not begun */
	explorer_begin(&e);
	assert_int_equal(explorer_point(&e, &mine), 0);
	assert_int_equal(explorer_point(&e, &other), 0);
	assert_int_equal(explorer_point(&e, &other), 0);
	assert_false(e.struck[0].yes);
	assert_int_equal(explorer_point(&e, &mine), 500);
	assert_true(e.struck[0].yes);
	assert_int_equal(e.struck[0].at.at, 64);
	assert_int_equal(explorer_point(&e, &mine), 0);
}

/* A run: two places of the driver, and the device, which comes by the line of the first one. */
enum { DRIVER = 100, LINE = 0x1000, OTHER_LINE = 0x2000 };

static struct notes *a_run(void)
{
	static struct noted noted[1 + 3 * DRIVER];
	static struct notes notes;

	notes = (struct notes){.noted = noted, .n = 1};
	noted[0] = (struct noted){.kind = TURN_WAKE, .party = 1};
	for (uint32_t i = 0; i < DRIVER; i++) {
		const uint64_t now_ps = i * UINT64_C(1000000);

		noted[notes.n++] = (struct noted){.kind = TURN_ACCESS,
						  .party = 1,
						  .nth = 2 * i,
						  .place = 1,
						  .at = LINE,
						  .now_ps = now_ps};
		noted[notes.n++] = (struct noted){.kind = TURN_ACCESS,
						  .party = 1,
						  .nth = 2 * i + 1,
						  .place = 2,
						  .at = OTHER_LINE,
						  .now_ps = now_ps + 1};
		if (i == DRIVER / 2)
			noted[notes.n++] = (struct noted){.kind = NOTED_DEVICE,
							  .at = LINE + 8,
							  .bytes = 8,
							  .store = true,
							  .now_ps = now_ps + 400000};
	}
	return &notes;
}

/* Of the place that conflicts, the point just before the device's write is held until after it. */
static void a_conflict_is_tried_in_the_other_order(void **state)
{
	struct plan *p = plan_make(a_run(), 1);
	struct plan_size size;
	bool reversed = false;

	assert_non_null(p);
	plan_measure(p, 12, &size);
	assert_int_equal(size.points, 1 + 2 * DRIVER);
	assert_int_equal(size.places, 3);
	assert_int_equal(size.conflicts, 1);
	assert_int_equal(size.reversed, 1);
	for (unsigned number = 1; number <= 12; number++) {
		struct schedule s;

		plan_schedule(p, number, &s);
		assert_true(s.n > 0);
		for (unsigned i = 0; i < s.n; i++)
			reversed |= s.turns[i].kind == TURN_ACCESS && s.turns[i].nth == DRIVER &&
				    s.turns[i].ps > 400000 && s.turns[i].ps < 500000;
	}
	assert_true(reversed);
	plan_free(p);
}

/* A write of the device lands, the driver looks, and rings a doorbell; an interrupt comes, and its
 * handler gives its entries back. */
static struct notes *a_wake_up(void)
{
	enum { WRITE_NTH = 7, US = 1000000 };
	static struct noted noted[] = {
		{.kind = TURN_WAKE, .party = 1},
		{.kind = TURN_WRITE, .at = LINE, .nth = WRITE_NTH, .store = true},
		{.kind = NOTED_DEVICE, .at = LINE, .bytes = 8, .store = true, .now_ps = US},
		{.kind = TURN_ACCESS, .party = 1, .at = LINE, .place = 1, .now_ps = 2 * US},
		{.kind = TURN_REGISTER, .party = 1, .at = 4, .place = 2, .now_ps = 3 * US},
		{.kind = TURN_INTERRUPT, .at = 1, .now_ps = 4 * US},
		{.kind = TURN_REGISTER, .party = 2, .at = 8, .place = 3, .now_ps = 6 * US},
	};
	static struct notes notes;

	notes = (struct notes){.noted = noted, .n = sizeof(noted) / sizeof(*noted)};
	return &notes;
}

static bool holds_for(const struct plan *p, enum turn_kind kind, unsigned party, uint32_t nth,
		      uint64_t ps)
{
	for (unsigned number = 1; number <= 40; number++) {
		struct schedule s;

		plan_schedule(p, number, &s);
		for (unsigned i = 0; number % 4 && i < s.n; i++)
			if (s.turns[i].kind == kind && s.turns[i].party == party &&
			    s.turns[i].nth == nth && s.turns[i].ps >= ps &&
			    s.turns[i].ps < ps + 10000)
				return true;
	}
	return false;
}

/* The write lands after the driver's look and after its doorbell; the doorbell leaves after the
 * handler. */
static void a_wake_up_is_tried_in_every_order(void **state)
{
	struct plan *p = plan_make(a_wake_up(), 1);
	struct plan_size size;

	assert_non_null(p);
	plan_measure(p, 40, &size);
	assert_int_equal(size.follow, 3);
	assert_int_equal(size.preceded, 3);
	assert_int_equal(size.yield, 1);
	assert_int_equal(size.yielded, 1);
	assert_true(holds_for(p, TURN_WRITE, 0, 7, 1000000));
	assert_true(holds_for(p, TURN_WRITE, 0, 7, 2000000));
	assert_true(holds_for(p, TURN_REGISTER, 1, 0, 3000000));
	plan_free(p);
}

/* A thread asks with a doorbell, and sleeps. The interrupt that comes first is another one: the answer
 * comes later, and wakes the thread. */
static struct notes *a_question(void)
{
	enum { US = 1000000 };
	static struct noted noted[] = {
		{.kind = TURN_WAKE, .party = 1},
		{.kind = TURN_REGISTER, .party = 1, .at = 4, .place = 1, .now_ps = 1 * US},
		{.kind = TURN_AFTER, .party = 1, .at = 4, .place = 1, .now_ps = 2 * US},
		{.kind = TURN_INTERRUPT, .at = 1, .now_ps = 3 * US},
		{.kind = TURN_REGISTER, .party = 2, .at = 8, .place = 2, .now_ps = 5 * US},
		{.kind = TURN_WAKE, .party = 1, .place = 3, .nth = 1, .now_ps = 7 * US},
		{.kind = TURN_WAKE,
		 .party = 1,
		 .place = 4,
		 .nth = 2,
		 .woken = true,
		 .now_ps = 20 * US},
	};
	static struct notes notes;

	notes = (struct notes){.noted = noted, .n = sizeof(noted) / sizeof(*noted)};
	return &notes;
}

/* It stands behind its doorbell until the answer has come: then nobody wakes it any more. And until
 * the other interrupt has been handled. */
static void a_thread_oversleeps(void **state)
{
	struct plan *p = plan_make(a_question(), 1);

	assert_non_null(p);
	assert_true(holds_for(p, TURN_AFTER, 1, 0, 18000000));
	assert_true(holds_for(p, TURN_AFTER, 1, 0, 3000000));
	assert_true(holds_for(p, TURN_WAKE, 1, 1, 13000000));
	plan_free(p);
}

static void a_schedule_depends_on_seed_and_number_alone(void **state)
{
	struct plan *p = plan_make(a_run(), 1), *other = plan_make(a_run(), 2);
	struct schedule first[20], again;
	bool differs = false;

	memset(first, 0, sizeof(first));
	for (unsigned i = 0; i < 20; i++)
		plan_schedule(p, i + 1, &first[i]);
	for (unsigned i = 20; i-- > 0;) {
		memset(&again, 0, sizeof(again));
		plan_schedule(p, i + 1, &again);
		assert_memory_equal(&again, &first[i], sizeof(again));
		memset(&again, 0, sizeof(again));
		plan_schedule(other, i + 1, &again);
		differs |= memcmp(&again, &first[i], sizeof(again)) != 0;
	}
	assert_true(differs);
	plan_free(p);
	plan_free(other);
}

static int end(void **state)
{
	unlink(path);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_schedule_reads_back_as_it_was_written),
		cmocka_unit_test(a_wrong_line_is_named),
		cmocka_unit_test(points_are_counted_for_each_party),
		cmocka_unit_test(a_conflict_is_tried_in_the_other_order),
		cmocka_unit_test(a_wake_up_is_tried_in_every_order),
		cmocka_unit_test(a_thread_oversleeps),
		cmocka_unit_test(a_schedule_depends_on_seed_and_number_alone),
	};
	const int fd = mkstemp(path);

	if (fd < 0)
		return 1;
	close(fd);
	return cmocka_run_group_tests(tests, NULL, end);
}
