/* SPDX-License-Identifier: Apache-2.0 */
/*
 * On a long cable WRITEs wait for link credits that are still on their way back. The link is idle
 * meanwhile, so a packet on another virtual lane, here an ACK, leaves at once.
 * behaviours: IBA-7.9-credits
 */
#include "testbench/services.h"

enum { OTHER_LANE = 1, LONG = 128 << 10 };

static void connect_on(struct tb *tb, struct drv_qp *x, const struct tb_end *to, struct drv_qp *y)
{
	struct drv_rc_path path = path_to(to, drv_qp_num(y));

	path.sl = OTHER_LANE;
	must(drv_qp_connect(x, &path));
}

static uint64_t write_takes(struct tb *tb, struct tb_end *b, struct drv_qp *y, unsigned wr_id)
{
	const uint64_t from = tb_now(tb);

	send_on(b, y, .opcode = IBV_WR_RDMA_WRITE, .wr_id = wr_id, .len = 8);
	expect_cqe(b, .wr_id = wr_id, .on = y);
	return tb_now(tb) - from;
}

SCENARIO(credits_other_lane, "a lane that waits for credits holds up no other", .any_packets = true,
	 .memory = LONG, .settings = {"hca.link.delay=100us"}, .data_vls = 2)
{
	struct drv_qp *x = new_qp(a), *y = new_qp(b);
	uint64_t alone;

	connect_on(tb, x, b, y);
	connect_on(tb, y, a, x);
	write_takes(tb, b, y, 1);
	alone = write_takes(tb, b, y, 2);
	rdma_write(a, .wr_id = 3, .len = LONG);
	pass_time(CFG_US(20)); /* 64 KiB are sent; the first credit takes 200 us */
	expect_that(write_takes(tb, b, y, 4), <, alone + CFG_US(5));
	expect_cqe(a, .wr_id = 3);
	expect_data(b, .len = LONG);
	expect_data(a, .len = 8);
	expect_that(tb_stat(a, "link_port", "credit_stalls"), >, 0);
	destroy_qp(x);
	destroy_qp(y);
}
