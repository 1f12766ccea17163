/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A port with two LIDs. A connected queue pair accepts packets only to the LID that the path bits
 * of its own path select: RC and UC requests to the other LID are dropped, and so are responses. A
 * datagram queue pair accepts both LIDs.
 * behaviours: IBA-9.6.1.5-dlid
 */
#include "testbench/services.h"

enum { LEN = 32, QKEY = 0x11111111, UD_LEN = LEN + 40, CREDITS_NONE = 31 };

static void connect_by(struct tb *tb, struct tb_end *end, struct drv_qp *x, struct drv_qp *y,
		       unsigned bits)
{
	struct drv_rc_path path = drv_rc_path_default(end->peer->lid + bits, drv_qp_num(y));

	path.src_path_bits = bits;
	must(drv_qp_connect(x, &path));
}

/* Sends requests to the LID that does not belong to y's path, then to the one that does. */
static void writes(struct tb *tb, struct tb_end *a, struct tb_end *b, struct drv_qp *x,
		   struct drv_qp *y, enum bth_opcode only, unsigned bits)
{
	const struct drv_rc_path path = drv_rc_path_default(0, 0);
	struct tb_inject p = {TB_INJECT_ANY,
			      .qpn = drv_qp_num(y),
			      .psn = path.rq_psn,
			      .dlid = b->lid + !bits,
			      .slid = a->lid + bits,
			      .ack_req = true,
			      .rkey = drv_mr_rkey(b->mr),
			      .va = tb_va(b, b->dst),
			      .len = LEN,
			      .dma_len = LEN};

	tb_inject(tb, TB_HERE, b, only, &p);
	expect_no_more(CFG_US(20));
	send_on(a, x, .opcode = IBV_WR_RDMA_WRITE, .wr_id = 1, .len = LEN, .dst = 1024);
	tb_expect_pkt(tb, TB_HERE, a_to_b, WINDOW(0, EVENT_NEVER), only,
		      &(const struct tb_pkt){TB_PKT_ANY, .psn = path.sq_psn, .dlid = b->lid + bits,
					     .slid = a->lid + bits});
	if (only != BTH_UC_WRITE_ONLY)
		expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = path.sq_psn, .dlid = a->lid + bits);
	expect_cqe(a, .wr_id = 1, .on = x);
	pass_time(CFG_US(5));
	expect_data(b, .dst = 1024, .len = LEN);
}

static void answers(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	drop_next(b_to_a, RC_ACKNOWLEDGE);
	rdma_write(a, .wr_id = 2, .len = LEN, .dst = 2048);
	expect_pkt(a_to_b, RC_WRITE_ONLY);
	pass_time(CFG_US(5));
	inject(a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .syndrome = CREDITS_NONE, .msn = 1,
	       .dlid = a->lid + 1);
	expect_pkt_after(a_to_b, ACK_TIMEOUT(a), RC_WRITE_ONLY, .transmission = 2);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE);
	expect_cqe(a, .wr_id = 2);
	expect_data(b, .dst = 2048, .len = LEN);
}

static void datagrams(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct drv_qp *x = new_qp(a, .type = IBV_QPT_UD), *y = new_qp(b, .type = IBV_QPT_UD);

	start_ud(x, QKEY, 1);
	start_ud(y, QKEY, 1);
	for (unsigned bits = 0; bits < 2; bits++) {
		const struct drv_ah_attr ah = {.dlid = b->lid + bits, .port_num = 1};

		recv_on(b, y, .wr_id = bits, .dst = 4096, .len = UD_LEN);
		send_on(a, x, .len = LEN, .ah = &ah, .remote_qpn = drv_qp_num(y), .qkey = QKEY);
		expect_pkt(a_to_b, UD_SEND_ONLY);
		expect_cqe(a, .on = x);
		expect_cqe(b, .wr_id = bits, .on = y, .path_bits = bits);
	}
	ignore_data(b, .dst = 4096, .len = UD_LEN);
	destroy_qp(x);
	destroy_qp(y);
}

SCENARIO(path_bits, "a connected queue pair takes packets to the LID of its path only", .lmc = 1,
	 .timeout = 8)
{
	for (unsigned bits = 0; bits < 2; bits++) {
		struct drv_qp *x = new_qp(a), *y = new_qp(b);
		struct drv_qp *u = new_qp(a, .type = IBV_QPT_UC),
			      *v = new_qp(b, .type = IBV_QPT_UC);

		connect_by(tb, a, x, y, bits);
		connect_by(tb, b, y, x, bits);
		connect_by(tb, a, u, v, bits);
		connect_by(tb, b, v, u, bits);
		writes(tb, a, b, x, y, BTH_RC_WRITE_ONLY, bits);
		writes(tb, a, b, u, v, BTH_UC_WRITE_ONLY, bits);
		destroy_qp(v);
		destroy_qp(u);
		destroy_qp(y);
		destroy_qp(x);
	}
	answers(tb, a, b);
	datagrams(tb, a, b);
}
