/* See event_core.h. */
#include "model/engine/event_core.h"

#include <stdlib.h>
#include <string.h>

enum { HEAP_ARITY = 4, HEAP_FIRST_ROOM = 64 };

static bool before(const struct event *a, const struct event *b)
{
	return a->at_ps < b->at_ps || (a->at_ps == b->at_ps && a->seq < b->seq);
}

static void place(struct event_core *core, uint32_t i, struct event *ev)
{
	core->heap[i] = ev;
	ev->slot = i + 1;
}

static void sift_up(struct event_core *core, uint32_t i, struct event *ev)
{
	while (i > 0) {
		uint32_t parent = (i - 1) / HEAP_ARITY;

		if (!before(ev, core->heap[parent]))
			break;
		place(core, i, core->heap[parent]);
		i = parent;
	}
	place(core, i, ev);
}

static void sift_down(struct event_core *core, uint32_t i, struct event *ev)
{
	for (;;) {
		uint32_t first = i * HEAP_ARITY + 1, least = first;

		if (first >= core->count)
			break;
		for (uint32_t c = first + 1; c < first + HEAP_ARITY && c < core->count; c++)
			if (before(core->heap[c], core->heap[least]))
				least = c;
		if (!before(core->heap[least], ev))
			break;
		place(core, i, core->heap[least]);
		i = least;
	}
	place(core, i, ev);
}

static void sift(struct event_core *core, uint32_t i, struct event *ev)
{
	if (i > 0 && before(ev, core->heap[(i - 1) / HEAP_ARITY]))
		sift_up(core, i, ev);
	else
		sift_down(core, i, ev);
}

void event_core_init(struct event_core *core)
{
	memset(core, 0, sizeof(*core));
}

void event_core_free(struct event_core *core)
{
	free(core->heap);
	memset(core, 0, sizeof(*core));
}

void event_set(struct event_core *core, struct event *ev, uint64_t at_ps)
{
	ev->at_ps = at_ps < core->now_ps ? core->now_ps : at_ps;
	ev->seq = core->next_seq++;
	if (ev->slot) {
		sift(core, ev->slot - 1, ev);
		return;
	}
	if (core->count == core->room) {
		uint32_t room = core->room ? core->room * 2 : HEAP_FIRST_ROOM;
		struct event **heap = realloc(core->heap, room * sizeof(*heap));

		if (!heap)
			abort();
		core->heap = heap;
		core->room = room;
	}
	sift_up(core, core->count++, ev);
}

static void heap_remove(struct event_core *core, uint32_t i)
{
	struct event *last = core->heap[--core->count];

	core->heap[i]->slot = 0;
	if (i < core->count)
		sift(core, i, last);
}

void event_cancel(struct event_core *core, struct event *ev)
{
	if (ev->slot)
		heap_remove(core, ev->slot - 1);
}

void event_core_step(struct event_core *core)
{
	struct event *ev = core->heap[0];

	heap_remove(core, 0);
	core->now_ps = ev->at_ps;
	core->executed++;
	ev->job(ev);
}

void event_core_run_until(struct event_core *core, uint64_t until_ps)
{
	while (core->count && core->heap[0]->at_ps <= until_ps && !core->heap[0]->foreign)
		event_core_step(core);
	if (core->now_ps < until_ps && event_core_next_ps(core) > until_ps)
		core->now_ps = until_ps;
}
