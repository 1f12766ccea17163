/* SPDX-License-Identifier: Apache-2.0 */
/* See event_core.h. */
#include "model/engine/base/event_core.h"

#include "model/engine/base/memory.h"

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

/* Array places after the last event hold `never`, so a node always has HEAP_ARITY children to
 * compare. */
static void sift_down(struct event_core *core, uint32_t i, struct event *ev)
{
	struct event **heap = core->heap;
	uint32_t first;

	while ((first = i * HEAP_ARITY + 1) < core->n_heap) {
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
	core->never.foreign = true;
	core->far = core->near[0] = &core->never;
}

void event_core_free(struct event_core *core)
{
	free(core->heap);
	event_core_init(core);
}

/* --- the heap --- */

static void heap_grow(struct event_core *core)
{
	uint32_t room = core->room ? core->room * 2 : HEAP_FIRST_ROOM;
	struct event **heap = memory_grow(core->heap, room + HEAP_ARITY, sizeof(*heap), "events");

	for (uint32_t i = core->n_heap; i < room + HEAP_ARITY; i++)
		heap[i] = &core->never;
	core->heap = heap;
	core->room = room;
}

static void heap_add(struct event_core *core, struct event *ev)
{
	if (core->n_heap == core->room)
		heap_grow(core);
	sift_up(core, core->n_heap++, ev);
	core->far = core->heap[0];
}

static void heap_remove(struct event_core *core, uint32_t i)
{
	struct event *last = core->heap[--core->n_heap];

	core->heap[i]->slot = 0;
	core->heap[core->n_heap] = &core->never;
	if (i < core->n_heap)
		sift(core, i, last);
	core->far = core->heap[0];
}

/* --- the near ones --- */

/* Moves the earliest events of the heap to the near array, which is empty. */
static void __attribute__((noinline)) near_refill(struct event_core *core)
{
	uint32_t n = core->n_heap < EVENT_NEAR / 2 ? core->n_heap : EVENT_NEAR / 2;

	core->n_near = n;
	for (; n; n--) {
		core->near[n] = core->far;
		heap_remove(core, 0);
		core->near[n]->slot = EVENT_IS_NEAR;
	}
}

/* Moves the later half of the near array to the heap. */
static void __attribute__((noinline)) near_spill(struct event_core *core)
{
	const uint32_t n = EVENT_NEAR / 2;

	for (uint32_t i = 1; i <= n; i++)
		heap_add(core, core->near[i]);
	core->n_near -= n;
	memmove(core->near + 1, core->near + 1 + n, core->n_near * sizeof(core->near[0]));
}

/* `stamped`: b has just got its sequence number, so it runs after all other events of the same
 * time. */
static inline bool runs_before(const struct event *a, const struct event *b, bool stamped)
{
	return stamped ? a->at_ps <= b->at_ps : before(a, b);
}

static inline __attribute__((always_inline)) void insert(struct event_core *core, struct event *ev,
							 bool stamped)
{
	struct event **at;

	core->count++;
	if (__builtin_expect(core->n_near == EVENT_NEAR, 0))
		near_spill(core);
	if (__builtin_expect(runs_before(core->far, ev, stamped), 0)) {
		heap_add(core, ev);
		return;
	}
	for (at = &core->near[++core->n_near]; runs_before(at[-1], ev, stamped); at--)
		at[0] = at[-1];
	at[0] = ev;
	ev->slot = EVENT_IS_NEAR;
}

/* Removes and returns the earliest event. */
static inline struct event *take(struct event_core *core)
{
	struct event *ev = core->near[core->n_near--];

	core->count--;
	ev->slot = 0;
	if (!core->n_near && core->n_heap)
		near_refill(core);
	return ev;
}

static void removed(struct event_core *core, struct event *ev)
{
	uint32_t i = core->n_near;

	core->count--;
	if (ev->slot != EVENT_IS_NEAR) {
		heap_remove(core, ev->slot - 1);
		return;
	}
	while (core->near[i] != ev)
		i--;
	memmove(core->near + i, core->near + i + 1, (core->n_near - i) * sizeof(core->near[0]));
	core->n_near--;
	ev->slot = 0;
	if (!core->n_near && core->n_heap)
		near_refill(core);
}

static void stamp(struct event_core *core, struct event *ev, uint64_t at_ps)
{
	ev->at_ps = at_ps < core->now_ps ? core->now_ps : at_ps;
	ev->seq = core->next_seq++;
}

/* Not inlined, so that callers that need no search do not save the registers of one. */
static void __attribute__((noinline)) insert_stamped(struct event_core *core, struct event *ev)
{
	insert(core, ev, true);
}

static void __attribute__((noinline))
set_anew(struct event_core *core, struct event *ev, uint64_t at_ps)
{
	event_cancel(core, ev);
	event_set(core, ev, at_ps);
}

void event_set(struct event_core *core, struct event *ev, uint64_t at_ps)
{
	if (__builtin_expect(ev->slot, 0)) {
		set_anew(core, ev, at_ps);
		return;
	}
	stamp(core, ev, at_ps);
	insert_stamped(core, ev);
}

/* --- lanes --- */

static void __attribute__((noinline))
lane_set_anew(struct event_core *core, struct event_lane *lane, struct event *ev, uint64_t at_ps)
{
	event_cancel(core, ev);
	event_lane_set(core, lane, ev, at_ps);
}

void event_lane_set(struct event_core *core, struct event_lane *lane, struct event *ev,
		    uint64_t at_ps)
{
	if (__builtin_expect(ev->slot, 0)) {
		lane_set_anew(core, lane, ev, at_ps);
		return;
	}
	stamp(core, ev, at_ps);
	if (!lane->first) {
		lane->first = lane->last = ev;
		ev->lane = lane;
	} else if (ev->at_ps >= lane->last->at_ps) {
		lane->last = lane->last->behind = ev;
		ev->lane = lane;
		ev->slot = EVENT_IN_LANE;
		return;
	}
	insert_stamped(core, ev);
}

/* The first event of a lane has been removed. Inserts the next one of the lane among the other
 * events. */
static inline void lane_advance(struct event_core *core, struct event *ev)
{
	struct event_lane *lane = ev->lane;

	lane->first = ev->behind;
	if (lane->first)
		insert(core, lane->first, false);
	ev->lane = NULL;
	ev->behind = NULL;
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

static void asleep_remove(struct event_core *core, struct event *ev)
{
	struct event **at = &core->asleep;

	while (*at != ev)
		at = &(*at)->behind;
	*at = ev->behind;
	ev->behind = NULL;
	ev->slot = 0;
}

void event_cancel(struct event_core *core, struct event *ev)
{
	if (!ev->slot)
		return;
	if (ev->slot == EVENT_IN_LANE) {
		lane_remove(ev);
		return;
	}
	if (ev->slot == EVENT_SLEEPS) {
		asleep_remove(core, ev);
		return;
	}
	removed(core, ev);
	if (ev->lane)
		lane_advance(core, ev);
}

/* --- those that sleep --- */

void event_set_after_foreign(struct event_core *core, struct event *ev, uint64_t delay_ps,
			     uint64_t seen)
{
	event_cancel(core, ev);
	if (!core->foreign_only || core->foreign_runs != seen) {
		event_set(core, ev, core->now_ps + delay_ps);
		return;
	}
	ev->after_ps = delay_ps;
	ev->slot = EVENT_SLEEPS;
	ev->behind = core->asleep;
	core->asleep = ev;
}

static void wake_sleepers(struct event_core *core)
{
	struct event *ev;

	while ((ev = core->asleep)) {
		asleep_remove(core, ev);
		event_set(core, ev, core->now_ps + ev->after_ps);
	}
}

/* --- time --- */

static inline void run_first(struct event_core *core)
{
	struct event *ev = take(core);

	if (ev->lane)
		lane_advance(core, ev);
	core->now_ps = ev->at_ps;
	core->executed++;
	ev->job(ev);
}

void event_core_step(struct event_core *core)
{
	const bool foreign = core->near[core->n_near]->foreign;

	run_first(core);
	if (!foreign)
		return;
	core->foreign_runs++;
	wake_sleepers(core);
}

static inline bool may_run(const struct event_core *core, uint64_t until_ps)
{
	const struct event *first = core->near[core->n_near];

	return first->at_ps <= until_ps && !first->foreign;
}

void event_core_run(struct event_core *core, uint64_t until_ps)
{
	core->yield = false;
	while (may_run(core, until_ps) && !core->yield)
		run_first(core);
}

void event_core_run_until(struct event_core *core, uint64_t until_ps)
{
	while (may_run(core, until_ps))
		event_core_step(core);
	if (core->now_ps < until_ps && event_core_next_ps(core) > until_ps)
		core->now_ps = until_ps;
}
