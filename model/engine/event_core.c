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

static struct event **earlier(struct event **a, struct event **b)
{
	return before(*b, *a) ? b : a;
}

/* Places behind the last one hold `never`, so there are always HEAP_ARITY children to compare. */
static void sift_down(struct event_core *core, uint32_t i, struct event *ev)
{
	struct event **heap = core->heap;
	uint32_t first;

	while ((first = i * HEAP_ARITY + 1) < core->count) {
		struct event **child = &heap[first];
		struct event **least =
			earlier(earlier(&child[0], &child[1]), earlier(&child[2], &child[3]));

		if (!before(*least, ev))
			break;
		heap[i] = *least;
		heap[i]->slot = i + 1;
		i = first + (uint32_t)(least - child);
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
	core->never.at_ps = core->never.seq = EVENT_NEVER;
}

void event_core_free(struct event_core *core)
{
	free(core->heap);
	memset(core, 0, sizeof(*core));
}

static void heap_grow(struct event_core *core)
{
	uint32_t room = core->room ? core->room * 2 : HEAP_FIRST_ROOM;
	struct event **heap = realloc(core->heap, (room + HEAP_ARITY) * sizeof(*heap));

	if (!heap)
		abort();
	for (uint32_t i = core->count; i < room + HEAP_ARITY; i++)
		heap[i] = &core->never;
	core->heap = heap;
	core->room = room;
}

static void heap_add(struct event_core *core, struct event *ev)
{
	if (core->count == core->room)
		heap_grow(core);
	sift_up(core, core->count++, ev);
}

static void heap_remove(struct event_core *core, uint32_t i)
{
	struct event *last = core->heap[--core->count];

	core->heap[i]->slot = 0;
	core->heap[core->count] = &core->never;
	if (i < core->count)
		sift(core, i, last);
}

static void stamp(struct event_core *core, struct event *ev, uint64_t at_ps)
{
	ev->at_ps = at_ps < core->now_ps ? core->now_ps : at_ps;
	ev->seq = core->next_seq++;
}

void event_set(struct event_core *core, struct event *ev, uint64_t at_ps)
{
	if (ev->lane)
		event_cancel(core, ev);
	stamp(core, ev, at_ps);
	if (ev->slot)
		sift(core, ev->slot - 1, ev);
	else
		heap_add(core, ev);
}

/* --- lanes --- */

void event_lane_set(struct event_core *core, struct event_lane *lane, struct event *ev,
		    uint64_t at_ps)
{
	if (ev->slot)
		event_cancel(core, ev);
	stamp(core, ev, at_ps);
	if (!lane->first) {
		lane->first = lane->last = ev;
		ev->lane = lane;
		heap_add(core, ev);
	} else if (ev->at_ps >= lane->last->at_ps) {
		lane->last = lane->last->behind = ev;
		ev->lane = lane;
		ev->slot = EVENT_IN_LANE;
	} else {
		heap_add(core, ev);
	}
}

/* The first of its lane leaves; its place in the heap goes to the one behind it. */
static void lane_advance(struct event_core *core, struct event *ev)
{
	struct event_lane *lane = ev->lane;
	uint32_t i = ev->slot - 1;

	lane->first = ev->behind;
	if (lane->first)
		sift_down(core, i, lane->first);
	else
		heap_remove(core, i);
	ev->lane = NULL;
	ev->behind = NULL;
	ev->slot = 0;
}

static void lane_remove(struct event *ev)
{
	struct event_lane *lane = ev->lane;
	struct event *before_it = lane->first;

	while (before_it->behind != ev)
		before_it = before_it->behind;
	before_it->behind = ev->behind;
	if (lane->last == ev)
		lane->last = before_it;
	ev->lane = NULL;
	ev->behind = NULL;
	ev->slot = 0;
}

void event_cancel(struct event_core *core, struct event *ev)
{
	if (ev->slot == EVENT_IN_LANE)
		lane_remove(ev);
	else if (ev->lane)
		lane_advance(core, ev);
	else if (ev->slot)
		heap_remove(core, ev->slot - 1);
}

/* --- time --- */

static inline void run_first(struct event_core *core)
{
	struct event *ev = core->heap[0];

	if (ev->lane)
		lane_advance(core, ev);
	else
		heap_remove(core, 0);
	core->now_ps = ev->at_ps;
	core->executed++;
	ev->job(ev);
}

void event_core_step(struct event_core *core)
{
	run_first(core);
}

void event_core_run(struct event_core *core, uint64_t until_ps)
{
	core->yield = false;
	while (core->count && core->heap[0]->at_ps <= until_ps && !core->heap[0]->foreign &&
	       !core->yield)
		run_first(core);
}

void event_core_run_until(struct event_core *core, uint64_t until_ps)
{
	while (core->count && core->heap[0]->at_ps <= until_ps && !core->heap[0]->foreign)
		event_core_step(core);
	if (core->now_ps < until_ps && event_core_next_ps(core) > until_ps)
		core->now_ps = until_ps;
}
