// SPDX-License-Identifier: Apache-2.0
/* Memory of the driver that is left at its end, and counts of users. The test plays the driver. */
#include "testbench/dsan/checker_impl.h"
#include "testbench/dsan/held/counts.h"
#include "testbench/dsan/held/heap.h"

#include "model/interface/macros.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct kernel_thread {
	int unused;
};

static struct kernel_thread one, two;
static struct kernel_thread *running;
static struct platform platform;
static struct checker c;
static unsigned reports;
static enum guest_rule reported;
static char text[512];

/* The places of the driver. */
static const char maker[1], writer[1], reader[1], closer[1], caller[1];
static bool closer_is_called;

/* --- what the test plays --- */

struct kernel_thread *kernel_thread_running(void)
{
	return running;
}

void calls_take(struct calls *calls, const struct kernel_thread *thread)
{
	calls->n = closer_is_called ? 2 : 0;
	calls->pc[0] = closer;
	calls->pc[1] = caller;
}

bool checker_in_mlx4(const void *pc)
{
	return pc == writer;
}

void checker_functions(const void *const *pcs, unsigned n, char *names, size_t size)
{
	size_t used = 0;

	names[0] = 0;
	for (unsigned i = 0; i < n; i++)
		used += (size_t)snprintf(names + used, size - used, "%s ",
					 pcs[i] == maker    ? "maker"
					 : pcs[i] == writer ? "writer"
					 : pcs[i] == reader ? "reader"
					 : pcs[i] == caller ? "caller"
							    : "closer");
}

static void tell(struct checker *of, const struct breach *b, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	reports++;
	reported = b->rule;
}

static int begin(void **state)
{
	c = (struct checker){.tell = tell, .host.platform = &platform};
	running = &one;
	reports = 0;
	closer_is_called = false;
	heap_forget();
	counts_forget();
	heap_driver_begins();
	return 0;
}

static void expect_report(enum guest_rule rule, const char *says)
{
	assert_int_equal(reports, 1);
	assert_int_equal(reported, rule);
	assert_non_null(strstr(text, says));
	reports = 0;
}

/* With its margin, as the driver's calls give it. */
static void *taken(size_t bytes)
{
	return calloc(1, bytes + HEAP_MARGIN);
}

/* --- tests --- */

struct holder {
	void *held;
	unsigned users;
};

static void point(struct holder *h, void *to)
{
	heap_store(&c, (uintptr_t)&h->held, sizeof(h->held), writer);
	h->held = to;
}

static void a_table_points_to_what_is_gone(void **state)
{
	const size_t bytes = 400 * sizeof(struct holder);
	struct holder *table = taken(bytes), *upper = taken(sizeof(*upper));
	char *object = taken(8);

	(void)state;
	heap_taken(table, bytes, true, maker);
	heap_taken(upper, sizeof(*upper), false, maker);
	/* at the begin of the table, and where nobody follows who wrote */
	for (unsigned i = 3; i < 400; i += 396) {
		heap_taken(object, 8, true, maker);
		point(&table[i], object + 4); /* a list node in it */
		point(upper, object);
		heap_back(&c, object, closer);
		heap_gone(&c, object, "a QP");
		expect_report(RULE_freed_in_use, "a QP is gone, and a pointer to it is left");
		assert_non_null(strstr(text, "taken by maker"));
		heap_gone(&c, object, "a QP");
		assert_int_equal(reports, 0);
	}
	heap_taken(object, 8, true, maker);
	point(&table[3], object);
	heap_back(&c, object, closer);
	table[3].held = NULL;
	heap_gone(&c, object, "a QP");
	heap_taken(object, 8, true, maker);
	point(&table[3], object);
	heap_back(&c, object, closer);
	heap_back(&c, table, closer);
	heap_gone(&c, object, "a QP");
	assert_int_equal(reports, 0);
	heap_back(&c, upper, closer);
	free(table);
	free(object);
	free(upper);
}

static void a_handler_may_still_use_it(void **state)
{
	static const struct {
		bool reads, points, installed, interruptible, told;
	} rows[] = {
		{true, true, true, true, true},   {false, true, true, true, false},
		{true, false, true, true, false}, {true, true, false, true, false},
		{true, true, true, false, false},
	};
	struct holder *device = taken(sizeof(*device));
	char *held = taken(8);

	heap_taken(device, sizeof(*device), false, maker);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		heap_taken(held, 8, false, maker);
		heap_handler(device, true);
		if (rows[i].reads)
			heap_load(&c, (uintptr_t)held, 8, reader, NULL, device);
		device->held = rows[i].points ? held : NULL;
		if (!rows[i].installed)
			heap_handler(device, false);
		heap_back(rows[i].interruptible ? &c : NULL, held, closer);
		if (rows[i].told)
			expect_report(RULE_freed_in_use, "taken by maker");
		assert_int_equal(reports, 0);
		heap_handler(device, false);
	}
	heap_back(&c, device, closer);
	free(device);
	free(held);
}

static void what_is_freed_is_not_missed(void **state)
{
	struct holder *h = taken(sizeof(*h));

	heap_taken(h, sizeof(*h), false, maker);
	heap_store(&c, (uintptr_t)&h->held, 8, writer);
	heap_back(&c, h, closer);
	free(h);
	heap_driver_ends(&c);
	assert_int_equal(reports, 0);
}

static void the_other_driver_is_still_there(void **state)
{
	void *at = taken(8);

	heap_driver_begins();
	heap_taken(at, 8, false, maker);
	heap_driver_ends(&c);
	assert_int_equal(reports, 0);
	heap_driver_ends(&c);
	expect_report(RULE_not_given_back, "8 bytes is left, taken by maker");
	free(at);
}

static void who_freed_the_pointer_is_told(void **state)
{
	struct holder *h = taken(sizeof(*h));

	h->held = taken(100);
	heap_taken(h, sizeof(*h), false, maker);
	heap_taken(h->held, 100, false, maker);
	heap_load(&c, (uintptr_t)h->held, 8, reader, NULL, NULL);
	heap_store(&c, (uintptr_t)h->held + 90, 8, writer);
	heap_back(&c, h, closer);
	heap_driver_ends(&c);
	expect_report(RULE_not_given_back, "what pointed to it was freed by closer");
	assert_non_null(strstr(text, "read and written last by reader writer"));
	free(h->held);
	free(h);
}

static void access_row(uintptr_t at, size_t bytes, bool store)
{
	if (store)
		heap_store(&c, at, bytes, writer);
	else
		heap_load(&c, at, bytes, writer, NULL, NULL);
}

/* One byte too far, a whole entry too far, and a copy that goes on behind the margin. */
static void beyond_the_end_is_told(void **state)
{
	enum { BYTES = 3000 };
	const uintptr_t at = 0x100000;
	static const struct {
		uintptr_t offset;
		size_t bytes;
		bool store;
		const char *says;
	} rows[] = {
		{BYTES, 1, true,
		 "1 bytes are written at byte 3000 of a piece of memory of 3000 bytes"},
		{BYTES - 4, 8, false, "8 bytes are read at byte 2996"},
		{BYTES + HEAP_MARGIN - 1, 1, false, "1 bytes are read at byte 3127"},
		{100, 1 << 20, true, "1048576 bytes are written at byte 100"},
	};

	heap_taken((const void *)at, BYTES, false, maker);
	heap_load(&c, at, BYTES, writer, NULL, NULL);
	heap_load(&c, at + BYTES - 1, 1, writer, NULL, NULL);
	heap_store(&c, at + BYTES + HEAP_MARGIN, 8, writer);
	assert_int_equal(reports, 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		access_row(at + rows[i].offset, rows[i].bytes, rows[i].store);
		expect_report(RULE_heap_overrun, rows[i].says);
		assert_non_null(strstr(text, "taken by maker"));
	}
	heap_forget();
	heap_store(&c, at + BYTES, 8, writer);
	assert_int_equal(reports, 0);
}

/* A word that nobody has set is told once for each piece of memory; a byte that looks so by chance is not. */
static void memory_that_nobody_set_is_told(void **state)
{
	union {
		unsigned char byte[64];
		uint32_t word[16];
	} *at = malloc(sizeof(*at));

	assert_non_null(at);
	memset(at, HEAP_UNSET, sizeof(*at));
	heap_taken(at, sizeof(*at), true, maker);
	heap_load(&c, (uintptr_t)&at->word[3], 4, writer, NULL, NULL);
	assert_int_equal(reports, 0);
	heap_unset(at, maker);
	at->word[3] = 1;
	at->byte[17] = 0;
	heap_load(&c, (uintptr_t)&at->word[3], 4, writer, NULL, NULL);
	heap_load(&c, (uintptr_t)&at->byte[16], 1, writer, NULL, NULL);
	heap_load(&c, (uintptr_t)at, sizeof(*at), writer, NULL, NULL);
	assert_int_equal(reports, 0);
	heap_load(&c, (uintptr_t)&at->byte[22], 2, writer, NULL, NULL);
	expect_report(RULE_memory_not_set,
		      "2 bytes are read at byte 22 of a piece of memory that maker");
	heap_load(&c, (uintptr_t)&at->word[8], 4, writer, NULL, NULL);
	assert_int_equal(reports, 0);
	heap_back(&c, at, maker);
	free(at);
}

/* One place fills a whole structure: it is told for each part of it. */
static void a_writer_is_known_in_each_line(void **state)
{
	enum { BYTES = 400 };
	char *at = taken(BYTES);
	const void *pcs[4];

	heap_driver_begins();
	heap_taken(at, BYTES, false, maker);
	for (unsigned i = 0; i < BYTES; i += 8)
		heap_store(&c, (uintptr_t)at + i, 8, writer);
	for (unsigned i = 0; i < BYTES; i += 8) {
		assert_int_equal(heap_writers(at + i, 8, pcs, 1), 1);
		assert_ptr_equal(pcs[0], writer);
	}
	heap_back(&c, at, closer);
	free(at);
	heap_driver_ends(&c);
}

/* More of them than are kept, with and without a caller: the last ones are told. */
static void many_freed_the_pointer(void **state)
{
	struct holder *h[6];
	void *held = taken(100);

	heap_taken(held, 100, false, maker);
	for (unsigned i = 0; i < 6; i++) {
		h[i] = taken(sizeof(*h[i]));
		h[i]->held = held;
		heap_taken(h[i], sizeof(*h[i]), false, maker);
		closer_is_called = i == 5;
		heap_back(&c, h[i], closer);
		free(h[i]);
	}
	heap_driver_ends(&c);
	expect_report(RULE_not_given_back, "was freed by closer closer closer caller ");
	free(held);
}

static void a_new_user_is_counted(void **state)
{
	struct holder used = {0};
	int object;
	struct counts n;

	counts_begin(&n, &c, "make");
	counts_use(&n, &used, &used.users, "thing");
	counts_made(&n, &object);
	expect_report(RULE_users_differ, "the users of the thing were 0 and are 0, at least 1");

	counts_begin(&n, &c, "make");
	counts_use(&n, &used, &used.users, "thing");
	used.users++;
	counts_made(&n, &object);
	assert_int_equal(reports, 0);
	counts_begin(&n, &c, "end");
	counts_leave(&n, &object);
	counts_left(&n, &object, true);
	expect_report(RULE_users_differ, "end has destroyed an object");
}

static void a_failure_counts_nothing(void **state)
{
	struct holder used = {0};
	struct counts n;

	counts_begin(&n, &c, "make");
	counts_use(&n, &used, &used.users, "thing");
	used.users++;
	counts_made(&n, NULL);
	expect_report(RULE_users_differ, "make has failed");
}

static void calls_at_the_same_time_are_not_judged(void **state)
{
	struct holder used = {0};
	int object;
	struct counts n, other;

	counts_begin(&n, &c, "make");
	counts_use(&n, &used, &used.users, "thing");
	running = &two;
	counts_begin(&other, &c, "make");
	counts_made(&other, NULL);
	running = &one;
	counts_made(&n, &object);
	assert_int_equal(reports, 0);
}

static void a_call_within_a_call_is_judged_and_so_is_the_outer_one(void **state)
{
	struct holder used = {0};
	int object;
	struct counts n, inner;

	counts_begin(&n, &c, "make");
	counts_use(&n, &used, &used.users, "thing");
	counts_begin(&inner, &c, "make");
	counts_made(&inner, NULL);
	counts_made(&n, &object);
	expect_report(RULE_users_differ, "thing");
}

/* An object ends unheard, and the next one at its address is made beside another call: what the first one counted is not expected back. */
static void an_address_is_used_again(void **state)
{
	struct holder used = {0};
	int object;
	struct counts n, other;

	counts_begin(&n, &c, "make");
	counts_use(&n, &used, &used.users, "thing");
	used.users++;
	counts_made(&n, &object);
	used.users--;

	counts_begin(&n, &c, "make");
	running = &two;
	counts_begin(&other, &c, "make");
	running = &one;
	counts_made(&n, &object);
	counts_begin(&n, &c, "end");
	counts_leave(&n, &object);
	counts_left(&n, &object, true);

	/* freed by a call that nobody hears of */
	counts_begin(&n, &c, "make");
	counts_use(&n, &used, &used.users, "thing");
	used.users++;
	counts_made(&n, &object);
	used.users--;
	counts_freed(&object);
	counts_begin(&n, &c, "end");
	counts_leave(&n, &object);
	counts_left(&n, &object, true);
	assert_int_equal(reports, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_table_points_to_what_is_gone, begin),
		cmocka_unit_test_setup(a_handler_may_still_use_it, begin),
		cmocka_unit_test_setup(what_is_freed_is_not_missed, begin),
		cmocka_unit_test_setup(the_other_driver_is_still_there, begin),
		cmocka_unit_test_setup(who_freed_the_pointer_is_told, begin),
		cmocka_unit_test_setup(many_freed_the_pointer, begin),
		cmocka_unit_test_setup(beyond_the_end_is_told, begin),
		cmocka_unit_test_setup(memory_that_nobody_set_is_told, begin),
		cmocka_unit_test_setup(a_writer_is_known_in_each_line, begin),
		cmocka_unit_test_setup(a_new_user_is_counted, begin),
		cmocka_unit_test_setup(a_failure_counts_nothing, begin),
		cmocka_unit_test_setup(calls_at_the_same_time_are_not_judged, begin),
		cmocka_unit_test_setup(a_call_within_a_call_is_judged_and_so_is_the_outer_one,
				       begin),
		cmocka_unit_test_setup(an_address_is_used_again, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
