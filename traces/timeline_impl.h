/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside traces/ only. timeline.c is the sink, timeline_lane.c writes events on lanes, the
 * timeline_flow*.c find out which slices belong to one message.
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
	PID_HOST = 10, /* + HCA */
	PID_HCA = 20,
	TIMELINE_NAME = 56,
};

struct lane {
	uint32_t pid, tid;
	char name[TIMELINE_NAME]; /* without the number of the lane */
	unsigned sub;
	uint64_t busy_until_ps;
	unsigned depth; /* of functions */
	char (*functions)[TIMELINE_NAME];
	struct lane *next; /* of the same process and name */
};

struct flows;

struct timeline {
	struct trace_file file;
	struct trace_text line;
	struct lane **lanes; /* the first ones of each process and name */
	size_t lane_count, lane_room;
	uint32_t next_tid;
	bool named[32]; /* processes, by pid */
	uint64_t next_id, now_ps;
	uint64_t queues[TIMELINE_HCAS][TIMELINE_PORTS][TIMELINE_VLS]; /* bytes */
	struct flows *flows;
	int err;
};

/* The beginning of a slice: what an arrow points at. */
struct timeline_place {
	uint64_t at_ps;
	uint32_t pid, tid; /* tid 0: nowhere */
};

/*
 * One arrow chain: each step is written when the next one is known, so that the last one can be
 * written as its end. Zero-initialise; a chain of one place is not written.
 */
struct timeline_chain {
	uint64_t id; /* 0: not written yet */
	struct timeline_place last;
	uint32_t steps;
};

/* ---- timeline_lane.c */

/* Times of one chain never go back: a place that is earlier than the last one is left out. */
void timeline_chain_step(struct timeline *t, struct timeline_chain *c, const char *name,
			 struct timeline_place place);
void timeline_chain_end(struct timeline *t, struct timeline_chain *c, const char *name);

/* A slice on a lane of an HCA's stage, the first one that is free then; at least a nanosecond,
 * since viewers know nothing shorter. */
struct timeline_place timeline_slice(struct timeline *t, unsigned hca, const char *stage,
				     uint64_t from_ps, uint64_t until_ps,
				     const struct trace_record *r, const char *format, ...)
	__attribute__((format(printf, 7, 8)));

/* An event is begun, gets what it has, and is ended. */

void timeline_event_begin(struct timeline *t, char phase, uint32_t pid, uint32_t tid);
void timeline_event_time(struct timeline *t, uint64_t ps);
void timeline_event_name(struct timeline *t, const char *name, size_t n);
void timeline_event_end(struct timeline *t);
/* Says the name of a process once. */
void timeline_process_name(struct timeline *t, uint32_t pid);
/* The first lane of that name, made when there is none; NULL without memory. */
struct lane *timeline_lane_find(struct timeline *t, uint32_t pid, const char *name);
/* As timeline_slice(), on any process. */
struct timeline_place timeline_slice_on(struct timeline *t, uint32_t pid, const char *lane_name,
					uint64_t from_ps, uint64_t until_ps,
					const struct trace_record *r, const char *name);
/* Functions of a lane nest. */
struct timeline_place timeline_function_begin(struct timeline *t, struct lane *lane,
					      const struct trace_record *r, const char *name,
					      size_t len, const char *args);
/* The innermost one of that name, with all within it; nothing where none of that name began while
 * this was being written. */
void timeline_function_leave(struct timeline *t, struct lane *lane, uint64_t at_ps,
			     const char *name, size_t len);
/* All that are deeper. */
void timeline_functions_end(struct timeline *t, struct lane *lane, unsigned depth, uint64_t at_ps);
/* Ends all functions. */
void timeline_lanes_free(struct timeline *t);

/* ---- timeline_flow.c */

struct flows *flows_new(struct timeline *t);
/* place: where the record's slice is, tid 0 when it has none. 0 or -ENOMEM. */
int flows_record(struct flows *f, const struct trace_record *r, struct timeline_place place);
/* Ends what is under way, and frees. */
void flows_free(struct flows *f);

#endif
