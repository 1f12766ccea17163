/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets for the half that a queue pair does not have, or of another transport, are silently
 * dropped and change nothing: requests at an XRC initiator, which has no responder (SEND, WRITE,
 * READ, an unknown opcode); responses at an XRC target, which sends no requests; RC packets at XRC
 * queue pairs and the reverse; an RC packet, or one with a wrong P_Key or SLID, in the middle of a
 * UC message. Afterwards every queue pair still works.
 */
/* behaviours: XRC-3 IBA-A14-initiator IBA-9.6.1 */
#include "testbench/services.h"

enum { MTU = 256, LEN = 3 * MTU, SILENCE_US = 20, UNKNOWN = 0xbf, PSN = 0xfffffe };

struct pair {
	struct drv_qp *x, *y;
	struct drv_srq *srq;
};

/* The scenario sends to x in the name of y, and to y in the name of x. */
static void misplaced(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct pair *p)
{
	const uint32_t x = drv_qp_num(p->x), y = drv_qp_num(p->y);
	const uint64_t va = tb_va(a, a->dst);
	const uint32_t rkey = drv_mr_rkey(a->mr), first = 0xfffffd;

	inject(a, XRC_SEND_ONLY, .qpn = x, .psn = first, .srqn = drv_srq_num(p->srq), .len = 64);
	inject(a, XRC_WRITE_ONLY, .qpn = x, .psn = first, .srqn = 1, .va = va, .rkey = rkey,
	       .dma_len = 64, .len = 64);
	inject(a, XRC_READ_REQUEST, .qpn = x, .psn = first, .srqn = 1, .va = va, .rkey = rkey,
	       .dma_len = 64);
	inject(a, XRC_SEND_ONLY, .qpn = x, .psn = first, .opcode = UNKNOWN, .len = 64);
	inject(a, RC_SEND_ONLY, .qpn = x, .psn = first, .len = 64);
	inject(b, XRC_ACKNOWLEDGE, .qpn = y, .psn = PSN, .syndrome = 31);
	inject(b, XRC_READ_RESP_ONLY, .qpn = y, .psn = PSN, .len = 64);
	inject(b, RC_SEND_ONLY, .qpn = y, .psn = PSN, .len = 64);
	inject(b, RC_ACKNOWLEDGE, .qpn = y, .psn = PSN, .syndrome = 31);
	expect_no_more(CFG_US(SILENCE_US));
	expect_stat(a, responder, dropped, 5);
}

/* A response of the wrong transport acknowledges nothing. */
static void wrong_transport(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct pair *p)
{
	delay_next(b_to_a, XRC_ACKNOWLEDGE, .by_ps = CFG_US(2 * SILENCE_US));
	send_on(a, p->x, .wr_id = 1, .len = 64, .srqn = drv_srq_num(p->srq));
	expect_pkt(a_to_b, XRC_SEND_ONLY, .psn = PSN);
	inject(a, RC_ACKNOWLEDGE, .qpn = drv_qp_num(p->x), .psn = PSN, .syndrome = 31, .msn = 1);
	inject(a, RC_ACKNOWLEDGE, .qpn = drv_qp_num(p->x), .psn = PSN,
	       .syndrome = AETH_NAK << AETH_KIND_SHIFT | NAK_REM_OP, .msn = 1);
	pass_time(CFG_US(SILENCE_US));
	expect_empty(a->cq);
	expect_pkt(b_to_a, XRC_ACKNOWLEDGE, .psn = PSN, .msn = 1);
	expect_cqe(a, .wr_id = 1);
	expect_cqe(b, .wr_id = 2, .srq = p->srq, .on = p->y);
	expect_data(b, .len = 64);
}

static void within_uc(struct tb *tb, struct tb_end *a, struct tb_end *b, struct drv_qp *x,
		      struct drv_qp *y)
{
	const uint32_t qpn = drv_qp_num(y);

	recv_on(b, y, .wr_id = 3, .dst = 1024, .len = LEN);
	delay_next(a_to_b, UC_SEND_MIDDLE, .by_ps = CFG_US(SILENCE_US));
	delay_next(a_to_b, UC_SEND_LAST, .by_ps = CFG_US(SILENCE_US));
	send_on(a, x, .wr_id = 4, .len = LEN);
	pass_time(CFG_US(SILENCE_US) / 2);
	inject(b, RC_SEND_ONLY, .qpn = qpn, .psn = 0xffffff, .len = 64);
	inject(b, UC_SEND_ONLY, .qpn = qpn, .psn = 0xffffff, .pkey = 0x8123, .len = 64);
	inject(b, UC_SEND_ONLY, .qpn = qpn, .psn = 5, .slid = 0x99, .len = 64);
	expect_cqe(a, .wr_id = 4);
	expect_cqe(b, .wr_id = 3, .byte_len = LEN);
	expect_data(b, .dst = 1024, .len = LEN);
}

SCENARIO(xrc_initiator, "what a queue pair has no half for, or of another transport, is dropped",
	 .mtu = IBV_MTU_256)
{
	struct drv_xrcd *xrcd = new_xrcd(b);
	struct pair p = {.x = new_qp(a, .type = IBV_QPT_XRC_SEND),
			 .y = new_qp(b, .type = IBV_QPT_XRC_RECV, .xrcd = xrcd),
			 .srq = new_srq(b, .xrcd = xrcd)};
	struct drv_qp *u = new_qp(a, .type = IBV_QPT_UC), *v = new_qp(b, .type = IBV_QPT_UC);
	struct drv_qp_attr attr = {0};

	connect_two(p.x, p.y);
	connect_two(u, v);
	if (!still_right())
		return;
	recv_srq(b, p.srq, .wr_id = 2, .len = 64);
	misplaced(tb, a, b, &p);
	must(drv_qp_query(p.x, &attr));
	expect_equal(attr.qp_state, IBV_QPS_RTS);
	wrong_transport(tb, a, b, &p);
	ignore_packets();
	within_uc(tb, a, b, u, v);
	destroy_qp(v);
	destroy_qp(u);
	destroy_qp(p.y);
	destroy_qp(p.x);
	destroy_srq(p.srq);
	destroy_xrcd(xrcd);
}
