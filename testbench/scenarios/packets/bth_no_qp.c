/* SPDX-License-Identifier: Apache-2.0 */
/* A QPN that names no queue pair although its low bits do: all 24 bits are compared. A packet of
 * another transport service than the queue pair's, in both directions. All are silently dropped. */
/* behaviours: BTH-1 */
#include "testbench/services.h"

enum { QKEY = 0x3333, LEN = 32 };

SCENARIO(bth_no_qp, "packets for no queue pair, and of another service, are dropped")
{
	struct drv_qp *u = new_qp(b, .type = IBV_QPT_UD);
	struct drv_qp_attr before, after;

	start_ud(u, QKEY, 0);
	if (!still_right())
		return;
	must(drv_qp_query(b->qp[0], &before));
	post_recv(b, .wr_id = 1, .len = 100);
	recv_on(b, u, .wr_id = 2, .dst = 1000, .len = 100);
	for (unsigned bit = 16; bit < 24; bit++)
		inject(b, RC_SEND_ONLY, .psn = 0xfffffe, .len = LEN, .ack_req = true,
		       .qpn = drv_qp_num(b->qp[0]) ^ 1u << bit);
	inject(b, RC_SEND_ONLY, .psn = 0xfffffe, .len = LEN, .ack_req = true,
	       .qpn = drv_qp_num(u) + 50);
	inject(b, UC_SEND_ONLY, .psn = 0xfffffe, .len = LEN);
	inject(b, UD_SEND_ONLY, .psn = 0xfffffe, .len = LEN, .qkey = QKEY);
	inject(b, XRC_SEND_ONLY, .psn = 0xfffffe, .len = LEN, .ack_req = true);
	inject(b, RC_SEND_ONLY, .psn = 0, .len = LEN, .qpn = drv_qp_num(u), .ack_req = true);
	inject(b, UC_SEND_ONLY, .psn = 0, .len = LEN, .qpn = drv_qp_num(u));
	expect_no_more(CFG_US(20));
	expect_stat(b, responder, packets, 0);
	/* the last, because a port may send a trap for it */
	inject(b, RC_SEND_ONLY, .psn = 0xfffffe, .len = LEN, .pkey = 0x8001, .ack_req = true);
	expect_no_more(CFG_US(20));
	must(drv_qp_query(b->qp[0], &after));
	expect_true(!memcmp(&before, &after, sizeof(before)));
	inject(b, RC_SEND_ONLY, .psn = 0xfffffe, .len = LEN, .ack_req = true);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .msn = 1);
	expect_cqe(b, .wr_id = 1);
	expect_data(b, .len = LEN);
	destroy_qp(u);
}
