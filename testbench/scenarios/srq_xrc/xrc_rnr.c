/* SPDX-License-Identifier: Apache-2.0 */
/* One of two XRC SRQs is empty. A message to it gets an RNR NAK, and the target accepts no later
 * message before it. When a receive is posted there, both messages arrive. */
/* behaviours: XRC-5 SRQ-3 */
#include "testbench/services.h"

SCENARIO(xrc_rnr, "XRC: RNR NAK when the SRQ that is named is empty")
{
	struct drv_xrcd *xrcd = new_xrcd(b);
	struct drv_srq *s = new_srq(b, .xrcd = xrcd), *t = new_srq(b, .xrcd = xrcd);
	struct drv_qp *x = new_qp(a, .type = IBV_QPT_XRC_SEND),
		      *y = new_qp(b, .type = IBV_QPT_XRC_RECV, .xrcd = xrcd);

	connect_two(x, y);
	if (!still_right())
		return;
	recv_srq(b, t, .wr_id = 1, .len = 64);
	send_on(a, x, .wr_id = 11, .len = 64, .srqn = drv_srq_num(s));
	expect_pkt(a_to_b, XRC_SEND_ONLY, .psn = 0xfffffe, .srqn = drv_srq_num(s));
	expect_pkt(b_to_a, XRC_ACKNOWLEDGE, .psn = 0xfffffe, .rnr = 12);
	send_on(a, x, .wr_id = 12, .src = 100, .len = 64, .srqn = drv_srq_num(t));
	pass_time(CFG_US(20));
	recv_srq(b, s, .wr_id = 2, .dst = 1000, .len = 64);
	expect_pkt(a_to_b, XRC_SEND_ONLY, .psn = 0xfffffe, .srqn = drv_srq_num(s),
		   .transmission = 2);
	expect_pkt(a_to_b, XRC_SEND_ONLY, .psn = 0xffffff, .srqn = drv_srq_num(t));
	expect_pkt(b_to_a, XRC_ACKNOWLEDGE, .psn = 0xfffffe, .msn = 1);
	expect_pkt(b_to_a, XRC_ACKNOWLEDGE, .psn = 0xffffff, .msn = 2);
	expect_cqe(a, .wr_id = 11);
	expect_cqe(a, .wr_id = 12);
	expect_cqe(b, .wr_id = 2, .srq = s);
	expect_cqe(b, .wr_id = 1, .srq = t);
	expect_data(b, .dst = 1000, .len = 64);
	expect_data(b, .src = 100, .len = 64);
	destroy_qp(y);
	destroy_qp(x);
	destroy_srq(t);
	destroy_srq(s);
	destroy_xrcd(xrcd);
}
