/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A payload above the path MTU, up to the largest packet possible, is refused by the transport
 * layer, even when the MTU is the largest one. An RC request gets a NAK (invalid request), a UC or
 * UD packet is dropped, and oversized READ data end the request in error. A packet longer than that
 * is malformed for the link layer.
 * behaviours: IBA-9.7.4.1.6-length IBA-7.3-packet-checks
 */
#include "model/interface/contexts.h"
#include "testbench/services.h"

enum {
	LARGEST = 4096,
	OTHERS = 124, /* headers and ICRC of a packet, at most */
	RC_SEND = 8 + 12 + 4,
	GOOD = 31,
	QKEY = 0x11111111
};

static void connect_at(struct tb *tb, struct tb_end *end, struct drv_qp *x, struct drv_qp *y,
		       enum ibv_mtu mtu)
{
	struct drv_rc_path path = path_to(end->peer, drv_qp_num(y));

	path.path_mtu = mtu;
	must(drv_qp_connect(x, &path));
}

static void reset(struct tb *tb, struct drv_qp *x, struct drv_qp *y)
{
	move_qp(x, IBV_QPS_RESET);
	move_qp(y, IBV_QPS_RESET);
}

/* Sends a request of `opcode` with more bytes than this MTU allows, and expects the refusal. */
static void refused(struct tb *tb, struct tb_end *a, struct tb_end *b, struct drv_qp *x,
		    struct drv_qp *y, enum ibv_mtu mtu, enum bth_opcode opcode, uint32_t len)
{
	const struct tb_inject p = {TB_INJECT_ANY,
				    .qpn = drv_qp_num(y),
				    .psn = 0,
				    .ack_req = true,
				    .rkey = drv_mr_rkey(b->mr),
				    .va = tb_va(b, b->dst),
				    .len = len,
				    .dma_len = len};

	connect_at(tb, a, x, y, mtu);
	connect_at(tb, b, y, x, mtu);
	recv_on(b, y, .wr_id = 1, .len = 2 * LARGEST);
	tb_inject(tb, TB_HERE, b, opcode, &p);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0, .nak = NAK_INVALID_REQ);
	expect_cqe(b, .wr_id = 1, .on = y, .status = IBV_WC_WR_FLUSH_ERR);
	expect_event(b, IBV_EVENT_QP_REQ_ERR);
	reset(tb, x, y);
}

static void requests(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct drv_qp *x = new_qp(a), *y = new_qp(b);

	/* the buffers of a driver's own transport end at the largest MTU */
	const enum ibv_mtu last = in_software(b) ? IBV_MTU_2048 : IBV_MTU_4096;

	for (enum ibv_mtu mtu = IBV_MTU_256; mtu <= last; mtu++) {
		refused(tb, a, b, x, y, mtu, BTH_RC_SEND_ONLY, ib_mtu_bytes((enum ib_mtu)mtu) + 1);
		refused(tb, a, b, x, y, mtu, BTH_RC_SEND_FIRST, ib_mtu_bytes((enum ib_mtu)mtu) + 4);
		refused(tb, a, b, x, y, mtu, BTH_RC_WRITE_ONLY, ib_mtu_bytes((enum ib_mtu)mtu) + 2);
	}
	if (last == IBV_MTU_4096)
		refused(tb, a, b, x, y, last, BTH_RC_SEND_ONLY, LARGEST + OTHERS - RC_SEND);
	destroy_qp(y);
	destroy_qp(x);
}

static void malformed(struct tb *tb, struct tb_end *b)
{
	const uint64_t errors = tb_stat(b, "port1", "rcv_errors");

	inject(b, RC_SEND_ONLY, .psn = 0xfffffe, .ack_req = true,
	       .len = LARGEST + OTHERS - RC_SEND + 1);
	expect_no_more(CFG_US(20));
	expect_equal(tb_stat(b, "port1", "rcv_errors"), errors + 1);
}

static void unreliable(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct drv_qp *u = new_qp(a, .type = IBV_QPT_UC), *v = new_qp(b, .type = IBV_QPT_UC);
	struct drv_qp *d = new_qp(b, .type = IBV_QPT_UD);
	const uint64_t errors = tb_stat(b, "port1", "rcv_errors");

	connect_at(tb, a, u, v, IBV_MTU_4096);
	connect_at(tb, b, v, u, IBV_MTU_4096);
	start_ud(d, QKEY, 0);
	recv_on(b, v, .wr_id = 2, .len = 2 * LARGEST);
	recv_on(b, d, .wr_id = 3, .len = 2 * LARGEST);
	inject(b, UC_SEND_ONLY, .qpn = drv_qp_num(v), .psn = 0, .len = LARGEST + 4);
	inject(b, UD_SEND_ONLY, .qpn = drv_qp_num(d), .qkey = QKEY, .len = LARGEST + 4);
	expect_no_more(CFG_US(20));
	expect_equal(tb_stat(b, "port1", "rcv_errors"), errors);
	expect_empty(b->cq);
	destroy_qp(d);
	destroy_qp(v);
	destroy_qp(u);
}

static void response(struct tb *tb, struct tb_end *a, struct tb_end *b, enum bth_opcode opcode,
		     uint32_t asked, uint32_t len)
{
	move_qp(b->qp[0], IBV_QPS_RESET);
	rdma_read(a, .wr_id = 4, .len = asked);
	expect_pkt(a_to_b, RC_READ_REQUEST);
	tb_inject(tb, TB_HERE, a, opcode,
		  &(const struct tb_inject){TB_INJECT_ANY, .psn = 0xfffffe, .syndrome = GOOD,
					    .msn = 1, .len = len});
	expect_cqe(a, .wr_id = 4, .status = IBV_WC_BAD_RESP_ERR);
	reconnect(0);
}

SCENARIO(payload_above_mtu, "payload above the path MTU is refused by transport",
	 .memory = 4 * LARGEST)
{
	requests(tb, a, b);
	malformed(tb, b);
	unreliable(tb, a, b);
	if (in_software(a))
		return;
	response(tb, a, b, BTH_RC_READ_RESP_ONLY, LARGEST, LARGEST + 4);
	response(tb, a, b, BTH_RC_READ_RESP_FIRST, 2 * LARGEST, LARGEST + 64);
}
