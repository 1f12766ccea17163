// SPDX-License-Identifier: Apache-2.0
/* What a device sees of stores that become visible late. */
#include "testbench/dsan/own/late.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include <cmocka.h>

enum { SEEDS = 200 };

static uint32_t memory[8];
static struct late *l;
static uint64_t now_ps;

static void begin_with(enum cfg_memory_order order, uint64_t seed)
{
	memset(memory, 0, sizeof(memory));
	l = late_create(order, seed);
	now_ps = 0;
}

static void store(unsigned i, uint32_t value)
{
	late_store(l, (uintptr_t)&memory[i], sizeof(memory[i]), now_ps);
	memory[i] = value;
}

static uint32_t seen(unsigned i)
{
	uint32_t value = memory[i];

	late_device_reads(l, (uintptr_t)&memory[i], (uint8_t *)&value, sizeof(value), now_ps);
	return value;
}

/* Whether a device sees the second of two stores before the first, at some time with some seed. */
static bool swaps(enum cfg_memory_order order, bool fence)
{
	bool swapped = false;

	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		begin_with(order, seed);
		store(0, 1);
		if (fence)
			late_fence(l);
		store(1, 1);
		for (now_ps = 0; now_ps < CFG_US(1); now_ps += CFG_NS(10))
			swapped |= seen(1) && !seen(0);
		assert_int_equal(seen(0), 1);
		assert_int_equal(seen(1), 1);
		late_destroy(l);
	}
	return swapped;
}

static void stores_are_swapped_unless_a_barrier_forbids_it(void **state)
{
	assert_true(swaps(CFG_ORDER_ARM64, false));
	assert_false(swaps(CFG_ORDER_ARM64, true));
	assert_true(swaps(CFG_ORDER_ADVERSARIAL, false));
	assert_false(swaps(CFG_ORDER_ADVERSARIAL, true));
	assert_false(swaps(CFG_ORDER_X86, false));
}

static void a_register_write_comes_behind_stores_on_x86_only(void **state)
{
	begin_with(CFG_ORDER_X86, 1);
	store(0, 1);
	late_register(l);
	assert_int_equal(seen(0), 1);
	late_destroy(l);
	begin_with(CFG_ORDER_ADVERSARIAL, 1);
	store(0, 1);
	late_register(l);
	assert_int_equal(seen(0), 0);
	late_destroy(l);
}

static void stores_to_one_place_keep_their_order(void **state)
{
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		uint32_t last = 0;

		begin_with(CFG_ORDER_ARM64, seed);
		for (uint32_t i = 1; i <= 4; i++)
			store(0, i);
		for (now_ps = 0; now_ps < CFG_US(1); now_ps += CFG_NS(5)) {
			assert_true(seen(0) >= last);
			last = seen(0);
		}
		assert_int_equal(last, 4);
		late_destroy(l);
	}
}

static void the_device_sees_its_own_writes(void **state)
{
	begin_with(CFG_ORDER_ADVERSARIAL, 1);
	store(0, 1);
	late_device_writes(l, (uintptr_t)&memory[0], sizeof(memory[0]));
	memory[0] = 7;
	assert_int_equal(seen(0), 7);
	late_destroy(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stores_are_swapped_unless_a_barrier_forbids_it),
		cmocka_unit_test(a_register_write_comes_behind_stores_on_x86_only),
		cmocka_unit_test(stores_to_one_place_keep_their_order),
		cmocka_unit_test(the_device_sees_its_own_writes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
