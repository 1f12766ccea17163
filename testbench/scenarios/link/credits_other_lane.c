/* SPDX-License-Identifier: Apache-2.0 */
/*
 * On a long cable WRITEs wait for link credits that are still on their way back. The link is idle
 * meanwhile, so packets on another virtual lane leave at once: an ACK, a request, and a management
 * packet, which is on VL 15.
 * behaviours: IBA-7.9-credits
 */
#include "testbench/manage.h"
#include "testbench/services.h"

/* Each 64 KiB of a long WRITE wait 200 us for credits, and then keep the line busy for 16 us. */
enum { OTHER_LANE = 1, LONG = 512 << 10, BUSY_US = 20 };

static void connect_on(struct tb *tb, struct drv_qp *x, const struct tb_end *to, struct drv_qp *y)
{
	struct drv_rc_path path = path_to(to, drv_qp_num(y));

	path.sl = OTHER_LANE;
	must(drv_qp_connect(x, &path));
}

static uint64_t write_takes(struct tb *tb, struct tb_end *x, struct drv_qp *qp, unsigned wr_id)
{
	const uint64_t from = tb_now(tb);

	send_on(x, qp, .opcode = IBV_WR_RDMA_WRITE, .wr_id = wr_id, .len = 8);
	expect_cqe(x, .wr_id = wr_id, .on = qp);
	return tb_now(tb) - from;
}

SCENARIO(credits_other_lane, "a lane that waits for credits holds up no other", .any_packets = true,
	 .memory = LONG, .settings = {"hca.link.delay=100us"}, .data_vls = 2)
{
	struct drv_qp *x = new_qp(a), *y = new_qp(b);
	uint64_t alone, from, mad_alone;
	struct smp answer;

	connect_on(tb, x, b, y);
	connect_on(tb, y, a, x);
	write_takes(tb, b, y, 1);
	alone = write_takes(tb, b, y, 2);
	from = tb_now(tb);
	ask(a, &answer, .attr = SMP_ATTR_NODE_INFO, .hops = 1);
	mad_alone = tb_now(tb) - from;
	rdma_write(a, .wr_id = 3, .len = LONG);
	pass_time(CFG_US(20)); /* 64 KiB are sent; the first credit takes 200 us */
	expect_that(write_takes(tb, b, y, 4), <, alone + CFG_US(5));
	for (unsigned i = 0; i < 3; i++)
		expect_that(write_takes(tb, a, x, 5 + i), <, alone + CFG_US(BUSY_US));
	from = tb_now(tb);
	ask(a, &answer, .attr = SMP_ATTR_NODE_INFO, .hops = 1);
	expect_that(tb_now(tb) - from, <, mad_alone + CFG_US(BUSY_US));
	expect_cqe(a, .wr_id = 3);
	expect_data(b, .len = LONG);
	expect_data(a, .len = 8);
	expect_that(tb_stat(a, "link_port", "credit_stalls"), >, 0);
	destroy_qp(x);
	destroy_qp(y);
}
