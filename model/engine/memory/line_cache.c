/* SPDX-License-Identifier: Apache-2.0 */
/* See line_cache.h. */
#include "model/engine/memory/line_cache.h"
#include "model/interface/macros.h"

#include <stdlib.h>
#include <string.h>

static void misses_start(struct miss_server *server);

void line_cache_init(struct line_cache *cache, uint32_t room)
{
	uint64_t buckets = 1;

	while (buckets < 2ull * room)
		buckets *= 2;
	cache->room = room;
	cache->keeps.hca = cache->hca;
	cache->buckets = memory_create(buckets, sizeof(*cache->buckets), cache->what);
	cache->mask = (uint32_t)(buckets - 1);
	cache->footprint = buckets * sizeof(*cache->buckets);
}

static uint8_t *line_bytes(struct cache_line *line)
{
	return (uint8_t *)line + line->cache->bytes;
}

static struct cache_line *line_make(struct line_cache *cache, uint64_t icm, uint32_t owner)
{
	struct cache_line **home = line_cache_bucket(cache, icm, owner), *line = cache->free;

	if (line) {
		cache->free = line->hash_next;
		memset(line, 0, cache->line_size);
	} else {
		line = memory_take(cache->hca, cache->line_size, "keys and translations");
		cache->footprint += cache->line_size;
	}
	line->cache = cache;
	line->icm = icm;
	line->owner = owner;
	line->hash_next = *home;
	*home = line;
	cache->hashed++;
	return line;
}

static void line_release(struct line_cache *cache, struct cache_line *line)
{
	line->hash_next = cache->free;
	cache->free = line;
}

static void unhash(struct line_cache *cache, struct cache_line *line)
{
	struct cache_line **link =
		line->orphan ? &cache->orphans : line_cache_bucket(cache, line->icm, line->owner);

	while (*link != line)
		link = &(*link)->hash_next;
	*link = line->hash_next;
	cache->hashed -= !line->orphan;
}

static void lru_remove(struct line_cache *cache, struct cache_line *line)
{
	*(line->prev ? &line->prev->next : &cache->first) = line->next;
	*(line->next ? &line->next->prev : &cache->last) = line->prev;
	cache->count--;
}

static void lru_push(struct line_cache *cache, struct cache_line *line)
{
	line->prev = NULL;
	line->next = cache->first;
	*(cache->first ? &cache->first->prev : &cache->last) = line;
	cache->first = line;
	cache->count++;
}

void line_cache_touch(struct line_cache *cache, struct cache_line *line)
{
	lru_remove(cache, line);
	lru_push(cache, line);
}

void line_cache_drop(struct line_cache *cache, struct cache_line *line)
{
	if (line->ready)
		lru_remove(cache, line);
	line->ready = false;
	keep_line_gone(&line->keeps);
	unhash(cache, line);
	if (line->filling) {
		line->orphan = true;
		line->hash_next = cache->orphans;
		cache->orphans = line;
		return;
	}
	line_release(cache, line);
}

/* Evicts lines until there is room for one more. Lines that are kept for a waiter stay, even when
 * the cache then has too many. */
static void make_room(struct line_cache *cache)
{
	struct cache_line *line = cache->last;

	while (line && cache->count >= cache->room) {
		struct cache_line *before = line->prev;

		if (!line->keeps) {
			++*cache->evictions;
			line_cache_drop(cache, line);
		}
		line = before;
	}
}

static void line_filled(struct cache_line *line, int status)
{
	struct line_cache *cache = line->cache;
	struct waiter_queue waiters = line->waiters;
	struct waiter *w;

	line->filling = false;
	line->waiters = (struct waiter_queue){0};
	for (w = waiters.first; w; w = w->next) {
		w->in = &waiters;
		line->failures += status != 0;
	}
	if (line->orphan || (status && !line->failures)) {
		unhash(cache, line);
		line_release(cache, line);
	} else if (!status) {
		if (cache->filled)
			cache->filled(line);
		make_room(cache);
		line->ready = true;
		lru_push(cache, line);
		keep_for_all(&cache->keeps, &line->keeps, &waiters);
	}
	waiter_queue_wake(&waiters);
}

static void read_done(struct dma *dma)
{
	struct cache_line *line = container_of(dma, struct cache_line, dma);
	struct miss_server *server = line->cache->server;

	server->active--;
	line_filled(line, dma->status ? -EFAULT : 0);
	misses_start(server);
}

static void line_read(struct cache_line *line)
{
	struct line_cache *cache = line->cache;

	if (line->orphan) {
		line_filled(line, -EFAULT);
		return;
	}
	cache->server->active++;
	line->dma = (struct dma){.hca = cache->hca,
				 .done = read_done,
				 .buf = line_bytes(line),
				 .frags = line->frags,
				 .n_frags = line->n_frags,
				 .len = cache->len,
				 .at_ready = true,
				 .what = cache->what};
	pcie_read(cache->hca, &line->dma, hca_now(cache->hca) + cache->server->latency_ps);
	*cache->server->busy_ps += line->dma.ready_ps - hca_now(cache->hca);
	HCA_TRACE(cache->hca, TP_TRANSLATE_RUN, .text = cache->what, .args = {line->dma.ready_ps});
}

static void misses_start(struct miss_server *server)
{
	while (server->first && server->active < server->limit) {
		struct cache_line *line = server->first;

		server->first = line->miss_next;
		if (!server->first)
			server->last = NULL;
		line->miss_next = NULL;
		line_read(line);
	}
}

int line_cache_miss(struct line_cache *cache, uint64_t icm, uint32_t owner, struct waiter *w,
		    bool *started)
{
	struct cache_line *line = line_cache_find(cache, icm, owner);
	struct miss_server *server = cache->server;
	struct dma_frag frags[ICM_MAX_FRAGS];

	*started = false;
	if (line && line->failures) {
		if (!--line->failures)
			line_cache_drop(cache, line);
		return -EFAULT;
	}
	if (!line) {
		int n = icm_fragments(cache->hca, icm, cache->len, frags, ICM_MAX_FRAGS);

		if (n <= 0)
			return -EFAULT;
		line = line_make(cache, icm, owner);
		/* If these pages are unmapped before the read begins, the line becomes an
		 * orphan. */
		memcpy(line->frags, frags, (unsigned)n * sizeof(*frags));
		line->n_frags = (unsigned)n;
		line->filling = true;
		*started = true;
		*(server->last ? &server->last->miss_next : &server->first) = line;
		server->last = line;
	}
	waiter_queue_add(&line->waiters, w);
	/* Lines that are already in the queue are started by read_done(). Starting them here could
	 * make one of them fail, and wake its waiters inside this call. */
	if (server->first == line && server->active < server->limit)
		misses_start(server);
	else if (*started)
		++*server->waits;
	return -EAGAIN;
}

void line_cache_drop_if(struct line_cache *cache,
			bool (*match)(const struct cache_line *line, const void *arg),
			const void *arg)
{
	uint32_t left = cache->hashed;

	for (uint32_t i = 0; left; i++) {
		struct cache_line *next;

		for (struct cache_line *line = cache->buckets[i]; line; line = next) {
			next = line->hash_next;
			left--;
			if (match(line, arg))
				line_cache_drop(cache, line);
		}
	}
}

static void lines_free(struct cache_line **list)
{
	while (*list) {
		struct cache_line *line = *list;

		*list = line->hash_next;
		waiter_queue_clear(&line->waiters);
		keep_line_gone(&line->keeps);
		memory_give(line->cache->hca, line, line->cache->line_size);
	}
}

void line_cache_reset(struct line_cache *cache)
{
	for (uint32_t i = 0; i <= cache->mask; i++)
		lines_free(&cache->buckets[i]);
	lines_free(&cache->free);
	lines_free(&cache->orphans);
	cache->first = cache->last = NULL;
	cache->count = cache->hashed = 0;
	cache->footprint = ((size_t)cache->mask + 1) * sizeof(*cache->buckets);
}

void line_cache_free(struct line_cache *cache)
{
	line_cache_reset(cache);
	keep_pool_free(&cache->keeps);
	free(cache->buckets);
	cache->buckets = NULL;
}

void miss_server_reset(struct miss_server *server)
{
	server->first = server->last = NULL;
	server->active = 0;
}
