/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a fabric does to packets besides losing them: a corrupted packet counts as lost, a delayed
 * one lets the next packet arrive too early, and a copied one is a duplicate. The data are right in
 * all cases.
 */
/* behaviours: IBA-9.7.1-duplicates */
#include "testbench/scenario.h"

SCENARIO(rc_reordered,
	 "packets are corrupted, overtaken, doubled and late, and every byte is right",
	 .timeout = 10, .any_packets = true)
{
	const char *const counter = b->ethernet ? "rx_bad_fcs" : "rcv_errors";
	const uint64_t errors = tb_stat(b, "port1", counter);

	corrupt_next(a_to_b, RC_WRITE_MIDDLE, .nth = 2);
	rdma_write(a, .wr_id = 1, .len = 16384);
	expect_cqe(a, .wr_id = 1);
	expect_data(b, .len = 16384);
	expect_equal(tb_stat(b, "port1", counter) - errors, 1);

	reorder_next(a_to_b, RC_WRITE_FIRST);
	rdma_write(a, .wr_id = 2, .len = 16384, .src = 7, .dst = 16384);
	expect_cqe(a, .wr_id = 2);
	expect_data(b, .len = 16384, .src = 7, .dst = 16384);

	duplicate_next(a_to_b, RC_WRITE_LAST, .by_ps = CFG_US(3));
	delay_next(b_to_a, RC_ACKNOWLEDGE, .by_ps = CFG_US(50));
	rdma_write(a, .wr_id = 3, .len = 16384, .src = 9, .dst = 32768);
	expect_cqe(a, .wr_id = 3);
	expect_data(b, .len = 16384, .src = 9, .dst = 32768);
	pass_time(CFG_US(200));
	expect_that(tb_stat(a, "retry", "retransmitted"), >=, 2);
	expect_that(tb_stat(b, "responder", "duplicates"), >=, 1);
}
