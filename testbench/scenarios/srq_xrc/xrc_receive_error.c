/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failed receives of XRC SRQs complete in error on the SRQ's CQ with the SRQ's number, which
 * software needs to find the request. First a receive that is too short and one whose key is
 * refused; then the queue pair fails in the middle of a message, and its receive is flushed.
 */
/* behaviours: RESP-5 XRC-5 */
#include "testbench/services.h"

enum { MTU = 256 };

SCENARIO(xrc_receive_error, "XRC: errors of receives name the SRQ", .mtu = IBV_MTU_256)
{
	struct drv_xrcd *xrcd = new_xrcd(b);
	struct drv_cq *cq = new_cq(b, 64, DRV_CQ_POLLED);
	struct drv_srq *s = new_srq(b, .xrcd = xrcd, .cq = cq), *t = new_srq(b, .xrcd = xrcd);
	struct drv_qp *x = new_qp(a, .type = IBV_QPT_XRC_SEND),
		      *y = new_qp(b, .type = IBV_QPT_XRC_RECV, .xrcd = xrcd);

	connect_two(x, y);
	ignore_packets();
	if (!still_right())
		return;
	recv_srq(b, s, .wr_id = 1, .len = 50);
	recv_srq(b, s, .wr_id = 2, .len = 64, .lkey = drv_mr_lkey(b->mr) + 1);
	recv_srq(b, t, .wr_id = 3, .dst = 1000, .len = 4 * MTU);
	send_on(a, x, .wr_id = 11, .len = 51, .srqn = drv_srq_num(s));
	expect_cqe(b, .wr_id = 1, .cq = cq, .on = y, .status = IBV_WC_LOC_LEN_ERR);
	expect_cqe(a, .wr_id = 11, .status = IBV_WC_REM_INV_REQ_ERR);
	move_qp(x, IBV_QPS_RESET);
	move_qp(y, IBV_QPS_RESET);
	connect_two(x, y);
	send_on(a, x, .wr_id = 12, .len = 51, .srqn = drv_srq_num(s));
	expect_cqe(b, .wr_id = 2, .cq = cq, .on = y, .status = IBV_WC_LOC_PROT_ERR);
	expect_cqe(a, .wr_id = 12, .status = IBV_WC_REM_OP_ERR);
	move_qp(x, IBV_QPS_RESET);
	move_qp(y, IBV_QPS_RESET);
	connect_two(x, y);
	inject(b, XRC_SEND_FIRST, .psn = 0xfffffe, .qpn = drv_qp_num(y), .srqn = drv_srq_num(t),
	       .len = MTU);
	expect_data(b, .dst = 1000, .len = MTU);
	move_qp(y, IBV_QPS_ERR);
	expect_cqe(b, .wr_id = 3, .on = y, .status = IBV_WC_WR_FLUSH_ERR);
	destroy_qp(y);
	destroy_qp(x);
	destroy_srq(t);
	destroy_srq(s);
	destroy_cq(cq);
	destroy_xrcd(xrcd);
}
