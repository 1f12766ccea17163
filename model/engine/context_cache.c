/*
 * Context cache: see context_cache.h.
 *
 * A line holds the bytes of one context and a tag for each use it serves (two for a QP, one else).
 * It is found by a hash of (table, index). A line that is dropped while a DMA of it is under way
 * leaves the hash and lives on alone until the DMA is done.
 */
#include "model/engine/context_cache.h"
#include "model/engine/engine.h"
#include "model/engine/icm.h"
#include "model/interface/contexts.h"

#include <stdlib.h>
#include <string.h>

enum {
	CONTEXT_USES = CONTEXT_SRQ + 1,
	MAX_TAGS = 2,
	LONGEST = 256,
	/* Bytes a line holds: the entry sizes of QUERY_DEV_CAP. */
	QPC_LINE = 256,
	SMALL_LINE = 64,
};

struct line_link {
	struct line *prev, *next;
};

/* A caller that waits for a line to be in memory. */
struct flush {
	struct flush *next;
	void (*done)(void *arg, int status);
	void *arg;
	bool drop;
};

struct line {
	struct line *hash_next;
	struct hca *hca;
	uint32_t key;                 /* table << 24 | index */
	uint8_t kind;                 /* first use of its table */
	uint8_t present, want, dirty; /* bits of tags: cached for, being read for, changed by */
	bool has_bytes;
	bool filling; /* in a miss buffer or waiting for one */
	bool writing;
	bool orphan;       /* not in the hash any more */
	uint16_t failures; /* waiters that are still to be told that the read failed */
	uint16_t pins[MAX_TAGS];
	struct line_link lru[MAX_TAGS];
	struct line *miss_next;
	struct waiter_queue waiters;
	struct flush *flushes;
	struct dma read, write;
	struct dma_frag read_frags[ICM_MAX_FRAGS], write_frags[ICM_MAX_FRAGS];
	uint8_t bytes[];
};

/* The lines of one use, most recently used first. */
struct tag_set {
	struct line *first, *last;
	uint32_t count, room;
	uint32_t latest_number; /* short cut for the same number again */
	struct line *latest;
};

struct context_cache {
	struct line **buckets;
	uint32_t mask;
	struct tag_set sets[CONTEXT_USES];
	struct line *free[CONTEXT_USES];
	struct line *lines; /* orphans, by hash_next: to be freed at reset */
	struct line *miss_first, *miss_last;
	uint32_t misses; /* under way */
	bool held;
	uint32_t held_key;
	struct waiter_queue held_waiters;
	size_t footprint;
	uint8_t scratch[LONGEST]; /* where bytes go that are there already */
};

/* What is fixed for a use. */
static const struct use {
	const char *name;
	uint8_t table, kind, tag;
	uint16_t size;
} uses[CONTEXT_USES] = {
	[CONTEXT_REQUESTER] = {"qpc", FW_TABLE_QPC, CONTEXT_REQUESTER, 0, QPC_LINE},
	[CONTEXT_RESPONDER] = {"qpc", FW_TABLE_QPC, CONTEXT_REQUESTER, 1, QPC_LINE},
	[CONTEXT_CQ] = {"cqc", FW_TABLE_CQC, CONTEXT_CQ, 0, SMALL_LINE},
	[CONTEXT_EQ] = {"eqc", FW_TABLE_EQC, CONTEXT_EQ, 0, SMALL_LINE},
	[CONTEXT_SRQ] = {"srqc", FW_TABLE_SRQC, CONTEXT_SRQ, 0, SMALL_LINE},
};

unsigned context_table(enum context_use use)
{
	return uses[use].table;
}

const char *context_name(enum context_use use)
{
	return uses[use].name;
}

size_t context_size(enum context_use use)
{
	return uses[use].size;
}

struct context_cache *context_cache_create(struct hca *hca)
{
	const struct hca_params *p = hca->params;
	struct context_cache *cache = calloc(1, sizeof(*cache));
	uint64_t total = 0, buckets = 1;

	if (!cache)
		abort();
	cache->sets[CONTEXT_REQUESTER].room = (uint32_t)p->context_cache_requester_entries;
	cache->sets[CONTEXT_RESPONDER].room = (uint32_t)p->context_cache_responder_entries;
	cache->sets[CONTEXT_CQ].room = (uint32_t)p->context_cache_cq_entries;
	cache->sets[CONTEXT_EQ].room = (uint32_t)p->context_cache_eq_entries;
	cache->sets[CONTEXT_SRQ].room = (uint32_t)p->context_cache_srq_entries;
	for (unsigned use = 0; use < CONTEXT_USES; use++)
		total += cache->sets[use].room;
	while (buckets < total)
		buckets *= 2;
	cache->buckets = calloc(buckets, sizeof(*cache->buckets));
	if (!cache->buckets)
		abort();
	cache->mask = (uint32_t)(buckets - 1);
	cache->footprint = sizeof(*cache) + buckets * sizeof(*cache->buckets);
	return cache;
}

static uint32_t line_key(const struct hca *hca, enum context_use use, uint32_t number)
{
	unsigned table = uses[use].table;

	return table << 24 |
	       (number & 0xffffff & ((UINT32_C(1) << (hca->tables[table].log_num & 31)) - 1));
}

static struct line **bucket(struct context_cache *cache, uint32_t key)
{
	uint32_t h = key * 0x9e3779b1u;

	return &cache->buckets[(h ^ h >> 16) & cache->mask];
}

static struct line *line_find(struct context_cache *cache, uint32_t key)
{
	struct line *line = *bucket(cache, key);

	while (line && line->key != key)
		line = line->hash_next;
	return line;
}

static enum context_use tag_use(const struct line *line, unsigned tag)
{
	return (enum context_use)(line->kind + tag);
}

static struct line *line_make(struct hca *hca, enum context_use use, uint32_t key)
{
	struct context_cache *cache = hca->context_cache;
	enum context_use kind = uses[use].kind;
	size_t size = sizeof(struct line) + uses[kind].size;
	struct line *line = cache->free[kind];
	struct line **home = bucket(cache, key);

	if (line) {
		cache->free[kind] = line->hash_next;
		memset(line, 0, sizeof(*line));
	} else {
		line = calloc(1, size);
		if (!line)
			abort();
		cache->footprint += size;
	}
	line->hca = hca;
	line->key = key;
	line->kind = kind;
	line->hash_next = *home;
	*home = line;
	return line;
}

static void unhash(struct context_cache *cache, struct line *line)
{
	struct line **link = line->orphan ? &cache->lines : bucket(cache, line->key);

	while (*link != line)
		link = &(*link)->hash_next;
	*link = line->hash_next;
}

static bool line_busy(const struct line *line)
{
	return line->present || line->filling || line->writing || line->failures;
}

static void line_settle(struct context_cache *cache, struct line *line)
{
	if (line_busy(line))
		return;
	unhash(cache, line);
	line->hash_next = cache->free[line->kind];
	cache->free[line->kind] = line;
}

static void lru_remove(struct context_cache *cache, struct line *line, unsigned tag)
{
	struct tag_set *set = &cache->sets[tag_use(line, tag)];
	struct line_link *link = &line->lru[tag];

	*(link->prev ? &link->prev->lru[tag].next : &set->first) = link->next;
	*(link->next ? &link->next->lru[tag].prev : &set->last) = link->prev;
	set->count--;
	if (set->latest == line)
		set->latest = NULL;
}

static void lru_push(struct context_cache *cache, struct line *line, unsigned tag)
{
	struct tag_set *set = &cache->sets[tag_use(line, tag)];
	struct line_link *link = &line->lru[tag];

	link->prev = NULL;
	link->next = set->first;
	*(set->first ? &set->first->lru[tag].prev : &set->last) = line;
	set->first = line;
	set->count++;
}

static void tag_drop(struct context_cache *cache, struct line *line, unsigned tag)
{
	if (!(line->present & 1u << tag))
		return;
	lru_remove(cache, line, tag);
	line->present &= (uint8_t) ~(1u << tag);
	line->dirty &= (uint8_t) ~(1u << tag);
	line->pins[tag] = 0;
}

/* Forgets the line; one with a DMA under way becomes an orphan. */
static void line_drop(struct context_cache *cache, struct line *line)
{
	for (unsigned tag = 0; tag < MAX_TAGS; tag++)
		tag_drop(cache, line, tag);
	line->dirty = 0;
	line->failures = 0;
	if ((line->filling || line->writing) && !line->orphan) {
		unhash(cache, line);
		line->orphan = true;
		line->hash_next = cache->lines;
		cache->lines = line;
		return;
	}
	line_settle(cache, line);
}

/* --- writing back --- */

static void line_write(struct line *line);

static void flushes_run(struct line *line, int status)
{
	struct context_cache *cache = line->hca->context_cache;
	struct flush *flushes = line->flushes;
	bool drop = false;

	line->flushes = NULL;
	for (struct flush *f = flushes; f; f = f->next)
		drop |= f->drop;
	if (drop && !line->orphan)
		line_drop(cache, line);
	else
		line_settle(cache, line);
	while (flushes) {
		struct flush *f = flushes;

		flushes = f->next;
		f->done(f->arg, status);
		free(f);
	}
}

static void line_written(struct line *line, int status)
{
	line->writing = false;
	if (status)
		guest_error(line->hca, RULE_icm_unmapped,
			    "%s %x at icm %llx can not be written back", uses[line->kind].name,
			    line->key & 0xffffff,
			    (unsigned long long)icm_entry(line->hca, uses[line->kind].table,
							  line->key & 0xffffff));
	/* Changed again under way: whoever wants it flushed wants that too, and nobody else keeps
	 * it for a use that has lost it. */
	if (!status && line->dirty && (line->flushes || line->dirty & ~line->present)) {
		line_write(line);
		return;
	}
	flushes_run(line, status);
}

static void write_done(struct dma *dma)
{
	struct line *line = (struct line *)(void *)((char *)dma - offsetof(struct line, write));

	line_written(line, dma->status ? -EFAULT : 0);
}

static uint32_t entry_len(const struct hca *hca, enum context_use use)
{
	uint32_t entry = hca->tables[uses[use].table].entry_size;

	return entry < uses[use].size ? entry : uses[use].size;
}

static uint32_t line_len(const struct line *line)
{
	return entry_len(line->hca, (enum context_use)line->kind);
}

static uint64_t line_icm(const struct line *line)
{
	return icm_entry(line->hca, uses[line->kind].table, line->key & 0xffffff);
}

static void line_write(struct line *line)
{
	struct hca *hca = line->hca;
	int n = icm_fragments(hca, line_icm(line), line_len(line), line->write_frags,
			      ICM_MAX_FRAGS);

	line->dirty = 0;
	line->writing = true;
	if (n <= 0) {
		line_written(line, -EFAULT);
		return;
	}
	hca->stats.context_cache_writebacks++;
	HCA_TRACE(hca, TP_CACHE_WRITEBACK, .text = uses[line->kind].name,
		  .args = {line->key & 0xffffff, line_icm(line)});
	line->write = (struct dma){
		.hca = hca,
		.done = write_done,
		.buf = line->bytes,
		.frags = line->write_frags,
		.n_frags = (unsigned)n,
		.len = line_len(line),
		.what = uses[line->kind].name,
		.qpn = uses[line->kind].table == FW_TABLE_QPC ? line->key & 0xffffff : 0};
	pcie_write(hca, &line->write, 0);
}

/* Makes room in the set for one more. */
static void set_shrink(struct context_cache *cache, enum context_use use)
{
	struct tag_set *set = &cache->sets[use];
	unsigned tag = uses[use].tag;
	struct line *line = set->last;

	while (line && set->count >= set->room) {
		struct line *before = line->lru[tag].prev;
		bool dirty = line->dirty & 1u << tag;

		if (!line->pins[tag]) {
			tag_drop(cache, line, tag);
			if (dirty && line->writing)
				line->dirty |=
					(uint8_t)(1u << tag); /* line_written() writes it again */
			if (dirty && !line->writing)
				line_write(line);
			else
				line_settle(cache, line);
		}
		line = before;
	}
}

/* --- reading --- */

static void misses_start(struct hca *hca);

static void tags_enter(struct context_cache *cache, struct line *line, uint8_t want)
{
	for (unsigned tag = 0; tag < MAX_TAGS; tag++) {
		if (!(want & 1u << tag) || line->present & 1u << tag)
			continue;
		set_shrink(cache, tag_use(line, tag));
		line->present |= (uint8_t)(1u << tag);
		lru_push(cache, line, tag);
	}
}

static void line_filled(struct line *line, int status)
{
	struct context_cache *cache = line->hca->context_cache;
	struct waiter_queue waiters = {0};
	struct waiter *w;
	uint8_t want = line->want;

	line->filling = false;
	line->want = 0;
	if (!line->orphan && !status) {
		line->has_bytes = true;
		tags_enter(cache, line, want);
	} else if (!line->orphan) {
		for (w = line->waiters.first; w; w = w->next)
			line->failures++;
	}
	/* The line may be gone when the first of them has been woken. */
	waiters = line->waiters;
	line->waiters = (struct waiter_queue){0};
	for (w = waiters.first; w; w = w->next)
		w->in = &waiters;
	line_settle(cache, line);
	waiter_queue_wake(&waiters);
}

static void read_done(struct dma *dma)
{
	struct line *line = (struct line *)(void *)((char *)dma - offsetof(struct line, read));
	struct hca *hca = line->hca;

	hca->context_cache->misses--;
	line_filled(line, dma->status ? -EFAULT : 0);
	misses_start(hca);
}

static void line_read(struct line *line)
{
	struct hca *hca = line->hca;
	struct context_cache *cache = hca->context_cache;
	int n = icm_fragments(hca, line_icm(line), line_len(line), line->read_frags, ICM_MAX_FRAGS);

	if (n <= 0 || line->orphan) {
		line_filled(line, -EFAULT);
		return;
	}
	cache->misses++;
	HCA_TRACE(hca, TP_CACHE_MISS, .text = uses[line->kind].name,
		  .args = {line->key & 0xffffff, line_icm(line)});
	line->read = (struct dma){
		.hca = hca,
		.done = read_done,
		.buf = line->has_bytes ? cache->scratch : line->bytes,
		.frags = line->read_frags,
		.n_frags = (unsigned)n,
		.len = line_len(line),
		.at_ready = true,
		.what = uses[line->kind].name,
		.qpn = uses[line->kind].table == FW_TABLE_QPC ? line->key & 0xffffff : 0};
	pcie_read(hca, &line->read, hca_now(hca) + hca->params->context_cache_miss_latency);
}

static void misses_start(struct hca *hca)
{
	struct context_cache *cache = hca->context_cache;

	while (cache->miss_first && cache->misses < hca->params->context_cache_misses) {
		struct line *line = cache->miss_first;

		cache->miss_first = line->miss_next;
		if (!cache->miss_first)
			cache->miss_last = NULL;
		line->miss_next = NULL;
		line_read(line);
	}
}

static void miss_queue(struct hca *hca, struct line *line)
{
	struct context_cache *cache = hca->context_cache;

	hca->stats.context_cache_misses++;
	line->filling = true;
	if (cache->miss_last)
		cache->miss_last->miss_next = line;
	else
		cache->miss_first = line;
	cache->miss_last = line;
	/* Those before it are started when a read is done: their failure must not wake anybody
	 * inside this call. */
	if (cache->miss_first == line && cache->misses < hca->params->context_cache_misses)
		misses_start(hca);
}

static int unreachable(struct hca *hca, enum context_use use, uint32_t number, const char *why)
{
	guest_error(hca, RULE_icm_unmapped, "%s %x at icm %llx is not reachable: %s",
		    uses[use].name, number & 0xffffff,
		    (unsigned long long)icm_entry(hca, uses[use].table, number), why);
	return -EFAULT;
}

static int context_miss(struct hca *hca, enum context_use use, uint32_t number, struct waiter *w,
			const char *why)
{
	struct context_cache *cache = hca->context_cache;
	uint32_t key = line_key(hca, use, number);
	struct dma_frag frags[ICM_MAX_FRAGS];
	struct line *line;

	if (!icm_object_valid(hca, uses[use].table, number))
		return -ENOENT;
	if (cache->held && cache->held_key == key) {
		waiter_queue_add(&cache->held_waiters, w);
		return -EAGAIN;
	}
	line = line_find(cache, key);
	if (line && line->failures) {
		line->failures--;
		line_settle(cache, line);
		return unreachable(hca, use, number, why);
	}
	if (!(line && line->filling) &&
	    icm_fragments(hca, icm_entry(hca, uses[use].table, number), entry_len(hca, use), frags,
			  ICM_MAX_FRAGS) <= 0)
		return unreachable(hca, use, number, why);
	if (!line)
		line = line_make(hca, use, key);
	line->want |= (uint8_t)(1u << uses[use].tag);
	waiter_queue_add(&line->waiters, w);
	if (!line->filling)
		miss_queue(hca, line);
	return -EAGAIN;
}

static void *line_hit(struct hca *hca, enum context_use use, uint32_t number, struct line *line)
{
	struct tag_set *set = &hca->context_cache->sets[use];
	unsigned tag = uses[use].tag;

	hca->stats.context_cache_hits++;
	if (set->first != line) {
		lru_remove(hca->context_cache, line, tag);
		lru_push(hca->context_cache, line, tag);
	}
	set->latest = line;
	set->latest_number = number;
	return line->bytes;
}

int context_get(struct hca *hca, enum context_use use, uint32_t number, struct waiter *w,
		void **bytes, const char *why)
{
	struct context_cache *cache = hca->context_cache;
	struct tag_set *set = &cache->sets[use];
	uint8_t tag = (uint8_t)(1u << uses[use].tag);
	struct line *line;

	if (set->latest && set->latest_number == number && set->first == set->latest) {
		hca->stats.context_cache_hits++;
		*bytes = set->latest->bytes;
		return 0;
	}
	line = line_find(cache, line_key(hca, use, number));
	if (line && !line->present && line->writing && line->has_bytes && !line->filling) {
		/* Evicted and not landed yet: the victim serves, and becomes a line again. */
		tags_enter(cache, line, tag);
	}
	if (!line || !(line->present & tag))
		return context_miss(hca, use, number, w, why);
	*bytes = line_hit(hca, use, number, line);
	return 0;
}

static struct line *line_present(const struct hca *hca, enum context_use use, uint32_t number)
{
	struct line *line = line_find(hca->context_cache, line_key(hca, use, number));

	return line && line->present & 1u << uses[use].tag ? line : NULL;
}

void context_changed(struct hca *hca, enum context_use use, uint32_t number)
{
	struct tag_set *set = &hca->context_cache->sets[use];
	struct line *line = set->latest && set->latest_number == number
				    ? set->latest
				    : line_present(hca, use, number);

	if (line)
		line->dirty |= (uint8_t)(1u << uses[use].tag);
}

void context_pin(struct hca *hca, enum context_use use, uint32_t number, bool pin)
{
	struct line *line = line_present(hca, use, number);

	if (line && pin)
		line->pins[uses[use].tag]++;
	else if (line && line->pins[uses[use].tag])
		line->pins[uses[use].tag]--;
}

void context_flush(struct hca *hca, enum context_use use, uint32_t number, bool drop,
		   void (*done)(void *arg, int status), void *arg)
{
	struct context_cache *cache = hca->context_cache;
	struct line *line = line_find(cache, line_key(hca, use, number));
	struct flush *flush;

	if (!line || (!line->dirty && !line->writing)) {
		if (line && drop)
			line_drop(cache, line);
		done(arg, 0);
		return;
	}
	flush = malloc(sizeof(*flush));
	if (!flush)
		abort();
	*flush = (struct flush){.next = line->flushes, .done = done, .arg = arg, .drop = drop};
	line->flushes = flush;
	if (!line->writing)
		line_write(line);
}

void context_hold(struct hca *hca, enum context_use use, uint32_t number)
{
	context_release(hca);
	hca->context_cache->held = true;
	hca->context_cache->held_key = line_key(hca, use, number);
}

void context_release(struct hca *hca)
{
	hca->context_cache->held = false;
	waiter_queue_wake(&hca->context_cache->held_waiters);
}

void context_drop(struct hca *hca, enum context_use use, uint32_t number)
{
	struct line *line = line_find(hca->context_cache, line_key(hca, use, number));

	if (line)
		line_drop(hca->context_cache, line);
}

void context_drop_range(struct hca *hca, uint64_t va, uint64_t len)
{
	struct context_cache *cache = hca->context_cache;

	for (uint32_t i = 0; len && i <= cache->mask; i++) {
		struct line *next;

		for (struct line *line = cache->buckets[i]; line; line = next) {
			uint64_t at = line_icm(line);

			next = line->hash_next;
			if (at + line_len(line) > va && at <= va + (len - 1))
				line_drop(cache, line);
		}
	}
}

const void *context_peek(const struct hca *hca, enum context_use use, uint32_t number)
{
	const struct line *line = line_find(hca->context_cache, line_key(hca, use, number));

	return line && line->has_bytes && (line->present || line->writing) ? line->bytes : NULL;
}

static void line_free(struct line *line)
{
	waiter_queue_clear(&line->waiters);
	while (line->flushes) {
		struct flush *f = line->flushes;

		line->flushes = f->next;
		free(f);
	}
	free(line);
}

static void lines_free(struct line **list)
{
	while (*list) {
		struct line *line = *list;

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
		cache->sets[kind] = (struct tag_set){.room = cache->sets[kind].room};
	}
	lines_free(&cache->lines);
	cache->miss_first = cache->miss_last = NULL;
	cache->misses = 0;
	cache->held = false;
	waiter_queue_clear(&cache->held_waiters);
	cache->footprint = sizeof(*cache) + ((size_t)cache->mask + 1) * sizeof(*cache->buckets);
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
	free(cache->buckets);
	free(cache);
}

size_t context_cache_footprint(const struct hca *hca)
{
	return hca->context_cache->footprint;
}
