/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A read-through cache of pieces of ICM; translate has two. An entry is found by its ICM address
 * and owner, and read by DMA, alone or with its neighbours. The least recently used entry is
 * evicted, but never one that is kept for a waiter. Nothing is written back: code that changes an
 * entry writes it through.
 */
#ifndef MODEL_ENGINE_LINE_CACHE_H
#define MODEL_ENGINE_LINE_CACHE_H

#include "model/engine/base/engine.h"
#include "model/engine/memory/icm.h"
#include "model/engine/base/keep.h"
#include "model/engine/host/pcie.h"

struct line_cache;

/* First member of the owner's entry. The cached bytes follow it, at the offset line_cache.bytes. */
struct cache_line {
	struct cache_line *hash_next, *prev, *next, *miss_next;
	struct line_cache *cache;
	uint64_t icm;
	uint32_t owner;
	bool ready, filling;
	bool orphan;       /* dropped while it is being read */
	uint16_t failures; /* waiters that have not yet been told that the read failed */
	struct waiter_queue waiters;
	struct keep *keeps; /* the waiters that it is kept for */
	struct dma dma;
	struct dma_frag frags[ICM_MAX_FRAGS];
	unsigned n_frags;
};

/* Limits how many misses are served at a time; the caches of a stage share one. */
struct miss_server {
	uint64_t limit, latency_ps;
	uint64_t *waits,
		*busy_ps; /* counters: misses that waited for an earlier one, time of reads */
	uint32_t active;
	struct cache_line *first, *last;
};

struct line_cache {
	struct hca *hca;
	struct miss_server *server;
	const char *what;
	void (*filled)(struct cache_line *line); /* bytes are there; may be NULL */
	uint64_t *evictions;                     /* counter */
	uint32_t room, count;
	uint32_t line_size, bytes,
		len; /* of the owner's struct; where in it the bytes are, and how many */
	struct cache_line **buckets;
	uint32_t mask, hashed;           /* of the buckets; lines in them */
	struct cache_line *first, *last; /* most recently used first */
	struct cache_line *free, *orphans;
	struct keep_pool keeps;
	size_t footprint;
};

void line_cache_init(struct line_cache *cache, uint32_t room);
void line_cache_free(struct line_cache *cache);
/* After pcie_reset() only. */
void line_cache_reset(struct line_cache *cache);
void miss_server_reset(struct miss_server *server);

static inline struct cache_line **line_cache_bucket(const struct line_cache *cache, uint64_t icm,
						    uint32_t owner)
{
	uint64_t h = (icm ^ (uint64_t)owner << 32) * 0x9e3779b97f4a7c15u;

	return &cache->buckets[h >> 40 & cache->mask];
}

static inline struct cache_line *line_cache_find(const struct line_cache *cache, uint64_t icm,
						 uint32_t owner)
{
	struct cache_line *line = *line_cache_bucket(cache, icm, owner);

	while (line && (line->icm != icm || line->owner != owner))
		line = line->hash_next;
	return line;
}

void line_cache_touch(struct line_cache *cache, struct cache_line *line);

/* The line if its bytes are there; it becomes the most recently used one. On NULL, the caller calls
 * line_cache_miss(). */
static inline struct cache_line *line_cache_get(struct line_cache *cache, uint64_t icm,
						uint32_t owner)
{
	struct cache_line *line = cache->first;

	if (!line || line->icm != icm || line->owner != owner) {
		line = line_cache_find(cache, icm, owner);
		if (!line || !line->ready)
			return NULL;
		if (cache->first != line)
			line_cache_touch(cache, line);
	}
	return line;
}

/* -EAGAIN: being read, the waiter is queued; -EFAULT: its ICM is not mapped or could not be read.
 * *started: a read was begun by this call. */
int line_cache_miss(struct line_cache *cache, uint64_t icm, uint32_t owner, struct waiter *w,
		    bool *started);

void line_cache_drop(struct line_cache *cache, struct cache_line *line);
/* Drops the lines for which match() is true. */
void line_cache_drop_if(struct line_cache *cache,
			bool (*match)(const struct cache_line *line, const void *arg),
			const void *arg);

#endif
