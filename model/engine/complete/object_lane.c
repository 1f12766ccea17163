/* SPDX-License-Identifier: Apache-2.0 */
/* See object_lane.h. */
#include "model/engine/complete/object_lane.h"
#include "model/engine/base/keep.h"

#include <stdlib.h>
#include <string.h>

static struct object_lane **bucket(struct object_lane_table *table, uint32_t number)
{
	return &table->buckets[number % LANE_BUCKETS];
}

static void wake(struct waiter *w)
{
	lane_run((struct object_lane *)(void *)w);
}

struct object_lane *lane_find(struct object_lane_table *table, uint32_t number)
{
	struct object_lane *lane = *bucket(table, number);

	while (lane && lane->number != number)
		lane = lane->hash_next;
	return lane;
}

struct object_lane *lane_get(struct object_lane_table *table, uint32_t number)
{
	struct object_lane *lane = lane_find(table, number), **home = bucket(table, number);

	if (lane)
		return lane;
	lane = table->free;
	if (lane) {
		table->free = lane->hash_next;
		memset(lane, 0, table->lane_size);
	} else {
		lane = memory_take(table->hca, table->lane_size,
				   "completion and event queues with work");
	}
	lane->waiter.wake = wake;
	lane->table = table;
	lane->hca = table->hca;
	lane->number = number;
	lane->hash_next = *home;
	*home = lane;
	table->count++;
	return lane;
}

static void lane_release(struct object_lane *lane)
{
	struct object_lane_table *table = lane->table;
	struct object_lane **link = bucket(table, lane->number);

	while (*link != lane)
		link = &(*link)->hash_next;
	*link = lane->hash_next;
	waiter_cancel(&lane->waiter);
	waiter_done(&lane->waiter);
	lane->hash_next = table->free;
	table->free = lane;
	table->count--;
}

void lane_push(struct object_lane *lane, struct object_lane_job *job)
{
	job->next = NULL;
	if (lane->last)
		lane->last->next = job;
	else
		lane->first = job;
	lane->last = job;
}

static struct object_lane_job *lane_pop(struct object_lane *lane)
{
	struct object_lane_job *job = lane->first;

	lane->first = job->next;
	if (!lane->first)
		lane->last = NULL;
	return job;
}

void lane_run(struct object_lane *lane)
{
	if (lane->running)
		return;
	lane->running = true;
	while (lane->first) {
		struct object_lane_job *job = lane_pop(lane);

		if (lane->table->step(lane, job) != -EAGAIN) {
			waiter_done(&lane->waiter);
			continue;
		}
		job->next = lane->first;
		lane->first = job;
		if (!lane->last)
			lane->last = job;
		break;
	}
	lane->running = false;
	if (!lane->first && !lane->in_flight && !lane->holds)
		lane_release(lane);
}

void lane_landed(struct object_lane *lane)
{
	lane->in_flight--;
	lane_run(lane);
}

void lane_filter(struct object_lane *lane,
		 bool (*match)(const struct object_lane_job *job, uint32_t key), uint32_t key,
		 void (*drop)(struct hca *hca, struct object_lane_job *job))
{
	struct object_lane_job *job = lane->first, *next;

	lane->first = lane->last = NULL;
	for (; job; job = next) {
		next = job->next;
		if (match(job, key))
			drop(lane->hca, job);
		else
			lane_push(lane, job);
	}
}

void lane_table_reset(struct object_lane_table *table)
{
	for (unsigned i = 0; i < LANE_BUCKETS; i++)
		while (table->buckets[i])
			lane_release(table->buckets[i]);
}

void lane_table_free(struct object_lane_table *table)
{
	lane_table_reset(table);
	while (table->free) {
		struct object_lane *lane = table->free;

		table->free = lane->hash_next;
		free(lane);
	}
}
