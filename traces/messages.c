/* SPDX-License-Identifier: Apache-2.0 */
/* See messages.h. One pass over the log; what is known of a QP or CQ at a line is what the lines
 * before it said. */
#include "traces/messages.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/interface/rows.h"

enum { HCAS = 2, CLOSED_KEPT = 64, BUCKETS = 1024, PSN_HALF = 1 << 23, OPCODES = 256 };

/* What the driver has posted and the device not yet fetched. */
struct post {
	uint64_t posted_ps, doorbell_ps, picked_ps;
};

/* Of a QP: posts; messages under way, by their number. Of a CQ: CQEs not polled yet, each the
 * number of its message or NOBODY. */
struct queue {
	void *items;
	size_t head, tail, room; /* some of those before head are kept */
};

enum { NOBODY = UINT32_MAX };

struct object {
	struct object *next;
	uint32_t number;
	uint8_t hca;
	bool is_cq;
	uint64_t doorbell_ps;     /* of a QP whose posts are not traced */
	struct queue posts, open; /* QP */
	struct queue cqes;        /* CQ */
};

struct finder {
	struct messages *all;
	struct object *buckets[BUCKETS];
	size_t room, command_room;
	char opcodes[OPCODES][40]; /* lower case */
	int err;
};

/* --- queues and objects --- */

static void *queue_add(struct finder *f, struct queue *q, size_t size)
{
	if (q->head > q->room / 2 && q->head > CLOSED_KEPT) {
		size_t drop = q->head - CLOSED_KEPT;

		memmove(q->items, (char *)q->items + drop * size, (q->tail - drop) * size);
		q->head -= drop;
		q->tail -= drop;
	}
	if (q->tail == q->room) {
		size_t room = q->room ? 2 * q->room : 16;
		void *more = realloc(q->items, room * size);

		if (!more) {
			f->err = -ENOMEM;
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

static uint32_t *number_at(struct queue *q, size_t i)
{
	return (uint32_t *)q->items + i;
}

static struct object *object_find(struct finder *f, unsigned hca, uint32_t number, bool is_cq)
{
	struct object **at = &f->buckets[(number * 4 + hca * 2 + is_cq) % BUCKETS], *o;

	for (o = *at; o; o = o->next)
		if (o->number == number && o->hca == hca && o->is_cq == is_cq)
			return o;
	o = calloc(1, sizeof(*o));
	if (!o) {
		f->err = -ENOMEM;
		return NULL;
	}
	*o = (struct object){.next = *at,
			     .number = number,
			     .hca = (uint8_t)hca,
			     .is_cq = is_cq,
			     .doorbell_ps = MESSAGE_NEVER};
	return *at = o;
}

static void object_empty(struct object *o)
{
	o->posts.head = o->posts.tail = 0;
	o->open.head = o->open.tail = 0;
	o->cqes.head = o->cqes.tail = 0;
	o->doorbell_ps = MESSAGE_NEVER;
}

/* The object whose number stands behind key; NULL without. */
static struct object *object_of(struct finder *f, const struct run_item *it, const char *key,
				bool is_cq)
{
	uint64_t n;

	return run_field(it->text, key, &n) ? object_find(f, it->hca, (uint32_t)n, is_cq) : NULL;
}

/* The driver writes numbers as hex digits without 0x. */
static struct object *object_of_driver(struct finder *f, const struct run_item *it, const char *key,
				       bool is_cq)
{
	const char *at = strstr(it->text, key);

	return at ? object_find(f, it->hca, (uint32_t)strtoul(at + strlen(key), NULL, 16), is_cq)
		  : NULL;
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

/* a is b or behind it */
static bool psn_reached(uint32_t a, uint32_t b)
{
	return ((a - b) & PSN_MASK) < PSN_HALF;
}

static struct message *message_from(struct finder *f, struct object *qp, uint32_t index,
				    size_t first)
{
	for (size_t i = qp->open.tail; i-- > first;) {
		struct message *m = &f->all->messages[*number_at(&qp->open, i)];

		if (m->index == index)
			return m;
	}
	return NULL;
}

static struct message *message_open(struct finder *f, struct object *qp, uint32_t index)
{
	return message_from(f, qp, index, qp->open.head);
}

/* A datagram may complete before its last bit has left. */
static struct message *message_recent(struct finder *f, struct object *qp, uint32_t index)
{
	return message_from(f, qp, index,
			    qp->open.head > CLOSED_KEPT ? qp->open.head - CLOSED_KEPT : 0);
}

static struct message *message_new(struct finder *f)
{
	struct message *m;

	if (f->all->count == f->room) {
		size_t room = f->room ? 2 * f->room : 256;

		m = realloc(f->all->messages, room * sizeof(*m));
		if (!m) {
			f->err = -ENOMEM;
			return NULL;
		}
		f->all->messages = m;
		f->room = room;
	}
	m = &f->all->messages[f->all->count++];
	*m = (struct message){.bytes = 0};
	for (unsigned i = 0; i < MESSAGE_POINT_COUNT; i++)
		at(m, i, MESSAGE_NEVER);
	return m;
}

static void wqe_line(struct finder *f, const struct run_item *it)
{
	struct object *qp = object_of(f, it, "qpn ", false);
	struct message *m;
	uint32_t *open;
	uint64_t index;
	const char *opcode;

	if (!qp || !run_field(it->text, "index ", &index) || message_open(f, qp, (uint32_t)index))
		return;
	m = message_new(f);
	open = m ? queue_add(f, &qp->open, sizeof(*open)) : NULL;
	if (!open)
		return;
	*open = (uint32_t)(f->all->count - 1);
	m->hca = it->hca;
	m->qpn = qp->number;
	m->index = (uint32_t)index;
	opcode = strstr(it->text, "index ");
	opcode += strlen("index ") + strcspn(opcode + strlen("index "), " ");
	opcode += *opcode == ' ';
	m->opcode = opcode;
	m->opcode_len = (unsigned)strcspn(opcode, " ,;");
	at(m, MESSAGE_WQE, it->time_ps);
	if (qp->posts.head < qp->posts.tail) {
		const struct post *p = post_at(qp, qp->posts.head++);

		at(m, MESSAGE_POSTED, p->posted_ps);
		at(m, MESSAGE_DOORBELL, p->doorbell_ps);
		at(m, MESSAGE_PICKED, p->picked_ps);
	} else {
		at(m, MESSAGE_DOORBELL, qp->doorbell_ps);
		qp->doorbell_ps = MESSAGE_NEVER;
	}
}

static void doorbell_line(struct finder *f, const struct run_item *it)
{
	struct object *qp;

	if (strncmp(it->text, "send doorbell ", 14) && strncmp(it->text, "blueflame ", 10))
		return;
	qp = object_of(f, it, "qpn ", false);
	if (!qp)
		return;
	qp->doorbell_ps = it->time_ps;
	for (size_t i = qp->posts.head; i < qp->posts.tail; i++)
		if (post_at(qp, i)->doorbell_ps == MESSAGE_NEVER)
			post_at(qp, i)->doorbell_ps = it->time_ps;
}

static void scheduler_line(struct finder *f, const struct run_item *it)
{
	struct object *qp = object_of(f, it, "qpn ", false);
	struct post *p;

	if (!qp || !strstr(it->text, " runs ") || qp->posts.head == qp->posts.tail)
		return;
	p = post_at(qp, qp->posts.head);
	if (p->doorbell_ps != MESSAGE_NEVER && p->picked_ps == MESSAGE_NEVER)
		p->picked_ps = it->time_ps;
}

static void driver_line(struct finder *f, const struct run_item *it)
{
	struct object *o;

	if (!strncmp(it->text, "drv_post_send qpn", 17)) {
		struct post *p;

		o = object_of_driver(f, it, "qpn ", false);
		p = o ? queue_add(f, &o->posts, sizeof(*p)) : NULL;
		if (p)
			*p = (struct post){it->time_ps, MESSAGE_NEVER, MESSAGE_NEVER};
	} else if (!strncmp(it->text, "drv_cq_poll cqn", 15)) {
		o = object_of_driver(f, it, "cqn ", true);
		if (o && o->cqes.head < o->cqes.tail) {
			uint32_t n = *number_at(&o->cqes, o->cqes.head++);

			if (n != NOBODY)
				at(&f->all->messages[n], MESSAGE_POLLED, it->time_ps);
		}
	}
}

/* --- packets --- */

static const struct bth_op *op_of(const struct finder *f, const char *text)
{
	/* "out port 1 rc_send_only slid ..." */
	const char *name = strstr(text, " port ");
	size_t n;

	if (!name)
		return NULL;
	name += strlen(" port ");
	name += strcspn(name, " ");
	name += *name == ' ';
	n = strcspn(name, " ");
	for (unsigned i = 0; i < OPCODES; i++)
		if (f->opcodes[i][0] && strlen(f->opcodes[i]) == n &&
		    !memcmp(f->opcodes[i], name, n))
			return bth_op_find((uint8_t)i);
	return NULL;
}

static void request_out(struct message *m, const struct run_item *it, const struct bth_op *op,
			uint32_t psn)
{
	uint64_t n;

	m->packets++;
	if (strstr(it->text, ", try ")) {
		m->resent++;
		if (never(m, MESSAGE_ANSWER)) /* else nobody waits for it any more */
			at(m, MESSAGE_RESENT, it->time_ps);
		return;
	}
	if (never(m, MESSAGE_FIRST_OUT)) {
		at(m, MESSAGE_FIRST_OUT, it->time_ps);
		m->first_psn = psn;
		m->is_read = bth_op_is(op, BTH_FETCH);
	} else {
		at(m, MESSAGE_LAST_OUT, it->time_ps);
	}
	m->last_psn = psn;
	m->is_whole = bth_op_is(op, BTH_END);
	if (run_field(it->text, bth_op_is(op, BTH_READ) ? "dma_len " : "payload ", &n))
		m->bytes += n;
}

static void request_line(struct finder *f, const struct run_item *it, const struct bth_op *op,
			 uint32_t dqpn, uint32_t psn)
{
	uint64_t from = dqpn, wqe;
	struct object *qp;
	struct message *m = NULL;

	if (!run_field(it->text, "wqe ", &wqe))
		return;
	if (!run_field(it->text, "from ", &from))
		run_field(it->text, "sqpn ", &from);
	if (it->class == RUN_OUT) {
		qp = object_find(f, it->hca, (uint32_t)from, false);
		m = qp ? message_recent(f, qp, (uint32_t)wqe) : NULL;
		if (m)
			request_out(m, it, op, psn);
		return;
	}
	qp = object_find(f, it->hca ^ 1, (uint32_t)from, false);
	m = qp ? message_recent(f, qp, (uint32_t)wqe) : NULL;
	if (m && m->is_whole && psn == m->last_psn && never(m, MESSAGE_ANSWER))
		at(m, MESSAGE_ARRIVED, it->time_ps);
}

/* An ACK answers every message up to its PSN, a last response its READ and all before it. */
static void response_line(struct finder *f, const struct run_item *it, const struct bth_op *op,
			  uint32_t dqpn, uint32_t psn)
{
	bool out = it->class == RUN_OUT, plain = bth_op_is(op, BTH_ACK);
	struct object *qp = object_find(f, out ? it->hca ^ 1 : it->hca, dqpn, false);

	if (plain && strstr(it->text, " nak "))
		psn = (psn - 1) & PSN_MASK;
	if (!qp || (!plain && !bth_op_is(op, BTH_END)))
		return;
	for (size_t i = qp->open.head; i < qp->open.tail; i++) {
		struct message *m = &f->all->messages[*number_at(&qp->open, i)];

		if (!m->is_whole || !psn_reached(psn, m->last_psn) || (plain && m->is_read))
			break;
		if (!never(m, MESSAGE_ANSWER))
			continue;
		at(m, out ? MESSAGE_ANSWERED : MESSAGE_ANSWER, it->time_ps);
	}
}

static void packet_line(struct finder *f, const struct run_item *it)
{
	const struct bth_op *op = op_of(f, it->text);
	const char *fault = strstr(it->text, ", fault ");
	uint64_t dqpn, psn;

	if (!op || !run_field(it->text, "qpn ", &dqpn) || !run_field(it->text, "psn ", &psn))
		return;
	if (fault && it->class == RUN_IN && strstr(fault, "corrupt"))
		return;
	if (bth_op_is(op, BTH_REQUEST))
		request_line(f, it, op, (uint32_t)dqpn, (uint32_t)psn);
	else
		response_line(f, it, op, (uint32_t)dqpn, (uint32_t)psn);
}

/* --- completions, events, commands --- */

static void cqe_line(struct finder *f, const struct run_item *it)
{
	struct object *cq = object_of(f, it, "cqn ", true), *qp;
	const char *send = strstr(it->text, " send ");
	uint32_t *entry = cq ? queue_add(f, &cq->cqes, sizeof(*entry)) : NULL;
	uint64_t index = 0;
	struct message *m;

	if (!entry)
		return;
	*entry = NOBODY;
	qp = send ? object_of(f, it, "my_qpn ", false) : NULL;
	if (!qp)
		return;
	run_field(it->text, "wqe_index ", &index);
	m = message_open(f, qp, (uint32_t)index);
	if (!m)
		return;
	at(m, MESSAGE_CQE, it->time_ps);
	m->failed = strstr(send, "_err,") != NULL;
	*entry = (uint32_t)(m - f->all->messages);
	while (qp->open.head < qp->open.tail && *number_at(&qp->open, qp->open.head) <= *entry)
		qp->open.head++;
}

static void eqe_line(struct finder *f, const struct run_item *it)
{
	struct object *cq = strstr(it->text, " comp") ? object_of(f, it, "cqn ", true) : NULL;

	for (size_t i = cq ? cq->cqes.head : 0; cq && i < cq->cqes.tail; i++) {
		uint32_t n = *number_at(&cq->cqes, i);

		if (n != NOBODY && never(&f->all->messages[n], MESSAGE_EQE))
			at(&f->all->messages[n], MESSAGE_EQE, it->time_ps);
	}
}

static void command_posted(struct finder *f, const struct run_item *it, const char *name)
{
	struct messages *all = f->all;

	if (all->command_count == f->command_room) {
		size_t room = f->command_room ? 2 * f->command_room : 256;
		struct command *more = realloc(all->commands, room * sizeof(*more));

		if (!more) {
			f->err = -ENOMEM;
			return;
		}
		all->commands = more;
		f->command_room = room;
	}
	all->commands[all->command_count++] = (struct command){
		it->time_ps, MESSAGE_NEVER, name, (unsigned)strcspn(name, " "), it->hca};
}

static void command_line(struct finder *f, const struct run_item *it)
{
	const char *name = it->text + strcspn(it->text, " ") + 1;
	struct object *o = NULL;

	if (!strncmp(it->text, "done ", 5)) {
		for (size_t i = f->all->command_count; i-- > 0;) {
			struct command *c = &f->all->commands[i];

			if (c->hca == it->hca && c->done_ps == MESSAGE_NEVER &&
			    !strncmp(c->name, name, c->name_len)) {
				c->done_ps = it->time_ps;
				break;
			}
		}
		return;
	}
	command_posted(f, it, name);
	/* an object that begins anew owes nothing of its former life */
	if (!strncmp(name, "rst2init_qp ", 12) || !strncmp(name, "2rst_qp ", 8))
		o = object_of(f, it, "in_mod ", false);
	else if (!strncmp(name, "sw2hw_cq ", 9))
		o = object_of(f, it, "in_mod ", true);
	if (o)
		object_empty(o);
}

static void line(struct finder *f, const struct run_item *it)
{
	if (it->hca >= HCAS)
		return;
	switch (it->class) {
	case RUN_OUT:
	case RUN_IN:
		packet_line(f, it);
		break;
	case RUN_WQE:
		if (!strncmp(it->text, "send wqe ", 9))
			wqe_line(f, it);
		break;
	case RUN_CQE:
		cqe_line(f, it);
		break;
	case RUN_EQE:
		eqe_line(f, it);
		break;
	case RUN_COMMAND:
		command_line(f, it);
		break;
	case RUN_OTHER:
		if (!strncmp(it->unit, "driver ", 7))
			driver_line(f, it);
		else if (!strncmp(it->unit, "doorbell ", 9))
			doorbell_line(f, it);
		else if (!strncmp(it->unit, "scheduler ", 10))
			scheduler_line(f, it);
		break;
	default:
		break;
	}
}

static void opcodes_name(struct finder *f)
{
	for (unsigned i = 0; i < OPCODES; i++) {
		const char *name = bth_op_find((uint8_t)i)->name;

		for (unsigned c = 0; name && name[c] && c + 1 < sizeof(f->opcodes[i]); c++)
			f->opcodes[i][c] =
				(char)(name[c] >= 'A' && name[c] <= 'Z' ? name[c] + 32 : name[c]);
	}
}

static void finder_free(struct finder *f)
{
	for (unsigned i = 0; i < BUCKETS; i++)
		for (struct object *o = f->buckets[i], *next; o; o = next) {
			next = o->next;
			free(o->posts.items);
			free(o->open.items);
			free(o->cqes.items);
			free(o);
		}
	free(f);
}

int messages_find(struct messages *all, const struct run_files *run)
{
	struct finder *f = calloc(1, sizeof(*f));
	int err;

	*all = (struct messages){0};
	if (!f)
		return -ENOMEM;
	f->all = all;
	opcodes_name(f);
	for (size_t i = 0; i < run->count && run->items[i].unit && !f->err; i++)
		line(f, &run->items[i]);
	err = f->err;
	finder_free(f);
	if (err)
		messages_free(all);
	return err;
}

void messages_free(struct messages *all)
{
	free(all->messages);
	free(all->commands);
	*all = (struct messages){0};
}
