/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages to an unknown SRQ number, to one that differs in a high bit, to an SRQ of another domain,
 * and to an SRQ that is not for XRC. Each gets a NAK (invalid request), no receive is used, and the
 * target goes to ERR with a request error.
 */
/* behaviours: XRC-3 IBA-A14-srq-number */
#include "model/interface/macros.h"
#include "testbench/services.h"

SCENARIO(xrc_wrong_srq, "XRC: wrong and foreign SRQ numbers are refused")
{
	struct drv_xrcd *xrcd = new_xrcd(b), *foreign = new_xrcd(b);
	struct drv_srq *s = new_srq(b, .xrcd = xrcd), *f = new_srq(b, .xrcd = foreign),
		       *plain = new_srq(b);
	struct drv_qp *x = new_qp(a, .type = IBV_QPT_XRC_SEND),
		      *y = new_qp(b, .type = IBV_QPT_XRC_RECV, .xrcd = xrcd);
	uint32_t wrong[5];

	if (!still_right())
		return;
	recv_srq(b, s, .wr_id = 1, .len = 64);
	recv_srq(b, f, .wr_id = 2, .len = 64);
	recv_srq(b, plain, .wr_id = 3, .len = 64);
	wrong[0] = drv_srq_num(plain) + 100;
	wrong[1] = drv_srq_num(f);
	wrong[2] = drv_srq_num(plain);
	wrong[3] = drv_srq_num(s) ^ 1u << 16; /* all 24 bits count */
	wrong[4] = drv_srq_num(s) ^ 1u << 23;
	for (unsigned i = 0; i < ARRAY_SIZE(wrong) && still_right(); i++) {
		connect_two(x, y);
		send_on(a, x, .wr_id = i, .len = 64, .srqn = wrong[i]);
		expect_pkt(a_to_b, XRC_SEND_ONLY, .psn = 0xfffffe, .srqn = wrong[i]);
		expect_pkt(b_to_a, XRC_ACKNOWLEDGE, .psn = 0xfffffe, .nak = NAK_INVALID_REQ,
			   .msn = 0);
		expect_cqe(a, .wr_id = i, .status = IBV_WC_REM_INV_REQ_ERR);
		expect_event(b, IBV_EVENT_QP_REQ_ERR);
		move_qp(x, IBV_QPS_RESET);
		move_qp(y, IBV_QPS_RESET);
	}
	connect_two(x, y);
	send_on(a, x, .wr_id = 9, .len = 64, .srqn = drv_srq_num(s));
	expect_pkt(a_to_b, XRC_SEND_ONLY, .psn = 0xfffffe);
	expect_pkt(b_to_a, XRC_ACKNOWLEDGE, .psn = 0xfffffe, .msn = 1);
	expect_cqe(a, .wr_id = 9);
	expect_cqe(b, .wr_id = 1, .srq = s, .on = y);
	expect_data(b, .len = 64);
	destroy_qp(y);
	destroy_qp(x);
	destroy_srq(plain);
	destroy_srq(f);
	destroy_srq(s);
	destroy_xrcd(foreign);
	destroy_xrcd(xrcd);
}
