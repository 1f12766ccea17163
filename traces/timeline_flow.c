/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds out which slices belong to one message. A chain "message" goes from the driver's post
 * through the doorbell, both HCAs and the answer to the sender's CQE, EQE, interrupt and poll. A
 * chain "receive" goes from the responder to the receiver's poll.
 *
 * A WQE is identified by its HCA, QPN and index, and its packets by their PSN. At the peer, the
 * sending QP of the request that it works on identifies the message. A chain ends when nothing more
 * can come for it (the next message of its queue is complete), so that memory holds only what is
 * under way.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/interface/bth_ops.h"
#include "model/interface/queues.h"
#include "model/interface/wire.h"
#include "traces/timeline_flow.h"

/* ---- tables */

struct flow_qp *flow_qp_find(struct flows *f, uint32_t key, bool make)
{
	struct flow_qp **at = &f->qps[key % BUCKETS], *qp;

	for (qp = *at; qp; qp = qp->next)
		if (qp->key == key)
			return qp;
	if (!make)
		return NULL;
	qp = calloc(1, sizeof(*qp));
	if (!qp) {
		f->err = -ENOMEM;
		return NULL;
	}
	qp->key = key;
	qp->next = *at;
	return *at = qp;
}

struct flow_cq *flow_cq_find(struct flows *f, uint32_t key, bool make)
{
	struct flow_cq **at = &f->cqs[key % BUCKETS], *cq;

	for (cq = *at; cq; cq = cq->next)
		if (cq->key == key)
			return cq;
	if (!make)
		return NULL;
	cq = calloc(1, sizeof(*cq));
	if (!cq) {
		f->err = -ENOMEM;
		return NULL;
	}
	cq->key = key;
	cq->next = *at;
	return *at = cq;
}

void flow_list_push(struct flow_list *list, struct flow *flow)
{
	flow->next = NULL;
	if (list->last)
		list->last->next = flow;
	else
		list->first = flow;
	list->last = flow;
	list->count++;
}

struct flow *flow_list_pop(struct flow_list *list)
{
	struct flow *flow = list->first;

	list->first = flow->next;
	if (!list->first)
		list->last = NULL;
	list->count--;
	return flow;
}

void flow_list_remove(struct flow_list *list, struct flow *flow)
{
	struct flow *before = NULL;

	for (struct flow *at = list->first; at != flow; at = at->next)
		before = at;
	if (before)
		before->next = flow->next;
	else
		list->first = flow->next;
	if (list->last == flow)
		list->last = before;
	list->count--;
}

void flow_end(struct flows *f, struct flow *flow)
{
	timeline_chain_end(f->t, &flow->chain, flow->name);
	free(flow);
}

void flow_step(struct flows *f, struct flow *flow, struct timeline_place place)
{
	if (flow)
		timeline_chain_step(f->t, &flow->chain, flow->name, place);
}

static void flow_places_push(struct places *p, struct timeline_place place)
{
	if (p->count == POSTS) {
		p->first = (p->first + 1) % POSTS;
		p->count--;
	}
	p->at[(p->first + p->count++) % POSTS] = place;
}

/* Takes the oldest place that no WQE has taken. The WQEs of a list share one place, so when there
 * is no further one, it is the last one again. */
static struct timeline_place flow_places_take(struct places *p)
{
	if (p->count) {
		p->used = p->at[p->first];
		p->first = (p->first + 1) % POSTS;
		p->count--;
	}
	return p->used;
}

struct flow *flow_take(struct message *m)
{
	struct flow *flow = m ? m->user : NULL;

	if (!flow)
		return NULL;
	m->user = NULL;
	flow->message = NULL;
	return flow;
}

/* The chain of a message; NULL: it has none any more. */
static struct flow *flow_of(const struct message *m)
{
	return m ? m->user : NULL;
}

static struct flow *flow_by_index(struct flows *f, const struct trace_record *r, uint32_t index)
{
	return flow_of(tracker_by_index(f->tracker, r->hca, r->qpn, index & 0xffff));
}

/* The chain of the message that a PSN of a QP belongs to. key: that of the QP. */
static struct flow *flow_by_psn(struct flows *f, uint32_t key, uint32_t psn)
{
	return flow_of(tracker_by_psn(f->tracker, key >> PSN_BITS, key & 0xffffff, psn));
}

/* ---- the tracker's messages */

static struct message *message_begin(void *user)
{
	struct flows *f = user;
	struct message *m = calloc(1, sizeof(*m));
	struct flow *flow = m ? calloc(1, sizeof(*flow)) : NULL;

	if (!flow) {
		free(m);
		return NULL;
	}
	flow->message = m;
	m->user = f->begun = flow;
	return m;
}

static void message_over(void *user, struct message *m)
{
	struct flow *flow = flow_take(m);

	if (flow)
		flow_end(user, flow);
	free(m);
}

static const struct tracker_ops tracker_ops = {.begin = message_begin, .over = message_over};

/* ---- the sender's side */

static void posted(struct flows *f, const struct trace_record *r, struct timeline_place place)
{
	struct flow_qp *qp = flow_qp_find(f, flow_key(r->hca, r->qpn), true);

	if (qp)
		flow_places_push(&qp->posts, place);
}

static void doorbell(struct flows *f, const struct trace_record *r, struct timeline_place place)
{
	struct flow_qp *qp = flow_qp_find(f, flow_key(r->hca, r->qpn), true);

	if (!qp)
		return;
	flow_places_push(&qp->bells, place);
	if (!qp->bell_ps)
		qp->bell_ps = r->time_ps;
}

/* The BAR write that arrived at the moment when the doorbell rang. */
static struct timeline_place bar_write(const struct flows *f, const struct trace_record *r,
				       uint64_t bell_ps)
{
	for (unsigned i = 0; i < BARS; i++)
		if (f->bars[r->hca][i].until_ps == bell_ps)
			return f->bars[r->hca][i].place;
	return (struct timeline_place){0};
}

/* A step of the WQE at the cursor. That WQE may not be known yet: then the place is kept for it. */
static void cursor_step(struct flows *f, struct flow_qp *qp, const struct trace_record *r,
			struct timeline_place place)
{
	struct flow *flow = flow_by_index(f, r, r->corr);

	if (flow)
		flow_step(f, flow, place);
	else if (qp->early_count < EARLY)
		qp->early[qp->early_count++] = place;
}

static void wait_set(struct wait *w, uint64_t now_ps, const char *text)
{
	w->since_ps = text ? now_ps : 0;
	snprintf(w->text, sizeof(w->text), "%s", text ? text : "");
}

/* Makes a slice of the wait so far. The wait may go on after it. */
static struct timeline_place wait_slice(struct flows *f, struct wait *w, const char *stage,
					const struct trace_record *r)
{
	uint64_t since_ps = w->since_ps;

	if (!since_ps || since_ps >= r->time_ps)
		return (struct timeline_place){0};
	w->since_ps = r->time_ps;
	return timeline_slice(f->t, r->hca, stage, since_ps, r->time_ps, NULL, "qpn 0x%x %s",
			      r->qpn, w->text);
}

static void picked(struct flows *f, const struct trace_record *r)
{
	struct flow_qp *qp = flow_qp_find(f, flow_key(r->hca, r->qpn), false);
	struct timeline_place place;

	if (!qp)
		return;
	if (qp->bell_ps)
		cursor_step(f, qp, r,
			    timeline_slice(f->t, r->hca, "scheduler", qp->bell_ps, r->time_ps, NULL,
					   "qpn 0x%x waits for a unit", r->qpn));
	qp->bell_ps = 0;
	place = wait_slice(f, &qp->send_wait, "requester", r);
	if (place.tid)
		cursor_step(f, qp, r, place);
}

static void waiting(struct flows *f, const struct trace_record *r)
{
	struct flow_qp *qp = flow_qp_find(f, flow_key(r->hca, r->qpn), true);
	const bool waits = r->args[TRACE_ARG(REQ_STATE, waits)];

	if (qp)
		wait_set(&qp->send_wait, r->time_ps, waits ? r->text : NULL);
}

/* A WQE that is fetched again continues its chain. */
static void started(struct flows *f, const struct trace_record *r)
{
	struct flow_qp *qp = flow_qp_find(f, flow_key(r->hca, r->qpn), true);
	struct flow *flow = f->begun;
	struct timeline_place bell;
	bool fetched = false;

	if (!qp || !flow)
		return;
	flow->name = "message";
	flow->qpn = r->qpn;
	flow->signalled = r->bytes && r->len >= sizeof(struct wqe_ctrl) &&
			  wqe_ctrl_get_cqe(r->bytes) == WQE_CQE_ALWAYS;
	flow_step(f, flow, flow_places_take(&qp->posts));
	bell = flow_places_take(&qp->bells);
	flow_step(f, flow, bar_write(f, r, bell.at_ps));
	flow_step(f, flow, bell);
	for (unsigned i = 0; i < qp->early_count; i++) {
		flow_step(f, flow, qp->early[i]);
		fetched |=
			qp->early[i].tid == qp->fetch.tid && qp->early[i].at_ps == qp->fetch.at_ps;
	}
	qp->early_count = 0;
	if (!fetched && ((r->corr - qp->fetch_first) & 0xffff) < qp->fetch_count)
		flow_step(f, flow, qp->fetch);
}

static void unit(struct flows *f, const struct trace_record *r, struct timeline_place place)
{
	unsigned turns = (r->args[TRACE_ARG(UNIT_RUN, next_wqe)] - r->corr) & 0xffff;

	for (unsigned i = 0; i <= turns && i < TURN_MAX; i++)
		flow_step(f, flow_by_index(f, r, r->corr + i), place);
}

/* ---- packets, on the cable and at both ends */

/* The responder continues, or waits for something else (text). */
static void responder_wait(struct flows *f, const struct trace_record *r, struct flow_qp *qp,
			   const char *text)
{
	struct timeline_place place = wait_slice(f, &qp->receive_wait, "responder", r);

	if (place.tid && qp->peer_known)
		flow_step(f, flow_by_psn(f, qp->peer, qp->wait_psn), place);
	wait_set(&qp->receive_wait, r->time_ps, text);
	qp->wait_psn = r->corr;
}

static unsigned sender_of(const struct trace_record *r, uint64_t traits, bool arrives)
{
	return arrives && !(traits & TRACE_TRAIT_INSIDE) ? !r->hca : r->hca;
}

static void link_span(struct flows *f, const struct trace_record *r, struct timeline_place place)
{
	const uint64_t traits = r->args[TRACE_ARG(LINK_TX, traits)];
	const struct bth_op *op = bth_op_find(traits & TRACE_TRAIT_OPCODE);
	unsigned hca = sender_of(r, traits, r->point == TP_LINK_RX);
	struct flow_qp *qp = flow_qp_find(f, flow_key(hca, r->qpn), false);

	if (!qp)
		return;
	if (op->props & BTH_RESPONSE) {
		if (r->point == TP_LINK_TX)
			responder_wait(f, r, qp, NULL);
		if (qp->peer_known)
			flow_step(f, flow_by_psn(f, qp->peer, r->corr), place);
		return;
	}
	flow_step(f,
		  flow_of(tracker_by_index(f->tracker, hca, r->qpn,
					   (uint32_t)r->args[TRACE_ARG(LINK_TX, wqe)] & 0xffff)),
		  place);
}

/* Everything up to this PSN has been answered. Messages that asked for no CQE are complete. */
static void answered(struct flows *f, const struct trace_record *r, const struct bth_op *op,
		     struct timeline_place place)
{
	const struct message *own = tracker_by_psn(f->tracker, r->hca, r->qpn, r->corr), *m = NULL;

	for (size_t i = 0; own && m != own; i++) {
		struct flow *flow;

		m = tracker_open(f->tracker, r->hca, r->qpn, i);
		flow = flow_of(m);
		if (!flow)
			continue;
		if (!flow->acked)
			flow_step(f, flow, place);
		flow->acked =
			m != own || (op->props & BTH_END &&
				     !(r->args[TRACE_ARG(PACKET_RUN, traits)] & TRACE_TRAIT_NAK));
		if (flow->acked && !flow->signalled)
			flow_end(f, flow_take(flow->message));
	}
}

static void checked(struct flows *f, const struct trace_record *r, struct timeline_place place)
{
	const struct bth_op *op =
		bth_op_find(r->args[TRACE_ARG(PACKET_RUN, traits)] & TRACE_TRAIT_OPCODE);
	struct flow_qp *qp = flow_qp_find(f, flow_key(r->hca, r->qpn), true);

	if (!qp)
		return;
	if (op->props & BTH_RESPONSE) {
		answered(f, r, op, place);
		return;
	}
	qp->peer = flow_key(sender_of(r, r->args[TRACE_ARG(PACKET_RUN, traits)], true),
			    (uint32_t)r->args[TRACE_ARG(PACKET_RUN, source_qpn)]);
	qp->peer_known = true;
	flow_step(f, flow_by_psn(f, qp->peer, r->corr), place);
}

/* ---- the receiver's side */

static void arrival_note(struct flow_qp *qp, const struct trace_record *r,
			 struct timeline_place place)
{
	struct arrival a = {
		r->corr, (uint32_t)r->args[TRACE_ARG(RESP_RUN, source_qpn)], place, {0}};

	for (unsigned i = 0; i < qp->arrivals; i++) {
		if (qp->arrived[i].psn == a.psn && qp->arrived[i].source == a.source) {
			qp->arrived[i] = a;
			return;
		}
	}
	if (qp->arrivals == ARRIVED)
		memmove(qp->arrived, qp->arrived + 1, --qp->arrivals * sizeof(a));
	qp->arrived[qp->arrivals++] = a;
}

static void responds_state(struct flows *f, const struct trace_record *r)
{
	struct flow_qp *qp = flow_qp_find(f, flow_key(r->hca, r->qpn), true);
	const char *text = r->args[TRACE_ARG(RESP_STATE, waits)] ? r->text : NULL;

	if (qp)
		responder_wait(f, r, qp, text);
}

static void responds(struct flows *f, const struct trace_record *r, struct timeline_place place)
{
	const struct bth_op *op =
		bth_op_find(r->args[TRACE_ARG(RESP_RUN, traits)] & TRACE_TRAIT_OPCODE);
	struct flow_qp *qp = flow_qp_find(f, flow_key(r->hca, r->qpn), true);
	uint32_t sender = flow_key(sender_of(r, r->args[TRACE_ARG(RESP_RUN, traits)], true),
				   (uint32_t)r->args[TRACE_ARG(RESP_RUN, source_qpn)]);

	if (!qp)
		return;
	flow_step(f, flow_by_psn(f, sender, r->corr), place);
	if (op->props & BTH_COMPLETES)
		arrival_note(qp, r, place);
}

static void payload(struct flows *f, const struct trace_record *r, struct timeline_place place)
{
	struct flow_qp *qp = r->qpn ? flow_qp_find(f, flow_key(r->hca, r->qpn), false) : NULL;
	bool is_own = r->text && !strcmp(r->text, "response data");
	uint32_t psn = r->corr & 0xffffff;

	if (!qp || !r->text)
		return;
	if (!is_own && strcmp(r->text, "payload") && strcmp(r->text, "atomic"))
		return;
	if (!(r->corr & DMA_PSN)) {
		flow_step(f, flow_by_index(f, r, r->corr), place);
		return;
	}
	if (is_own) {
		flow_step(f, flow_by_psn(f, qp->key, psn), place);
		return;
	}
	responder_wait(f, r, qp, NULL);
	if (qp->peer_known)
		flow_step(f, flow_by_psn(f, qp->peer, psn), place);
	for (unsigned i = 0; i < qp->arrivals; i++)
		if (qp->arrived[i].psn == psn)
			qp->arrived[i].payload = place;
}

bool flow_arrival_take(struct flow_qp *qp, struct arrival *a)
{
	unsigned best = 0;

	if (!qp || !qp->arrivals)
		return false;
	for (unsigned i = 1; i < qp->arrivals; i++)
		if (qp->arrived[i].source == qp->arrived[best].source &&
		    psn_diff(qp->arrived[i].psn, qp->arrived[best].psn) < 0)
			best = i;
	*a = qp->arrived[best];
	qp->arrivals--;
	memmove(qp->arrived + best, qp->arrived + best + 1,
		(qp->arrivals - best) * sizeof(*qp->arrived));
	return true;
}

/* ---- interface */

int flows_record(struct flows *f, const struct trace_record *r, struct timeline_place place)
{
	struct flow_qp *qp;

	f->begun = NULL;
	if (!f->err)
		f->err = tracker_record(f->tracker, r);
	switch (r->point) {
	case TP_DRV_POST:
		posted(f, r, place);
		break;
	case TP_BAR_RUN:
		f->bars[r->hca][f->next_bar[r->hca]++ % BARS] =
			(struct bar_write){r->args[TRACE_ARG(BAR_RUN, until)], place};
		break;
	case TP_DOORBELL_SEND:
	case TP_DOORBELL_BLUEFLAME:
		doorbell(f, r, place);
		break;
	case TP_SCHED_PICK:
		picked(f, r);
		break;
	case TP_REQ_STATE:
		waiting(f, r);
		break;
	case TP_WQE_READ_RUN:
		qp = flow_qp_find(f, flow_key(r->hca, r->qpn), true);
		if (qp) {
			qp->fetch = place;
			qp->fetch_first = r->corr;
			qp->fetch_count = (uint32_t)r->args[TRACE_ARG(WQE_READ_RUN, count)];
			cursor_step(f, qp, r, place);
		}
		break;
	case TP_WQE_SEND:
		started(f, r);
		break;
	case TP_UNIT_RUN:
		unit(f, r, place);
		break;
	case TP_DMA_READ_RUN:
	case TP_DMA_WRITE_RUN:
		payload(f, r, place);
		break;
	case TP_LINK_TX:
	case TP_LINK_RX:
		link_span(f, r, place);
		break;
	case TP_PACKET_RUN:
		checked(f, r, place);
		break;
	case TP_RESP_STATE:
		responds_state(f, r);
		break;
	case TP_RESP_RUN:
		responds(f, r, place);
		break;
	default:
		flow_done_record(f, r, place);
	}
	return f->err;
}

struct flows *flows_new(struct timeline *t)
{
	struct flows *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->t = t;
	f->tracker = tracker_new(&tracker_ops, f);
	if (!f->tracker) {
		free(f);
		return NULL;
	}
	return f;
}

void flows_free(struct flows *f)
{
	tracker_free(f->tracker);
	for (unsigned i = 0; i < BUCKETS; i++) {
		while (f->qps[i]) {
			struct flow_qp *qp = f->qps[i];

			f->qps[i] = qp->next;
			free(qp);
		}
		while (f->cqs[i]) {
			struct flow_cq *cq = f->cqs[i];

			f->cqs[i] = cq->next;
			while (cq->flows.first)
				flow_end(f, flow_list_pop(&cq->flows));
			free(cq);
		}
	}
	free(f);
}
