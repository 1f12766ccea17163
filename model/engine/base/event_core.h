/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event core: simulated time for every device, PCIe link and wire of one simulation.
 *
 * Intrusive events keyed by (time, sequence number), so that events of equal time run in the order
 * in which they were set, whatever else is set. The few that are due first stand in a sorted array,
 * where most are set and run without a search; the others, none of them earlier, in a 4-ary heap.
 * Cancelling removes the event at once: nothing stale stays behind. Times are uint64_t picoseconds.
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
 * Embed one wherever something can be due; zero-initialise, and give it a job once. An event is set
 * at most once. `foreign` says that the job hands control to a process outside the engine (a host
 * thread): whoever drives the core lets that process run before the next event.
 */
struct event {
	union {
		uint64_t at_ps;    /* when it is due */
		uint64_t after_ps; /* while it sleeps: how long after it is woken it is due */
	};
	uint64_t seq;
	void (*job)(struct event *ev);
	uint32_t slot; /* place in the heap + 1; or one of those below; 0 when not set */
	bool foreign;
	struct event_lane *lane; /* it stands in, or NULL */
	struct event *behind;    /* in that lane, or of those that sleep */
};

/*
 * Events that mostly become due in the order in which they are set, as those of a link do. Only the
 * first of a lane stands among the others, so that what is in flight costs no search.
 * Zero-initialise; it stays where it is while events are in it.
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
	bool yield; /* set by a job's surroundings: event_core_run() returns after that job */
	/* Set by the code that embeds the core: only foreign events write the memory that devices
	 * read. Not so for a virtual machine, whose software writes it at any time. */
	bool foreign_only;
	uint64_t foreign_runs; /* foreign events so far */
	struct event *asleep;  /* event_set_after_foreign(), by after_ps */
	uint32_t count;        /* number of events; of each lane only the first one counts */
	uint32_t n_near;       /* 0 only when the heap is empty too */
	/* latest first, behind `never`, which stands there always */
	struct event *near[1 + EVENT_NEAR];
	struct event *far; /* the first of the heap, or never */
	struct event **heap;
	struct event never; /* after all others, and not to be run */
	uint32_t n_heap, room;
};

void event_core_init(struct event_core *core);
/* Empty afterwards, and may be used. */
void event_core_free(struct event_core *core);

/* Sets the event for a time, moving it when it is set already; a time in the past means now, after
 * all that is due now. */
void event_set(struct event_core *core, struct event *ev, uint64_t at_ps);
/* The same, behind the others of the lane; one that is due before the last of them stands by
 * itself. */
void event_lane_set(struct event_core *core, struct event_lane *lane, struct event *ev,
		    uint64_t at_ps);
void event_cancel(struct event_core *core, struct event *ev);
/*
 * For polling memory whose changes are not announced. Sets the event for `delay_ps` from now. But
 * if only foreign events write memory, and none has run since the last poll (when foreign_runs was
 * `seen`), the event sleeps until one has run, and is due `delay_ps` after that.
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

/* Runs what is due up to `until_ps` and not foreign, or until `yield` is set; time stays that of
 * the last event. */
void event_core_run(struct event_core *core, uint64_t until_ps);

/* Runs every event that is due up to and including `until_ps` and that is not foreign; then time is
 * `until_ps` unless a foreign one stands in the way. */
void event_core_run_until(struct event_core *core, uint64_t until_ps);

#ifdef __cplusplus
}
#endif

#endif
