/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unreliable pairs of the soak, which may lose messages: two of UC, one of UD. Every message
 * carries its number as immediate data. On UC about every second message is a WRITE. Its target
 * buffer is not used again while packets to it may still be in flight. Now and then a request is
 * invalid on purpose: the queue pair goes to SQE, the requests behind it are flushed, and it is
 * moved back to RTS while it still receives.
 */
#include "model/sim/params/sim_soak.h"
#include "testbench/services.h"
#include "testbench/soak/soak.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	DEPTH = 16,
	SLOTS = 32,
	UD_LARGEST = 4096,
	UC_LARGEST = 16384,
	GRH_AREA = 40,
	QKEY = 0x1357,
	COPIES = 4, /* most copies of one packet, including itself, after the soak's faults */
	WRONG_ONE_IN = 300,
	POLL_MAX = 16,
	SLOW_RATE = 7,   /* 40 Gb/s, of 56 */
	DEAD_US = 10000, /* longer than any packet lives, including its wait at the receiver */
	RECEIVE = 1,     /* bit of wr_id: it is a receive */
	WR_SHIFT = 8,
};

static const uint64_t never_ps = UINT64_MAX - CFG_US(DEAD_US);

static uint64_t below(struct soak *s, uint64_t n)
{
	return rng_below(&s->rng, n);
}

static bool is_ud(unsigned i)
{
	return i == SOAK_LOOSE - 1;
}

static size_t slot_bytes(unsigned i)
{
	return (is_ud(i) ? UD_LARGEST + GRH_AREA : UC_LARGEST) + SOAK_GUARD;
}

static size_t all_bytes(void)
{
	size_t bytes = 0;

	for (unsigned i = 0; i < SOAK_LOOSE; i++)
		bytes += (SLOTS + SOAK_TARGETS) * slot_bytes(i);
	return (bytes + PLATFORM_PAGE_SIZE - 1) & ~(size_t)(PLATFORM_PAGE_SIZE - 1);
}

/* --- receives --- */

static void post_receive(struct soak *s, struct soak_loose_qp *q, unsigned slot)
{
	const uint32_t len = (uint32_t)slot_bytes(q->index) - SOAK_GUARD;
	struct soak_end *e = q->end;
	struct drv_sge sge = {tb_va(e->end, q->slots + slot * slot_bytes(q->index)), len,
			      drv_mr_lkey(e->loose_mr)};
	const struct drv_recv_wr wr = {
		.wr_id = (uint64_t)slot << WR_SHIFT | RECEIVE, .sg_list = &sge, .num_sge = 1};
	struct tb *tb = s->tb;

	must(drv_post_recv(q->qp, &wr, NULL));
}

/* --- life --- */

static bool create_qp(struct soak *s, struct soak_end *e, unsigned i, uint8_t *at)
{
	struct soak_loose_qp *q = &e->loose[i];
	const struct drv_qp_init init = {.type = is_ud(i) ? IBV_QPT_UD : IBV_QPT_UC,
					 .send_cq = e->loose_cq,
					 .recv_cq = e->loose_cq,
					 .cap = {.max_send_wr = DEPTH,
						 .max_recv_wr = SLOTS,
						 .max_send_sge = 1,
						 .max_recv_sge = 1},
					 .user = true};
	struct tb *tb = s->tb;

	q->end = e;
	q->index = i;
	q->slots = at;
	q->targets = at + SLOTS * slot_bytes(i);
	q->flow = calloc(1, sizeof(*q->flow));
	must(q->flow ? 0 : -ENOMEM);
	must(drv_qp_create(e->pd, &init, &q->qp));
	if (!still_right())
		return false;
	q->flow->pattern = e->pattern;
	q->flow->most = sim_param_soak_duplicate_ppm(s->params) ? COPIES : 1;
	if (is_ud(i))
		must(drv_ud_qp_start(q->qp, 1, 0, QKEY, 0xfffff0));
	return still_right();
}

static void connect(struct soak *s, unsigned i)
{
	struct tb *tb = s->tb;

	for (unsigned n = 0; n < TB_ENDS && !is_ud(i) && still_right(); n++) {
		struct soak_loose_qp *peer = &s->ends[!n].loose[i];
		struct drv_rc_path path = path_to(peer->end->end, drv_qp_num(peer->qp));

		path.path_mtu = i ? IBV_MTU_1024 : IBV_MTU_4096;
		path.sq_psn = path.rq_psn = 0xfffff0;
		must(drv_qp_connect(s->ends[n].loose[i].qp, &path));
	}
	for (unsigned n = 0; n < TB_ENDS; n++)
		for (unsigned slot = 0; slot < SLOTS && still_right(); slot++)
			post_receive(s, &s->ends[n].loose[i], slot);
}

static bool create_end(struct soak *s, struct soak_end *e)
{
	struct platform *p = e->end->platform;
	struct tb *tb = s->tb;
	uint8_t *at;

	e->loose_memory = p->ops->user_alloc(p, all_bytes());
	must(e->loose_memory ? 0 : -ENOMEM);
	if (!still_right())
		return false;
	memset(e->loose_memory, SOAK_FILL, all_bytes());
	must(drv_mr_reg_iova(e->pd, e->loose_memory, all_bytes(), tb_va(e->end, e->loose_memory),
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE, &e->loose_mr));
	must(drv_cq_create(e->end->dev, SOAK_LOOSE * (DEPTH + SLOTS), 0, &e->loose_cq));
	if (still_right())
		drv_cq_set_callback(e->loose_cq, soak_completion_event, s);
	at = e->loose_memory;
	for (unsigned i = 0; i < SOAK_LOOSE && still_right(); i++) {
		create_qp(s, e, i, at);
		at += (SLOTS + SOAK_TARGETS) * slot_bytes(i);
	}
	return still_right();
}

bool soak_loose_create(struct soak *s)
{
	for (unsigned n = 0; n < TB_ENDS; n++)
		if (!create_end(s, &s->ends[n]))
			return false;
	for (unsigned i = 0; i < SOAK_LOOSE; i++)
		connect(s, i);
	return tb_right(s->tb);
}

void soak_loose_destroy(struct soak *s)
{
	struct tb *tb = s->tb;

	for (unsigned n = 0; n < TB_ENDS; n++) {
		struct soak_end *e = &s->ends[n];

		if (e->loose_cq)
			drv_cq_set_callback(e->loose_cq, NULL, NULL);
		for (unsigned i = 0; i < SOAK_LOOSE; i++) {
			if (still_right())
				must(drv_qp_destroy(e->loose[i].qp));
			free(e->loose[i].flow);
		}
		if (still_right()) {
			must(drv_cq_destroy(e->loose_cq));
			must(drv_mr_dereg(e->loose_mr));
			e->end->platform->ops->user_free(e->end->platform, e->loose_memory,
							 all_bytes());
		}
	}
}

/* --- requests --- */

static bool has_room(const struct soak_loose_qp *q)
{
	return !q->wrong_posted && q->flow->posted - q->flow->done < DEPTH;
}

/* Chooses a target buffer at the peer for the next WRITE. NULL: send a SEND instead, for example
 * because an earlier WRITE to that buffer may still be in flight. */
static uint8_t *take_target(struct soak *s, struct soak_loose_qp *q, struct soak_loose_qp *peer)
{
	const unsigned i = q->flow->posted % SOAK_TARGETS;
	uint8_t *at = peer->targets + i * slot_bytes(q->index);

	if (is_ud(q->index) || below(s, 2) ||
	    (peer->target_ps[i] && tb_now(s->tb) < peer->target_ps[i] + CFG_US(DEAD_US)))
		return NULL;
	peer->target_number[i] = q->flow->posted;
	peer->target_ps[i] = never_ps;
	memset(at, SOAK_FILL, slot_bytes(q->index));
	return at;
}

static void post(struct soak *s, struct soak_loose_qp *q)
{
	struct soak_end *e = q->end, *peer = &s->ends[e == &s->ends[0]];
	uint8_t *target = take_target(s, q, &peer->loose[q->index]);
	const uint32_t len = (uint32_t)below(s, (is_ud(q->index) ? UD_LARGEST : UC_LARGEST) + 1);
	const size_t at = below(s, SOAK_MEDIUM);
	const bool bad = len && below(s, WRONG_ONE_IN) == 0;
	const uint64_t number = soak_loose_post(q->flow, at, len, bad, target);
	struct drv_ah_attr ah = ah_to(peer->end);
	struct drv_sge sge = {tb_va(e->end, e->pattern + at), len,
			      drv_mr_lkey(e->pattern_mr) ^ bad};
	const struct drv_send_wr wr = {.wr_id = number << WR_SHIFT,
				       .opcode = target ? IBV_WR_RDMA_WRITE_WITH_IMM
							: IBV_WR_SEND_WITH_IMM,
				       .remote_addr = target ? tb_va(peer->end, target) : 0,
				       .rkey = drv_mr_rkey(peer->loose_mr),
				       .send_flags = IBV_SEND_SIGNALED,
				       .sg_list = &sge,
				       .num_sge = len != 0,
				       .imm_data = (uint32_t)number,
				       .ah = is_ud(q->index) ? &ah : NULL,
				       .remote_qpn = drv_qp_num(peer->loose[q->index].qp),
				       .remote_qkey = QKEY};
	struct tb *tb = s->tb;

	ah.static_rate = below(s, 2) ? 0 : SLOW_RATE;
	q->wrong_posted |= bad;
	must(drv_post_send(q->qp, &wr, NULL));
	s->posted++;
	tb->payload_bytes += len;
}

bool soak_loose_post_some(struct soak *s)
{
	struct soak_loose_qp *q = &s->ends[below(s, TB_ENDS)].loose[below(s, SOAK_LOOSE)];
	unsigned n = (unsigned)below(s, 3);
	bool any = false;

	while (n-- && has_room(q) && s->posted < sim_param_soak_messages(s->params) &&
	       tb_right(s->tb)) {
		post(s, q);
		any = true;
	}
	return any;
}

/* --- completions --- */

/* Moves the queue pair back to RTS, after all requests behind the invalid one have been flushed. */
static void restart(struct soak *s, struct soak_loose_qp *q)
{
	const struct drv_qp_attr rts = {.qp_state = IBV_QPS_RTS};
	struct drv_qp_attr now;
	struct tb *tb = s->tb;

	must(drv_qp_query(q->qp, &now));
	expect_equal(now.qp_state, IBV_QPS_SQE);
	must(drv_qp_modify(q->qp, &rts, IBV_QP_STATE));
	q->wrong_posted = q->flow->stopped = false;
	s->changes++;
}

/* Message `number` has arrived. Messages arrive in order or not at all, so of earlier WRITEs only
 * copies of packets in flight can still arrive. */
static void targets_pass(struct soak *s, struct soak_loose_qp *q, uint32_t number)
{
	for (unsigned i = 0; i < SOAK_TARGETS; i++)
		if (q->target_ps[i] == never_ps &&
		    (int32_t)(number - (uint32_t)q->target_number[i]) > 0)
			q->target_ps[i] = tb_now(s->tb);
}

static const char *written(struct soak_loose_qp *q, struct soak_loose *from,
			   const struct drv_wc *wc)
{
	const unsigned i = wc->imm_data % SOAK_TARGETS;
	const uint8_t *at = q->targets + i * slot_bytes(q->index);

	if ((uint32_t)q->target_number[i] != wc->imm_data)
		return "a WRITE arrives whose place has been given to another one";
	if (wc->byte_len > UC_LARGEST)
		return "a WRITE arrives that is longer than any";
	for (unsigned k = 0; k < SOAK_GUARD; k++)
		if (at[wc->byte_len + k] != SOAK_FILL)
			return "a WRITE has written beyond its end";
	return soak_loose_received(from, wc->imm_data, at, wc->byte_len, true);
}

static const char *received(struct soak *s, struct soak_loose_qp *q, const struct drv_wc *wc)
{
	const unsigned slot = (unsigned)(wc->wr_id >> WR_SHIFT);
	const uint32_t area = is_ud(q->index) ? GRH_AREA : 0;
	struct soak_loose *from = s->ends[q->end == &s->ends[0]].loose[q->index].flow;
	const uint8_t *bytes = q->slots + slot * slot_bytes(q->index);
	const uint8_t *guard = bytes + slot_bytes(q->index) - SOAK_GUARD;

	if (wc->status)
		return "a receive ends with an error";
	if (!(wc->wc_flags & IBV_WC_WITH_IMM) || wc->byte_len < area)
		return "a message arrives that nobody sent";
	for (unsigned i = 0; i < SOAK_GUARD; i++)
		if (guard[i] != SOAK_FILL)
			return "a receive is written beyond its end";
	targets_pass(s, q, wc->imm_data);
	if (wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM)
		return written(q, from, wc);
	return soak_loose_received(from, wc->imm_data, bytes + area, wc->byte_len - area, false);
}

static void take(struct soak *s, struct soak_end *e, const struct drv_wc *wc)
{
	struct soak_loose_qp *q = NULL;
	const char *text = "a completion of no queue pair";

	for (unsigned i = 0; i < SOAK_LOOSE; i++)
		if (drv_qp_num(e->loose[i].qp) == wc->qp_num)
			q = &e->loose[i];
	if (q && wc->wr_id & RECEIVE) {
		text = received(s, q, wc);
		if (!text)
			post_receive(s, q, (unsigned)(wc->wr_id >> WR_SHIFT));
	} else if (q) {
		text = soak_loose_sent(q->flow, wc->wr_id >> WR_SHIFT, wc->status);
		if (!text && q->flow->stopped && q->flow->done == q->flow->posted)
			restart(s, q);
	}
	if (text)
		tb_failf(s->tb, TB_HERE, "%s, qp 0x%x, %s: %s (vendor 0x%x)", e->end->name,
			 wc->qp_num, q && is_ud(q->index) ? "ud" : "uc", text, wc->vendor_err);
}

bool soak_loose_poll(struct soak *s)
{
	bool any = false;

	for (unsigned n = 0; n < TB_ENDS; n++) {
		struct drv_wc wc[POLL_MAX];
		int got = drv_cq_poll(s->ends[n].loose_cq, POLL_MAX, wc);

		if (got < 0)
			tb_failf(s->tb, TB_HERE, "drv_cq_poll gives %d", got);
		for (int i = 0; i < got && tb_right(s->tb); i++)
			take(s, &s->ends[n], &wc[i]);
		any |= got > 0;
	}
	return any;
}

bool soak_loose_drained(const struct soak *s)
{
	for (unsigned k = 0; k < TB_ENDS * SOAK_LOOSE; k++) {
		const struct soak_loose *f = s->ends[k % TB_ENDS].loose[k / TB_ENDS].flow;

		if (f->done < f->posted)
			return false;
	}
	return true;
}

void soak_loose_judge_all(struct soak *s)
{
	for (unsigned k = 0; k < TB_ENDS * SOAK_LOOSE && tb_right(s->tb); k++) {
		struct soak_loose_qp *q = &s->ends[k % TB_ENDS].loose[k / TB_ENDS];
		const char *text = soak_loose_judge(q->flow);

		if (text)
			tb_failf(s->tb, TB_HERE, "from %s, qp 0x%x: %s", q->end->end->name,
				 drv_qp_num(q->qp), text);
	}
}
