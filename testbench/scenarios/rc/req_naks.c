/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the requester treats each NAK code; the scenario plays the responder. NAKs for remote access
 * error, invalid request and remote operational error end the request at once, each with its own
 * status, and flush the requests behind it. NAKs with a code of the RD service, a reserved code or
 * a reserved syndrome, and an unrequested READ response, also end the request or are dropped, as
 * the specification says.
 */
/* behaviours: IBA-9.9.2.1.2-nak-codes */
#include "testbench/services.h"

enum { NAK = 3 << 5, RESERVED = 2 << 5, NAK_NO_CODE = 31 };

static void nak(struct tb *tb, struct tb_end *a, unsigned code, enum ibv_wc_status status)
{
	rdma_write(a, .wr_id = 1, .len = 8);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .psn = 0xfffffe);
	post_send(a, .wr_id = 2, .len = 8);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 0xffffff);
	inject(a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .syndrome = NAK | code);
	expect_cqe(a, .wr_id = 1, .status = status);
	expect_cqe(a, .wr_id = 2, .status = IBV_WC_WR_FLUSH_ERR);
	reconnect(0);
	move_qp(a->peer->qp[0], IBV_QPS_RESET);
}

SCENARIO(req_naks, "NAK codes at the requester, one by one, and syndromes that are none",
	 .timeout = 18)
{
	move_qp(b->qp[0], IBV_QPS_RESET);
	nak(tb, a, NAK_INVALID_REQ, IBV_WC_REM_INV_REQ_ERR);
	nak(tb, a, NAK_REM_ACCESS, IBV_WC_REM_ACCESS_ERR);
	nak(tb, a, NAK_REM_OP, IBV_WC_REM_OP_ERR);
	nak(tb, a, NAK_INVALID_RD, IBV_WC_REM_INV_REQ_ERR);
	nak(tb, a, NAK_NO_CODE, IBV_WC_BAD_RESP_ERR);

	phase("no answers");
	rdma_write(a, .wr_id = 3, .len = 8);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .psn = 0xfffffe);
	inject(a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .syndrome = RESERVED);
	inject(a, RC_ACKNOWLEDGE, .psn = 0x1234, .syndrome = NAK | NAK_REM_ACCESS);
	expect_no_more(CFG_US(20));
	expect_empty(a->cq);
	inject(a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .syndrome = 31, .msn = 1);
	expect_cqe(a, .wr_id = 3);
}
