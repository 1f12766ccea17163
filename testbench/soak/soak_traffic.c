/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses and posts the random requests and receives of the soak, and polls their completions. */
#include "model/interface/macros.h"
#include "model/sim/params/sim_soak.h"
#include "testbench/soak/soak.h"

#include <inttypes.h>
#include <string.h>

enum {
	PATTERN_BYTES = 2 << 20,
	LANDING_BYTES = 2 << 20,
	LIST_MAX = 4,
	POLL_MAX = 16,
	QUIET_MAX = 6,
	PERCENT = 100,
};

static uint64_t below(struct soak *s, uint64_t n)
{
	return rng_below(&s->rng, n);
}

static bool percent(struct soak *s, unsigned n)
{
	return below(s, PERCENT) < n;
}

/* --- drawing a request --- */

static enum ibv_wr_opcode draw_opcode(struct soak *s, bool plain)
{
	static const enum ibv_wr_opcode deck[] = {
		IBV_WR_SEND,
		IBV_WR_SEND,
		IBV_WR_SEND,
		IBV_WR_SEND_WITH_IMM,
		IBV_WR_SEND_WITH_IMM,
		IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_WRITE_WITH_IMM,
		IBV_WR_RDMA_WRITE_WITH_IMM,
		IBV_WR_RDMA_READ,
		IBV_WR_RDMA_READ,
		IBV_WR_RDMA_READ,
		IBV_WR_RDMA_READ,
		IBV_WR_ATOMIC_CMP_AND_SWP,
		IBV_WR_ATOMIC_FETCH_AND_ADD,
		IBV_WR_MASKED_ATOMIC_CMP_AND_SWP,
		IBV_WR_MASKED_ATOMIC_FETCH_AND_ADD,
	};
	const unsigned masked = 2;

	return deck[below(s, ARRAY_SIZE(deck) - (plain ? masked : 0))];
}

static uint32_t draw_len(struct soak *s, uint32_t largest)
{
	/* percent of the messages, and their largest size in bytes */
	static const struct {
		unsigned share;
		uint32_t bytes;
	} sizes[] = {{8, 0}, {30, SOAK_INLINE}, {31, 4096}, {21, 16384}, {9, SOAK_MEDIUM}};
	uint64_t at = below(s, PERCENT);

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		if (at < sizes[i].share)
			return (uint32_t)below(s, sizes[i].bytes + 1u);
		at -= sizes[i].share;
	}
	return largest - (uint32_t)below(s, largest / 2);
}

/* Cuts `len` bytes into pieces of at least one byte. */
static unsigned cut(struct soak *s, uint32_t len, struct soak_piece *piece)
{
	unsigned n = 0;

	while (len) {
		uint32_t part = len;

		if (n + 1 < SOAK_PIECES && len > 1 && percent(s, 40))
			part = 1 + (uint32_t)below(s, len - 1);
		piece[n++].len = part;
		len -= part;
	}
	return n;
}

/* Reserves memory for the data that the request returns. False: none is free now. */
static bool take_landing(struct soak_qp *q, struct soak_op *op)
{
	const struct soak_flow *f = &q->flow;
	uint64_t tail = f->done ? q->land_end[(f->done - 1) % SOAK_RING] : 0;
	uint64_t head = q->land_head, at = head % LANDING_BYTES;
	uint8_t *to;

	if (at + op->len > LANDING_BYTES) {
		head += LANDING_BYTES - at;
		at = 0;
	}
	if (head + op->len - tail > LANDING_BYTES)
		return false;
	to = q->landing + at;
	memset(to, SOAK_FILL, op->len);
	for (unsigned i = 0; i < op->pieces; i++) {
		op->piece[i].at = to;
		to += op->piece[i].len;
	}
	q->land_head = head + op->len;
	return true;
}

static void draw_sources(struct soak_qp *q, struct soak_op *op)
{
	struct soak_end *e = q->end;

	for (unsigned i = 0; i < op->pieces; i++)
		op->piece[i].at = e->pattern + below(e->soak, PATTERN_BYTES - op->piece[i].len + 1);
	op->inlined = op->len && op->len <= SOAK_INLINE && op->pieces == 1 && percent(e->soak, 50);
}

static void draw_atomic(struct soak_qp *q, struct soak_op *op)
{
	struct soak *s = q->end->soak;

	op->len = SOAK_WORD;
	op->pieces = 1;
	op->piece[0].len = SOAK_WORD;
	op->remote = below(s, SOAK_WORDS) * SOAK_WORD;
	op->swap = rng_next(&s->rng);
	memcpy(&op->compare, q->flow.shadow + op->remote, SOAK_WORD);
	op->compare_mask = rng_next(&s->rng) & rng_next(&s->rng);
	op->swap_mask = rng_next(&s->rng);
	if (op->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ||
	    op->opcode == IBV_WR_MASKED_ATOMIC_FETCH_AND_ADD || percent(s, 30))
		op->compare = rng_next(&s->rng);
}

static uint32_t largest_of(const struct soak_qp *q, enum ibv_wr_opcode opcode)
{
	const struct soak *s = q->end->soak;
	const struct soak_rq *to = s->ends[q->end == &s->ends[0]].qp[q->index].rq;
	uint32_t largest = s->pair[q->index].largest;

	if (soak_consumes(opcode) && opcode != IBV_WR_RDMA_WRITE_WITH_IMM &&
	    to->slot_bytes - SOAK_GUARD < largest)
		largest = (uint32_t)to->slot_bytes - SOAK_GUARD;
	return largest;
}

static bool draw(struct soak_qp *q, struct soak_op *op)
{
	struct soak *s = q->end->soak;

	*op = (struct soak_op){.opcode = draw_opcode(s, q->target || s->software),
			       .imm = (uint32_t)rng_next(&s->rng)};
	op->steer = (unsigned)below(s, SOAK_STEERED);
	if (soak_lands_here(op->opcode) && op->opcode != IBV_WR_RDMA_READ) {
		draw_atomic(q, op);
	} else {
		op->len = draw_len(s, largest_of(q, op->opcode));
		op->pieces = cut(s, op->len, op->piece);
		op->from_pattern = op->opcode == IBV_WR_RDMA_READ && percent(s, 50);
		op->remote = below(s, (op->from_pattern ? PATTERN_BYTES : s->window_bytes) -
					      op->len + 1);
	}
	if (soak_lands_here(op->opcode)) {
		if (!take_landing(q, op))
			return false;
	} else {
		draw_sources(q, op);
	}
	op->fence = percent(s, 3) || soak_flow_needs_fence(&q->flow, op);
	op->signaled = percent(s, 60) || q->quiet >= QUIET_MAX;
	return true;
}

/* --- posting --- */

static uint64_t remote_address(const struct soak_qp *q, const struct soak_op *op)
{
	const struct soak *s = q->end->soak;
	const struct soak_end *peer = &s->ends[q->end == &s->ends[0]];

	return tb_va(peer->end, op->from_pattern ? peer->pattern
						 : peer->windows + q->index * s->window_bytes) +
	       op->remote;
}

static void fill_wr(struct soak_qp *q, const struct soak_op *op, struct drv_sge *sge,
		    struct drv_send_wr *wr)
{
	struct soak_end *e = q->end, *peer = &e->soak->ends[e == &e->soak->ends[0]];

	const struct soak_qp *there = &peer->qp[q->index];

	for (unsigned i = 0; i < op->pieces; i++)
		sge[i] = (struct drv_sge){
			.addr = op->inlined ? (uintptr_t)op->piece[i].at
					    : tb_va(e->end, op->piece[i].at),
			.length = op->piece[i].len,
			.lkey = drv_mr_lkey(soak_lands_here(op->opcode) ? e->landing_mr
									: e->pattern_mr),
		};
	*wr = (struct drv_send_wr){
		.wr_id = (uint64_t)q->index << 48 | q->flow.posted,
		.opcode = op->opcode,
		.send_flags = (op->signaled ? IBV_SEND_SIGNALED : 0) |
			      (op->fence ? IBV_SEND_FENCE : 0) |
			      (op->inlined ? IBV_SEND_INLINE : 0),
		.sg_list = sge,
		.num_sge = op->pieces,
		.imm_data = op->imm,
		.remote_addr = remote_address(q, op),
		.rkey = there->mw && !op->from_pattern
				? drv_mw_rkey(there->mw)
				: drv_mr_rkey(op->from_pattern ? peer->pattern_mr
							       : peer->window_mr),
		.remote_srqn = q->target ? drv_srq_num(peer->steered[op->steer].srq) : 0,
		.compare_add_mask = op->compare_mask,
		.swap_mask = op->swap_mask,
		.compare_add = op->compare,
		.swap = op->swap,
	};
}

static void note(struct soak_qp *q, const struct soak_op *op)
{
	struct tb *tb = q->end->soak->tb;

	q->land_end[q->flow.posted % SOAK_RING] = q->land_head;
	q->quiet = op->signaled ? 0 : q->quiet + 1;
	tb->payload_bytes += op->len;
	if (!soak_flow_post(&q->flow, op))
		tb_failf(tb, TB_HERE, "memory for a request");
}

static unsigned room(struct soak_qp *q)
{
	uint64_t under_way = q->flow.posted - q->flow.done;

	return under_way < q->depth ? q->depth - (unsigned)under_way : 0;
}

/* A list of requests, one doorbell. */
static unsigned post_list(struct soak_qp *q)
{
	struct soak *s = q->end->soak;
	struct drv_send_wr wr[LIST_MAX];
	struct drv_sge sge[LIST_MAX][SOAK_PIECES];
	unsigned want = 1 + (unsigned)below(s, LIST_MAX), n = 0;
	struct tb *tb = s->tb;

	while (n < want && s->posted < sim_param_soak_messages(s->params) && room(q) &&
	       soak_flow_has_room(&q->flow)) {
		struct soak_op op;

		if (!draw(q, &op))
			break;
		/* the request that fills the queue must be signalled, or room is never made */
		op.signaled |= room(q) == 1;
		fill_wr(q, &op, sge[n], &wr[n]);
		note(q, &op);
		if (n)
			wr[n - 1].next = &wr[n];
		n++;
		s->posted++;
	}
	if (n)
		must(drv_post_send(q->qp, wr, NULL));
	return n;
}

void soak_post_last(struct soak_qp *q)
{
	const struct soak_op op = {.opcode = IBV_WR_RDMA_WRITE, .signaled = true};
	struct tb *tb = q->end->soak->tb;
	struct drv_send_wr wr;

	fill_wr(q, &op, NULL, &wr);
	note(q, &op);
	must(drv_post_send(q->qp, &wr, NULL));
}

void soak_post_bind(struct soak_qp *q)
{
	const struct soak_op op = {.opcode = IBV_WR_BIND_MW, .signaled = true};
	struct soak_end *e = q->end;
	struct tb *tb = e->soak->tb;
	struct drv_send_wr wr;

	fill_wr(q, &op, NULL, &wr);
	wr.bind_mw = q->mw;
	wr.bind_mr = e->window_mr;
	wr.bind_addr = tb_va(e->end, e->windows + q->index * e->soak->window_bytes);
	wr.bind_length = e->soak->window_bytes;
	wr.bind_access =
		IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	note(q, &op);
	must(drv_post_send(q->qp, &wr, NULL));
}

void soak_post_invalidate(struct soak_qp *q, bool by_peer)
{
	struct soak *s = q->end->soak;
	struct soak_qp *from = by_peer ? &s->ends[q->end == &s->ends[0]].qp[q->index] : q;
	const struct soak_op op = {.opcode = by_peer ? IBV_WR_SEND_WITH_INV : IBV_WR_LOCAL_INV,
				   .signaled = true,
				   .imm = drv_mw_rkey(q->mw)};
	struct tb *tb = s->tb;
	struct drv_send_wr wr;

	fill_wr(from, &op, NULL, &wr);
	wr.invalidate_rkey = op.imm;
	note(from, &op);
	must(drv_post_send(from->qp, &wr, NULL));
}

bool soak_post_some(struct soak *s)
{
	unsigned first = (unsigned)below(s, TB_ENDS * s->pairs);
	unsigned lists = 1 + (unsigned)below(s, s->pairs), n = 0;

	for (unsigned i = 0; i < TB_ENDS * s->pairs && lists && tb_right(s->tb); i++) {
		unsigned k = (first + i) % (TB_ENDS * s->pairs);

		if (s->pair[k / TB_ENDS].state == SOAK_RUNNING) {
			unsigned posted = post_list(&s->ends[k % TB_ENDS].qp[k / TB_ENDS]);

			n += posted;
			lists -= posted != 0;
		}
	}
	return n != 0;
}

/* --- receives --- */

static void prepare(struct soak *s, struct soak_rq *rq, struct soak_slot *slot)
{
	const uint32_t bytes = (uint32_t)rq->slot_bytes - SOAK_GUARD;
	uint8_t *at = rq->base + (size_t)(slot - rq->slot) * rq->slot_bytes;

	memset(at, SOAK_FILL, slot->dirty);
	slot->pieces = cut(s, bytes, slot->piece);
	for (unsigned i = 0; i < slot->pieces; i++) {
		slot->piece[i].at = at;
		at += slot->piece[i].len;
	}
	slot->posted = true;
	rq->posted++;
}

static void post_receive(struct soak *s, struct soak_rq *rq, struct soak_slot *slot)
{
	struct soak_end *e = &s->ends[rq->base >= s->ends[1].receives &&
				      rq->base < s->ends[1].memory + s->memory_bytes];
	struct drv_sge sge[SOAK_PIECES];
	struct drv_recv_wr wr = {.wr_id = (uint64_t)rq->steer << SOAK_STEER_SHIFT |
					  (uint64_t)(slot - rq->slot),
				 .sg_list = sge};
	struct tb *tb = s->tb;

	prepare(s, rq, slot);
	wr.num_sge = slot->pieces;
	for (unsigned i = 0; i < slot->pieces; i++)
		sge[i] = (struct drv_sge){.addr = tb_va(e->end, slot->piece[i].at),
					  .length = slot->piece[i].len,
					  .lkey = drv_mr_lkey(e->receive_mr)};
	if (rq->srq)
		must(drv_post_srq_recv(rq->srq, &wr, NULL));
	else
		must(drv_post_recv(rq->qp, &wr, NULL));
}

void soak_refill(struct soak *s, struct soak_rq *rq, bool all)
{
	unsigned want = rq->slots - rq->posted;

	if (!all && want)
		want = (unsigned)below(s, want + 1);
	for (; want && tb_right(s->tb); rq->next = (rq->next + 1) % rq->slots) {
		struct soak_slot *slot = &rq->slot[rq->next];

		if (slot->posted)
			continue;
		post_receive(s, rq, slot);
		want--;
	}
}

/* --- completions --- */

static struct soak_qp *qp_of(struct soak_end *e, uint32_t qpn)
{
	for (unsigned i = 0; i < e->soak->pairs; i++)
		if (drv_qp_num(e->qp[i].qp) == qpn ||
		    (e->qp[i].target && drv_qp_num(e->qp[i].target) == qpn))
			return &e->qp[i];
	return NULL;
}

static const char *take_receive(struct soak_qp *q, const struct drv_wc *wc,
				const struct soak_wc *plain)
{
	struct soak *s = q->end->soak;
	struct soak_qp *sender = &s->ends[q->end == &s->ends[0]].qp[q->index];
	const uint64_t steer = wc->wr_id >> SOAK_STEER_SHIFT, number = (uint32_t)wc->wr_id;
	struct soak_rq *rq = steer ? &q->end->steered[(steer - 1) % SOAK_STEERED] : q->rq;
	struct soak_slot *slot;
	const char *text;

	if (wc->wr_id == SOAK_MARKER && q->marker_due) {
		q->marker_due = false;
		return wc->status == IBV_WC_WR_FLUSH_ERR ? NULL : "the last receive is not flushed";
	}
	if (steer != rq->steer || number >= rq->slots || !rq->slot[number].posted)
		return "a receive completes that is not posted";
	if (steer && !wc->status && wc->srq_num != drv_srq_num(rq->srq))
		return "a receive completes with the number of another queue";
	slot = &rq->slot[number];
	text = soak_flow_received(&sender->flow, plain, slot->piece, slot->pieces, SOAK_FILL);
	slot->posted = false;
	if (wc->status)
		slot->dirty = (uint32_t)rq->slot_bytes - SOAK_GUARD;
	else
		slot->dirty = wc->opcode == IBV_WC_RECV ? wc->byte_len : 0;
	rq->posted--;
	return text;
}

static void take(struct soak_end *e, const struct drv_wc *wc)
{
	struct soak_qp *q = qp_of(e, wc->qp_num);
	const struct soak_wc plain = {
		.number = wc->wr_id & ((1ull << 48) - 1),
		.status = wc->status,
		.opcode = wc->opcode,
		.byte_len = wc->byte_len,
		.imm = wc->wc_flags & IBV_WC_WITH_INV ? wc->invalidated_rkey : wc->imm_data,
		.has_imm = wc->wc_flags & IBV_WC_WITH_IMM,
		.has_key = wc->wc_flags & IBV_WC_WITH_INV,
	};
	const char *text;

	if (!q)
		text = "a completion of no queue pair";
	else if (!wc->is_send)
		text = take_receive(q, wc, &plain);
	else if (wc->wr_id >> 48 != q->index)
		text = "a completion with the wr_id of another queue pair";
	else
		text = soak_flow_sent(&q->flow, &plain);
	if (text)
		tb_failf(e->soak->tb, TB_HERE, "%s, qp 0x%x, pair %u: %s (vendor 0x%x)",
			 e->end->name, wc->qp_num, q ? q->index : 0, text, wc->vendor_err);
}

bool soak_poll(struct soak *s)
{
	const uint64_t from = tb_now(s->tb);
	bool any = soak_loose_poll(s), rest = false;

	for (unsigned k = 0; k < TB_ENDS * SOAK_CQS && tb_right(s->tb); k++) {
		struct soak_end *e = &s->ends[k / SOAK_CQS];
		struct drv_wc wc[POLL_MAX];
		int n = drv_cq_poll(e->cq[k % SOAK_CQS], POLL_MAX, wc);

		if (n < 0)
			tb_failf(s->tb, TB_HERE, "%s: drv_cq_poll gives %d", e->end->name, n);
		for (int i = 0; i < n && tb_right(s->tb); i++)
			take(e, &wc[i]);
		any |= n > 0;
		rest |= n == POLL_MAX;
	}
	if (!rest)
		s->polled_ps = from;
	if (any)
		s->progress_ps = tb_now(s->tb);
	return any;
}
