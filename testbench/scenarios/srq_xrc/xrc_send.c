/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One target queue pair and three SRQs in its domain, with their own or a shared CQ. The SRQ number
 * in each packet selects the SRQ of that message. The completion comes on the SRQ's CQ and names
 * the target. A second target of the domain delivers to the same SRQs.
 */
/* behaviours: XRC-1 XRC-3 */
#include "testbench/services.h"

enum { MTU = 256 };

SCENARIO(xrc_send, "XRC: the packet's SRQ number steers each message", .mtu = IBV_MTU_256)
{
	struct drv_xrcd *xrcd = new_xrcd(b);
	struct drv_cq *cq = new_cq(b, 64, DRV_CQ_POLLED);
	struct drv_srq *r = new_srq(b, .xrcd = xrcd), *s = new_srq(b, .xrcd = xrcd, .cq = cq),
		       *t = new_srq(b, .xrcd = xrcd, .cq = cq);
	struct drv_qp *x = new_qp(a, .type = IBV_QPT_XRC_SEND),
		      *y = new_qp(b, .type = IBV_QPT_XRC_RECV, .xrcd = xrcd);
	struct drv_qp *v = new_qp(a, .type = IBV_QPT_XRC_SEND),
		      *w = new_qp(b, .type = IBV_QPT_XRC_RECV, .xrcd = xrcd);

	connect_two(x, y);
	connect_two(v, w);
	if (!still_right())
		return;
	expect_true(drv_qp_num(y) >> 23 == 1);
	recv_srq(b, r, .wr_id = 1, .len = 1024);
	recv_srq(b, s, .wr_id = 2, .dst = 1024, .len = 1024);
	recv_srq(b, t, .wr_id = 3, .dst = 2048, .len = 1024, .repeat = 2);
	send_on(a, x, .wr_id = 11, .len = 64, .srqn = drv_srq_num(t));
	send_on(a, x, .wr_id = 12, .src = 100, .len = 2 * MTU + 1, .srqn = drv_srq_num(s),
		.with_imm = true, .imm = 77);
	send_on(a, x, .wr_id = 13, .src = 200, .len = 64, .srqn = drv_srq_num(r));
	expect_pkt(a_to_b, XRC_SEND_ONLY, .psn = 0xfffffe, .qpn = drv_qp_num(y),
		   .srqn = drv_srq_num(t), .len = 64);
	expect_pkt(a_to_b, XRC_SEND_FIRST, .psn = 0xffffff, .srqn = drv_srq_num(s), .len = MTU);
	expect_pkt(a_to_b, XRC_SEND_MIDDLE, .psn = 0, .srqn = drv_srq_num(s), .len = MTU);
	expect_pkt(a_to_b, XRC_SEND_LAST_IMM, .psn = 1, .srqn = drv_srq_num(s), .len = 1,
		   .imm = 77);
	expect_pkt(a_to_b, XRC_SEND_ONLY, .psn = 2, .srqn = drv_srq_num(r), .len = 64);
	expect_pkt(b_to_a, XRC_ACKNOWLEDGE, .psn = 0xfffffe, .qpn = drv_qp_num(x), .msn = 1,
		   .ack_credits = 31);
	expect_pkt(b_to_a, XRC_ACKNOWLEDGE, .psn = 1, .msn = 2);
	expect_pkt(b_to_a, XRC_ACKNOWLEDGE, .psn = 2, .msn = 3);
	expect_cqe(a, .wr_id = 11, .on = x);
	expect_cqe(a, .wr_id = 12, .on = x);
	expect_cqe(a, .wr_id = 13, .on = x);
	expect_cqe(b, .wr_id = 3, .cq = cq, .on = y, .srq = t, .byte_len = 64);
	expect_cqe(b, .wr_id = 2, .cq = cq, .on = y, .srq = s, .byte_len = 2 * MTU + 1, .imm = 77);
	expect_cqe(b, .wr_id = 1, .on = y, .srq = r, .byte_len = 64);
	expect_data(b, .dst = 2048, .len = 64);
	expect_data(b, .dst = 1024, .src = 100, .len = 2 * MTU + 1);
	expect_data(b, .src = 200, .len = 64);

	send_on(a, v, .wr_id = 14, .src = 300, .len = 64, .srqn = drv_srq_num(t));
	expect_pkt(a_to_b, XRC_SEND_ONLY, .qpn = drv_qp_num(w), .srqn = drv_srq_num(t));
	expect_pkt(b_to_a, XRC_ACKNOWLEDGE, .qpn = drv_qp_num(v));
	expect_cqe(a, .wr_id = 14, .on = v);
	expect_cqe(b, .wr_id = 4, .cq = cq, .on = w, .srq = t, .byte_len = 64);
	expect_data(b, .dst = 3072, .src = 300, .len = 64);
	expect_empty(cq);
	destroy_qp(w);
	destroy_qp(v);
	destroy_qp(y);
	destroy_qp(x);
	destroy_srq(t);
	destroy_srq(s);
	destroy_srq(r);
	destroy_cq(cq);
	destroy_xrcd(xrcd);
}
