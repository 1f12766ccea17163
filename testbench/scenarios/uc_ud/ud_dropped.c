/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A datagram QP silently drops what it cannot accept, and the sender completes anyway: a wrong
 * Q_Key, another partition (both are counted), no receive. The QP does not change, and the next
 * good datagram arrives.
 */
/* behaviours: UD-5 IBA-10.2.5-qkey IBA-9.6.1-pkey */
#include "testbench/services.h"

enum { QKEY = 0x11111111, GRH_AREA = 40, PORT = 1, LIMITED = 0x7fff, QKEY_BITS = 32 };

SCENARIO(ud_dropped, "datagrams that nobody takes are dropped in silence")
{
	struct drv_qp *x = new_qp(a, .type = IBV_QPT_UD), *y = new_qp(b, .type = IBV_QPT_UD);
	const struct drv_ah_attr ah = ah_to(b);
	struct drv_port_attr before, after;

	start_ud(x, QKEY, 5);
	start_ud(y, QKEY, 0);
	must(drv_query_port(b->dev, PORT, &before));
	if (!still_right())
		return;
	send_on(a, x, .wr_id = 1, .len = 64, .ah = &ah, .remote_qpn = drv_qp_num(y), .qkey = QKEY);
	expect_pkt(a_to_b, UD_SEND_ONLY, .psn = 5);
	expect_cqe(a, .wr_id = 1);
	pass_time(CFG_US(20));
	expect_stat(b, responder, dropped, 1);

	recv_on(b, y, .wr_id = 1, .len = 64);
	send_on(a, x, .wr_id = 2, .len = 24, .ah = &ah, .remote_qpn = drv_qp_num(y),
		.qkey = QKEY + 1);
	expect_pkt(a_to_b, UD_SEND_ONLY, .psn = 6);
	expect_cqe(a, .wr_id = 2);
	inject(b, UD_SEND_ONLY, .qpn = drv_qp_num(y), .qkey = QKEY, .pkey = 0x8001, .len = 24);
	for (unsigned bit = 0; bit < QKEY_BITS; bit++)
		inject(b, UD_SEND_ONLY, .qpn = drv_qp_num(y), .qkey = QKEY ^ 1u << bit, .len = 24);
	expect_no_more(CFG_US(20));
	must(drv_query_port(b->dev, PORT, &after));
	expect_equal(after.bad_qkeys - before.bad_qkeys, 1 + QKEY_BITS);
	expect_equal(after.bad_pkeys - before.bad_pkeys, 1);
	expect_stat(b, responder, dropped, 3 + QKEY_BITS);

	send_on(a, x, .wr_id = 3, .len = 24, .ah = &ah, .remote_qpn = drv_qp_num(y), .qkey = QKEY);
	expect_pkt(a_to_b, UD_SEND_ONLY, .psn = 7);
	expect_cqe(a, .wr_id = 3);
	expect_cqe(b, .wr_id = 1, .byte_len = GRH_AREA + 24);
	expect_data(b, .dst = GRH_AREA, .len = 24);

	/* full members accept packets of limited members */
	recv_on(b, y, .wr_id = 2, .dst = 1000, .len = 64);
	inject(b, UD_SEND_ONLY, .qpn = drv_qp_num(y), .qkey = QKEY, .pkey = LIMITED, .len = 24);
	expect_cqe(b, .wr_id = 2, .byte_len = GRH_AREA + 24);
	expect_data(b, .dst = 1000 + GRH_AREA, .len = 24);
	destroy_qp(x);
	destroy_qp(y);
}
