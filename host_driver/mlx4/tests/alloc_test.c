// SPDX-License-Identifier: Apache-2.0
/* Number allocators: reserved numbers are not given out, numbers rotate, ranges are aligned and
 * merge again. */
#include "host_driver/mlx4/alloc.h"
#include "model/interface/macros.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void bitmap_keeps_reserved(void **state)
{
	struct drv_bitmap b;
	uint32_t n;

	assert_int_equal(drv_bitmap_init(&b, 128, 127, 3, 60), 0);
	for (uint32_t i = 3; i < 68; i++) {
		assert_int_equal(drv_bitmap_alloc(&b, &n), 0);
		assert_int_equal(n, i);
	}
	assert_int_equal(drv_bitmap_alloc(&b, &n), -ENOMEM);
	drv_bitmap_free(&b, 40);
	assert_int_equal(drv_bitmap_alloc(&b, &n), 0);
	assert_int_equal(n, 40);
	assert_int_equal(b.used, 65);
	drv_bitmap_cleanup(&b);
}

/* A number that was given back comes again with other high bits, until the mask is used up. */
static void bitmap_rotates_high_bits(void **state)
{
	static const uint32_t expected[] = {2, 3, 6, 7, 10, 11, 14, 15, 2, 3};
	struct drv_bitmap b;

	assert_int_equal(drv_bitmap_init(&b, 4, 15, 2, 0), 0);
	for (unsigned i = 0; i < ARRAY_SIZE(expected); i++) {
		uint32_t n;

		assert_int_equal(drv_bitmap_alloc(&b, &n), 0);
		assert_int_equal(n, expected[i]);
		drv_bitmap_free(&b, n);
	}
	drv_bitmap_cleanup(&b);
}

static void buddy_splits_and_merges(void **state)
{
	struct drv_buddy b;
	uint32_t a, c, d, whole;

	assert_int_equal(drv_buddy_init(&b, 10), 0);
	assert_int_equal(drv_buddy_alloc(&b, 0, &a), 0);
	assert_int_equal(drv_buddy_alloc(&b, 4, &c), 0);
	assert_int_equal(drv_buddy_alloc(&b, 9, &d), 0);
	assert_int_equal(c % 16, 0);
	assert_int_equal(d % 512, 0);
	assert_true(a < c || a >= c + 16);
	assert_true((a ^ d) >> 9 && (c ^ d) >> 9);
	assert_int_equal(b.used, 1 + 16 + 512);
	assert_int_equal(drv_buddy_alloc(&b, 9, &whole), -ENOMEM);
	drv_buddy_free(&b, c, 4);
	drv_buddy_free(&b, d, 9);
	drv_buddy_free(&b, a, 0);
	assert_int_equal(b.used, 0);
	assert_int_equal(drv_buddy_alloc(&b, 10, &whole), 0);
	assert_int_equal(whole, 0);
	drv_buddy_cleanup(&b);
}

static void log2_up(void **state)
{
	assert_int_equal(drv_log2_up(1), 0);
	assert_int_equal(drv_log2_up(2), 1);
	assert_int_equal(drv_log2_up(3), 2);
	assert_int_equal(drv_log2_up(4096), 12);
	assert_int_equal(drv_log2_up(UINT64_C(0x100000001)), 33);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bitmap_keeps_reserved),
		cmocka_unit_test(bitmap_rotates_high_bits),
		cmocka_unit_test(buddy_splits_and_merges),
		cmocka_unit_test(log2_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
