// SPDX-License-Identifier: Apache-2.0
/* The books of the driver's allocators, right and wrong. The test plays the rest of the checker. */
#include "testbench/dsan/asked/asked.h"
#include "testbench/dsan/checker_impl.h"
#include "testbench/dsan/held/counted.h"
#include "testbench/dsan/held/taken.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { ORDERS = 4, NUMBERS = 64 };

static struct checker c;
static struct ask ask = {.c = &c};
static unsigned reports;
static enum guest_rule reported;
static bool in_use;
static struct drv_buddy buddy;
static struct drv_bitmap bitmap;

struct ask *ask_taker(void)
{
	return &ask;
}

struct checker *checker_of_host(unsigned host)
{
	return &c;
}

bool taken_is(enum taken_kind kind, const void *of, uint64_t number)
{
	return in_use;
}

int hca_icm_bus(const struct hca *hca, uint64_t va, uint64_t *bus)
{
	return -1;
}

void checker_report(struct checker *of, const struct breach *b, const char *format, ...)
{
	reports++;
	reported = b->rule;
}

static void expect_rule(enum guest_rule rule)
{
	assert_int_equal(reports, 1);
	assert_int_equal(reported, rule);
}

static int begin(void **state)
{
	reports = 0;
	in_use = false;
	return drv_buddy_init(&buddy, ORDERS) ||
	       drv_bitmap_init(&bitmap, NUMBERS, NUMBERS - 1, 1, 0);
}

static int end(void **state)
{
	drv_buddy_cleanup(&buddy);
	drv_bitmap_cleanup(&bitmap);
	return 0;
}

static void right_books_are_not_reported(void **state)
{
	uint32_t first, second, number;

	assert_int_equal(drv_buddy_alloc(&buddy, 1, &first), 0);
	counted_buddy_taken(&buddy, 0, 1, first, NULL);
	assert_int_equal(drv_buddy_alloc(&buddy, 2, &second), 0);
	counted_buddy_taken(&buddy, 2, 2, second, NULL);
	drv_buddy_free(&buddy, first, 1);
	counted_buddy_back(&buddy, 6, 1, first, NULL);
	drv_buddy_free(&buddy, second, 2);
	counted_buddy_back(&buddy, 4, 2, second, NULL);
	assert_int_equal(drv_bitmap_alloc(&bitmap, &number), 0);
	counted_number_taken(&bitmap, 0, number, NULL);
	drv_bitmap_free(&bitmap, number);
	counted_number_back(&bitmap, 1, number, NULL);
	assert_int_equal(reports, 0);
}

static void a_block_that_is_free_still_is_not_given(void **state)
{
	uint32_t first;

	assert_int_equal(drv_buddy_alloc(&buddy, 1, &first), 0);
	counted_buddy_taken(&buddy, 0, 1, first + 2, NULL);
	expect_rule(RULE_mtt_shared);
}

static void entries_do_not_get_lost(void **state)
{
	uint32_t first;

	assert_int_equal(drv_buddy_alloc(&buddy, 1, &first), 0);
	buddy.n_free[2]--;
	counted_buddy_taken(&buddy, 0, 1, first, NULL);
	expect_rule(RULE_mtt_shared);
}

static void free_halves_are_joined(void **state)
{
	uint32_t a, b;

	assert_int_equal(drv_buddy_alloc(&buddy, 0, &a), 0);
	assert_int_equal(drv_buddy_alloc(&buddy, 0, &b), 0);
	buddy.bits[0][0] |= UINT64_C(1) << a | UINT64_C(1) << b;
	counted_buddy_back(&buddy, 2, 0, b, NULL);
	expect_rule(RULE_mtt_shared);
}

static void a_number_is_counted_once(void **state)
{
	uint32_t number;

	assert_int_equal(drv_bitmap_alloc(&bitmap, &number), 0);
	bitmap.used++;
	counted_number_taken(&bitmap, 0, number, NULL);
	expect_rule(RULE_number_taken);
}

static void a_number_that_is_back_is_free(void **state)
{
	uint32_t number;

	assert_int_equal(drv_bitmap_alloc(&bitmap, &number), 0);
	bitmap.used--;
	counted_number_back(&bitmap, 1, number, NULL);
	expect_rule(RULE_not_given_back);
}

static void a_record_is_given_to_one(void **state)
{
	static uint32_t memory[16];
	struct platform p = {0};
	const struct drv_device dev = {.p = &p, .db_records = 1};
	struct drv_db db = {.record = memory, .bus = 0x1000};

	c.host.memory = memory;
	c.host.bus = 0x1000;
	c.host.bytes = sizeof(memory);
	counted_record_taken(&dev, 0, &db, NULL);
	assert_int_equal(reports, 0);
	memory[1] = 1;
	counted_record_taken(&dev, 0, &db, NULL);
	expect_rule(RULE_context_differs);
	reports = 0;
	in_use = true;
	counted_record_taken(&dev, 0, &db, NULL);
	expect_rule(RULE_record_shared);
	counted_record_back(&dev, 1, &(struct drv_db){0}, 8, NULL);
	assert_int_equal(reported, RULE_not_given_back);
	assert_int_equal(reports, 2);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, begin, end)
	const struct CMUnitTest tests[] = {
		T(right_books_are_not_reported), T(a_block_that_is_free_still_is_not_given),
		T(entries_do_not_get_lost),      T(free_halves_are_joined),
		T(a_number_is_counted_once),     T(a_number_that_is_back_is_free),
		T(a_record_is_given_to_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
