/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Further words for scenarios: queue pairs, SRQs and requests beside the connected RC pairs that
 * stand around the body, and packets that the body makes itself. Objects share the end's PD, region
 * and (unless said) CQ; the body destroys what it has made, in reverse order.
 *
 *	struct drv_qp *u = new_qp(b, .type = IBV_QPT_UD);
 *	start_ud(u, QKEY, 100);
 *	recv_on(b, u, .wr_id = 1, .len = 104);
 *	send_on(a, v, .ah = &ah, .remote_qpn = drv_qp_num(u), .qkey = QKEY, .len = 64);
 *	expect_wc(b, .wr_id = 1, .byte_len = 104, .qp = u, .src_qp = drv_qp_num(v));
 *
 *	inject(b, RC_SEND_ONLY, .psn = 0xfffffe, .len = 64, .bad_icrc = true);
 *
 * A verb does nothing after the first failure; one that makes an object gives NULL then, which
 * every other verb here takes.
 */
#ifndef TESTBENCH_SERVICES_H
#define TESTBENCH_SERVICES_H

#include "testbench/scenario.h"

#include <errno.h>

/* clang-format off */

/* --- objects --- */

#define new_qp(end, ...) tb_new_qp(tb, TB_HERE, end, &(const struct drv_qp_init){.type = IBV_QPT_RC, __VA_ARGS__})
#define new_srq(end, ...) tb_new_srq(tb, TB_HERE, end, &(const struct drv_srq_init){.max_sge = 1, __VA_ARGS__})
#define new_cq(end, entries, vector) tb_new_cq(tb, TB_HERE, end, entries, vector)
#define new_xrcd(end) tb_new_xrcd(tb, TB_HERE, end)
/* CQs not given are the end's; sizes not given are the setup's. */
struct drv_qp *tb_new_qp(struct tb *tb, const char *here, struct tb_end *end, const struct drv_qp_init *init);
struct drv_srq *tb_new_srq(struct tb *tb, const char *here, struct tb_end *end, const struct drv_srq_init *init);
struct drv_cq *tb_new_cq(struct tb *tb, const char *here, struct tb_end *end, unsigned entries, int vector);
struct drv_xrcd *tb_new_xrcd(struct tb *tb, const char *here, struct tb_end *end);

#define destroy_qp(qp) tb_destroy_qp(tb, TB_HERE, qp)
#define destroy_srq(srq) tb_destroy_srq(tb, TB_HERE, srq)
#define destroy_cq(cq) tb_destroy_cq(tb, TB_HERE, cq)
#define destroy_xrcd(xrcd) tb_destroy_xrcd(tb, TB_HERE, xrcd)
void tb_destroy_qp(struct tb *tb, const char *here, struct drv_qp *qp);
void tb_destroy_srq(struct tb *tb, const char *here, struct drv_srq *srq);
void tb_destroy_cq(struct tb *tb, const char *here, struct drv_cq *cq);
void tb_destroy_xrcd(struct tb *tb, const char *here, struct drv_xrcd *xrcd);

/* Both to RTS, with the PSNs and times of the setup; x at a, y at b (any two QPs that fit). */
#define connect_two(x, y) tb_connect_two(tb, TB_HERE, a, x, b, y)
void tb_connect_two(struct tb *tb, const char *here, struct tb_end *x_end, struct drv_qp *x, struct tb_end *y_end, struct drv_qp *y);
#define start_ud(qp, qkey, psn) tb_start_ud(tb, TB_HERE, qp, qkey, psn)
void tb_start_ud(struct tb *tb, const char *here, struct drv_qp *qp, uint32_t qkey, uint32_t psn);
#define move_qp(qp, state) tb_move_qp(tb, TB_HERE, qp, state)
void tb_move_qp(struct tb *tb, const char *here, struct drv_qp *qp, enum ibv_qp_state state);

/* --- requests and completions of any queue pair --- */

struct tb_request {
	enum ibv_wr_opcode opcode;
	uint64_t wr_id, src, dst; /* offsets as in struct tb_wr */
	uint32_t len, imm;
	bool with_imm, unsignaled, solicited;
	const struct drv_ah_attr *ah; /* UD */
	uint32_t remote_qpn, qkey;
	uint32_t srqn;		      /* XRC */
	uint32_t rkey, lkey;	      /* instead of the right ones */
	uint64_t remote_addr, compare, swap;
	int result;
	unsigned repeat;
};
#define send_on(end, qp, ...) tb_send_on(tb, TB_HERE, end, qp, &(const struct tb_request){.opcode = IBV_WR_SEND, __VA_ARGS__})
#define recv_on(end, qp, ...) tb_recv_on(tb, TB_HERE, end, qp, NULL, &(const struct tb_request){__VA_ARGS__})
#define recv_srq(end, srq, ...) tb_recv_on(tb, TB_HERE, end, NULL, srq, &(const struct tb_request){__VA_ARGS__})
void tb_send_on(struct tb *tb, const char *here, struct tb_end *end, struct drv_qp *qp, const struct tb_request *r);
void tb_recv_on(struct tb *tb, const char *here, struct tb_end *end, struct drv_qp *qp, struct drv_srq *srq, const struct tb_request *r);

struct tb_wc {
	int64_t wr_id, opcode, byte_len, imm, src_qp, slid, sl, flags, pkey_index, path_bits;
	struct drv_qp *qp;   /* NULL: any */
	struct drv_srq *srq; /* NULL: any; XRC */
	struct drv_cq *cq;   /* NULL: the end's */
	enum ibv_wc_status status;
	uint64_t within_ps;
};
#define expect_wc(end, ...) \
	tb_expect_wc(tb, TB_HERE, end, \
		     &(const struct tb_wc){.wr_id = TB_ANY, .opcode = TB_ANY, .byte_len = TB_ANY, .imm = TB_ANY, .src_qp = TB_ANY, \
					   .slid = TB_ANY, .sl = TB_ANY, .flags = TB_ANY, .pkey_index = TB_ANY, .path_bits = TB_ANY, \
					   .within_ps = CFG_S(10), __VA_ARGS__})
void tb_expect_wc(struct tb *tb, const char *here, struct tb_end *end, const struct tb_wc *want);
/* Nothing can be polled from it now. */
#define expect_empty(cq) tb_expect_empty(tb, TB_HERE, cq)
void tb_expect_empty(struct tb *tb, const char *here, struct drv_cq *cq);

/* --- packets that the body makes --- */

/* TB_ANY: the right value. */
struct tb_inject {
	int64_t vl, lver, sl, lnh, dlid, slid, pkt_len /* of the LRH */;	/* LNH and addresses: local, from the peer to the end */
	int64_t tver, pkey, qpn /* [the end's of pair 0] */, pad;
	uint32_t psn;
	bool solicited, ack_req, not_migrated;
	uint32_t srqn, qkey, src_qpn;		/* XRCETH, DETH */
	uint64_t va;				/* RETH, atomics */
	uint32_t rkey, dma_len;
	uint64_t swap_add, compare;
	uint32_t syndrome, msn, imm;		/* AETH, immediate or key */
	uint64_t src;				/* payload: bytes of the peer's src */
	uint32_t len;
	const uint8_t *dgid;			/* with a GRH */
	bool bad_icrc, bad_vcrc;
	uint32_t cut;				/* so many bytes of its end are missing */
	int64_t opcode;				/* instead of the name's */
};
#define TB_INJECT_ANY \
	.vl = TB_ANY, .lver = TB_ANY, .sl = TB_ANY, .lnh = TB_ANY, .dlid = TB_ANY, .slid = TB_ANY, .pkt_len = TB_ANY, .tver = TB_ANY, \
	.pkey = TB_ANY, .qpn = TB_ANY, .pad = TB_ANY, .opcode = TB_ANY
/* As if it came in on the end's port now. It has no credits and is not in the queues of expect_pkt. */
#define inject(end, op, ...) tb_inject(tb, TB_HERE, end, BTH_##op, &(const struct tb_inject){TB_INJECT_ANY, __VA_ARGS__})
void tb_inject(struct tb *tb, const char *here, struct tb_end *end, enum bth_opcode opcode, const struct tb_inject *p);

#endif
