/* SPDX-License-Identifier: Apache-2.0 */
/* See report_impl.h. */
#include "traces/report_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "traces/decode.h"
#include "traces/messages.h"

enum {
	HCAS = 2,
	LOOK_AHEAD = 1024,
	OVERTAKEN_MAX = 256,
	REPORT_CLASSES = RUN_PACKETS | 1 << RUN_DISCARD | 1 << RUN_ETHERNET,
};

/* --- texts --- */

static int texts_grow(struct report_texts *t)
{
	uint32_t room = t->room ? 2 * t->room : 1024,
		 *table = calloc(2 * (size_t)room, sizeof(*table));
	void *texts = table ? realloc(t->texts, room * sizeof(*t->texts)) : NULL;

	if (!texts) {
		free(table);
		return t->err = -ENOMEM;
	}
	free(t->table);
	t->texts = texts;
	t->table = table;
	t->room = room;
	for (uint32_t i = 0; i < t->count; i++) {
		uint32_t at = run_bytes_hash((const uint8_t *)t->texts[i].text,
					     (uint32_t)t->texts[i].len);

		while (table[at % (2 * room)])
			at++;
		table[at % (2 * room)] = i + 1;
	}
	return 0;
}

uint32_t report_text(struct report_texts *t, const char *text, size_t len)
{
	uint32_t at = run_bytes_hash((const uint8_t *)text, (uint32_t)len), found;

	if (t->err || (t->count == t->room && texts_grow(t)))
		return 0;
	for (; (found = t->table[at % (2 * t->room)]); at++)
		if (t->texts[found - 1].len == len && !memcmp(t->texts[found - 1].text, text, len))
			return found - 1;
	t->texts[t->count].text = malloc(len + 1);
	if (!t->texts[t->count].text) {
		t->err = -ENOMEM;
		return 0;
	}
	memcpy(t->texts[t->count].text, text, len);
	t->texts[t->count].len = len;
	t->table[at % (2 * t->room)] = t->count + 1;
	return t->count++;
}

void report_texts_free(struct report_texts *t)
{
	for (uint32_t i = 0; i < t->count; i++)
		free(t->texts[i].text);
	free(t->texts);
	free(t->table);
}

/* --- packets --- */

/* Identifies a packet when it arrives. whole: all of the record; head: what a record of its discard
 * has too. */
struct mark {
	uint64_t whole, head; /* whole is never 0 */
};

/* The packets that have left an HCA and not arrived, in order. For a packet that has arrived,
 * `whole` is 0. */
struct flight {
	struct mark *marks;
	size_t *packets;
	size_t head, tail, room;
};

struct join {
	struct report_packets *all;
	struct report_texts *texts;
	struct trace_text text;
	struct flight flights[HCAS];
	size_t arrived[HCAS]; /* number of the packet that came last, plus 1 */
	struct mark arrived_mark[HCAS];
};

/* A record of a packet, parsed. */
struct seen {
	struct trace_record r;
	struct packet_view v;
	bool is_ethernet;
	bool is_packet; /* of the InfiniBand transport; else v is empty */
	struct mark mark;
};

static uint64_t hash_add(uint64_t h, const void *bytes, size_t n)
{
	for (const uint8_t *p = bytes; n--; p++)
		h = (h ^ *p) * 0x100000001b3;
	return h;
}

/* The length of the headers up to the BTH. The record of every packet has them. */
static size_t head_bytes(const struct seen *s)
{
	const uint8_t *begin = s->r.bytes;

	return s->is_packet ? (size_t)((const uint8_t *)s->v.bth - begin) + BTH_BYTES : 0;
}

static struct mark mark_of(const struct seen *s)
{
	const struct trace_record *r = &s->r;
	const uint64_t begin = 0xcbf29ce484222325;
	struct mark m = {begin, hash_add(begin, r->bytes, head_bytes(s))};

	m.whole = hash_add(begin, r->args, sizeof(r->args));
	m.whole = hash_add(m.whole, &r->qpn, sizeof(r->qpn));
	m.whole = hash_add(m.whole, r->bytes, r->bytes ? r->len : 0);
	m.whole = hash_add(m.whole, r->text, r->text ? strlen(r->text) : 0) | 1;
	return m;
}

static struct seen packet_seen(const struct run_files *run, const struct run_item *it)
{
	struct packet_bytes p;
	struct seen s;

	run_item_record(run, it, &s.r);
	s.is_ethernet = it->class == RUN_ETHERNET;
	p = packet_bytes_of(&s.r);
	s.is_packet = !s.is_ethernet && packet_view_make(&s.v, &p);
	if (!s.is_packet)
		s.v = (struct packet_view){0};
	s.mark = mark_of(&s);
	return s;
}

static uint16_t flags_of(const struct seen *s)
{
	unsigned flags = 0;

	if (s->r.args[TRACE_ARG(PKT_OUT, transmission)] > 1)
		flags |= REPORT_RESENT;
	if (s->r.text)
		flags |= REPORT_FAULT;
	if (!s->is_packet || !s->v.op->name)
		return (uint16_t)flags;
	if (bth_op_is(s->v.op, BTH_RESPONSE))
		flags |= REPORT_RESPONSE;
	if (packet_is_nak(&s->v, s->r.len))
		flags |= REPORT_NAK;
	if (bth_get_dqpn(s->v.bth) < 2 && s->v.op->service == QP_ST_UD)
		flags |= REPORT_MANAGEMENT;
	return (uint16_t)flags;
}

/* Stores the name of the packet's opcode, and the text of its other headers. */
static void texts_of(struct join *j, const struct seen *s, struct report_packet *p)
{
	struct trace_text *t = &j->text;
	const struct packet_bytes bytes = packet_bytes_of(&s->r);
	const uint32_t len = bytes.len;
	const char *text;

	t->len = 0;
	if (s->is_ethernet)
		decode_ethernet_plain(t, s->r.bytes, len);
	else
		decode_packet_plain(t, &bytes);
	text = t->s ? t->s + strspn(t->s, " ") : "";
	p->op = report_text(j->texts, text, strcspn(text, " "));
	t->len = 0;
	trace_text_add(t, "%s", "");
	if (s->is_ethernet)
		decode_ethernet_more(t, s->r.bytes, len);
	else
		decode_packet_more(t, &bytes);
	text = t->s ? t->s + strspn(t->s, ", ") : "";
	p->note = report_text(j->texts, text, strlen(text));
}

static struct report_packet *packet_add(struct join *j, const struct seen *s)
{
	struct report_packets *all = j->all;
	struct report_packet *p;

	if (all->count == all->room) {
		size_t room = all->room ? 2 * all->room : 1024;

		p = realloc(all->packets, room * sizeof(*p));
		if (!p)
			return NULL;
		all->packets = p;
		all->room = room;
	}
	p = &all->packets[all->count++];
	*p = (struct report_packet){
		.out_ps = s->r.time_ps,
		.in_ps = MESSAGE_NEVER,
		.flags = flags_of(s),
		.hca = s->r.hca,
	};
	texts_of(j, s, p);
	if (s->r.args[TRACE_ARG(PKT_OUT, known)] & TRACE_PACKET_WQE)
		p->wqe = (uint32_t)s->r.args[TRACE_ARG(PKT_OUT, wqe)];
	if (!s->is_packet)
		return p;
	p->qpn = bth_get_dqpn(s->v.bth);
	p->from = packet_sender(&s->v, &s->r);
	p->psn = bth_get_psn(s->v.bth);
	p->payload = s->v.payload > 0 ? (uint32_t)s->v.payload : 0;
	return p;
}

static int flight_add(struct flight *f, const struct mark *mark, size_t packet)
{
	if (f->head == f->tail)
		f->head = f->tail = 0;
	if (f->tail == f->room) {
		size_t room = f->room ? 2 * f->room : 1024;
		struct mark *marks = realloc(f->marks, room * sizeof(*marks));
		size_t *packets;

		if (!marks)
			return -ENOMEM;
		f->marks = marks;
		packets = realloc(f->packets, room * sizeof(*packets));
		if (!packets)
			return -ENOMEM;
		f->packets = packets;
		f->room = room;
	}
	f->marks[f->tail] = *mark;
	f->packets[f->tail++] = packet;
	return 0;
}

static int packet_out(struct join *j, const struct seen *s)
{
	struct report_packet *p = packet_add(j, s);

	if (!p)
		return -ENOMEM;
	p->flags |= REPORT_LOST; /* until it arrives */
	if (packet_fault_is(&s->r, FAULT_DROP))
		return 0;
	return flight_add(&j->flights[s->r.hca], &s->mark, j->all->count - 1);
}

/* Removes the packet from a flight. Returns its number plus 1; 0: it is not there. */
static size_t flight_take(struct flight *f, const struct mark *mark)
{
	for (size_t i = f->head; i < f->tail && i < f->head + LOOK_AHEAD; i++) {
		size_t packet = f->packets[i];

		if (f->marks[i].whole != mark->whole)
			continue;
		f->marks[i].whole = 0;
		/* a packet that this many others have overtaken counts as lost */
		if (i > f->head + OVERTAKEN_MAX)
			f->head = i - OVERTAKEN_MAX;
		while (f->head < f->tail && !f->marks[f->head].whole)
			f->head++;
		return packet + 1;
	}
	return 0;
}

static int packet_in(struct join *j, const struct seen *s)
{
	const unsigned hca = s->r.hca;
	size_t n = flight_take(&j->flights[hca ^ 1], &s->mark);
	struct report_packet *p;

	if (!n) /* the HCA may have sent it to itself */
		n = flight_take(&j->flights[hca], &s->mark);
	if (n) {
		p = &j->all->packets[n - 1];
		p->flags = (uint16_t)(p->flags & ~REPORT_LOST);
	} else {
		p = packet_add(j, s);
		if (!p)
			return -ENOMEM;
		p->hca ^= 1;
		p->flags |= packet_fault_is(&s->r, FAULT_DUPLICATE) ? REPORT_DUPLICATE
								    : REPORT_INJECTED;
		n = j->all->count;
	}
	p->in_ps = s->r.time_ps;
	j->arrived[hca] = n;
	j->arrived_mark[hca] = s->mark;
	return 0;
}

/* When a port or the transport discards a packet, it is the one that came last. */
static void packet_discarded(struct join *j, const struct seen *s)
{
	const unsigned hca = s->r.hca;

	if (j->arrived[hca] && j->arrived_mark[hca].head == s->mark.head)
		j->all->packets[j->arrived[hca] - 1].flags |= REPORT_DISCARDED;
}

static int packet_any(struct join *j, const struct run_files *run, const struct run_item *it)
{
	struct seen s;

	if (it->hca >= HCAS || !(REPORT_CLASSES >> it->class & 1))
		return 0;
	s = packet_seen(run, it);
	if (it->class == RUN_OUT || s.r.point == TP_ETH_OUT)
		return packet_out(j, &s);
	if (it->class == RUN_IN || s.r.point == TP_ETH_IN)
		return packet_in(j, &s);
	packet_discarded(j, &s);
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct report_packet *x = a, *y = b;

	return x->out_ps != y->out_ps ? (x->out_ps < y->out_ps ? -1 : 1) : x->hca - y->hca;
}

int report_packets_find(struct report_packets *all, struct report_texts *texts,
			const struct run_files *run)
{
	struct join *j = calloc(1, sizeof(*j));
	int ret = j ? 0 : -ENOMEM;

	*all = (struct report_packets){0};
	if (j) {
		j->all = all;
		j->texts = texts;
	}
	for (size_t i = 0; i < run->count && !ret; i++)
		ret = packet_any(j, run, &run->items[i]);
	for (unsigned h = 0; j && h < HCAS; h++) {
		free(j->flights[h].marks);
		free(j->flights[h].packets);
	}
	if (j)
		trace_text_free(&j->text);
	free(j);
	if (!ret && all->count)
		qsort(all->packets, all->count, sizeof(*all->packets), by_time);
	return ret ? ret : texts->err;
}

void report_packets_free(struct report_packets *all)
{
	free(all->packets);
}
