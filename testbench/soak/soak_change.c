/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the soak does to its pairs besides traffic, and the asynchronous events that follow. A pair
 * is moved to ERR and through RESET back to RTS; or a send queue is drained (SQD) with requests in
 * it; or windows are bound again, type 2 ones after either side has invalidated them; or the pair
 * is only drained, checked, and continues.
 */
#include "model/sim/params/sim_soak.h"
#include "testbench/soak/soak.h"

enum {
	SETTLE_US = 2000, /* longer than any packet lives, with delays, copies and RNR waits */
	LAND_US = 50,     /* after this time, acknowledged data has been written to memory */
	BREAKS = 60,      /* percent of changes that move a pair to ERR */
	STOPS = 70,       /* percent of the other changes that drain a send queue */
	PERCENT = 100,
};

/* --- beginning --- */

static bool takes_from_shared(const struct soak_qp *q)
{
	return q->rq == &q->end->shared;
}

static void break_end(struct soak *s, struct soak_qp *q)
{
	const struct drv_qp_attr err = {.qp_state = IBV_QPS_ERR};
	const struct drv_recv_wr marker = {.wr_id = SOAK_MARKER};
	struct tb *tb = s->tb;

	q->last_wqe = false;
	must(drv_qp_modify(q->qp, &err, IBV_QP_STATE));
	if (q->target)
		must(drv_qp_modify(q->target, &err, IBV_QP_STATE));
	soak_post_last(q);
	if (q->rq == &q->own) {
		q->marker_due = true;
		must(drv_post_recv(q->qp, &marker, NULL));
	}
}

static void stop_end(struct soak *s, unsigned pair, unsigned end)
{
	const struct drv_qp_attr sqd = {.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = true};
	struct soak_qp *q = soak_qp_at(s, end, pair);
	struct tb *tb = s->tb;

	s->pair[pair].state = SOAK_STOPPED;
	s->pair[pair].stopped = end;
	q->drained = false;
	must(drv_qp_modify(q->qp, &sqd, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY));
}

void soak_begin_change(struct soak *s)
{
	unsigned i = (unsigned)rng_below(&s->rng, s->pairs);
	unsigned first = (unsigned)rng_below(&s->rng, TB_ENDS);
	struct soak_pair *p = &s->pair[i];

	s->next_change += sim_param_soak_state_changes(s->params);
	if (p->state != SOAK_RUNNING)
		return;
	s->changes++;
	p->state = SOAK_DRAINING;
	p->break_it = rng_below(&s->rng, PERCENT) < BREAKS;
	for (unsigned n = 0; n < TB_ENDS && p->break_it; n++)
		soak_flow_break(&soak_qp_at(s, n, i)->flow);
	for (unsigned n = 0; n < TB_ENDS && tb_right(s->tb); n++) {
		struct soak_qp *q = soak_qp_at(s, n ^ first, i);

		if (p->break_it)
			break_end(s, q);
		else if (q->quiet)
			soak_post_last(q);
	}
	if (!p->break_it && rng_below(&s->rng, PERCENT) < STOPS)
		stop_end(s, i, first);
}

/* --- going on --- */

bool soak_is_drained(struct soak *s, unsigned i)
{
	for (unsigned n = 0; n < TB_ENDS; n++) {
		const struct soak_qp *q = soak_qp_at(s, n, i);

		if (q->flow.done < q->flow.posted || q->marker_due)
			return false;
	}
	return true;
}

void soak_judge_pair(struct soak *s, unsigned i)
{
	struct soak_pair *p = &s->pair[i];
	struct tb *tb = s->tb;

	for (unsigned n = 0; n < TB_ENDS && still_right(); n++) {
		struct soak_qp *q = soak_qp_at(s, n, i);
		const char *text = soak_flow_judge(&q->flow);

		if (text)
			tb_failf(tb, TB_HERE, "from %s, qp 0x%x, pair %u: %s", q->end->end->name,
				 drv_qp_num(q->qp), i, text);
		else if (p->break_it && q->own.posted)
			tb_failf(tb, TB_HERE, "%s, pair %u: %u receives were not flushed",
				 q->end->end->name, i, q->own.posted);
		else if (p->break_it && takes_from_shared(q) && !q->last_wqe)
			tb_failf(tb, TB_HERE, "%s, pair %u: the event of the last receive",
				 q->end->end->name, i);
	}
}

static void bind_windows(struct soak *s, unsigned i)
{
	s->pair[i].state = SOAK_BINDING;
	for (unsigned n = 0; n < TB_ENDS && tb_right(s->tb); n++)
		soak_post_bind(soak_qp_at(s, n, i));
}

static void free_windows(struct soak *s, unsigned i)
{
	s->pair[i].state = SOAK_FREEING;
	for (unsigned n = 0; n < TB_ENDS && tb_right(s->tb); n++)
		soak_post_invalidate(soak_qp_at(s, n, i), rng_below(&s->rng, 2));
}

static void end_change(struct soak *s, unsigned i)
{
	const struct drv_qp_attr reset = {.qp_state = IBV_QPS_RESET};
	struct soak_pair *p = &s->pair[i];
	struct tb *tb = s->tb;

	soak_judge_pair(s, i);
	for (unsigned n = 0; n < TB_ENDS && p->break_it && still_right(); n++) {
		struct soak_qp *q = soak_qp_at(s, n, i);

		must(drv_qp_modify(q->qp, &reset, IBV_QP_STATE));
		if (q->target)
			must(drv_qp_modify(q->target, &reset, IBV_QP_STATE));
		q->quiet = 0;
	}
	if (p->break_it && still_right())
		soak_connect(s, i);
	p->state = SOAK_RUNNING;
	p->break_it = false;
	if (p->windowed && still_right()) {
		if (p->type_2)
			free_windows(s, i);
		else
			bind_windows(s, i);
	}
}

static void go_on(struct soak *s, unsigned i)
{
	const struct drv_qp_attr rts = {.qp_state = IBV_QPS_RTS};
	struct soak_pair *p = &s->pair[i];
	struct tb *tb = s->tb;

	must(drv_qp_modify(soak_qp_at(s, p->stopped, i)->qp, &rts, IBV_QP_STATE));
	p->state = SOAK_DRAINING;
}

bool soak_advance_pairs(struct soak *s)
{
	bool any = false;

	for (unsigned i = 0; i < s->pairs && tb_right(s->tb); i++) {
		struct soak_pair *p = &s->pair[i];
		const uint64_t now = tb_now(s->tb);

		if (p->state == SOAK_DRAINING && soak_is_drained(s, i)) {
			p->state = SOAK_SETTLING;
			p->settled_ps =
				now + CFG_US(p->break_it || p->windowed ? SETTLE_US : LAND_US);
		} else if (p->state == SOAK_SETTLING && s->polled_ps >= p->settled_ps) {
			end_change(s, i);
			any = true;
		} else if (p->state == SOAK_STOPPED && soak_qp_at(s, p->stopped, i)->drained) {
			go_on(s, i);
			any = true;
		} else if (p->state == SOAK_FREEING && soak_is_drained(s, i)) {
			bind_windows(s, i);
			any = true;
		} else if (p->state == SOAK_BINDING && soak_is_drained(s, i)) {
			p->state = SOAK_RUNNING;
			any = true;
		}
	}
	return any;
}

/* --- events --- */

static const char *take_event(struct soak *s, struct soak_end *e, const struct drv_event *event)
{
	for (unsigned i = 0; event->qp && i < s->pairs; i++) {
		struct soak_qp *q = &e->qp[i];
		struct soak_pair *p = &s->pair[i];

		if (q->qp != event->qp && q->target != event->qp)
			continue;
		if (event->type == IBV_EVENT_SQ_DRAINED && p->state == SOAK_STOPPED &&
		    soak_qp_at(s, p->stopped, i) == q && !q->drained) {
			q->drained = true;
			return NULL;
		}
		if (event->type == IBV_EVENT_QP_LAST_WQE_REACHED && p->break_it && !q->last_wqe &&
		    (q->target ? q->target == event->qp : takes_from_shared(q))) {
			q->last_wqe = true;
			return NULL;
		}
		return "event of a queue pair";
	}
	return "event";
}

void soak_take_events(struct soak *s)
{
	for (unsigned n = 0; n < TB_ENDS; n++) {
		struct tb_events *ev = s->ends[n].end->events;
		struct drv_event event;

		while (tb_right(s->tb) && tb_event_take(ev, &event)) {
			const char *text = take_event(s, &s->ends[n], &event);

			if (text)
				tb_failf(s->tb, TB_HERE, "no %s of type %u, qp 0x%x, at %s", text,
					 event.type, event.qp ? drv_qp_num(event.qp) : 0,
					 s->ends[n].end->name);
		}
	}
}
