/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CQ of an XRC SRQ holds completions of a target that has gone. The CQ is destroyed with them, and each
 * of them is told as one that nobody will poll.
 */
/* behaviours: XRC-3 */
#include "testbench/services.h"

enum { MESSAGES = 4, LEN = 16 };

SCENARIO(xrc_target_gone, "XRC: a CQ is destroyed that holds completions of a target that has gone",
	 .any_packets = true)
{
	struct drv_xrcd *xrcd = new_xrcd(b);
	struct drv_cq *cq = new_cq(b, 2 * MESSAGES, 0);
	struct drv_srq *srq = new_srq(b, .xrcd = xrcd, .cq = cq);
	struct drv_qp *x = new_qp(a, .type = IBV_QPT_XRC_SEND),
		      *y = new_qp(b, .type = IBV_QPT_XRC_RECV, .xrcd = xrcd);

	connect_two(x, y);
	for (unsigned i = 0; i < MESSAGES && still_right(); i++) {
		recv_srq(b, srq, .wr_id = i, .len = LEN, .dst = i * LEN);
		send_on(a, x, .len = LEN, .srqn = drv_srq_num(srq));
		expect_cqe(a);
		expect_data(b, .dst = i * LEN, .len = LEN);
	}
	if (!still_right())
		return;
	pass_time(CFG_US(20));
	expect_equal(drv_cq_outstanding(cq), MESSAGES);
	destroy_qp(y);
	destroy_qp(x);
	expect_discarded(b, 0);
	destroy_srq(srq);
	destroy_cq(cq);
	expect_discarded(b, MESSAGES);
	destroy_xrcd(xrcd);
}
