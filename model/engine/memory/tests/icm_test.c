/* SPDX-License-Identifier: Apache-2.0 */
/* ICM: a sparse map, valid bits, table arithmetic; waiter queues. */
#include "model/engine/tests/rig.h"

#include "model/sim/rng.h"

static int start(void **state)
{
	rig_params();
	rig_start();
	return 0;
}

static int finish(void **state)
{
	rig_stop();
	return 0;
}

static void maps_pages_anywhere(void **state)
{
	static const uint64_t places[] = {0x100000000, 0x3fffff000, 0xfffffff000, 0x7fffffffffff000,
					  0xffffffffffff000};
	uint64_t bus;

	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(icm_map(&rig.hca, places[i], 0x5000 + i * 0x1000, 1), 0);
	for (unsigned i = 0; i < 5; i++) {
		assert_int_equal(icm_translate(&rig.hca, places[i] + 0xabc, &bus), 0);
		assert_true(bus == 0x5abc + i * 0x1000);
	}
	assert_int_equal(icm_translate(&rig.hca, places[0] + 0x1000, &bus), -ENOENT);
	assert_int_equal(icm_translate(&rig.hca, places[1] - 1, &bus), -ENOENT);
}

static void sixteen_gib_of_address_space_is_cheap(void **state)
{
	size_t before = icm_footprint(&rig.hca);

	/* one chunk of 256 KiB in each of 16 GiB */
	for (uint64_t gib = 4; gib < 20; gib++)
		assert_int_equal(icm_map(&rig.hca, gib << 30, gib << 30, 64), 0);
	assert_true(icm_footprint(&rig.hca) - before < 16 * 1024);
	for (uint64_t gib = 4; gib < 20; gib++)
		icm_unmap(&rig.hca, gib << 30, 64);
	assert_int_equal(icm_footprint(&rig.hca), before);
}

static void unmap_passes_over_what_is_not_mapped(void **state)
{
	uint64_t bus;

	icm_unmap(&rig.hca, 0x40000000, 64);
	assert_int_equal(icm_map(&rig.hca, 0x40010000, 0x9000, 2), 0);
	icm_unmap(&rig.hca, 0x40000000, 17);
	assert_int_equal(icm_translate(&rig.hca, 0x40010000, &bus), -ENOENT);
	assert_int_equal(icm_translate(&rig.hca, 0x40011000, &bus), 0);
	assert_true(bus == 0xa000);
}

/* Half of many mapped chunks are unmapped: the others are still found. */
static void removal_keeps_the_others(void **state)
{
	uint64_t bus;

	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(icm_map(&rig.hca, (i + 1000) << 18, i << 12, 1), 0);
	for (uint64_t i = 0; i < 1000; i += 2)
		icm_unmap(&rig.hca, (i + 1000) << 18, 1);
	for (uint64_t i = 0; i < 1000; i++) {
		assert_int_equal(icm_translate(&rig.hca, (i + 1000) << 18, &bus),
				 i % 2 ? 0 : -ENOENT);
		if (i % 2)
			assert_true(bus == i << 12);
	}
}

/* 256 chunks of 256 MiB take as much memory as 256 pages. */
static void a_large_chunk_costs_no_more_than_a_small_one(void **state)
{
	size_t before, small;
	uint64_t bus;

	icm_unmap_all(&rig.hca); /* removes the rig's tables */
	before = icm_footprint(&rig.hca);
	for (uint64_t i = 0; i < 256; i++)
		assert_int_equal(icm_map(&rig.hca, i << 32, i << 12, 1), 0);
	small = icm_footprint(&rig.hca) - before;
	icm_unmap_all(&rig.hca);
	for (uint64_t i = 0; i < 256; i++)
		assert_int_equal(icm_map(&rig.hca, i << 32, i << 28, 1 << 16), 0);
	assert_int_equal(icm_footprint(&rig.hca) - before, small);
	assert_int_equal(icm_translate(&rig.hca, (77ull << 32) + 0xfffffff, &bus), 0);
	assert_true(bus == (77ull << 28) + 0xfffffff);
	/* a hole in one of them */
	icm_unmap(&rig.hca, (77ull << 32) + 0x5000, 2);
	assert_int_equal(icm_translate(&rig.hca, (77ull << 32) + 0x4fff, &bus), 0);
	assert_int_equal(icm_translate(&rig.hca, (77ull << 32) + 0x5000, &bus), -ENOENT);
	assert_int_equal(icm_translate(&rig.hca, (77ull << 32) + 0x6fff, &bus), -ENOENT);
	assert_int_equal(icm_translate(&rig.hca, (77ull << 32) + 0x7000, &bus), 0);
	assert_true(bus == (77ull << 28) + 0x7000);
}

/* Maps and unmaps at random, and compares the result with a table of pages. */
static void any_order_of_chunks_is_right(void **state)
{
	enum { PAGES = 3000, STEPS = 20000, CHUNK = 64 };
	static uint64_t expected[PAGES];
	struct rng rng;

	rng_init(&rng, 1, "icm");
	memset(expected, 0, sizeof(expected));
	icm_unmap_all(&rig.hca);
	for (uint64_t step = 1; step <= STEPS; step++) {
		const bool map = rng_below(&rng, 3);
		const uint64_t page = rng_below(&rng, PAGES - CHUNK);
		const uint64_t pages = 1 + rng_below(&rng, rng_below(&rng, 4) ? 3 : CHUNK);
		const uint64_t at = rng_below(&rng, PAGES);
		uint64_t bus = 0;

		if (map)
			assert_int_equal(icm_map(&rig.hca, page << 12, step << 20, (uint32_t)pages),
					 0);
		else
			icm_unmap(&rig.hca, page << 12, (uint32_t)pages);
		for (uint64_t i = 0; i < pages; i++)
			expected[page + i] = map ? (step << 20) + (i << 12) : 0;
		assert_int_equal(icm_translate(&rig.hca, at << 12, &bus),
				 expected[at] ? 0 : -ENOENT);
		assert_true(bus == expected[at]);
	}
	for (uint64_t at = 0; at < PAGES; at++) {
		uint64_t bus = 0;

		icm_translate(&rig.hca, at << 12, &bus);
		assert_true(bus == expected[at]);
	}
}

static void refuses_what_is_no_page(void **state)
{
	assert_int_equal(icm_map(&rig.hca, 0x40000800, 0x9000, 1), -EINVAL);
	assert_int_equal(icm_map(&rig.hca, 0x40000000, 0x9004, 1), -EINVAL);
	assert_int_equal(icm_map(&rig.hca, 0xfffffffffffff000, 0x9000, 2), -EINVAL);
}

static void joins_fragments(void **state)
{
	struct dma_frag frags[2];

	icm_map(&rig.hca, 0x40000000, 0x9000, 1);
	icm_map(&rig.hca, 0x40001000, 0xa000, 1);
	icm_map(&rig.hca, 0x40002000, 0x20000, 1);
	assert_int_equal(icm_fragments(&rig.hca, 0x40000f00, 0x200, frags, 2), 1);
	assert_true(frags[0].bus == 0x9f00 && frags[0].len == 0x200);
	assert_int_equal(icm_fragments(&rig.hca, 0x40000f00, 0x1200, frags, 2), 2);
	assert_true(frags[0].len == 0x1100 && frags[1].bus == 0x20000 && frags[1].len == 0x100);
	assert_int_equal(icm_fragments(&rig.hca, 0x40000f00, 0x1200, frags, 1), -ENOSPC);
	assert_int_equal(icm_fragments(&rig.hca, 0x40002ff0, 0x20, frags, 2), -ENOENT);
}

static void numbers_wrap_at_the_table(void **state)
{
	/* QPNs have rotating high bits, which are ignored: 64 entries of 256 bytes. */
	assert_true(icm_entry(&rig.hca, FW_TABLE_QPC, 0x123441) == 0x100);
	icm_object_set(&rig.hca, FW_TABLE_QPC, 0x123441, true);
	assert_true(icm_object_valid(&rig.hca, FW_TABLE_QPC, 1));
	assert_false(icm_object_valid(&rig.hca, FW_TABLE_QPC, 2));
	assert_false(icm_object_valid(&rig.hca, FW_TABLE_CQC, 1));
	icm_object_set(&rig.hca, FW_TABLE_QPC, 1, false);
	assert_false(icm_object_valid(&rig.hca, FW_TABLE_QPC, 0x123441));
	/* Responder resources: 2^4 entries for each QP. */
	icm_table_set(&rig.hca, FW_TABLE_RDMARC, 0x900000, 4, 32);
	assert_true(icm_entry(&rig.hca, FW_TABLE_RDMARC, (63 << 4) + 15) == 0x900000 + 1023 * 32);
}

static void range_clears_valid_bits(void **state)
{
	for (unsigned i = 0; i < 64; i++)
		icm_object_set(&rig.hca, ICM_MPT_RELEASED, i, true);
	icm_objects_clear_range(&rig.hca, ICM_MPT_RELEASED, ((uint64_t)FW_TABLE_MPT << 20) + 65,
				64);
	for (unsigned i = 0; i < 64; i++)
		assert_int_equal(icm_object_valid(&rig.hca, ICM_MPT_RELEASED, i), i != 1 && i != 2);
	icm_objects_clear(&rig.hca);
	assert_false(icm_object_valid(&rig.hca, ICM_MPT_RELEASED, 5));
}

static struct waiter_queue queue;
static struct rig_waiter first = RIG_WAITER, third = RIG_WAITER;

static void wake_and_cancel(struct waiter *w)
{
	waiter_cancel(&third.w);
	waiter_queue_add(&queue, w);
}

static void waiters_wake_in_order(void **state)
{
	struct waiter second = {.wake = wake_and_cancel};

	waiter_queue_add(&queue, &first.w);
	waiter_queue_add(&queue, &second);
	waiter_queue_add(&queue, &third.w);
	waiter_queue_add(&queue, &first.w);
	waiter_queue_wake(&queue);
	/* The second waiter cancelled the third and queued itself again. It was not woken a second
	 * time at once. */
	assert_int_equal(first.woken, 1);
	assert_int_equal(third.woken, 0);
	assert_true(second.in && queue.first == &second && queue.last == &second);
	waiter_cancel(&second);
	assert_null(queue.first);
	assert_null(queue.last);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(maps_pages_anywhere, start, finish),
		cmocka_unit_test_setup_teardown(sixteen_gib_of_address_space_is_cheap, start,
						finish),
		cmocka_unit_test_setup_teardown(unmap_passes_over_what_is_not_mapped, start,
						finish),
		cmocka_unit_test_setup_teardown(removal_keeps_the_others, start, finish),
		cmocka_unit_test_setup_teardown(refuses_what_is_no_page, start, finish),
		cmocka_unit_test_setup_teardown(a_large_chunk_costs_no_more_than_a_small_one, start,
						finish),
		cmocka_unit_test_setup_teardown(any_order_of_chunks_is_right, start, finish),
		cmocka_unit_test_setup_teardown(joins_fragments, start, finish),
		cmocka_unit_test_setup_teardown(numbers_wrap_at_the_table, start, finish),
		cmocka_unit_test_setup_teardown(range_clears_valid_bits, start, finish),
		cmocka_unit_test_setup_teardown(waiters_wake_in_order, start, finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
