/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An armed CQ makes one event for the next completion and none for later ones. If the CQ already
 * holds a completion that no event has announced, arming it makes the event at once. A CQ armed for
 * solicited completions waits for a solicited completion or an error. Only the last packet of a
 * message carries the solicited event bit.
 */
/* behaviours: CQ-1 BTH-5 */
#include "testbench/services.h"

enum { MTU = 256, SETTLE_US = 20 };

SCENARIO(cq_arm, "CQ arming: one event, solicited only, nothing lost between poll and arm",
	 .mtu = IBV_MTU_256)
{
	struct drv_cq *cq = new_cq(b, 64, 0);
	struct drv_qp *x = new_qp(a), *y = new_qp(b, .recv_cq = cq);

	ignore_packets();
	connect_two(x, y);
	if (!still_right())
		return;
	recv_on(b, y, .wr_id = 1, .len = 4 * MTU, .repeat = 8);
	send_on(a, x, .src = 1, .len = 10);
	expect_cqe(b, .cq = cq, .wr_id = 1);
	pass_time(CFG_US(SETTLE_US));
	expect_equal(drv_cq_events(cq), 0); /* was not armed */
	drv_cq_arm(cq, false);
	send_on(a, x, .src = 2, .len = 10);
	pass_time(CFG_US(SETTLE_US));
	expect_equal(drv_cq_events(cq), 1);
	drv_cq_arm(cq, false); /* its completion is not polled, but was told of */
	pass_time(CFG_US(SETTLE_US));
	expect_equal(drv_cq_events(cq), 1);
	send_on(a, x, .src = 2, .len = 10);
	expect_cqe(b, .cq = cq, .wr_id = 2);
	expect_cqe(b, .cq = cq, .wr_id = 3);
	pass_time(CFG_US(SETTLE_US));
	expect_equal(drv_cq_events(cq), 2);
	send_on(a, x, .src = 4, .len = 10);
	pass_time(CFG_US(SETTLE_US));
	expect_equal(drv_cq_events(cq), 2);
	drv_cq_arm(cq, false); /* one came since it was looked at last */
	pass_time(CFG_US(SETTLE_US));
	expect_equal(drv_cq_events(cq), 3);
	expect_cqe(b, .cq = cq, .wr_id = 4);

	check_packets();
	drv_cq_arm(cq, true);
	send_on(a, x, .src = 5, .len = 10);
	expect_pkt(a_to_b, RC_SEND_ONLY, .solicited = 0);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE);
	expect_cqe(b, .cq = cq, .wr_id = 5);
	pass_time(CFG_US(SETTLE_US));
	expect_equal(drv_cq_events(cq), 3);
	send_on(a, x, .src = 6, .len = 2 * MTU + 1, .solicited = true);
	expect_pkt(a_to_b, RC_SEND_FIRST, .solicited = 0);
	expect_pkt(a_to_b, RC_SEND_MIDDLE, .solicited = 0);
	expect_pkt(a_to_b, RC_SEND_LAST, .solicited = 1);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE);
	expect_cqe(b, .cq = cq, .wr_id = 6);
	pass_time(CFG_US(SETTLE_US));
	expect_equal(drv_cq_events(cq), 4);
	drv_cq_arm(cq, true);
	send_on(a, x, .opcode = IBV_WR_RDMA_WRITE, .dst = 50000, .src = 7, .len = 10,
		.with_imm = true, .solicited = true);
	expect_pkt(a_to_b, RC_WRITE_ONLY_IMM, .solicited = 1);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE);
	expect_cqe(b, .cq = cq, .wr_id = 7);
	pass_time(CFG_US(SETTLE_US));
	expect_equal(drv_cq_events(cq), 5);
	drv_cq_arm(cq, true);
	move_qp(y, IBV_QPS_ERR); /* an error counts as solicited */
	expect_cqe(b, .cq = cq, .wr_id = 8, .status = IBV_WC_WR_FLUSH_ERR);
	pass_time(CFG_US(SETTLE_US));
	expect_equal(drv_cq_events(cq), 6);
	expect_cqes(a, 7);
	for (unsigned i = 0; i < 5; i++)
		expect_data(b, .dst = i * 4 * MTU,
			    .src = i < 2    ? i + 1
				   : i == 2 ? 2
					    : i + 1,
			    .len = 10);
	expect_data(b, .dst = 5 * 4 * MTU, .src = 6, .len = 2 * MTU + 1);
	expect_data(b, .dst = 50000, .src = 7, .len = 10);
	destroy_qp(y);
	destroy_qp(x);
	destroy_cq(cq);
}
