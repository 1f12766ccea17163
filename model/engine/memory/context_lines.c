/* SPDX-License-Identifier: Apache-2.0 */
/* See context_lines.h. */
#include "model/engine/memory/context_lines.h"
#include "model/sim/params/hca_context_cache.h"

#include <stdlib.h>
#include <string.h>

const struct context_use_row context_uses[CONTEXT_USES] = {
	[CONTEXT_REQUESTER] = {"qpc", FW_TABLE_QPC, CONTEXT_REQUESTER, 0, MISS_SEND, QPC_LINE},
	[CONTEXT_RESPONDER] = {"qpc", FW_TABLE_QPC, CONTEXT_REQUESTER, 1, MISS_RECEIVE, QPC_LINE},
	[CONTEXT_READS] = {"qpc", FW_TABLE_QPC, CONTEXT_REQUESTER, 2, MISS_RECEIVE, QPC_LINE},
	[CONTEXT_CQ] = {"cqc", FW_TABLE_CQC, CONTEXT_CQ, 0, MISS_COMPLETE, SMALL_LINE},
	[CONTEXT_EQ] = {"eqc", FW_TABLE_EQC, CONTEXT_EQ, 0, MISS_COMPLETE, SMALL_LINE},
	[CONTEXT_SRQ] = {"srqc", FW_TABLE_SRQC, CONTEXT_SRQ, 0, MISS_RECEIVE, SMALL_LINE},
};

static void sets_shape(struct tag_sets *use, uint64_t entries, uint64_t ways)
{
	use->count = entries > ways ? (uint32_t)(entries / ways) : 1;
	use->room = (uint32_t)(entries / use->count);
}

static void sets_place(struct context_cache *cache)
{
	struct tag_set *sets = memory_create(cache->n_sets, sizeof(*sets), "contexts");

	cache->sets = sets;
	for (unsigned use = 0; use < CONTEXT_USES; use++) {
		cache->uses[use].sets = sets;
		sets += cache->uses[use].count;
	}
}

static size_t empty_footprint(const struct context_cache *cache)
{
	return sizeof(*cache) + ((size_t)cache->mask + 1) * sizeof(*cache->buckets) +
	       cache->n_sets * sizeof(*cache->sets);
}

struct context_cache *context_cache_create(struct hca *hca)
{
	const struct hca_params *p = hca->params;
	struct context_cache *cache = memory_create(1, sizeof(*cache), "contexts");
	const uint64_t entries[CONTEXT_USES] = {
		[CONTEXT_REQUESTER] = param_context_cache_requester_entries(p),
		[CONTEXT_RESPONDER] = param_context_cache_responder_entries(p),
		[CONTEXT_READS] = param_context_cache_read_entries(p),
		[CONTEXT_CQ] = param_context_cache_cq_entries(p),
		[CONTEXT_EQ] = param_context_cache_eq_entries(p),
		[CONTEXT_SRQ] = param_context_cache_srq_entries(p),
	};
	uint64_t total = 0, buckets = 1;

	cache->keeps.hca = hca;
	for (unsigned use = 0; use < CONTEXT_USES; use++) {
		sets_shape(&cache->uses[use], entries[use],
			   use == CONTEXT_READS ? param_context_cache_read_ways(p)
						: param_context_cache_ways(p));
		cache->n_sets += cache->uses[use].count;
		total += entries[use];
	}
	sets_place(cache);
	while (buckets < total)
		buckets *= 2;
	cache->buckets = memory_create(buckets, sizeof(*cache->buckets), "contexts");
	cache->mask = (uint32_t)(buckets - 1);
	cache->footprint = empty_footprint(cache);
	return cache;
}

static size_t line_bytes(unsigned kind)
{
	return sizeof(struct context_line) + context_uses[kind].size;
}

struct context_line *context_line_make(struct hca *hca, enum context_use use, uint32_t key)
{
	struct context_cache *cache = hca->context_cache;
	enum context_use kind = context_uses[use].kind;
	size_t size = line_bytes(kind);
	struct context_line *line = cache->free[kind];
	struct context_line **home = context_bucket(cache, key);

	if (line) {
		cache->free[kind] = line->hash_next;
		memset(line, 0, sizeof(*line));
	} else {
		line = memory_take(hca, size, "contexts");
		cache->footprint += size;
	}
	line->hca = hca;
	line->key = key;
	line->kind = kind;
	line->hash_next = *home;
	*home = line;
	cache->hashed++;
	return line;
}

static void unhash(struct context_cache *cache, struct context_line *line)
{
	struct context_line **link =
		line->orphan ? &cache->lines : context_bucket(cache, line->key);

	while (*link != line)
		link = &(*link)->hash_next;
	*link = line->hash_next;
	cache->hashed -= !line->orphan;
}

static bool line_busy(const struct context_line *line)
{
	return line->present || line->filling || line->writing || line->failures;
}

void context_line_settle(struct context_cache *cache, struct context_line *line)
{
	if (line_busy(line))
		return;
	keep_line_gone(&line->keeps);
	unhash(cache, line);
	line->hash_next = cache->free[line->kind];
	cache->free[line->kind] = line;
}

void context_lru_remove(struct context_cache *cache, struct context_line *line, unsigned tag)
{
	const enum context_use use = context_tag_use(line, tag);
	struct tag_set *set = context_set(cache, use, line->key);
	struct line_link *link = &line->lru[tag];

	*(link->prev ? &link->prev->lru[tag].next : &set->first) = link->next;
	*(link->next ? &link->next->lru[tag].prev : &set->last) = link->prev;
	set->count--;
	if (cache->uses[use].latest == line)
		cache->uses[use].latest = NULL;
}

void context_lru_push(struct context_cache *cache, struct context_line *line, unsigned tag)
{
	const enum context_use use = context_tag_use(line, tag);
	struct tag_set *set = context_set(cache, use, line->key);
	struct line_link *link = &line->lru[tag];

	cache->uses[use].latest = NULL;
	link->prev = NULL;
	link->next = set->first;
	*(set->first ? &set->first->lru[tag].prev : &set->last) = line;
	set->first = line;
	set->count++;
}

void context_tag_drop(struct context_cache *cache, struct context_line *line, unsigned tag)
{
	if (!(line->present & 1u << tag))
		return;
	if (line->leases)
		hca_bug(line->hca, "%s %x is dropped while it is leased",
			context_uses[line->kind].name, line->key & 0xffffff);
	context_lru_remove(cache, line, tag);
	line->present &= (uint8_t) ~(1u << tag);
	line->dirty &= (uint8_t) ~(1u << tag);
}

void context_line_drop(struct context_cache *cache, struct context_line *line)
{
	for (unsigned tag = 0; tag < MAX_TAGS; tag++)
		context_tag_drop(cache, line, tag);
	line->dirty = 0;
	line->failures = 0;
	keep_line_gone(&line->keeps);
	if ((line->filling || line->writing) && !line->orphan) {
		unhash(cache, line);
		line->orphan = true;
		line->hash_next = cache->lines;
		cache->lines = line;
		return;
	}
	context_line_settle(cache, line);
}

static void line_free(struct context_line *line)
{
	waiter_queue_clear(&line->waiters);
	keep_line_gone(&line->keeps);
	while (line->flushes) {
		struct flush *f = line->flushes;

		line->flushes = f->next;
		memory_give(line->hca, f, sizeof(*f));
	}
	memory_give(line->hca, line, line_bytes(line->kind));
}

static void lines_free(struct context_line **list)
{
	while (*list) {
		struct context_line *line = *list;

		*list = line->hash_next;
		line_free(line);
	}
}

static void cache_empty(struct context_cache *cache)
{
	for (uint32_t i = 0; i <= cache->mask; i++)
		lines_free(&cache->buckets[i]);
	for (unsigned kind = 0; kind < CONTEXT_USES; kind++) {
		lines_free(&cache->free[kind]);
		cache->uses[kind].latest = NULL;
	}
	memset(cache->sets, 0, cache->n_sets * sizeof(*cache->sets));
	memset(cache->misses, 0, sizeof(cache->misses));
	lines_free(&cache->lines);
	cache->hashed = 0;
	cache->held = false;
	waiter_queue_clear(&cache->held_waiters);
	cache->footprint = empty_footprint(cache);
}

void context_cache_reset(struct hca *hca)
{
	cache_empty(hca->context_cache);
}

void context_cache_destroy(struct context_cache *cache)
{
	if (!cache)
		return;
	cache_empty(cache);
	keep_pool_free(&cache->keeps);
	free(cache->sets);
	free(cache->buckets);
	free(cache);
}

size_t context_cache_footprint(const struct hca *hca)
{
	return hca->context_cache->footprint + hca->context_cache->keeps.footprint;
}
