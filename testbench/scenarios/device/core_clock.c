/* SPDX-License-Identifier: Apache-2.0 */
/*
 * QUERY_FW says where in a BAR the device's clock is, and the clock counts at the rate that
 * QUERY_HCA reports. Drivers map it for ibv_query_rt_values. Source: Linux mlx4_core
 * (map_internal_clock, mlx4_read_clock).
 */
#include "model/interface/commands.h"
#include "testbench/scenario.h"

enum { READS_US = 20 };

SCENARIO(core_clock, "the core clock counts at its rate; its low dword carries into the high one",
	 .no_qps = true, .timeout = 30)
{
	struct init_hca hca = {{0}};
	struct drv_raw_cmd query = {.op = HCR_QUERY_HCA, .out = &hca, .out_len = sizeof(hca)};
	uint64_t mhz, cycles, waits_us[2] = {1000};

	must(drv_cmd(a->dev, &query));
	mhz = init_hca_get_clock_mhz(&hca);
	expect_true(mhz);
	waits_us[1] = mhz ? (1ull << 32) / mhz : 0;
	for (unsigned i = 0; i < 2 && still_right(); i++) {
		cycles = drv_clock_read(a->dev);
		pass_time(CFG_US(waits_us[i]));
		cycles = drv_clock_read(a->dev) - cycles;
		expect_that(cycles, >=, waits_us[i] * mhz);
		expect_that(cycles, <=, (waits_us[i] + READS_US) * mhz);
	}
}
