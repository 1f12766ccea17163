/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Brings records from the emitters to the sinks in the order of time. A record whose time has come
 * is delivered at once. A record of the future is copied and held, ordered by time and order of
 * emission, until trace_advance() reaches its time. It is held at the end of a queue when it is
 * later than all others there, as most are, and otherwise in a heap.
 */
#define _GNU_SOURCE /* asprintf */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "traces/trace_impl.h"
#include "model/interface/macros.h"

enum {
	SINKS_MAX = 8,
	/* bytes and text of most held records: a packet of 4 KiB payload with all its headers */
	HELD_DATA = 4352,
	HELD_SMALL = 256,
};

struct held {
	uint64_t time_ps, seq;
	struct held *next; /* in the queue, or in a list of free ones */
	struct trace_record r;
	size_t room;
	uint8_t data[];
};

struct sink {
	const struct trace_sink_ops *ops;
	void *obj;
	char *path; /* path of its file; NULL: the caller's own sink */
	uint32_t kinds;
	int err;
};

struct trace_state {
	struct sink sinks[SINKS_MAX];
	uint32_t nsinks;
	struct trace_tail *tail;
	uint32_t tail_kinds;
	struct held *first, *last; /* the queue; last is valid only while there is a first */
	struct held **heap;
	size_t nheap, heap_room;
	struct held *free_small, *free_large;
	uint64_t seq;
	uint32_t snap;
	int err;
};

static const struct trace_sink_ops *const file_sinks[] = {
	&trace_log_ops, &trace_records_ops, &trace_pcapng_ops, &trace_vcd_ops, &trace_timeline_ops};

struct trace *trace_create(void)
{
	struct trace *tr = calloc(1, sizeof(*tr));

	if (!tr)
		return NULL;
	tr->state = calloc(1, sizeof(*tr->state));
	if (!tr->state) {
		free(tr);
		return NULL;
	}
	tr->first_ps = UINT64_MAX;
	tr->state->snap = UINT32_MAX;
	return tr;
}

void trace_snap(struct trace *tr, uint32_t bytes)
{
	tr->state->snap = bytes;
}

void trace_listen(struct trace *tr, uint32_t kinds)
{
	tr->kinds = kinds;
	for (struct trace_watch *w = tr->watches; w; w = w->next)
		w->kinds = kinds;
}

/* The path is freed with the sink. */
static int sink_add(struct trace *tr, const struct trace_sink_ops *ops, void *sink, uint32_t kinds,
		    char *path)
{
	struct trace_state *st = tr->state;

	if (st->nsinks == SINKS_MAX)
		return -ENOSPC;
	if (!kinds)
		kinds = UINT32_MAX;
	st->sinks[st->nsinks++] =
		(struct sink){.ops = ops, .obj = sink, .path = path, .kinds = kinds};
	trace_listen(tr, tr->kinds | kinds);
	return 0;
}

int trace_sink_add(struct trace *tr, const struct trace_sink_ops *ops, void *sink, uint32_t kinds)
{
	return sink_add(tr, ops, sink, kinds, NULL);
}

static void sink_complain(const struct sink *s, int err)
{
	fprintf(stderr, "%s%s: %s\n", s->path ? "" : "trace ", s->path ? s->path : s->ops->name,
		strerror(-err));
}

void trace_watch(struct trace *tr, struct trace_watch *watch)
{
	*watch = (struct trace_watch){0};
	if (!tr)
		return;
	watch->kinds = tr->kinds;
	watch->next = tr->watches;
	tr->watches = watch;
}

void trace_unwatch(struct trace *tr, struct trace_watch *watch)
{
	for (struct trace_watch **at = tr ? &tr->watches : NULL; at && *at; at = &(*at)->next) {
		if (*at == watch) {
			*at = watch->next;
			return;
		}
	}
}

/* ---- the list of names */

static int sink_find(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(file_sinks); i++)
		if (strlen(file_sinks[i]->name) == len && !memcmp(file_sinks[i]->name, name, len))
			return (int)i;
	return -1;
}

/* Returns a bit for each sink that the list names; -EINVAL after printing one line. */
static int list_parse(const char *list, FILE *err)
{
	int wanted = 0;

	while (list && *list) {
		size_t len = strcspn(list, ",");
		int i = sink_find(list, len);

		if (i < 0) {
			fprintf(err, "--trace: no trace '%.*s', there are:", (int)len, list);
			for (size_t k = 0; k < ARRAY_SIZE(file_sinks); k++)
				fprintf(err, " %s", file_sinks[k]->name);
			fprintf(err, "\n");
			return -EINVAL;
		}
		wanted |= 1 << i;
		list += len;
		list += *list == ',';
	}
	return wanted;
}

static char *sink_path(const char *dir, const struct trace_sink_ops *ops)
{
	char *path;

	return asprintf(&path, "%s/%s", dir, ops->file) < 0 ? NULL : path;
}

/* Closes the sinks that this call of trace_open() has added, and removes their files. */
static void sinks_undo(struct trace_state *st, uint32_t keep)
{
	while (st->nsinks > keep) {
		struct sink *s = &st->sinks[--st->nsinks];

		s->ops->close(s->obj);
		unlink(s->path);
		free(s->path);
	}
}

static int sink_open(struct trace *tr, const struct trace_sink_ops *ops, const char *dir, FILE *err)
{
	char *path = sink_path(dir, ops);
	void *obj;
	int ret;

	if (!path)
		return -ENOMEM;
	ret = ops->open(&obj, path, tr->state->snap);
	if (ret) {
		fprintf(err, "%s: %s\n", path, strerror(-ret));
	} else {
		ret = sink_add(tr, ops, obj, ops->kinds, path);
		if (!ret)
			return 0;
		fprintf(err, "%s: too many traces\n", path);
		ops->close(obj);
		unlink(path);
	}
	free(path);
	return ret;
}

int trace_open(struct trace *tr, const char *list, const char *dir, FILE *err)
{
	uint32_t before = tr->state->nsinks, kinds = tr->kinds;
	int wanted = list_parse(list, err);

	if (wanted < 0)
		return wanted;
	for (size_t i = 0; i < ARRAY_SIZE(file_sinks); i++) {
		int ret = wanted >> i & 1 ? sink_open(tr, file_sinks[i], dir, err) : 0;

		if (ret) {
			sinks_undo(tr->state, before);
			trace_listen(tr, kinds);
			return ret;
		}
	}
	return 0;
}

/* ---- delivery */

static inline __attribute__((always_inline)) void deliver(struct trace_state *st,
							  const struct trace_record *r)
{
	const unsigned kind = trace_point_kinds[r->point];

	for (uint32_t i = 0; i < st->nsinks; i++) {
		struct sink *s = &st->sinks[i];

		if (!(s->kinds >> kind & 1))
			continue;
		s->err = s->ops->record(s->obj, r);
		if (!s->err)
			continue;
		sink_complain(s, s->err);
		s->kinds = 0;
	}
}

static bool held_before(const struct held *a, const struct held *b)
{
	return a->time_ps != b->time_ps ? a->time_ps < b->time_ps : a->seq < b->seq;
}

static int heap_push(struct trace_state *st, struct held *h)
{
	size_t i = st->nheap;

	if (i == st->heap_room) {
		size_t room = i ? 2 * i : 64;
		struct held **heap = realloc(st->heap, room * sizeof(*heap));

		if (!heap)
			return -ENOMEM;
		st->heap = heap;
		st->heap_room = room;
	}
	st->nheap++;
	while (i && held_before(h, st->heap[(i - 1) / 2])) {
		st->heap[i] = st->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	st->heap[i] = h;
	return 0;
}

static struct held *heap_pop(struct trace_state *st)
{
	struct held *first = st->heap[0], *last = st->heap[--st->nheap];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < st->nheap) {
		if (child + 1 < st->nheap && held_before(st->heap[child + 1], st->heap[child]))
			child++;
		if (held_before(last, st->heap[child]))
			break;
		st->heap[i] = st->heap[child];
		i = child;
	}
	st->heap[i] = last;
	return first;
}

static struct held *held_new(struct trace_state *st, size_t need)
{
	struct held **list = need <= HELD_SMALL ? &st->free_small : &st->free_large;
	struct held *h = need <= HELD_DATA ? *list : NULL;

	if (h) {
		*list = h->next;
		return h;
	}
	if (need <= HELD_SMALL)
		need = HELD_SMALL;
	else if (need <= HELD_DATA)
		need = HELD_DATA;
	h = malloc(sizeof(*h) + need);
	if (h)
		h->room = need;
	return h;
}

static void held_free(struct trace_state *st, struct held *h)
{
	struct held **list = h->room == HELD_SMALL ? &st->free_small : &st->free_large;

	if (h->room > HELD_DATA) {
		free(h);
		return;
	}
	h->next = *list;
	*list = h;
}

static int hold(struct trace_state *st, const struct trace_record *r)
{
	size_t text = r->text ? strlen(r->text) + 1 : 0;
	size_t len = r->bytes && !r->bytes_stay ? r->len : 0;
	struct held *h = held_new(st, len + text);
	int ret;

	if (!h)
		return -ENOMEM;
	h->time_ps = r->time_ps;
	h->seq = st->seq++;
	h->r = *r;
	if (len)
		h->r.bytes = memcpy(h->data, r->bytes, len);
	if (text)
		h->r.text = memcpy(h->data + len, r->text, text);
	if (!st->first) {
		h->next = NULL;
		st->first = st->last = h;
		return 0;
	}
	if (r->time_ps >= st->last->time_ps) {
		h->next = NULL;
		st->last = st->last->next = h;
		return 0;
	}
	ret = heap_push(st, h);
	if (ret)
		held_free(st, h);
	return ret;
}

/* The earlier of the two. Each may be NULL. */
static struct held *held_earlier(struct held *a, struct held *b)
{
	return !b || (a && held_before(a, b)) ? a : b;
}

static struct held *held_first(const struct trace_state *st)
{
	return held_earlier(st->first, st->nheap ? st->heap[0] : NULL);
}

void trace_emit(struct trace *tr, const struct trace_record *r)
{
	struct trace_state *st = tr->state;
	int ret;

	if (!trace_on(tr, r->point))
		return;
	if (r->time_ps <= tr->now_ps) {
		deliver(st, r);
		return;
	}
	ret = hold(st, r);
	if (ret) {
		st->err = ret;
		return;
	}
	if (r->time_ps < tr->first_ps)
		tr->first_ps = r->time_ps;
}

void trace_release(struct trace *tr, uint64_t now_ps)
{
	struct trace_state *st = tr->state;
	struct held *h;

	while ((h = held_first(st)) && h->time_ps <= now_ps) {
		if (h == st->first)
			st->first = h->next;
		else
			heap_pop(st);
		deliver(st, &h->r);
		held_free(st, h);
	}
	tr->first_ps = h ? h->time_ps : UINT64_MAX;
}

void trace_rescue(void)
{
	trace_files_rescue();
}

static void free_list(struct held *h)
{
	while (h) {
		struct held *next = h->next;

		free(h);
		h = next;
	}
}

int trace_close(struct trace *tr)
{
	struct trace_state *st;
	int err;

	if (!tr)
		return 0;
	st = tr->state;
	trace_release(tr, UINT64_MAX);
	err = st->err;
	if (err)
		fprintf(stderr, "trace: records lost: %s\n", strerror(-err));
	for (uint32_t i = 0; i < st->nsinks; i++) {
		struct sink *s = &st->sinks[i];
		int ret = s->ops->close ? s->ops->close(s->obj) : 0;

		if (ret && !s->err)
			sink_complain(s, ret);
		free(s->path);
		if (!err)
			err = s->err ? s->err : ret;
	}
	free_list(st->free_small);
	free_list(st->free_large);
	free(st->heap);
	free(st);
	free(tr);
	return err;
}

/* ---- recent records */

int trace_tail_keep(struct trace *tr, uint32_t n, uint32_t kinds)
{
	struct trace_tail *tail;
	int ret;

	if (!n || tr->state->tail)
		return -EINVAL;
	tail = trace_tail_new(n);
	if (!tail)
		return -ENOMEM;
	ret = trace_sink_add(tr, &trace_tail_ops, tail, kinds);
	if (ret) {
		free(tail);
		return ret;
	}
	tr->state->tail = tail;
	tr->state->tail_kinds = kinds ? kinds : UINT32_MAX;
	return 0;
}

static int held_compare(const void *a, const void *b)
{
	return held_before(*(struct held *const *)a, *(struct held *const *)b) ? -1 : 1;
}

void trace_recent_each(struct trace *tr, void (*each)(void *arg, const struct trace_record *r),
		       void *arg)
{
	struct trace_state *st = tr->state;
	struct held *queued = st->first;

	if (!st->tail)
		return;
	trace_tail_each(st->tail, each, arg);
	/* a sorted array is a heap too */
	if (st->nheap)
		qsort(st->heap, st->nheap, sizeof(st->heap[0]), held_compare);
	for (size_t i = 0; i < st->nheap || queued;) {
		struct held *h = held_earlier(queued, i < st->nheap ? st->heap[i] : NULL);

		if (h == queued)
			queued = queued->next;
		else
			i++;
		if (st->tail_kinds >> trace_point_kinds[h->r.point] & 1)
			each(arg, &h->r);
	}
}
