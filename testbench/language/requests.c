/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs that post work requests, of the connected pairs and of any queue pair. */
#include "testbench/services.h"
#include "testbench/language/tb.h"

#include <stdlib.h>

static int64_t or_else(int64_t said, int64_t otherwise)
{
	return said == TB_ANY ? otherwise : said;
}

static enum ibv_wr_opcode opcode_of(const struct tb_wr *r)
{
	if (!r->with_imm)
		return r->opcode;
	return r->opcode == IBV_WR_SEND ? IBV_WR_SEND_WITH_IMM : IBV_WR_RDMA_WRITE_WITH_IMM;
}

static bool is_atomic(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static bool lands_here(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_RDMA_READ || is_atomic(opcode);
}

static uint64_t remote_address(const struct tb_end *end, const struct tb_wr *r)
{
	const struct tb_end *to = r->to ? r->to : end->peer;

	if (r->remote_addr != TB_ANY)
		return (uint64_t)r->remote_addr;
	if (r->opcode == IBV_WR_RDMA_READ)
		return tb_va(to, to->src) + r->src;
	return tb_va(to, to->dst) +
	       (is_atomic(r->opcode) ? (uint64_t)or_else(r->target, (int64_t)r->dst) : r->dst);
}

/* The address of the area that the request reads or writes locally. For inline data it is a
 * pointer, because the CPU copies the data. */
static uint64_t local_area(const struct tb_end *end, const struct tb_wr *r)
{
	if (r->inlined)
		return (uintptr_t)end->src;
	return tb_va(end, lands_here(r->opcode) ? end->dst : end->src);
}

static unsigned flags_of(const struct tb_wr *r)
{
	return (r->unsignaled ? 0 : IBV_SEND_SIGNALED) | (r->solicited ? IBV_SEND_SOLICITED : 0) |
	       (r->fence ? IBV_SEND_FENCE : 0) | (r->inlined ? IBV_SEND_INLINE : 0);
}

static uint32_t lkey_of(const struct tb_end *end, const struct tb_wr *r)
{
	return r->lkey == TB_ANY ? drv_mr_lkey(end->mr) : (uint32_t)r->lkey;
}

/* Memory for building requests, which is freed when the verb ends. */
struct lists {
	struct drv_send_wr *sends;
	struct drv_sge *sges;
};

static void lists_free(struct lists *l)
{
	free(l->sends);
	free(l->sges);
}

/* Fills in the scatter or gather entries: those given, or else a single one at `at`. Returns how
 * many; 0 after failing the run: no memory. */
static unsigned fill_sges(struct tb *tb, const char *here, struct lists *lists,
			  const struct tb_end *end, const struct tb_wr *r, uint64_t area,
			  uint64_t at)
{
	const unsigned n = r->n_sges ? r->n_sges : r->len ? 1 : 0;

	lists->sges = calloc(n + 1, sizeof(*lists->sges));
	if (!lists->sges) {
		tb_failf(tb, here, "memory for %u pieces", n);
		return 0;
	}
	for (unsigned i = 0; i < n; i++)
		lists->sges[i] = (struct drv_sge){
			.addr = area + (r->n_sges ? r->sges[i].at : at),
			.length = r->n_sges ? r->sges[i].len : r->len,
			.lkey = lkey_of(end, r),
		};
	return n;
}

/* Posts n requests as one list. */
static void post_list(struct tb *tb, const char *here, struct tb_end *end, struct drv_qp *qp,
		      const struct tb_wr *r, uint64_t wr_id, unsigned n)
{
	const struct tb_end *to = r->to ? r->to : end->peer;
	struct lists lists __attribute__((cleanup(lists_free))) = {NULL, NULL};
	unsigned n_sges;

	lists.sends = calloc(n + 1, sizeof(*lists.sends));
	if (!lists.sends) {
		tb_failf(tb, here, "memory for %u work requests", n);
		return;
	}
	n_sges = fill_sges(tb, here, &lists, end, r, local_area(end, r),
			   lands_here(r->opcode) ? r->dst : r->src);
	for (unsigned i = 0; i < n; i++)
		lists.sends[i] = (struct drv_send_wr){
			.next = i + 1 < n ? &lists.sends[i + 1] : NULL,
			.wr_id = wr_id + i,
			.opcode = opcode_of(r),
			.send_flags = flags_of(r),
			.sg_list = lists.sges,
			.num_sge = n_sges,
			.imm_data = r->imm,
			.invalidate_rkey = r->inv_rkey,
			.remote_addr = remote_address(end, r),
			.rkey = r->rkey == TB_ANY ? drv_mr_rkey(to->mr) : (uint32_t)r->rkey,
			.compare_add = r->compare,
			.swap = r->swap,
			.remote_srqn = r->srqn,
			.ah = r->ah,
			.remote_qpn = r->remote_qpn,
			.remote_qkey = r->qkey,
		};
	if (!tb_must(tb, here, "drv_post_send", drv_post_send(qp, lists.sends, NULL), r->result) ||
	    r->result)
		return;
	for (unsigned i = 0; i < n_sges; i++)
		tb->payload_bytes += (uint64_t)lists.sges[i].length * n;
}

/* Offset of the i-th receive of a repeated one. The offsets follow each other until the area is
 * full. */
static uint64_t place(const struct tb *tb, const struct tb_wr *r, unsigned i)
{
	const size_t room = r->dst < tb->setup.memory ? tb->setup.memory - r->dst : 0;
	const size_t fit = r->len && room >= r->len ? room / r->len : 1;

	return r->dst + (uint64_t)(i % fit) * r->len;
}

static void post_receives(struct tb *tb, const char *here, struct tb_end *end, struct drv_qp *qp,
			  struct drv_srq *srq, const struct tb_wr *r)
{
	for (unsigned i = 0; i < r->repeat && tb_go(tb, here); i++) {
		struct lists lists __attribute__((cleanup(lists_free))) = {NULL, NULL};
		struct drv_recv_wr wr = {.wr_id = r->wr_id + i};

		wr.num_sge =
			fill_sges(tb, here, &lists, end, r, tb_va(end, end->dst), place(tb, r, i));
		wr.sg_list = lists.sges;
		if (!tb_right(tb))
			return;
		tb_must(tb, here, srq ? "drv_post_srq_recv" : "drv_post_recv",
			srq ? drv_post_srq_recv(srq, &wr, NULL) : drv_post_recv(qp, &wr, NULL),
			r->result);
	}
}

/* --- of any queue pair --- */

/* Ignores .qp, the number of a pair: the queue pair is an argument of the verb. */
static bool has_no_pair(struct tb *tb, const char *here, const struct tb_wr *r)
{
	if (!tb_go(tb, here))
		return false;
	if (r->qp)
		tb_failf(tb, here, "no .qp beside the queue pair that the verb is given");
	return !r->qp;
}

void tb_recv_said(struct tb *tb, const char *here, struct tb_end *end, struct drv_qp *qp,
		  struct drv_srq *srq, const struct tb_wr *r)
{
	if (has_no_pair(tb, here, r))
		post_receives(tb, here, end, qp, srq, r);
}

void tb_send_said(struct tb *tb, const char *here, struct tb_end *end, struct drv_qp *qp,
		  const struct tb_wr *r)
{
	if (!has_no_pair(tb, here, r))
		return;
	for (unsigned i = 0; i < r->repeat && tb_go(tb, here); i++)
		post_list(tb, here, end, qp, r, r->wr_id + i, 1);
}

/* In a structure that the body fills itself, 0 means "not given". */
static struct tb_wr said(const struct tb_wr *r)
{
	struct tb_wr s = *r;

	s.lkey = s.lkey ? s.lkey : TB_ANY;
	s.rkey = s.rkey ? s.rkey : TB_ANY;
	s.remote_addr = s.remote_addr ? s.remote_addr : TB_ANY;
	s.target = s.target ? s.target : TB_ANY;
	s.repeat = s.repeat ? s.repeat : 1;
	return s;
}

void tb_send_on(struct tb *tb, const char *here, struct tb_end *end, struct drv_qp *qp,
		const struct tb_wr *r)
{
	const struct tb_wr s = said(r);

	tb_send_said(tb, here, end, qp, &s);
}

void tb_recv_on(struct tb *tb, const char *here, struct tb_end *end, struct drv_qp *qp,
		struct drv_srq *srq, const struct tb_wr *r)
{
	const struct tb_wr s = said(r);

	tb_recv_said(tb, here, end, qp, srq, &s);
}

/* --- of the connected pairs --- */

static bool is_pair(struct tb *tb, const char *here, struct tb_end *end, unsigned pair)
{
	if (pair < TB_QPS_MAX && end->qp[pair])
		return true;
	tb_failf(tb, here, "a queue pair %u of %s; the setup has %u", pair, end->name,
		 tb->setup.no_qps ? 0 : tb->setup.qps);
	return false;
}

void tb_post_said(struct tb *tb, const char *here, struct tb_end *end, const struct tb_wr *wr)
{
	struct tb_wr r = *wr;

	r.target = or_else(wr->target, 0);
	if (tb_go(tb, here) && is_pair(tb, here, end, r.qp) && r.repeat)
		post_list(tb, here, end, end->qp[r.qp], &r, r.wr_id, r.repeat);
}

void tb_post_recv_said(struct tb *tb, const char *here, struct tb_end *end, const struct tb_wr *wr)
{
	if (!tb_go(tb, here) || !is_pair(tb, here, end, wr->qp))
		return;
	post_receives(tb, here, end, end->qp[wr->qp], NULL, wr);
	for (unsigned i = 1; i < wr->repeat; i++)
		tb_memory_loose(end, place(tb, wr, i), wr->len);
}

void tb_post(struct tb *tb, const char *here, struct tb_end *end, const struct tb_wr *wr)
{
	const struct tb_wr w = said(wr);

	tb_post_said(tb, here, end, &w);
}

void tb_post_recv(struct tb *tb, const char *here, struct tb_end *end, const struct tb_wr *wr)
{
	const struct tb_wr w = said(wr);

	tb_post_recv_said(tb, here, end, &w);
}
