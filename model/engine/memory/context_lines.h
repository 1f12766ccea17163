/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines of the context cache: lookup, order of use, release. Private to context_cache.c and
 * context_lines.c.
 *
 * A line holds the bytes of one context, and a tag for each use that it can serve (three for a QP,
 * otherwise one). It is found by a hash of (table, index). A line that is dropped while its DMA is
 * under way is removed from the hash and freed when the DMA is done.
 */
#ifndef MODEL_ENGINE_CONTEXT_LINES_H
#define MODEL_ENGINE_CONTEXT_LINES_H

#include "model/engine/memory/context_cache.h"
#include "model/engine/base/engine.h"
#include "model/engine/memory/icm.h"
#include "model/engine/base/keep.h"

enum {
	CONTEXT_USES = CONTEXT_SRQ + 1,
	MAX_TAGS = 3,
	LONGEST = 256,
	/* Bytes a line holds: the entry sizes of QUERY_DEV_CAP. */
	QPC_LINE = 256,
	SMALL_LINE = 64,
};

struct line_link {
	struct context_line *prev, *next;
};

/* A caller of context_flush() that waits until a line is in memory. */
struct flush {
	struct flush *next;
	void (*done)(void *arg, int status);
	void *arg;
	bool drop;
};

struct context_line {
	struct context_line *hash_next;
	struct hca *hca;
	uint32_t key;                 /* table << 24 | index */
	uint8_t kind;                 /* CONTEXT_* of the first use of its table */
	uint8_t present, want, dirty; /* sets of tags: cached for, being read for, changed by */
	bool has_bytes;
	uint16_t leases;
	bool filling; /* in a miss buffer or waiting for one */
	bool writing;
	bool orphan;       /* not in the hash any more */
	bool resources;    /* the read under way is for responder resources */
	uint16_t failures; /* waiters that have not yet been told that the read failed */
	struct line_link lru[MAX_TAGS];
	struct context_line *miss_next;
	uint64_t miss_ps; /* time at which its read began */
	uint8_t end;      /* enum miss_end: the queue of misses that reads it */
	struct waiter_queue waiters;
	struct keep *keeps; /* the waiters that it is kept for */
	struct flush *flushes;
	struct dma read, write;
	unsigned n_read_frags;
	struct dma_frag read_frags[ICM_MAX_FRAGS], write_frags[ICM_MAX_FRAGS];
	uint8_t bytes[];
};

/* The lines of one use whose numbers hash to the same set, most recently used first. */
struct tag_set {
	struct context_line *first, *last;
	uint32_t count;
};

/* The cache of one use. */
struct tag_sets {
	struct tag_set *sets;
	uint32_t count, room;   /* sets; lines of each */
	uint32_t latest_number; /* shortcut for repeated lookups */
	struct context_line *latest;
};

/* What a miss is for: misses for different ends do not wait for each other. */
enum miss_end { MISS_SEND, MISS_RECEIVE, MISS_COMPLETE, MISS_ENDS };

struct miss_queue {
	struct context_line *first, *last;
	uint32_t active; /* reads under way */
};

struct context_cache {
	struct context_line **buckets;
	uint32_t hashed; /* lines in them */
	uint32_t mask;
	struct tag_sets uses[CONTEXT_USES];
	struct tag_set *sets; /* the sets of all uses */
	uint32_t n_sets;
	struct context_line *free[CONTEXT_USES];
	/* orphans, linked by hash_next, so that a reset can free them */
	struct context_line *lines;
	struct miss_queue misses[MISS_ENDS];
	bool held;
	uint32_t held_key;
	struct waiter_queue held_waiters;
	struct keep_pool keeps;
	size_t footprint;
	/* A line that already has its bytes may be read again, only to take the time of a read. The
	 * bytes of that read go here. */
	uint8_t scratch[LONGEST];
};

/* Constants of a use. */
struct context_use_row {
	const char *name;
	uint8_t table, kind, tag, end;
	uint16_t size;
};

extern const struct context_use_row context_uses[CONTEXT_USES];

static inline uint32_t context_line_key(const struct hca *hca, enum context_use use,
					uint32_t number)
{
	unsigned table = context_uses[use].table;

	return table << 24 |
	       (number & 0xffffff & ((UINT32_C(1) << (hca->tables[table].log_num & 31)) - 1));
}

static inline struct context_line **context_bucket(struct context_cache *cache, uint32_t key)
{
	uint32_t h = key * 0x9e3779b1u;

	return &cache->buckets[(h ^ h >> 16) & cache->mask];
}

static inline struct context_line *context_line_find(struct context_cache *cache, uint32_t key)
{
	struct context_line *line = *context_bucket(cache, key);

	while (line && line->key != key)
		line = line->hash_next;
	return line;
}

static inline enum context_use context_tag_use(const struct context_line *line, unsigned tag)
{
	return (enum context_use)(line->kind + tag);
}

/* Numbers are mostly consecutive. Their bits are mixed, so that sets fill unevenly as in a real
 * device. */
static inline struct tag_set *context_set(struct context_cache *cache, enum context_use use,
					  uint32_t key)
{
	struct tag_sets *uses = &cache->uses[use];
	uint32_t h = key;

	if (uses->count == 1)
		return uses->sets;
	h = (h ^ h >> 16) * 0x85ebca6bu;
	h = (h ^ h >> 13) * 0xc2b2ae35u;
	return &uses->sets[(uint64_t)(h ^ h >> 16) * uses->count >> 32];
}

/* A line with no bytes and no tag, in the hash. */
struct context_line *context_line_make(struct hca *hca, enum context_use use, uint32_t key);
/* Frees the line if it has no tag and no DMA under way, and every waiter has been told of a failed
 * read. */
void context_line_settle(struct context_cache *cache, struct context_line *line);
/* Forgets the line without writing back; a line with a DMA under way becomes an orphan. */
void context_line_drop(struct context_cache *cache, struct context_line *line);
void context_tag_drop(struct context_cache *cache, struct context_line *line, unsigned tag);
void context_lru_remove(struct context_cache *cache, struct context_line *line, unsigned tag);
void context_lru_push(struct context_cache *cache, struct context_line *line, unsigned tag);

#endif
