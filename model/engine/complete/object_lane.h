/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lane is the queue of jobs of a numbered object (a CQ or an EQ). Jobs run in order, and may wait
 * for the object's context, a translation or a DMA. An object has a lane only while something is
 * queued or under way for it. Part of cqe_write and event_queue.
 */
#ifndef MODEL_ENGINE_OBJECT_LANE_H
#define MODEL_ENGINE_OBJECT_LANE_H

#include "model/engine/base/engine.h"

enum { LANE_BUCKETS = 64 };

struct object_lane_job {
	struct object_lane_job *next;
};

struct object_lane_table;

struct object_lane {
	struct waiter waiter; /* for the first job, when it has to wait */
	struct object_lane_table *table;
	struct hca *hca;
	struct object_lane *hash_next;
	uint32_t number;
	uint32_t in_flight; /* DMAs not landed */
	uint32_t holds;     /* other reasons to keep the lane */
	bool running;
	struct object_lane_job *first, *last;
};

struct object_lane_table {
	struct hca *hca;
	size_t lane_size; /* of the owner's struct, which begins with a struct object_lane */
	/* Does one job. 0: done, and the job belongs to the function; -EAGAIN: the job stays the
	 * first one, and lane_run() tries it again. */
	int (*step)(struct object_lane *lane, struct object_lane_job *job);
	unsigned count;
	struct object_lane *buckets[LANE_BUCKETS];
	struct object_lane *free;
};

/* The lane of an object. Makes one if there is none; all that follows struct object_lane is
 * zero. */
struct object_lane *lane_find(struct object_lane_table *table, uint32_t number);
struct object_lane *lane_get(struct object_lane_table *table, uint32_t number);
void lane_push(struct object_lane *lane, struct object_lane_job *job);
/* Runs jobs until one has to wait. May free the lane. */
void lane_run(struct object_lane *lane);
/* A DMA has landed: runs the jobs that waited for it. */
void lane_landed(struct object_lane *lane);
/* Removes the jobs for which match() is true and passes them to drop(). An empty lane stays until
 * it runs again. */
void lane_filter(struct object_lane *lane,
		 bool (*match)(const struct object_lane_job *job, uint32_t key), uint32_t key,
		 void (*drop)(struct hca *hca, struct object_lane_job *job));
/* Forgets all lanes. Their owner must free the jobs. */
void lane_table_reset(struct object_lane_table *table);
void lane_table_free(struct object_lane_table *table);

#endif
