/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connected queue pair accepts only packets that match its path: by source LID, and with a GRH
 * that carries the two GIDs of the path if the path has a GRH, or without a GRH if it has none.
 * Other packets are dropped, requests as well as responses.
 * behaviours: IBA-9.6.1.2-grh IBA-9.6.1.5-slid
 */
#include "testbench/services.h"

enum { LEN = 32 };

static void connect_global(struct tb *tb, struct tb_end *end, struct drv_qp *x, struct drv_qp *y)
{
	struct drv_rc_path path = path_to(end->peer, drv_qp_num(y));

	path.is_global = true;
	path.hop_limit = 1;
	path.timeout = 8;
	must(drv_query_gid(end->peer->dev, 1, 0, path.dgid));
	must(drv_qp_connect(x, &path));
}

SCENARIO(rc_addresses, "packets of another path are dropped: source LID, GRH, GIDs", .timeout = 8)
{
	struct drv_qp *x = new_qp(a), *y = new_qp(b);
	uint8_t gid[DRV_GID_BYTES], other[DRV_GID_BYTES];

	must(drv_query_gid(b->dev, 1, 0, gid));
	memcpy(other, gid, sizeof(other));
	other[15] ^= 1;

	phase("a path without GRH");
	post_recv(b, .wr_id = 1, .len = LEN);
	inject(b, RC_SEND_ONLY, .psn = 0xfffffe, .len = LEN, .ack_req = true, .slid = a->lid + 1);
	inject(b, RC_SEND_ONLY, .psn = 0xfffffe, .len = LEN, .ack_req = true, .dgid = gid);
	expect_no_more(CFG_US(20));
	post_send(a, .wr_id = 2, .len = LEN);
	drop_next(b_to_a, RC_ACKNOWLEDGE);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 0xfffffe);
	expect_cqe(b, .wr_id = 1);
	expect_data(b, .len = LEN);
	inject(a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .syndrome = 31, .msn = 1, .slid = b->lid + 1);
	expect_pkt_after(a_to_b, ACK_TIMEOUT(a), RC_SEND_ONLY, .psn = 0xfffffe);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe);
	expect_cqe(a, .wr_id = 2);

	phase("a path with GRH");
	connect_global(tb, a, x, y);
	connect_global(tb, b, y, x);
	recv_on(b, y, .wr_id = 3, .len = LEN, .dst = 1024);
	inject(b, RC_SEND_ONLY, .qpn = drv_qp_num(y), .psn = 0, .len = LEN, .ack_req = true);
	inject(b, RC_SEND_ONLY, .qpn = drv_qp_num(y), .psn = 0, .len = LEN, .dgid = other);
	/* its SGID is missing */
	inject(b, RC_SEND_ONLY, .qpn = drv_qp_num(y), .psn = 0, .len = LEN, .dgid = gid);
	/* the SGID of another port, and one with another prefix */
	inject(b, RC_SEND_ONLY, .qpn = drv_qp_num(y), .psn = 0, .len = LEN, .dgid = gid,
	       .sgid = gid);
	must(drv_query_gid(a->dev, 1, 0, other));
	other[7] ^= 1;
	inject(b, RC_SEND_ONLY, .qpn = drv_qp_num(y), .psn = 0, .len = LEN, .dgid = gid,
	       .sgid = other);
	expect_no_more(CFG_US(20));
	send_on(a, x, .wr_id = 4, .len = LEN);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 0);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0);
	expect_cqe(a, .wr_id = 4, .on = x);
	expect_cqe(b, .wr_id = 3, .on = y);
	expect_data(b, .dst = 1024, .len = LEN);
	destroy_qp(x);
	destroy_qp(y);
}
