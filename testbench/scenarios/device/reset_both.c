/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both devices are reset at the same moment, while packets of both are in flight, DMA is under way
 * and completions are on their way to memory. Both start again as if new.
 */
/* behaviours: HCA-reset-in-flight */
#include "testbench/scenario.h"

enum { RESET_BIT = 1 };

SCENARIO(reset_both, "both devices are reset with packets in flight each way, and start again",
	 .memory = 1 << 20, .any_packets = true)
{
	rdma_write(a, .wr_id = 1, .len = 1 << 20);
	rdma_read(b, .wr_id = 2, .len = 1 << 20);
	post_recv(b, .wr_id = 3, .len = 1 << 20);
	rdma_write(b, .wr_id = 4, .len = 1 << 20);
	pass_time(CFG_US(60));
	ignore_events(a);
	ignore_events(b);
	drv_raw_mmio_write32(a->dev, HCA_BAR_REGS, BAR0_RESET, RESET_BIT);
	drv_raw_mmio_write32(b->dev, HCA_BAR_REGS, BAR0_RESET, RESET_BIT);
	pass_time(CFG_MS(10));
	abandon(a);
	abandon(b);
	phase("again");
	bring_up(a);
	bring_up(b);
	activate_ports();
	make_objects(a);
	make_objects(b);
	connect_qps();
	rdma_write(a, .wr_id = 5, .len = 65536);
	expect_cqe(a, .wr_id = 5);
	expect_data(b, .len = 65536);
	rdma_read(b, .wr_id = 6, .len = 65536, .dst = 65536);
	expect_cqe(b, .wr_id = 6);
	expect_data(b, .len = 65536, .dst = 65536);
}
