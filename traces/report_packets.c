/* SPDX-License-Identifier: Apache-2.0 */
/* See report_impl.h. */
#include "traces/report_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "traces/messages.h"

enum { HCAS = 2, LOOK_AHEAD = 1024, OVERTAKEN_MAX = 256 };

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
	t->texts[t->count].text = text;
	t->texts[t->count].len = len;
	t->table[at % (2 * t->room)] = t->count + 1;
	return t->count++;
}

void report_texts_free(struct report_texts *t)
{
	free(t->texts);
	free(t->table);
}

/* --- packets --- */

/* What has left an HCA and not arrived, in order; entries that did arrive are NULL. */
struct flight {
	const char **texts;
	size_t *packets;
	size_t head, tail, room;
};

struct join {
	struct report_packets *all;
	struct report_texts *texts;
	struct flight flights[HCAS];
	size_t arrived[HCAS]; /* the packet that came last, plus 1 */
	const char *arrived_text[HCAS];
};

/* Behind "out port 1 ". */
static const char *packet_text(const struct run_item *it)
{
	const char *text = it->text;

	for (unsigned words = 0; words < 3; words++) {
		text += strcspn(text, " ");
		text += *text == ' ';
	}
	return text;
}

static uint32_t field(const char *text, const char *key)
{
	uint64_t n;

	return run_field(text, key, &n) ? (uint32_t)n : 0;
}

/* What the packet's headers say behind the plain fields, without what has a column of its own. */
static const char *note_of(const char *text, size_t *len)
{
	static const char *const ends[] = {", wqe ", ", from ", ", wr_id ", ", try ", ", fault "};
	const char *note = strstr(text, ", "), *end;

	if (!note)
		return *len = 0, text + strlen(text);
	for (unsigned i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (!strncmp(note, ends[i], strlen(ends[i])))
			return *len = 0, note;
	end = note + strlen(note);
	for (unsigned i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		const char *at = strstr(note, ends[i]);

		if (at && at < end)
			end = at;
	}
	*len = (size_t)(end - note - 2);
	return note + 2;
}

static uint16_t flags_of(const char *text, uint32_t qpn)
{
	unsigned flags = 0;

	if (strstr(text, "_acknowledge ") || strstr(text, "read_resp_"))
		flags |= REPORT_RESPONSE;
	if (strstr(text, " nak "))
		flags |= REPORT_NAK;
	if (strstr(text, ", try "))
		flags |= REPORT_RESENT;
	if (strstr(text, ", fault "))
		flags |= REPORT_FAULT;
	if (qpn < 2 && !strncmp(text, "ud_", 3))
		flags |= REPORT_MANAGEMENT;
	return (uint16_t)flags;
}

static struct report_packet *packet_add(struct join *j, const struct run_item *it, const char *text)
{
	struct report_packets *all = j->all;
	struct report_packet *p;
	const char *note;
	size_t len;

	if (all->count == all->room) {
		size_t room = all->room ? 2 * all->room : 1024;

		p = realloc(all->packets, room * sizeof(*p));
		if (!p)
			return NULL;
		all->packets = p;
		all->room = room;
	}
	p = &all->packets[all->count++];
	note = note_of(text, &len);
	*p = (struct report_packet){
		.out_ps = it->time_ps,
		.in_ps = MESSAGE_NEVER,
		.op = report_text(j->texts, text, strcspn(text, " ")),
		.note = report_text(j->texts, note, len),
		.qpn = field(text, "qpn "),
		.from = field(text, "from "),
		.psn = field(text, "psn "),
		.payload = field(text, "payload "),
		.wqe = field(text, "wqe "),
		.hca = it->hca,
	};
	if (!p->from)
		p->from = strstr(text, "sqpn ") ? field(text, "sqpn ") : p->qpn;
	p->flags = flags_of(text, p->qpn);
	return p;
}

static int flight_add(struct flight *f, const char *text, size_t packet)
{
	if (f->head == f->tail)
		f->head = f->tail = 0;
	if (f->tail == f->room) {
		size_t room = f->room ? 2 * f->room : 1024;
		const char **texts = realloc(f->texts, room * sizeof(*texts));
		size_t *packets;

		if (!texts)
			return -ENOMEM;
		f->texts = texts;
		packets = realloc(f->packets, room * sizeof(*packets));
		if (!packets)
			return -ENOMEM;
		f->packets = packets;
		f->room = room;
	}
	f->texts[f->tail] = text;
	f->packets[f->tail++] = packet;
	return 0;
}

static int packet_out(struct join *j, const struct run_item *it)
{
	const char *text = packet_text(it);
	struct report_packet *p = packet_add(j, it, text);

	if (!p)
		return -ENOMEM;
	p->flags |= REPORT_LOST; /* until it arrives */
	if (strstr(text, ", fault drop"))
		return 0;
	return flight_add(&j->flights[it->hca], text, j->all->count - 1);
}

/* Takes the packet of this text out of a flight; its number plus 1, or 0. */
static size_t flight_take(struct flight *f, const char *text)
{
	for (size_t i = f->head; i < f->tail && i < f->head + LOOK_AHEAD; i++) {
		size_t packet = f->packets[i];

		if (!f->texts[i] || strcmp(f->texts[i], text))
			continue;
		f->texts[i] = NULL;
		/* what so many have overtaken is lost */
		if (i > f->head + OVERTAKEN_MAX)
			f->head = i - OVERTAKEN_MAX;
		while (f->head < f->tail && !f->texts[f->head])
			f->head++;
		return packet + 1;
	}
	return 0;
}

static int packet_in(struct join *j, const struct run_item *it)
{
	const char *text = packet_text(it);
	size_t n = flight_take(&j->flights[it->hca ^ 1], text);
	struct report_packet *p;

	if (!n) /* to itself */
		n = flight_take(&j->flights[it->hca], text);
	if (n) {
		p = &j->all->packets[n - 1];
		p->flags = (uint16_t)(p->flags & ~REPORT_LOST);
	} else {
		p = packet_add(j, it, text);
		if (!p)
			return -ENOMEM;
		p->hca ^= 1;
		p->flags |= strstr(text, ", fault duplicate") ? REPORT_DUPLICATE : REPORT_INJECTED;
		n = j->all->count;
	}
	p->in_ps = it->time_ps;
	j->arrived[it->hca] = n;
	j->arrived_text[it->hca] = text;
	return 0;
}

/* What a port or the transport discards is the packet that came last, and says the same of it. */
static void packet_discarded(struct join *j, const struct run_item *it)
{
	const char *text = packet_text(it), *came = j->arrived_text[it->hca];

	if (j->arrived[it->hca] && !strncmp(came, text, strcspn(text, ",")))
		j->all->packets[j->arrived[it->hca] - 1].flags |= REPORT_DISCARDED;
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
	for (size_t i = 0; i < run->count && !ret; i++) {
		const struct run_item *it = &run->items[i];

		if (it->hca >= HCAS)
			continue;
		if (it->class == RUN_OUT)
			ret = packet_out(j, it);
		else if (it->class == RUN_IN)
			ret = packet_in(j, it);
		else if (it->class == RUN_DISCARD)
			packet_discarded(j, it);
	}
	for (unsigned h = 0; j && h < HCAS; h++) {
		free(j->flights[h].texts);
		free(j->flights[h].packets);
	}
	free(j);
	if (!ret && all->count)
		qsort(all->packets, all->count, sizeof(*all->packets), by_time);
	return ret ? ret : texts->err;
}

void report_packets_free(struct report_packets *all)
{
	free(all->packets);
}
