/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of timeline.json from their CQE until the driver takes it: EQE, interrupt, handler,
 * poll. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/interface/queues.h"
#include "traces/timeline_flow.h"

/* ---- completion */

static struct flow *received(struct flows *f, const struct trace_record *r, struct flow_qp *qp)
{
	struct arrival a;
	struct flow *flow;

	if (!flow_arrival_take(qp, &a))
		return NULL;
	flow = calloc(1, sizeof(*flow));
	if (!flow) {
		f->err = -ENOMEM;
		return NULL;
	}
	flow->name = "receive";
	flow->qpn = r->qpn;
	flow_step(f, flow, a.place);
	flow_step(f, flow, a.payload);
	return flow;
}

/* Messages before this one are complete: they asked for no CQE. */
static struct flow *sent(struct flows *f, const struct trace_record *r)
{
	struct message *own = tracker_by_index(f->tracker, r->hca, r->qpn, r->corr & 0xffff), *m;

	for (size_t i = 0; own && (m = tracker_open(f->tracker, r->hca, r->qpn, i)) != own; i++) {
		struct flow *flow = flow_take(m);

		if (flow)
			flow_end(f, flow);
	}
	return flow_take(own);
}

static void completed(struct flows *f, const struct trace_record *r, struct timeline_place place)
{
	struct flow_qp *qp = flow_qp_find(f, flow_key(r->hca, r->qpn), false);
	struct flow_cq *cq =
		flow_cq_find(f, flow_key(r->hca, (uint32_t)r->args[TRACE_ARG(CQE_RUN, cqn)]), true);
	struct flow *flow = r->args[TRACE_ARG(CQE_RUN, is_send)] ? sent(f, r) : received(f, r, qp);

	if (!flow)
		return;
	if (!cq) {
		flow_end(f, flow);
		return;
	}
	flow_step(f, flow, place);
	flow->state = COMPLETED;
	flow_list_push(&cq->flows, flow);
	if (cq->flows.count > CQ_MAX)
		flow_end(f, flow_list_pop(&cq->flows));
}

static void notice_add(struct cq_notices *n, uint32_t cqn, uint32_t vector)
{
	if (n->count == NOTICES)
		memmove(n->at, n->at + 1, --n->count * sizeof(n->at[0]));
	n->at[n->count++] = (struct cq_notice){cqn, vector};
}

/* Moves the completions of the CQ that are in the state before `state` to that state. */
static void advance(struct flows *f, unsigned hca, uint32_t cqn, enum flow_state state,
		    struct timeline_place place)
{
	struct flow_cq *cq = flow_cq_find(f, flow_key(hca, cqn), false);

	for (struct flow *flow = cq ? cq->flows.first : NULL; flow; flow = flow->next) {
		if (flow->state + 1 != state)
			continue;
		flow->state = state;
		flow_step(f, flow, place);
	}
}

static void event(struct flows *f, const struct trace_record *r, struct timeline_place place)
{
	uint32_t cqn = (uint32_t)r->args[TRACE_ARG(EQE_RUN, cqn)];

	if (r->args[TRACE_ARG(EQE_RUN, type)] != EVENT_COMP)
		return;
	advance(f, r->hca, cqn, NOTIFIED, place);
	notice_add(&f->notified[r->hca], cqn, 0);
}

static void interrupt(struct flows *f, const struct trace_record *r, struct timeline_place place)
{
	struct cq_notices *n = &f->notified[r->hca];

	for (unsigned i = 0; i < n->count; i++) {
		advance(f, r->hca, n->at[i].cqn, RAISED, place);
		notice_add(&f->raised[r->hca], n->at[i].cqn,
			   (uint32_t)r->args[TRACE_ARG(IRQ_RUN, vector)]);
	}
	n->count = 0;
}

static void handler(struct flows *f, const struct trace_record *r, struct timeline_place place)
{
	struct cq_notices *n = &f->raised[r->hca];
	unsigned kept = 0;

	for (unsigned i = 0; i < n->count; i++) {
		if (n->at[i].vector == r->args[TRACE_ARG(IRQ_ENTER, vector)])
			advance(f, r->hca, n->at[i].cqn, HANDLED, place);
		else
			n->at[kept++] = n->at[i];
	}
	n->count = kept;
}

static void polled(struct flows *f, const struct trace_record *r, struct timeline_place place)
{
	struct flow_cq *cq = flow_cq_find(
		f, flow_key(r->hca, (uint32_t)r->args[TRACE_ARG(DRV_POLL, cqn)]), false);
	struct flow *flow = cq ? cq->flows.first : NULL;

	for (; flow && flow->qpn != r->qpn; flow = flow->next)
		;
	if (!flow)
		return;
	flow_step(f, flow, place);
	flow_list_remove(&cq->flows, flow);
	flow_end(f, flow);
}

bool flow_done_record(struct flows *f, const struct trace_record *r, struct timeline_place place)
{
	switch (r->point) {
	case TP_DRV_POLL:
		polled(f, r, place);
		return true;
	case TP_CQE_RUN:
		completed(f, r, place);
		return true;
	case TP_EQE_RUN:
		event(f, r, place);
		return true;
	case TP_IRQ_RUN:
		interrupt(f, r, place);
		return true;
	case TP_IRQ_ENTER:
		handler(f, r, place);
		return true;
	default:
		return false;
	}
}
