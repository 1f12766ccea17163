/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Only for traces/. timeline.c is the sink, timeline_lane.c writes events on lanes, and
 * timeline_flow.c and timeline_done.c find out which slices belong to one message.
 */
#ifndef TRACES_TIMELINE_IMPL_H
#define TRACES_TIMELINE_IMPL_H

#include "traces/trace_impl.h"

enum {
	TIMELINE_HCAS = 2,
	TIMELINE_PORTS = 2,
	TIMELINE_VLS = 16,
	PID_SCENARIO = 1,
	PID_LINKS = 2,
	PID_HOST = 10, /* plus the number of the HCA */
	PID_HCA = 20,
	TIMELINE_NAME = 56,
};

struct lane {
	uint32_t pid, tid;
	char name[TIMELINE_NAME]; /* without the number of the lane */
	unsigned sub;
	uint64_t busy_until_ps;
	unsigned depth; /* number of functions under way */
	char (*functions)[TIMELINE_NAME];
	struct lane *next; /* the next lane of the same process and name */
};

struct flows;

struct timeline {
	struct trace_file file;
	struct trace_text line;
	struct lane **lanes; /* the first lane of each process and name */
	size_t lane_count, lane_room;
	uint32_t next_tid;
	bool named[32]; /* which processes have been named, by pid */
	uint64_t next_id, now_ps;
	uint64_t queues[TIMELINE_HCAS][TIMELINE_PORTS][TIMELINE_VLS]; /* bytes that wait */
	struct flows *flows;
	int err;
};

/* The beginning of a slice, which an arrow points to. */
struct timeline_place {
	uint64_t at_ps;
	uint32_t pid, tid; /* tid 0: there is no slice */
};

/*
 * A chain of arrows. Each step is written when the next one is known, so that the last step can be
 * written as the chain's end. Initialise it to zeros. A chain with only one place is not written.
 */
struct timeline_chain {
	uint64_t id; /* 0: nothing has been written yet */
	struct timeline_place last;
	uint32_t steps;
};

/* ---- timeline_lane.c ---- */

/* Adds a place to the chain. The times of a chain never go back: a place that is earlier than the
 * last one is left out. */
void timeline_chain_step(struct timeline *t, struct timeline_chain *c, const char *name,
			 struct timeline_place place);
void timeline_chain_end(struct timeline *t, struct timeline_chain *c, const char *name);

/* Writes a slice on a lane of an HCA's stage: on the first lane that is free at that time. A slice
 * lasts at least a nanosecond, because viewers know nothing shorter. */
struct timeline_place timeline_slice(struct timeline *t, unsigned hca, const char *stage,
				     uint64_t from_ps, uint64_t until_ps,
				     const struct trace_record *r, const char *format, ...)
	__attribute__((format(printf, 7, 8)));

/* An event is written in parts: begin, then its members, then end. */

void timeline_event_begin(struct timeline *t, char phase, uint32_t pid, uint32_t tid);
void timeline_event_time(struct timeline *t, uint64_t ps);
void timeline_event_name(struct timeline *t, const char *name, size_t n);
void timeline_event_end(struct timeline *t);
/* Writes the name of a process; does nothing when it has been written before. */
void timeline_process_name(struct timeline *t, uint32_t pid);
/* Returns the first lane of that name, and creates it when there is none. NULL: no memory. */
struct lane *timeline_lane_find(struct timeline *t, uint32_t pid, const char *name);
/* The same as timeline_slice(), for any process. */
struct timeline_place timeline_slice_on(struct timeline *t, uint32_t pid, const char *lane_name,
					uint64_t from_ps, uint64_t until_ps,
					const struct trace_record *r, const char *name);
/* Begins a function on a lane. Functions of a lane nest. */
struct timeline_place timeline_function_begin(struct timeline *t, struct lane *lane,
					      const struct trace_record *r, const char *name,
					      size_t len, const char *args);
/* Ends the innermost function of that name and all functions within it. Does nothing when no
 * function of that name has begun since the file was opened. */
void timeline_function_leave(struct timeline *t, struct lane *lane, uint64_t at_ps,
			     const char *name, size_t len);
/* Ends all functions that are deeper than `depth`. */
void timeline_functions_end(struct timeline *t, struct lane *lane, unsigned depth, uint64_t at_ps);
/* Ends all functions and frees the lanes. */
void timeline_lanes_free(struct timeline *t);

/* ---- timeline_flow.c ---- */

struct flows *flows_new(struct timeline *t);
/* place: the record's slice; tid 0 when it has none. 0 or -ENOMEM. */
int flows_record(struct flows *f, const struct trace_record *r, struct timeline_place place);
/* Ends all chains under way and frees everything. */
void flows_free(struct flows *f);

#endif
