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
 *	expect_cqe(b, .wr_id = 1, .byte_len = 104, .on = u, .src_qp = drv_qp_num(v));
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
/* CQs not given are the end's; sizes not given (or 0) are the setup's, and TB_NONE is 0. */
enum { TB_NONE = 0x7fffffff };
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

/* How two queue pairs are connected; what is not said is the setup's, or the default of drv_rc_path_default(). */
struct tb_path {
	int64_t pkey_index, sl, static_rate, port /* of both [1] */, mtu;
	int64_t x_path_bits, y_path_bits;	/* of the LID that is its own; the other sends to it [0] */
	int64_t x_psn, y_psn;			/* first PSN that it sends */
	int64_t access, x_access, y_access;	/* what the other's requests may do, enum ibv_access_flags; both, or one */
	int64_t x_rd_atomic, y_rd_atomic;	/* READs and atomics that it may have under way */
	int64_t x_dest_rd_atomic, y_dest_rd_atomic; /* that it takes of the other's */
	int64_t timeout, retry_cnt, rnr_retry, min_rnr_timer;
	bool grh;				/* with a GRH, between the ends' first GIDs */
};
#define TB_PATH_ANY \
	.pkey_index = TB_ANY, .sl = TB_ANY, .static_rate = TB_ANY, .port = TB_ANY, .mtu = TB_ANY, .x_path_bits = TB_ANY, .y_path_bits = TB_ANY, \
	.x_psn = TB_ANY, .y_psn = TB_ANY, .access = TB_ANY, .x_access = TB_ANY, .y_access = TB_ANY, .x_rd_atomic = TB_ANY, .y_rd_atomic = TB_ANY, \
	.x_dest_rd_atomic = TB_ANY, .y_dest_rd_atomic = TB_ANY, .timeout = TB_ANY, .retry_cnt = TB_ANY, .rnr_retry = TB_ANY, .min_rnr_timer = TB_ANY
/* Both to RTS; x at a, y at b, any two that fit. connect_ends(a, x, a, y): over the port's own loopback; requests then say .to = a. */
#define connect_two(x, y, ...) connect_ends(a, x, b, y, __VA_ARGS__)
#define connect_ends(x_end, x, y_end, y, ...) tb_connect_ends(tb, TB_HERE, x_end, x, y_end, y, &(const struct tb_path){TB_PATH_ANY, __VA_ARGS__})
void tb_connect_ends(struct tb *tb, const char *here, struct tb_end *x_end, struct drv_qp *x, struct tb_end *y_end, struct drv_qp *y,
		     const struct tb_path *path);
void tb_connect_two(struct tb *tb, const char *here, struct tb_end *x_end, struct drv_qp *x, struct tb_end *y_end, struct drv_qp *y);
#define start_ud(qp, qkey, psn) tb_start_ud(tb, TB_HERE, qp, qkey, psn)
void tb_start_ud(struct tb *tb, const char *here, struct drv_qp *qp, uint32_t qkey, uint32_t psn);
#define move_qp(qp, state) tb_move_qp(tb, TB_HERE, qp, state)
void tb_move_qp(struct tb *tb, const char *here, struct drv_qp *qp, enum ibv_qp_state state);

/* --- requests and completions of any queue pair --- */

/* Each of them is handed to the driver alone, also those of .repeat. */
#define send_on(end, qp, ...) \
	tb_send_said(tb, TB_HERE, end, qp, &(const struct tb_wr){TB_WR_DEFAULTS, .opcode = IBV_WR_SEND, __VA_ARGS__})
#define recv_on(end, qp, ...) tb_recv_said(tb, TB_HERE, end, qp, NULL, &(const struct tb_wr){TB_WR_DEFAULTS, __VA_ARGS__})
#define recv_srq(end, srq, ...) tb_recv_said(tb, TB_HERE, end, NULL, srq, &(const struct tb_wr){TB_WR_DEFAULTS, __VA_ARGS__})
void tb_send_said(struct tb *tb, const char *here, struct tb_end *end, struct drv_qp *qp, const struct tb_wr *wr);
void tb_recv_said(struct tb *tb, const char *here, struct tb_end *end, struct drv_qp *qp, struct drv_srq *srq, const struct tb_wr *wr);
/* The same for a structure that a body fills: what is 0 is not said. */
void tb_send_on(struct tb *tb, const char *here, struct tb_end *end, struct drv_qp *qp, const struct tb_wr *wr);
void tb_recv_on(struct tb *tb, const char *here, struct tb_end *end, struct drv_qp *qp, struct drv_srq *srq, const struct tb_wr *wr);

/* Nothing can be polled from it now. */
#define expect_empty(cq) tb_expect_empty(tb, TB_HERE, cq)
void tb_expect_empty(struct tb *tb, const char *here, struct drv_cq *cq);

/* --- packets that the body makes --- */

/* TB_ANY: the right value. */
struct tb_inject {
	int64_t vl, lver, sl, lnh, dlid, slid, pkt_len /* of the LRH */;	/* LNH and addresses: local, from the peer to the end */
	int64_t tver, pkey, qpn /* [the end's of pair 0] */, pad /* what the BTH says */;
	uint32_t psn;
	bool solicited, ack_req, not_migrated;
	uint32_t srqn, qkey, src_qpn;		/* XRCETH, DETH */
	uint64_t va;				/* RETH, atomics */
	uint32_t rkey, dma_len;
	uint64_t swap_add, compare, original;	/* AtomicETH, AtomicAckETH */
	uint32_t syndrome, msn, imm;		/* AETH, immediate or key */
	uint64_t src;				/* payload: bytes of the peer's src */
	const void *payload;			/* instead of those */
	uint32_t len;
	bool grh;				/* from the peer's first GID to the end's */
	const uint8_t *dgid, *sgid;		/* with a GRH */
	int64_t ip_ver, tclass, flow_label, pay_len, next_hdr, hop_limit /* [64] */;
	int64_t pad_bytes;			/* so many after the payload [to the next multiple of 4] */
	uint8_t pad_byte;			/* each of them */
	uint32_t trailing;			/* so many bytes after the VCRC */
	bool bad_icrc, bad_vcrc;
	uint32_t cut;				/* so many bytes of its end are missing */
	int64_t opcode;				/* instead of the name's */
	unsigned port;				/* 0: 1 */
};
#define TB_INJECT_ANY \
	.vl = TB_ANY, .lver = TB_ANY, .sl = TB_ANY, .lnh = TB_ANY, .dlid = TB_ANY, .slid = TB_ANY, .pkt_len = TB_ANY, .tver = TB_ANY, \
	.pkey = TB_ANY, .qpn = TB_ANY, .pad = TB_ANY, .opcode = TB_ANY, .ip_ver = TB_ANY, .tclass = TB_ANY, .flow_label = TB_ANY, \
	.pay_len = TB_ANY, .next_hdr = TB_ANY, .hop_limit = TB_ANY, .pad_bytes = TB_ANY
/* As if it came in on the end's port now. It has no credits and is not in the queues of expect_pkt. */
#define inject(end, op, ...) tb_inject(tb, TB_HERE, end, BTH_##op, &(const struct tb_inject){TB_INJECT_ANY, __VA_ARGS__})
void tb_inject(struct tb *tb, const char *here, struct tb_end *end, enum bth_opcode opcode, const struct tb_inject *p);

/* --- older spellings, kept for scenario files that have them: struct tb_wr, expect_cqe() and expect_cqes_of() say the same --- */

#define tb_request tb_wr
#define TB_REQUEST(...) &(const struct tb_wr){TB_WR_DEFAULTS, __VA_ARGS__}

/* As in struct tb_cqe, but for the queue pair. */
struct tb_wc {
	int64_t wr_id, opcode, byte_len, imm, src_qp, slid, sl, flags, pkey_index, path_bits, inv_rkey, vendor_err;
	struct drv_qp *qp; /* any queue pair: .on of struct tb_cqe */
	struct drv_srq *srq;
	struct drv_cq *cq;
	enum ibv_wc_status status;
	uint64_t within_ps;
};
#define WC(...) \
	{.wr_id = TB_ANY, .opcode = TB_ANY, .byte_len = TB_ANY, .imm = TB_ANY, .src_qp = TB_ANY, .slid = TB_ANY, .sl = TB_ANY, .flags = TB_ANY, \
	 .pkey_index = TB_ANY, .path_bits = TB_ANY, .inv_rkey = TB_ANY, .vendor_err = TB_ANY, .within_ps = CFG_S(10), __VA_ARGS__}
#define expect_wc(end, ...) tb_expect_wc(tb, TB_HERE, end, &(const struct tb_wc)WC(__VA_ARGS__))
#define expect_wcs_of(end, ...) \
	tb_expect_wcs_of(tb, TB_HERE, end, (const struct tb_wc[]){__VA_ARGS__}, sizeof((const struct tb_wc[]){__VA_ARGS__}) / sizeof(struct tb_wc))
void tb_expect_wc(struct tb *tb, const char *here, struct tb_end *end, const struct tb_wc *want);
void tb_expect_wcs_of(struct tb *tb, const char *here, struct tb_end *end, const struct tb_wc *want, unsigned n);

#endif
