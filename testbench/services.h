/* SPDX-License-Identifier: Apache-2.0 */
/*
 * More verbs for scenarios: queue pairs, SRQs and requests in addition to the connected pairs that
 * are made before the body, and packets that the body builds itself. New objects use the end's PD,
 * memory region and, unless another one is given, CQ. The body must destroy what it has made, in
 * reverse order.
 *
 *	struct drv_qp *u = new_qp(b, .type = IBV_QPT_UD);
 *	start_ud(u, QKEY, 100);
 *	recv_on(b, u, .wr_id = 1, .len = 104);
 *	send_on(a, v, .ah = &ah, .remote_qpn = drv_qp_num(u), .qkey = QKEY, .len = 64);
 *	expect_cqe(b, .wr_id = 1, .byte_len = 104, .on = u, .src_qp = drv_qp_num(v));
 *
 *	inject(b, RC_SEND_ONLY, .psn = 0xfffffe, .len = 64, .bad_icrc = true);
 *
 * After the first failure a verb does nothing. A verb that makes an object then returns NULL, and
 * every other verb here accepts NULL.
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
/* A CQ that is not given is the end's. A size that is not given, or is 0, is that of the setup; TB_NONE stands for a size of 0. */
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

/* The way to the queue pair `qpn` of that end, and to datagram queue pairs there, over port 1: by its LID, or on an Ethernet port by GID and MAC. */
struct drv_rc_path path_to(const struct tb_end *to, uint32_t qpn);
struct drv_ah_attr ah_to(const struct tb_end *to);

/* How to connect two queue pairs, x and y. A member that is not given has the value of the setup, or else of drv_rc_path_default(). */
struct tb_path {
	int64_t pkey_index, sl, static_rate, port /* used by both [1] */, mtu;
	int64_t x_path_bits, y_path_bits;	/* path bits of the queue pair's own LID; the other one sends to this LID [0] */
	int64_t x_psn, y_psn;			/* first PSN that the queue pair sends */
	int64_t access, x_access, y_access;	/* what requests of the other may do, enum ibv_access_flags; access is for both */
	int64_t x_rd_atomic, y_rd_atomic;	/* outstanding READs and atomics as requester */
	int64_t x_dest_rd_atomic, y_dest_rd_atomic; /* the same as responder */
	int64_t timeout, retry_cnt, rnr_retry, min_rnr_timer;
	bool grh;				/* packets have a GRH with the ends' first GIDs */
};
#define TB_PATH_ANY \
	.pkey_index = TB_ANY, .sl = TB_ANY, .static_rate = TB_ANY, .port = TB_ANY, .mtu = TB_ANY, .x_path_bits = TB_ANY, .y_path_bits = TB_ANY, \
	.x_psn = TB_ANY, .y_psn = TB_ANY, .access = TB_ANY, .x_access = TB_ANY, .y_access = TB_ANY, .x_rd_atomic = TB_ANY, .y_rd_atomic = TB_ANY, \
	.x_dest_rd_atomic = TB_ANY, .y_dest_rd_atomic = TB_ANY, .timeout = TB_ANY, .retry_cnt = TB_ANY, .rnr_retry = TB_ANY, .min_rnr_timer = TB_ANY
/* Moves both queue pairs to RTS. connect_two() connects x of a with y of b; their types must fit. connect_ends() takes any ends:
 * connect_ends(a, x, a, y) connects two queue pairs of a through the loopback of its port. Requests on them need .to = a. */
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

/* Each request is handed to the driver in a call of its own, even with .repeat. */
#define send_on(end, qp, ...) \
	tb_send_said(tb, TB_HERE, end, qp, &(const struct tb_wr){TB_WR_DEFAULTS, .opcode = IBV_WR_SEND, __VA_ARGS__})
#define recv_on(end, qp, ...) tb_recv_said(tb, TB_HERE, end, qp, NULL, &(const struct tb_wr){TB_WR_DEFAULTS, __VA_ARGS__})
#define recv_srq(end, srq, ...) tb_recv_said(tb, TB_HERE, end, NULL, srq, &(const struct tb_wr){TB_WR_DEFAULTS, __VA_ARGS__})
void tb_send_said(struct tb *tb, const char *here, struct tb_end *end, struct drv_qp *qp, const struct tb_wr *wr);
void tb_recv_said(struct tb *tb, const char *here, struct tb_end *end, struct drv_qp *qp, struct drv_srq *srq, const struct tb_wr *wr);
/* The same for a structure that the body fills itself: members that are 0 count as not given. */
void tb_send_on(struct tb *tb, const char *here, struct tb_end *end, struct drv_qp *qp, const struct tb_wr *wr);
void tb_recv_on(struct tb *tb, const char *here, struct tb_end *end, struct drv_qp *qp, struct drv_srq *srq, const struct tb_wr *wr);

/* The CQ holds no completion now. */
#define expect_empty(cq) tb_expect_empty(tb, TB_HERE, cq)
void tb_expect_empty(struct tb *tb, const char *here, struct drv_cq *cq);

/* --- packets that the body builds --- */

/* A member that is TB_ANY stands for the correct value. */
struct tb_inject {
	int64_t vl, lver, sl, lnh, dlid, slid, pkt_len;	/* LRH [a local packet from the peer to the end] */
	int64_t tver, pkey, qpn /* [the end's of pair 0] */, pad /* the pad count in the BTH */;
	uint32_t psn;
	bool solicited, ack_req, not_migrated;
	uint32_t srqn, qkey, src_qpn;		/* XRCETH, DETH */
	uint64_t va;				/* RETH, atomics */
	uint32_t rkey, dma_len;
	uint64_t swap_add, compare, original;	/* AtomicETH, AtomicAckETH */
	uint32_t syndrome, msn, imm;		/* AETH; immediate data, or the key to invalidate */
	uint64_t src;				/* offset of the payload in the peer's src */
	const void *payload;			/* a payload to use instead */
	uint32_t len;
	bool grh;				/* add a GRH, from the peer's first GID to the end's */
	const uint8_t *dgid, *sgid;		/* other GIDs for the GRH */
	int64_t ip_ver, tclass, flow_label, pay_len, next_hdr, hop_limit /* [64] */;
	int64_t pad_bytes;			/* number of pad bytes after the payload [up to the next multiple of 4] */
	uint8_t pad_byte;			/* value of each pad byte */
	uint32_t trailing;			/* number of bytes to append after the VCRC */
	bool bad_icrc, bad_vcrc;
	uint32_t cut;				/* number of bytes to cut off the end of the packet */
	int64_t opcode;				/* used instead of the opcode that inject() names */
	unsigned port;				/* port of the end; 0 stands for port 1 */
};
#define TB_INJECT_ANY \
	.vl = TB_ANY, .lver = TB_ANY, .sl = TB_ANY, .lnh = TB_ANY, .dlid = TB_ANY, .slid = TB_ANY, .pkt_len = TB_ANY, .tver = TB_ANY, \
	.pkey = TB_ANY, .qpn = TB_ANY, .pad = TB_ANY, .opcode = TB_ANY, .ip_ver = TB_ANY, .tclass = TB_ANY, .flow_label = TB_ANY, \
	.pay_len = TB_ANY, .next_hdr = TB_ANY, .hop_limit = TB_ANY, .pad_bytes = TB_ANY
/* The end's port receives the packet now. The packet uses no flow control credits and does not appear in the queues of expect_pkt. */
#define inject(end, op, ...) tb_inject(tb, TB_HERE, end, BTH_##op, &(const struct tb_inject){TB_INJECT_ANY, __VA_ARGS__})
void tb_inject(struct tb *tb, const char *here, struct tb_end *end, enum bth_opcode opcode, const struct tb_inject *p);

/* --- older names, kept for existing scenario files; new ones use struct tb_wr, expect_cqe() and expect_cqes_of() --- */

#define tb_request tb_wr
#define TB_REQUEST(...) &(const struct tb_wr){TB_WR_DEFAULTS, __VA_ARGS__}

/* Members mean the same as in struct tb_cqe, except that qp is a queue pair. */
struct tb_wc {
	int64_t wr_id, opcode, byte_len, imm, src_qp, slid, sl, flags, pkey_index, path_bits, inv_rkey, vendor_err;
	struct drv_qp *qp; /* .on of struct tb_cqe */
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
