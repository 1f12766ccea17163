/* SPDX-License-Identifier: Apache-2.0 */
/* See tracker.h. */
#include "traces/tracker.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/interface/commands.h"
#include "model/interface/rows.h"
#include "model/sim/fault.h"
#include "traces/decode.h"

enum {
	HCAS = 2,
	CLOSED_KEPT = 64, /* completed messages that a QP keeps: their packets may still leave */
	CQES_KEPT = 4096, /* entries that are kept of a CQ that nobody seems to poll */
	BUCKETS = 1024,
	PSN_HALF = 1 << 23,
};

/* What the driver has posted and the device has not fetched yet. */
struct post {
	uint64_t posted_ps, doorbell_ps, picked_ps;
};

/* A queue of a QP: posts; or messages under way, and some before them. A queue of a CQ: the message
 * of each CQE that has not been polled; NULL for a CQE of something else. */
struct queue {
	void *items;
	size_t head, tail, room; /* some items before head are kept */
	size_t first;            /* the oldest item that is kept */
};

struct object {
	struct object *next;
	uint32_t number;
	uint8_t hca;
	bool is_cq;
	uint64_t doorbell_ps;     /* for a QP whose posts are not traced */
	struct queue posts, open; /* of a QP */
	struct queue cqes;        /* of a CQ */
};

struct tracker {
	const struct tracker_ops *ops;
	void *user;
	struct object *buckets[BUCKETS];
	uint64_t count; /* number of messages so far */
	int err;
};

/* --- queues and objects --- */

static void queue_move(struct queue *q, size_t size)
{
	if (q->first <= q->room / 2 || !q->first)
		return;
	memmove(q->items, (char *)q->items + q->first * size, (q->tail - q->first) * size);
	q->head -= q->first;
	q->tail -= q->first;
	q->first = 0;
}

static void *queue_add(struct tracker *t, struct queue *q, size_t size)
{
	queue_move(q, size);
	if (q->tail == q->room) {
		size_t room = q->room ? 2 * q->room : 16;
		void *more = realloc(q->items, room * size);

		if (!more) {
			t->err = -ENOMEM;
			return NULL;
		}
		q->items = more;
		q->room = room;
	}
	return (char *)q->items + q->tail++ * size;
}

static struct post *post_at(struct object *qp, size_t i)
{
	return (struct post *)qp->posts.items + i;
}

static struct message **message_at(struct queue *q, size_t i)
{
	return (struct message **)q->items + i;
}

static void message_drop(struct tracker *t, struct message *m)
{
	if (m && !--m->holds)
		t->ops->over(t->user, m);
}

/* Forgets the messages before i. */
static void messages_drop(struct tracker *t, struct queue *q, size_t i)
{
	for (; q->first < i; q->first++)
		message_drop(t, *message_at(q, q->first));
}

/* Finds the object of this number, and creates it when there is none. NULL: no memory. */
static struct object *object_find(struct tracker *t, unsigned hca, uint32_t number, bool is_cq)
{
	struct object **at = &t->buckets[(number * 4 + hca * 2 + is_cq) % BUCKETS], *o;

	for (o = *at; o; o = o->next)
		if (o->number == number && o->hca == hca && o->is_cq == is_cq)
			return o;
	o = calloc(1, sizeof(*o));
	if (!o) {
		t->err = -ENOMEM;
		return NULL;
	}
	*o = (struct object){.next = *at,
			     .number = number,
			     .hca = (uint8_t)hca,
			     .is_cq = is_cq,
			     .doorbell_ps = MESSAGE_NEVER};
	return *at = o;
}

static struct object *qp_of(struct tracker *t, const struct trace_record *r)
{
	return object_find(t, r->hca, r->qpn, false);
}

static void object_empty(struct tracker *t, struct object *o)
{
	messages_drop(t, &o->open, o->open.tail);
	messages_drop(t, &o->cqes, o->cqes.tail);
	o->posts = (struct queue){.items = o->posts.items, .room = o->posts.room};
	o->open = (struct queue){.items = o->open.items, .room = o->open.room};
	o->cqes = (struct queue){.items = o->cqes.items, .room = o->cqes.room};
	o->doorbell_ps = MESSAGE_NEVER;
}

/* --- messages --- */

static void at(struct message *m, enum message_point point, uint64_t time_ps)
{
	m->at_ps[point] = time_ps;
}

static bool never(const struct message *m, enum message_point point)
{
	return m->at_ps[point] == MESSAGE_NEVER;
}

/* a is b or comes after it */
static bool psn_reached(uint32_t a, uint32_t b)
{
	return ((a - b) & PSN_MASK) < PSN_HALF;
}

static struct message *message_from(struct object *qp, uint32_t index, size_t first)
{
	for (size_t i = qp->open.tail; i-- > first;) {
		struct message *m = *message_at(&qp->open, i);

		if (m->index == index)
			return m;
	}
	return NULL;
}

static struct message *message_open(struct object *qp, uint32_t index)
{
	return message_from(qp, index, qp->open.head);
}

/* Also finds a message that has completed: a datagram may complete before its last bit has left. */
static struct message *message_recent(struct object *qp, uint32_t index)
{
	return message_from(qp, index, qp->open.first);
}

/* In lower case, as in the log. */
static void name_put(char to[MESSAGE_NAME_CHARS], const char *name)
{
	unsigned i = 0;

	for (; name[i] && i < MESSAGE_NAME_CHARS - 1; i++)
		to[i] = (char)tolower((unsigned char)name[i]);
	to[i] = 0;
}

static void opcode_put(struct message *m, const struct trace_record *r)
{
	const char *name;

	if (!r->bytes || r->len < sizeof(struct wqe_ctrl))
		return;
	name = wqe_op_find(wqe_ctrl_get_opcode(r->bytes))->name;
	name_put(m->opcode, name ? name : "opcode");
}

static struct message *message_new(struct tracker *t, struct object *qp)
{
	struct message **open = queue_add(t, &qp->open, sizeof(*open));
	struct message *m = open ? t->ops->begin(t->user) : NULL;

	if (!m) {
		t->err = -ENOMEM;
		qp->open.tail -= open != NULL;
		return NULL;
	}
	*open = m;
	m->holds = 1;
	m->number = t->count++;
	for (unsigned i = 0; i < MESSAGE_POINT_COUNT; i++)
		at(m, i, MESSAGE_NEVER);
	return m;
}

static void wqe_fetched(struct tracker *t, const struct trace_record *r)
{
	struct object *qp = qp_of(t, r);
	struct message *m;

	if (!qp || message_open(qp, r->corr))
		return;
	m = message_new(t, qp);
	if (!m)
		return;
	m->hca = r->hca;
	m->qpn = qp->number;
	m->index = r->corr;
	opcode_put(m, r);
	at(m, MESSAGE_WQE, r->time_ps);
	if (qp->posts.head < qp->posts.tail) {
		const struct post *p = post_at(qp, qp->posts.head++);

		qp->posts.first = qp->posts.head;
		at(m, MESSAGE_POSTED, p->posted_ps);
		at(m, MESSAGE_DOORBELL, p->doorbell_ps);
		at(m, MESSAGE_PICKED, p->picked_ps);
	} else {
		at(m, MESSAGE_DOORBELL, qp->doorbell_ps);
		qp->doorbell_ps = MESSAGE_NEVER;
	}
}

static void doorbell(struct tracker *t, const struct trace_record *r)
{
	struct object *qp = qp_of(t, r);

	if (!qp)
		return;
	qp->doorbell_ps = r->time_ps;
	for (size_t i = qp->posts.head; i < qp->posts.tail; i++)
		if (post_at(qp, i)->doorbell_ps == MESSAGE_NEVER)
			post_at(qp, i)->doorbell_ps = r->time_ps;
}

static void picked(struct tracker *t, const struct trace_record *r)
{
	struct object *qp = qp_of(t, r);
	struct post *p;

	if (!qp || qp->posts.head == qp->posts.tail)
		return;
	p = post_at(qp, qp->posts.head);
	if (p->doorbell_ps != MESSAGE_NEVER && p->picked_ps == MESSAGE_NEVER)
		p->picked_ps = r->time_ps;
}

static void posted(struct tracker *t, const struct trace_record *r)
{
	struct object *qp = qp_of(t, r);
	struct post *p = qp ? queue_add(t, &qp->posts, sizeof(*p)) : NULL;

	if (p)
		*p = (struct post){r->time_ps, MESSAGE_NEVER, MESSAGE_NEVER};
}

/* --- packets --- */

static bool is_resent(const struct trace_record *r)
{
	return r->args[TRACE_ARG(PKT_OUT, transmission)] > 1;
}

static uint64_t payload_of(const struct packet_view *v, const struct trace_record *r)
{
	const struct reth *reth;

	if (!bth_op_is(v->op, BTH_READ))
		return v->payload > 0 ? (uint64_t)v->payload : 0;
	reth = packet_view_ext(v, r->len, BTH_EXT_RETH);
	return reth ? reth_get_dma_len(reth) : 0;
}

static void request_out(struct message *m, const struct trace_record *r,
			const struct packet_view *v)
{
	const uint32_t psn = bth_get_psn(v->bth);

	m->packets++;
	if (is_resent(r)) {
		m->resent++;
		/* once it has been answered, nobody waits for a retransmission */
		if (never(m, MESSAGE_ANSWER))
			at(m, MESSAGE_RESENT, r->time_ps);
		return;
	}
	if (never(m, MESSAGE_FIRST_OUT)) {
		at(m, MESSAGE_FIRST_OUT, r->time_ps);
		m->is_read = bth_op_is(v->op, BTH_FETCH);
	} else {
		at(m, MESSAGE_LAST_OUT, r->time_ps);
	}
	m->last_psn = psn;
	m->is_whole = bth_op_is(v->op, BTH_END);
	m->bytes += payload_of(v, r);
}

static void request(struct tracker *t, const struct trace_record *r, const struct packet_view *v)
{
	const bool out = r->point == TP_PKT_OUT;
	struct object *qp;
	struct message *m;

	if (!(r->args[TRACE_ARG(PKT_OUT, known)] & TRACE_PACKET_WQE))
		return;
	qp = object_find(t, out ? r->hca : r->hca ^ 1, packet_sender(v, r), false);
	m = qp ? message_recent(qp, (uint32_t)r->args[TRACE_ARG(PKT_OUT, wqe)]) : NULL;
	if (!m)
		return;
	if (out)
		request_out(m, r, v);
	else if (m->is_whole && bth_get_psn(v->bth) == m->last_psn && never(m, MESSAGE_ANSWER))
		at(m, MESSAGE_ARRIVED, r->time_ps);
}

/* An ACK answers every message up to its PSN. The last response of a READ answers the READ and all
 * messages before it. */
static void response(struct tracker *t, const struct trace_record *r, const struct packet_view *v)
{
	const bool out = r->point == TP_PKT_OUT, plain = bth_op_is(v->op, BTH_ACK);
	struct object *qp = object_find(t, out ? r->hca ^ 1 : r->hca, bth_get_dqpn(v->bth), false);
	uint32_t psn = bth_get_psn(v->bth);

	if (plain && packet_is_nak(v, r->len))
		psn = (psn - 1) & PSN_MASK;
	if (!qp || (!plain && !bth_op_is(v->op, BTH_END)))
		return;
	for (size_t i = qp->open.head; i < qp->open.tail; i++) {
		struct message *m = *message_at(&qp->open, i);

		if (!m->is_whole || !psn_reached(psn, m->last_psn) || (plain && m->is_read))
			break;
		if (never(m, MESSAGE_ANSWER))
			at(m, out ? MESSAGE_ANSWERED : MESSAGE_ANSWER, r->time_ps);
	}
}

/* A management datagram names QP 0 or 1 as its source; its record has the QP that really sent
 * it. */
static void left(struct tracker *t, const struct trace_record *r, const struct packet_view *v)
{
	struct object *qp = r->qpn ? qp_of(t, r) : NULL;
	struct message *m =
		qp ? message_open(qp, (uint32_t)r->args[TRACE_ARG(PKT_OUT, wqe)]) : NULL;

	if (!m || m->has_left)
		return;
	m->has_left = true;
	m->first_psn = bth_get_psn(v->bth);
}

static void packet(struct tracker *t, const struct trace_record *r)
{
	const struct packet_bytes p = packet_bytes_of(r);
	struct packet_view v;

	if (!packet_view_make(&v, &p) || !v.op->name)
		return;
	if (r->point == TP_PKT_IN && packet_fault_is(r, FAULT_CORRUPT))
		return;
	if (r->point == TP_PKT_OUT && bth_op_is(v.op, BTH_REQUEST))
		left(t, r, &v);
	if (bth_op_is(v.op, BTH_REQUEST))
		request(t, r, &v);
	else
		response(t, r, &v);
}

/* --- completions, events, commands --- */

static struct object *cq_of(struct tracker *t, unsigned hca, uint64_t cqn)
{
	return object_find(t, hca, (uint32_t)cqn, true);
}

static struct message *completed(struct tracker *t, const struct trace_record *r)
{
	const struct cqe *cqe = r->len >= sizeof(*cqe) ? r->bytes : NULL;
	struct object *qp = NULL;
	struct message *m;

	if (cqe && cqe_get_is_send(cqe) && r->qpn)
		qp = qp_of(t, r);
	m = qp ? message_open(qp, r->corr) : NULL;
	if (!m)
		return NULL;
	at(m, MESSAGE_CQE, r->time_ps);
	m->failed = cqe_get_opcode(cqe) == CQE_OP_ERROR;
	m->holds++;
	while (qp->open.head < qp->open.tail &&
	       (*message_at(&qp->open, qp->open.head))->number <= m->number)
		qp->open.head++;
	if (qp->open.head > CLOSED_KEPT)
		messages_drop(t, &qp->open, qp->open.head - CLOSED_KEPT);
	return m;
}

static void cqe_written(struct tracker *t, const struct trace_record *r)
{
	struct object *cq = cq_of(t, r->hca, r->args[TRACE_ARG(CQE_WRITE, cqn)]);
	struct message **entry = cq ? queue_add(t, &cq->cqes, sizeof(*entry)) : NULL;

	if (!entry)
		return;
	*entry = completed(t, r);
	if (cq->cqes.tail - cq->cqes.head > CQES_KEPT)
		messages_drop(t, &cq->cqes, ++cq->cqes.head);
}

static void polled(struct tracker *t, const struct trace_record *r)
{
	struct object *cq = cq_of(t, r->hca, r->args[TRACE_ARG(DRV_POLL, cqn)]);
	struct message *m;

	if (!cq || cq->cqes.head == cq->cqes.tail)
		return;
	m = *message_at(&cq->cqes, cq->cqes.head++);
	if (m)
		at(m, MESSAGE_POLLED, r->time_ps);
	messages_drop(t, &cq->cqes, cq->cqes.head);
}

static void eqe_written(struct tracker *t, const struct trace_record *r)
{
	const struct eqe *eqe = r->len >= sizeof(*eqe) ? r->bytes : NULL;
	struct object *cq = NULL;

	if (eqe && eqe_get_type(eqe) == EVENT_COMP)
		cq = cq_of(t, r->hca, eqe_cq_get_cqn(eqe_as_cq_const(eqe)));
	for (size_t i = cq ? cq->cqes.head : 0; cq && i < cq->cqes.tail; i++) {
		struct message *m = *message_at(&cq->cqes, i);

		if (m && never(m, MESSAGE_EQE))
			at(m, MESSAGE_EQE, r->time_ps);
	}
}

/* An object that is created anew or reset has nothing left from before. */
static void object_begins(struct tracker *t, const struct trace_record *r)
{
	const uint32_t number = (uint32_t)r->args[TRACE_ARG(HCR_POST, in_mod)];
	struct object *o;

	switch (r->args[TRACE_ARG(HCR_POST, opcode)]) {
	case HCR_RST2INIT_QP:
	case HCR_2RST_QP:
		o = object_find(t, r->hca, number, false);
		break;
	case HCR_SW2HW_CQ:
		o = object_find(t, r->hca, number, true);
		break;
	default:
		return;
	}
	if (o)
		object_empty(t, o);
}

static void command(struct tracker *t, const struct trace_record *r)
{
	const bool is_done = r->point == TP_HCR_DONE;
	struct command c = {.posted_ps = is_done ? MESSAGE_NEVER : r->time_ps,
			    .done_ps = is_done ? r->time_ps : MESSAGE_NEVER,
			    .opcode = (uint32_t)r->args[TRACE_ARG(HCR_POST, opcode)],
			    .hca = r->hca};
	const struct hcr_row *row = hcr_row_find(c.opcode);

	snprintf(c.name, sizeof(c.name), "0x%x", c.opcode);
	if (row)
		name_put(c.name, row->name);
	if (t->ops->command && !t->err)
		t->err = t->ops->command(t->user, &c, is_done);
	if (!is_done)
		object_begins(t, r);
}

int tracker_record(struct tracker *t, const struct trace_record *r)
{
	if (r->hca >= HCAS)
		return 0;
	switch (r->point) {
	case TP_DRV_POST:
		posted(t, r);
		break;
	case TP_DRV_POLL:
		polled(t, r);
		break;
	case TP_DOORBELL_SEND:
	case TP_DOORBELL_BLUEFLAME:
		doorbell(t, r);
		break;
	case TP_SCHED_PICK:
		picked(t, r);
		break;
	case TP_WQE_SEND:
		wqe_fetched(t, r);
		break;
	case TP_PKT_OUT:
	case TP_PKT_IN:
		packet(t, r);
		break;
	case TP_CQE_WRITE:
		cqe_written(t, r);
		break;
	case TP_EQE_WRITE:
		eqe_written(t, r);
		break;
	case TP_HCR_POST:
	case TP_HCR_DONE:
		command(t, r);
		break;
	default:
		break;
	}
	return t->err;
}

/* --- what is under way --- */

struct message *tracker_open(struct tracker *t, unsigned hca, uint32_t qpn, size_t i)
{
	struct object *qp = object_find(t, hca, qpn, false);

	return qp && i < qp->open.tail - qp->open.head ? *message_at(&qp->open, qp->open.head + i)
						       : NULL;
}

struct message *tracker_by_index(struct tracker *t, unsigned hca, uint32_t qpn, uint32_t index)
{
	struct object *qp = object_find(t, hca, qpn, false);

	return qp ? message_open(qp, index) : NULL;
}

struct message *tracker_by_psn(struct tracker *t, unsigned hca, uint32_t qpn, uint32_t psn)
{
	struct object *qp = object_find(t, hca, qpn, false);

	for (size_t i = qp ? qp->open.tail : 0; qp && i-- > qp->open.head;) {
		struct message *m = *message_at(&qp->open, i);

		if (m->has_left && psn_reached(psn, m->first_psn))
			return m;
	}
	return NULL;
}

struct tracker *tracker_new(const struct tracker_ops *ops, void *user)
{
	struct tracker *t = calloc(1, sizeof(*t));

	if (t) {
		t->ops = ops;
		t->user = user;
	}
	return t;
}

void tracker_free(struct tracker *t)
{
	for (unsigned i = 0; t && i < BUCKETS; i++)
		for (struct object *o = t->buckets[i], *next; o; o = next) {
			next = o->next;
			object_empty(t, o);
			free(o->posts.items);
			free(o->open.items);
			free(o->cqes.items);
			free(o);
		}
	free(t);
}
