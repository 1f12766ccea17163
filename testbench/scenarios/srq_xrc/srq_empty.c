/* SPDX-License-Identifier: Apache-2.0 */
/* The SRQ is empty. A SEND gets an RNR NAK with the QP's timer code, a WRITE on the other QP still
 * succeeds, and a datagram is dropped. When receives are posted, the waiting SEND gets through. */
/* behaviours: SRQ-3 RESP-11 */
#include "testbench/services.h"

enum { QKEY = 0x5555, PORT = 1 };

SCENARIO(srq_empty, "an empty SRQ: RNR NAK, refill, resend", .exact = true)
{
	const struct drv_ah_attr ah = ah_to(b);
	struct drv_srq *srq = new_srq(b);
	struct drv_qp *x = new_qp(a), *v = new_qp(a), *u = new_qp(a, .type = IBV_QPT_UD);
	struct drv_qp *y = new_qp(b, .srq = srq), *w = new_qp(b, .srq = srq),
		      *t = new_qp(b, .type = IBV_QPT_UD, .srq = srq);

	connect_two(x, y);
	connect_two(v, w);
	start_ud(u, QKEY, 0);
	start_ud(t, QKEY, 0);
	if (!still_right())
		return;
	send_on(a, x, .wr_id = 1, .len = 64);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 0xfffffe, .transmission = 1);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .rnr = 12);
	send_on(a, v, .wr_id = 2, .opcode = IBV_WR_RDMA_WRITE, .dst = 2000, .len = 64);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .psn = 0xfffffe);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .ack_credits = 31);
	expect_cqe(a, .wr_id = 2, .on = v);
	expect_data(b, .dst = 2000, .len = 64);
	send_on(a, u, .wr_id = 3, .len = 10, .ah = &ah, .remote_qpn = drv_qp_num(t), .qkey = QKEY);
	expect_pkt(a_to_b, UD_SEND_ONLY);
	expect_cqe(a, .wr_id = 3, .on = u);
	pass_time(CFG_US(50));
	recv_srq(b, srq, .wr_id = 9, .len = 64);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 0xfffffe, .transmission = 2);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .msn = 1);
	expect_cqe(a, .wr_id = 1, .on = x);
	expect_cqe(b, .wr_id = 9, .on = y);
	expect_data(b, .len = 64);
	expect_stat(b, responder, rnr_naks, 1);
	destroy_qp(t);
	destroy_qp(w);
	destroy_qp(y);
	destroy_qp(u);
	destroy_qp(v);
	destroy_qp(x);
	destroy_srq(srq);
}
