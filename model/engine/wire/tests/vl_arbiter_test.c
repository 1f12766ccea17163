/* SPDX-License-Identifier: Apache-2.0 */
/* Sequences of turns, worked out by hand from IBA 7.6.9.2. Each turn sends one packet. */
#include "model/engine/wire/vl_arbiter.h"
#include "model/interface/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LANES_01 = 3, LANES_012 = 7, LANE_0 = 1, LANE_1 = 2 };

static struct vl_arbiter arbiter;

static int begin(void **state)
{
	memset(&arbiter, 0, sizeof(arbiter));
	return 0;
}

static unsigned turn(unsigned lanes, unsigned packet)
{
	unsigned units;
	const unsigned chosen = vl_arbiter_choose(&arbiter, lanes, &units);
	const unsigned vl = (unsigned)__builtin_ctz(chosen);

	assert_int_equal(chosen & (chosen - 1), 0);
	vl_arbiter_sent(&arbiter, vl, packet);
	return vl;
}

/* The lanes of the next turns, as digits. */
static void expect_turns(unsigned lanes, unsigned packet, const char *turns)
{
	for (const char *c = turns; *c; c++)
		assert_int_equal(turn(lanes, packet), (unsigned)(*c - '0'));
}

static void weights(void **state)
{
	vl_arbiter_write(&arbiter, VL_TABLE_LOW, 0, 0x00030101);
	assert_int_equal(vl_arbiter_read(&arbiter, VL_TABLE_LOW, 0), 0x00030101);
	expect_turns(LANES_01, 1, "00010001");
	/* packets of two units: the second one uses more than the weight that is left */
	expect_turns(LANES_01, 2, "001001");
}

static void empty_lanes_and_entries(void **state)
{
	vl_arbiter_write(&arbiter, VL_TABLE_LOW, 0, 0x00020101);
	vl_arbiter_write(&arbiter, VL_TABLE_LOW, 2, 0x02000001);
	expect_turns(LANES_012, 1, "00100010001");
	/* lane 0 has nothing, or no room: the other one goes on, and lane 0 comes back in its turn */
	expect_turns(LANE_1, 1, "111");
	expect_turns(LANES_01, 1, "0001");
}

static void high_limits(void **state)
{
	vl_arbiter_write(&arbiter, VL_TABLE_LOW, 0, 0x00ff0000);
	vl_arbiter_write(&arbiter, VL_TABLE_HIGH, 0, 0x01ff0000);
	vl_arbiter_limit(&arbiter, 0);
	expect_turns(LANES_01, 1, "101010");
	vl_arbiter_limit(&arbiter, 1); /* 64 units */
	expect_turns(LANES_01, 32, "110110");
	vl_arbiter_limit(&arbiter, VL_HIGH_UNLIMITED);
	expect_turns(LANES_01, 64, "11111111");
	expect_turns(LANE_0, 64, "00");
}

static void without_weight(void **state)
{
	unsigned units;

	assert_int_equal(vl_arbiter_choose(&arbiter, LANES_01, &units), LANES_01);
	vl_arbiter_write(&arbiter, VL_TABLE_LOW, 0, 0x00010000);
	expect_turns(LANES_01, 1, "000");
	assert_int_equal(vl_arbiter_choose(&arbiter, LANE_1, &units), LANE_1);
	assert_int_equal(vl_arbiter_choose(&arbiter, LANES_01 | 1u << VL_MANAGEMENT, &units),
			 1u << VL_MANAGEMENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(weights, begin),
		cmocka_unit_test_setup(empty_lanes_and_entries, begin),
		cmocka_unit_test_setup(high_limits, begin),
		cmocka_unit_test_setup(without_weight, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
