/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/interface/macros.h"
#include "model/sim/rng.h"

/* Published outputs of xoshiro256** from the state 1, 2, 3, 4. */
static void known_outputs(void **state)
{
	static const uint64_t want[] = {
		11520, 0, 1509978240, 1215971899390074240, 1216172134540287360, 607988272756665600,
	};
	struct rng rng = {{1, 2, 3, 4}};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(want); i++)
		assert_int_equal(rng_next(&rng), want[i]);
}

static void same_seed_same_numbers(void **state)
{
	struct rng a, b, other_seed, other_stream;
	unsigned int i, same = 0;
	uint64_t v;

	rng_init(&a, 7, "fault");
	rng_init(&b, 7, "fault");
	rng_init(&other_seed, 8, "fault");
	rng_init(&other_stream, 7, "faults");
	for (i = 0; i < 100; i++) {
		v = rng_next(&a);
		assert_int_equal(rng_next(&b), v);
		same += rng_next(&other_seed) == v;
		same += rng_next(&other_stream) == v;
	}
	assert_int_equal(same, 0);
}

static void below_is_even(void **state)
{
	unsigned int count[6] = {0}, i;
	struct rng rng;
	uint64_t v;

	rng_init(&rng, 1, "test");
	for (i = 0; i < 60000; i++) {
		v = rng_below(&rng, 6);
		assert_in_range(v, 0, 5);
		count[v]++;
	}
	for (i = 0; i < 6; i++)
		assert_in_range(count[i], 9500, 10500);
	assert_int_equal(rng_below(&rng, 1), 0);
}

static void chance(void **state)
{
	unsigned int hits = 0, i;
	struct rng rng, before;

	rng_init(&rng, 1, "test");
	for (i = 0; i < 100000; i++)
		hits += rng_chance(&rng, 50000);
	assert_in_range(hits, 4700, 5300);
	before = rng;
	assert_false(rng_chance(&rng, 0));
	assert_true(rng_chance(&rng, 1000000));
	assert_memory_equal(&rng, &before, sizeof(rng));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_outputs),
		cmocka_unit_test(same_seed_same_numbers),
		cmocka_unit_test(below_is_even),
		cmocka_unit_test(chance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
