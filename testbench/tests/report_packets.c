/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For the browser test of hcasim report: more than 100,000 packets, a few of them lost on purpose.
 * Large messages in small packets give many packets with little work.
 */
#include "testbench/scenario.h"

enum { MESSAGE = 4 << 20, MESSAGES = 6 };

SCENARIO(report_packets, "WRITEs of 4 MiB in packets of 256 bytes, some lost", .memory = MESSAGE,
	 .mtu = IBV_MTU_256, .any_packets = true, .timeout = 10)
{
	for (unsigned i = 0; i < MESSAGES && still_right(); i++) {
		struct tb_end *from = i % 2 ? b : a, *to = i % 2 ? a : b;

		if (i % 3 == 0)
			drop_next(i % 2 ? b_to_a : a_to_b, RC_WRITE_MIDDLE);
		rdma_write(from, .wr_id = i, .len = MESSAGE);
		expect_cqe(from, .wr_id = i);
		expect_data(to, .len = MESSAGE);
	}
}
