/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PCIe delivers the payload of WRITEs more slowly than the link could send it. The link is idle
 * meanwhile, so an ACK of another queue pair does not wait until that payload has left.
 */
#include "testbench/scenario.h"

enum { LONG = 64 << 10, DST = LONG };

static uint64_t write_takes(struct tb *tb, struct tb_end *b, unsigned wr_id)
{
	const uint64_t from = tb_now(tb);

	rdma_write(b, .qp = 1, .wr_id = wr_id, .len = 8, .dst = DST);
	expect_cqe(b, .wr_id = wr_id);
	return tb_now(tb) - from;
}

SCENARIO(payload_late, "payload that PCIe brings late does not keep the link", .any_packets = true,
	 .qps = 2, .memory = LONG + 64,
	 .settings = {"hca0.pcie.lanes=1", "hca0.pcie.speed=2.5GT/s"}, .of_mlx4 = "DMA of payload")
{
	uint64_t alone;

	write_takes(tb, b, 1);
	alone = write_takes(tb, b, 2);
	rdma_write(a, .wr_id = 3, .len = LONG);
	pass_time(CFG_US(60));
	expect_true(write_takes(tb, b, 4) < alone + CFG_US(5));
	expect_cqe(a, .wr_id = 3);
	expect_data(b, .len = LONG);
	expect_data(a, .len = 8, .dst = DST);
}
