/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event core: simulated time for every device, PCIe link and wire of one simulation.
 *
 * Events are intrusive and ordered by (time, sequence number), so events of equal time run in the
 * order in which they were set. The few earliest events are in a small sorted array, where most
 * events are set and run without a search. All others are later than these and are in a 4-ary heap.
 * Cancelling removes the event at once. Times are uint64_t picoseconds.
 */
#ifndef MODEL_ENGINE_EVENT_CORE_H
#define MODEL_ENGINE_EVENT_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EVENT_NEVER UINT64_MAX

/*
 * Embed one in any object that has something to do at a later time. Zero-initialise it, and set its
 * job once. An event can be set for only one time. `foreign` says that the job hands control to a
 * process outside the engine (a host thread): the code that drives the core lets that process run
 * before the next event.
 */
struct event {
	union {
		uint64_t at_ps;    /* when it is due */
		uint64_t after_ps; /* a sleeping event: time from its waking until it is due */
	};
	uint64_t seq;
	void (*job)(struct event *ev);
	uint32_t slot; /* place in the heap + 1, or one of the values below; 0: not set */
	bool foreign;
	struct event_lane *lane; /* the lane that it is in, or NULL */
	struct event *behind;    /* next event of that lane, or next sleeping event */
};

/*
 * A queue of events that mostly become due in the order in which they are set, such as the packets
 * on a link. Only the first event of a lane is among the other events, so the ones behind it cost
 * no search. Zero-initialise it. It must not move in memory while events are in it.
 */
struct event_lane {
	struct event *first, *last;
};

#define EVENT_IN_LANE UINT32_MAX
#define EVENT_IS_NEAR (UINT32_MAX - 1)
#define EVENT_SLEEPS  (UINT32_MAX - 2)

enum { EVENT_NEAR = 32 };

struct event_core {
	uint64_t now_ps;
	uint64_t next_seq;
	uint64_t executed;
	bool yield; /* a job sets this to make event_core_run() return after that job */
	/* Set by the code that embeds the core: true if only foreign events write the memory that
	 * devices read. It is false for a virtual machine, whose software writes memory at any
	 * time. */
	bool foreign_only;
	uint64_t foreign_runs; /* foreign events so far */
	struct event *asleep;  /* events of event_set_after_foreign() that sleep */
	uint32_t count;        /* number of events; of each lane only the first one counts */
	uint32_t n_near;       /* 0 only when the heap is empty too */
	/* sorted with the latest event first; near[0] is always `never` */
	struct event *near[1 + EVENT_NEAR];
	struct event *far; /* the first of the heap, or `never` */
	struct event **heap;
	struct event never; /* later than all others, never run */
	uint32_t n_heap, room;
};

void event_core_init(struct event_core *core);
/* The core is empty afterwards, and may be used again. */
void event_core_free(struct event_core *core);

/* Sets the event for a time. Moves it if it is already set. A time in the past means now: the event
 * runs after all others that are due now. */
void event_set(struct event_core *core, struct event *ev, uint64_t at_ps);
/* The same for an event of a lane. It is added behind the others of the lane, unless it is due
 * before the last of them; then it is not part of the lane. */
void event_lane_set(struct event_core *core, struct event_lane *lane, struct event *ev,
		    uint64_t at_ps);
void event_cancel(struct event_core *core, struct event *ev);
/*
 * For polling memory whose changes are not announced. Normally sets the event for `delay_ps` from
 * now. But if only foreign events write memory, and none has run since the last poll (when
 * foreign_runs was `seen`), the event sleeps until one has run, and is due `delay_ps` after that.
 */
void event_set_after_foreign(struct event_core *core, struct event *ev, uint64_t delay_ps,
			     uint64_t seen);

static inline bool event_is_set(const struct event *ev)
{
	return ev->slot != 0;
}

/* Time of the earliest event, EVENT_NEVER when there is none. */
static inline uint64_t event_core_next_ps(const struct event_core *core)
{
	return core->near[core->n_near]->at_ps;
}

/* The earliest event, or NULL. */
static inline struct event *event_core_peek(const struct event_core *core)
{
	return core->n_near ? core->near[core->n_near] : NULL;
}

/* Takes the earliest event out, advances time to it and runs its job. The core must not be empty.
 */
void event_core_step(struct event_core *core);

/* Runs the events that are due up to `until_ps`. Stops before a foreign event, and after a job that
 * set `yield`. The time stays at the last event that ran. */
void event_core_run(struct event_core *core, uint64_t until_ps);

/* Runs every event that is due up to and including `until_ps`, and stops before a foreign event.
 * Then sets the time to `until_ps`, unless a foreign event is due before that. */
void event_core_run_until(struct event_core *core, uint64_t until_ps);

#ifdef __cplusplus
}
#endif

#endif
