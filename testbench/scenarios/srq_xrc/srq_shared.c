/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two RC queue pairs and a UD one share one SRQ. Each message takes one receive, in the order of
 * arrival, and the completion names the queue pair. ACKs carry no credits. A message of three
 * packets on one QP, and a message that arrives in the middle of it on the other, take one receive
 * each.
 */
/* behaviours: SRQ-1 CRED-1 */
#include "testbench/services.h"

enum { QKEY = 0x5555, PORT = 1, MTU = 256, NO_CREDITS = 31 };

SCENARIO(srq_shared, "an SRQ behind three queue pairs: receives in order of arrival",
	 .mtu = IBV_MTU_256)
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
	must_fail(-EBUSY, drv_srq_destroy(srq));
	recv_srq(b, srq, .wr_id = 1, .len = 1024, .repeat = 5);
	send_on(a, x, .wr_id = 11, .len = 64);
	expect_pkt(a_to_b, RC_SEND_ONLY, .qpn = drv_qp_num(y));
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .ack_credits = NO_CREDITS, .msn = 1);
	expect_cqe(a, .wr_id = 11, .on = x);
	expect_cqe(b, .wr_id = 1, .on = y, .byte_len = 64);
	expect_data(b, .len = 64);
	send_on(a, v, .wr_id = 12, .src = 100, .len = 64);
	expect_pkt(a_to_b, RC_SEND_ONLY, .qpn = drv_qp_num(w));
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .ack_credits = NO_CREDITS, .msn = 1);
	expect_cqe(a, .wr_id = 12, .on = v);
	expect_cqe(b, .wr_id = 2, .on = w, .byte_len = 64);
	expect_data(b, .dst = 1024, .src = 100, .len = 64);

	ignore_packets();
	/* longer than hcasim explore holds anybody back, so that the other message comes in between */
	delay_next(a_to_b, RC_SEND_LAST, .by_ps = CFG_MS(3));
	send_on(a, x, .wr_id = 13, .len = 3 * MTU);
	pass_time(CFG_US(5));
	send_on(a, v, .wr_id = 14, .src = 2000, .len = 64);
	expect_cqe(b, .wr_id = 4, .on = w, .byte_len = 64);
	expect_cqe(b, .wr_id = 3, .on = y, .byte_len = 3 * MTU);
	expect_cqe(a, .wr_id = 14, .on = v);
	expect_cqe(a, .wr_id = 13, .on = x);
	expect_data(b, .dst = 2 * 1024, .len = 3 * MTU);
	expect_data(b, .dst = 3 * 1024, .src = 2000, .len = 64);

	send_on(a, u, .wr_id = 15, .len = 100, .ah = &ah, .remote_qpn = drv_qp_num(t),
		.qkey = QKEY);
	expect_cqe(a, .wr_id = 15, .on = u);
	expect_cqe(b, .wr_id = 5, .on = t, .byte_len = 140);
	expect_data(b, .dst = 4 * 1024 + 40, .len = 100);
	expect_stat(b, srq, taken, 5);
	destroy_qp(t);
	destroy_qp(w);
	destroy_qp(y);
	destroy_qp(u);
	destroy_qp(v);
	destroy_qp(x);
	destroy_srq(srq);
}
