/* SPDX-License-Identifier: Apache-2.0 */
/* A ring of the last records, to be shown when a run fails. */
#include <stdlib.h>
#include <string.h>

#include "traces/trace_impl.h"

enum {
	TAIL_BYTES = 128,
	TAIL_TEXT = 120,
};

struct tail_entry {
	struct trace_record r;
	uint8_t bytes[TAIL_BYTES];
	char text[TAIL_TEXT];
};

struct trace_tail {
	uint64_t seen;
	uint32_t room;
	struct tail_entry ring[];
};

struct trace_tail *trace_tail_new(uint32_t n)
{
	struct trace_tail *tail;

	tail = calloc(1, sizeof(*tail) + (size_t)n * sizeof(tail->ring[0]));
	if (tail)
		tail->room = n;
	return tail;
}

static int tail_record(void *sink, const struct trace_record *r)
{
	struct trace_tail *tail = sink;
	struct tail_entry *e = &tail->ring[tail->seen++ % tail->room];

	e->r = *r;
	if (r->bytes) {
		e->r.len = r->len < TAIL_BYTES ? r->len : TAIL_BYTES;
		memcpy(e->bytes, r->bytes, e->r.len);
		e->r.bytes = e->bytes;
	}
	if (r->text) {
		size_t n = strnlen(r->text, TAIL_TEXT - 1);

		memcpy(e->text, r->text, n);
		e->text[n] = 0;
		e->r.text = e->text;
	}
	return 0;
}

static int tail_close(void *sink)
{
	free(sink);
	return 0;
}

const struct trace_sink_ops trace_tail_ops = {
	.name = "tail",
	.record = tail_record,
	.close = tail_close,
};

void trace_tail_each(const struct trace_tail *tail,
		     void (*each)(void *arg, const struct trace_record *r), void *arg)
{
	uint64_t first = tail->seen > tail->room ? tail->seen - tail->room : 0;

	for (uint64_t i = first; i < tail->seen; i++)
		each(arg, &tail->ring[i % tail->room].r);
}
