/* SPDX-License-Identifier: Apache-2.0 */
/*
 * QUERY_FW says where in a BAR the device's clock is, and the clock counts at the rate that
 * QUERY_HCA reports. Drivers map it for ibv_query_rt_values. Source: Linux mlx4_core
 * (map_internal_clock, mlx4_read_clock).
 */
#include "model/interface/commands.h"
#include "testbench/harm.h"

enum { READS_US = 20, CARRIES = 6, READS = 100, UNTOLD = 77777 };

/* Reads while the low dword carries into the high one: a reader that puts together two halves of different
 * times is ten seconds wrong. */
static void read_at_carry(struct tb *tb, struct tb_end *a, uint64_t mhz, uint64_t early_ns)
{
	const uint64_t low = drv_clock_read(a->dev) & UINT32_MAX;
	uint64_t was, is;
	bool carried = false;

	pass_time(CFG_US(((1ull << 32) - low) / mhz) - CFG_US(READS_US) / 2 - CFG_NS(early_ns));
	was = drv_clock_read(a->dev);
	for (unsigned i = 0; !carried && i < READS && still_right(); i++) {
		is = drv_clock_read(a->dev);
		expect_that(is, >, was);
		expect_that(is, <, was + READS_US * mhz);
		carried = is >> 32 != was >> 32;
		was = is;
	}
	expect_true(carried);
}

SCENARIO(core_clock, "the core clock counts at its rate; its low dword carries into the high one",
	 .no_qps = true, .exact = true, .timeout = 30, .settings = {"sim.time_limit=200s"})
{
	struct init_hca hca = {{0}};
	struct drv_raw_cmd query = {.op = HCR_QUERY_HCA, .out = &hca, .out_len = sizeof(hca)};
	uint64_t mhz, cycles, waits_us[2] = {1000};
	unsigned told;

	must(drv_cmd(a->dev, &query));
	mhz = init_hca_get_clock_mhz(&hca);
	expect_true(mhz);
	must(drv_query_clock(a->dev, &told));
	expect_equal(told, mhz);
	refuse_command(a, 1, HCR_STATUS_BAD_PARAM);
	told = UNTOLD;
	must_fail(-EINVAL, drv_query_clock(a->dev, &told));
	expect_true(refuse_command(a, 0, 0));
	expect_equal(told, UNTOLD);
	waits_us[1] = mhz ? (1ull << 32) / mhz : 0;
	for (unsigned i = 0; i < 2 && still_right(); i++) {
		cycles = drv_clock_read(a->dev);
		pass_time(CFG_US(waits_us[i]));
		cycles = drv_clock_read(a->dev) - cycles;
		expect_that(cycles, >=, waits_us[i] * mhz);
		expect_that(cycles, <=, (waits_us[i] + READS_US) * mhz);
	}
	for (unsigned i = 0; i < CARRIES && still_right(); i++)
		read_at_carry(tb, a, mhz, 170 * i);
}
