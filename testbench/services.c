// SPDX-License-Identifier: Apache-2.0
/* Verbs of services.h: objects, requests, completions. */
#include "testbench/services.h"

#include "host_driver/uverbs/include/infiniband/verbs.h"
#include "testbench/tb.h"

#include <inttypes.h>

enum { TEXT_CHARS = 320, PORT = 1 };

/* --- objects --- */

struct drv_qp *tb_new_qp(struct tb *tb, const char *here, struct tb_end *end,
			 const struct drv_qp_init *init)
{
	struct drv_qp_init in = *init;
	struct drv_qp *qp = NULL;

#define DEFAULT(member, value) in.member = in.member ? in.member : (value)
	if (!tb_go(tb, here))
		return NULL;
	if (in.type != IBV_QPT_XRC_RECV)
		DEFAULT(send_cq, end->cq);
	if (in.type != IBV_QPT_XRC_RECV && in.type != IBV_QPT_XRC_SEND)
		DEFAULT(recv_cq, end->cq);
	if (in.type != IBV_QPT_XRC_RECV) {
		DEFAULT(cap.max_send_wr, tb->setup.queue);
		DEFAULT(cap.max_send_sge, 1);
	}
	if (!in.srq && in.type != IBV_QPT_XRC_RECV && in.type != IBV_QPT_XRC_SEND) {
		DEFAULT(cap.max_recv_wr, tb->setup.queue);
		DEFAULT(cap.max_recv_sge, 1);
	}
#undef DEFAULT
	return tb_must(tb, here, "drv_qp_create", drv_qp_create(end->pd, &in, &qp), 0) ? qp : NULL;
}

struct drv_srq *tb_new_srq(struct tb *tb, const char *here, struct tb_end *end,
			   const struct drv_srq_init *init)
{
	struct drv_srq_init in = *init;
	struct drv_srq *srq = NULL;

	if (!tb_go(tb, here))
		return NULL;
	if (!in.max_wr)
		in.max_wr = tb->setup.queue;
	if (in.xrcd && !in.cq)
		in.cq = end->cq;
	return tb_must(tb, here, "drv_srq_create", drv_srq_create(end->pd, &in, &srq), 0) ? srq
											  : NULL;
}

struct drv_cq *tb_new_cq(struct tb *tb, const char *here, struct tb_end *end, unsigned entries,
			 int vector)
{
	struct drv_cq *cq = NULL;

	if (!tb_go(tb, here))
		return NULL;
	return tb_must(tb, here, "drv_cq_create", drv_cq_create(end->dev, entries, vector, &cq), 0)
		       ? cq
		       : NULL;
}

struct drv_xrcd *tb_new_xrcd(struct tb *tb, const char *here, struct tb_end *end)
{
	struct drv_xrcd *xrcd = NULL;

	if (!tb_go(tb, here))
		return NULL;
	return tb_must(tb, here, "drv_xrcd_alloc", drv_xrcd_alloc(end->dev, &xrcd), 0) ? xrcd
										       : NULL;
}

void tb_destroy_qp(struct tb *tb, const char *here, struct drv_qp *qp)
{
	if (tb_go(tb, here))
		tb_must(tb, here, "drv_qp_destroy", drv_qp_destroy(qp), 0);
}

void tb_destroy_srq(struct tb *tb, const char *here, struct drv_srq *srq)
{
	if (tb_go(tb, here))
		tb_must(tb, here, "drv_srq_destroy", drv_srq_destroy(srq), 0);
}

void tb_destroy_cq(struct tb *tb, const char *here, struct drv_cq *cq)
{
	if (tb_go(tb, here))
		tb_must(tb, here, "drv_cq_destroy", drv_cq_destroy(cq), 0);
}

void tb_destroy_xrcd(struct tb *tb, const char *here, struct drv_xrcd *xrcd)
{
	if (tb_go(tb, here))
		tb_must(tb, here, "drv_xrcd_free", drv_xrcd_free(xrcd), 0);
}

static void connect_half(struct tb *tb, const char *here, struct drv_qp *qp,
			 const struct tb_end *peer, const struct drv_qp *other, uint32_t sq_psn,
			 uint32_t rq_psn)
{
	const struct tb_setup *s = &tb->setup;
	struct drv_rc_path path;

	if (!tb_go(tb, here))
		return;
	path = drv_rc_path_default(peer->lid, drv_qp_num(other));
	path.path_mtu = s->mtu;
	path.sq_psn = sq_psn;
	path.rq_psn = rq_psn;
	path.timeout = s->timeout;
	path.retry_cnt = s->retry_cnt;
	path.rnr_retry = s->rnr_retry;
	path.min_rnr_timer = s->min_rnr_timer;
	path.max_rd_atomic = path.max_dest_rd_atomic = s->max_rd_atomic;
	tb_must(tb, here, "drv_qp_connect", drv_qp_connect(qp, &path), 0);
}

void tb_connect_two(struct tb *tb, const char *here, struct tb_end *x_end, struct drv_qp *x,
		    struct tb_end *y_end, struct drv_qp *y)
{
	connect_half(tb, here, x, y_end, y, tb->setup.a_psn, tb->setup.b_psn);
	connect_half(tb, here, y, x_end, x, tb->setup.b_psn, tb->setup.a_psn);
}

void tb_start_ud(struct tb *tb, const char *here, struct drv_qp *qp, uint32_t qkey, uint32_t psn)
{
	if (tb_go(tb, here))
		tb_must(tb, here, "drv_ud_qp_start", drv_ud_qp_start(qp, PORT, 0, qkey, psn), 0);
}

void tb_move_qp(struct tb *tb, const char *here, struct drv_qp *qp, enum ibv_qp_state state)
{
	const struct drv_qp_attr attr = {.qp_state = state};

	if (tb_go(tb, here))
		tb_must(tb, here, "drv_qp_modify", drv_qp_modify(qp, &attr, IBV_QP_STATE), 0);
}

/* --- requests --- */

static enum ibv_wr_opcode opcode_of(const struct tb_request *r)
{
	if (!r->with_imm)
		return r->opcode;
	return r->opcode == IBV_WR_SEND ? IBV_WR_SEND_WITH_IMM : IBV_WR_RDMA_WRITE_WITH_IMM;
}

static bool is_atomic(const struct tb_request *r)
{
	return r->opcode == IBV_WR_ATOMIC_CMP_AND_SWP || r->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

void tb_send_on(struct tb *tb, const char *here, struct tb_end *end, struct drv_qp *qp,
		const struct tb_request *r)
{
	const bool fetch = r->opcode == IBV_WR_RDMA_READ || is_atomic(r);
	unsigned n = r->repeat ? r->repeat : 1;
	struct drv_send_wr wr;
	struct drv_sge sge;

	for (unsigned i = 0; i < n && tb_go(tb, here); i++) {
		sge = (struct drv_sge){.addr = fetch ? tb_va(end, end->dst) + r->dst
						     : tb_va(end, end->src) + r->src,
				       .length = r->len,
				       .lkey = r->lkey ? r->lkey : drv_mr_lkey(end->mr)};
		wr = (struct drv_send_wr){
			.wr_id = r->wr_id + i,
			.opcode = opcode_of(r),
			.send_flags = (r->unsignaled ? 0 : IBV_SEND_SIGNALED) |
				      (r->solicited ? IBV_SEND_SOLICITED : 0),
			.sg_list = &sge,
			.num_sge = r->len ? 1 : 0,
			.imm_data = r->imm,
			.remote_addr = r->remote_addr ? r->remote_addr
				       : r->opcode == IBV_WR_RDMA_READ
					       ? tb_va(end->peer, end->peer->src) + r->src
					       : tb_va(end->peer, end->peer->dst) + r->dst,
			.rkey = r->rkey ? r->rkey : drv_mr_rkey(end->peer->mr),
			.compare_add = r->compare,
			.swap = r->swap,
			.remote_srqn = r->srqn,
			.ah = r->ah,
			.remote_qpn = r->remote_qpn,
			.remote_qkey = r->qkey,
		};
		tb_must(tb, here, "drv_post_send", drv_post_send(qp, &wr, NULL), r->result);
	}
}

void tb_recv_on(struct tb *tb, const char *here, struct tb_end *end, struct drv_qp *qp,
		struct drv_srq *srq, const struct tb_request *r)
{
	unsigned n = r->repeat ? r->repeat : 1;
	struct drv_recv_wr wr;
	struct drv_sge sge;

	for (unsigned i = 0; i < n && tb_go(tb, here); i++) {
		sge = (struct drv_sge){.addr = tb_va(end, end->dst) + r->dst + (uint64_t)i * r->len,
				       .length = r->len,
				       .lkey = r->lkey ? r->lkey : drv_mr_lkey(end->mr)};
		wr = (struct drv_recv_wr){
			.wr_id = r->wr_id + i, .sg_list = &sge, .num_sge = r->len ? 1 : 0};
		tb_must(tb, here, srq ? "drv_post_srq_recv" : "drv_post_recv",
			srq ? drv_post_srq_recv(srq, &wr, NULL) : drv_post_recv(qp, &wr, NULL),
			r->result);
	}
}

/* --- completions --- */

/* F(member, of struct drv_wc, also valid in an error): what is compared, in this order. */
#define WC_FIELDS(F)                                                                               \
	F(wr_id, wr_id, true)                                                                      \
	F(opcode, opcode, false)                                                                   \
	F(byte_len, byte_len, false)                                                               \
	F(imm, imm_data, false)                                                                    \
	F(src_qp, src_qp, false)                                                                   \
	F(slid, slid, false)                                                                       \
	F(sl, sl, false)                                                                           \
	F(flags, wc_flags, false)                                                                  \
	F(pkey_index, pkey_index, false)                                                           \
	F(path_bits, dlid_path_bits, false)

static void describe_wc(char *buf, size_t size, const struct tb_end *end, const struct tb_wc *w)
{
	int n = snprintf(buf, size, "completion at %s, status %d (%s)", end->name, w->status,
			 ibv_wc_status_str(w->status));

#define F(member, of, always)                                                                      \
	if (w->member != TB_ANY && n > 0 && (size_t)n < size)                                      \
		n += snprintf(buf + n, size - (size_t)n, ", " #member " %" PRId64, w->member);
	WC_FIELDS(F)
#undef F
	if (w->qp && n > 0 && (size_t)n < size)
		n += snprintf(buf + n, size - (size_t)n, ", qpn %06x", drv_qp_num(w->qp));
	if (w->srq && n > 0 && (size_t)n < size)
		snprintf(buf + n, size - (size_t)n, ", srqn %06x", drv_srq_num(w->srq));
}

static bool wc_matches(const struct tb_wc *w, const struct drv_wc *wc)
{
	bool right = w->status == wc->status && (!w->qp || drv_qp_num(w->qp) == wc->qp_num) &&
		     (!w->srq || wc->status || drv_srq_num(w->srq) == wc->srq_num);

#define F(member, of, always)                                                                      \
	right = right && (w->member == TB_ANY || (!(always) && wc->status) ||                      \
			  w->member == (int64_t)wc->of);
	WC_FIELDS(F)
#undef F
	return right;
}

void tb_expect_wc(struct tb *tb, const char *here, struct tb_end *end, const struct tb_wc *want)
{
	struct drv_cq *cq = want->cq ? want->cq : end->cq;
	char expected[TEXT_CHARS], got[TEXT_CHARS];
	struct drv_wc wc = {0};
	int n;

	if (!tb_go(tb, here))
		return;
	describe_wc(expected, sizeof(expected), end, want);
	n = drv_cq_poll(cq, 1, &wc);
	if (!n && !drv_cq_wait(cq, tb_now(tb) + want->within_ps))
		n = drv_cq_poll(cq, 1, &wc);
	if (n == 1 && wc_matches(want, &wc))
		return;
	if (n == 1)
		snprintf(got, sizeof(got),
			 "status %d (%s), wr_id %" PRIu64
			 ", opcode %d, byte_len %u, imm %u, qpn %06x, src_qp %06x, slid %u, sl %u, "
			 "flags %u, pkey_index %u, path_bits %u, srqn %06x, vendor_err %u",
			 wc.status, ibv_wc_status_str(wc.status), wc.wr_id, wc.opcode, wc.byte_len,
			 wc.imm_data, wc.qp_num, wc.src_qp, wc.slid, wc.sl, wc.wc_flags,
			 wc.pkey_index, wc.dlid_path_bits, wc.srq_num, wc.vendor_err);
	else
		snprintf(got, sizeof(got), n ? "drv_cq_poll gives %d" : "no completion in time", n);
	tb_fail(tb, here, expected, got);
}

void tb_expect_empty(struct tb *tb, const char *here, struct drv_cq *cq)
{
	char got[96];
	struct drv_wc wc;
	int n;

	if (!tb_go(tb, here))
		return;
	n = drv_cq_poll(cq, 1, &wc);
	if (!n)
		return;
	if (n < 0)
		snprintf(got, sizeof(got), "drv_cq_poll gives %d", n);
	else
		snprintf(got, sizeof(got), "wr_id %" PRIu64 " status %d", wc.wr_id, wc.status);
	tb_fail(tb, here, "no completion", got);
}
