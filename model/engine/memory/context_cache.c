/* SPDX-License-Identifier: Apache-2.0 */
/* Context cache: reading, writing back, what callers get. See context_cache.h, context_lines.h. */
#include "model/engine/memory/context_lines.h"
#include "model/interface/contexts.h"
#include "model/interface/macros.h"
#include "model/sim/params/hca_context_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPORT_CHARS = 120 };

static uint32_t entry_len(const struct hca *hca, enum context_use use)
{
	uint32_t entry = hca->tables[context_uses[use].table].entry_size;

	return entry < context_uses[use].size ? entry : context_uses[use].size;
}

static uint32_t line_len(const struct context_line *line)
{
	return entry_len(line->hca, (enum context_use)line->kind);
}

static uint64_t line_icm(const struct context_line *line)
{
	return icm_entry(line->hca, context_uses[line->kind].table, line->key & 0xffffff);
}

/* --- writing back --- */

static void line_write(struct context_line *line);

static void flushes_run(struct context_line *line, int status)
{
	struct hca *hca = line->hca;
	struct context_cache *cache = hca->context_cache;
	struct flush *flushes = line->flushes;
	bool drop = false;

	line->flushes = NULL;
	for (struct flush *f = flushes; f; f = f->next)
		drop |= f->drop;
	if (drop && !line->orphan)
		context_line_drop(cache, line);
	else
		context_line_settle(cache, line);
	while (flushes) {
		struct flush *f = flushes;

		flushes = f->next;
		f->done(f->arg, status);
		memory_give(hca, f, sizeof(*f));
	}
}

static struct guest_object use_object(unsigned use, uint32_t number)
{
	static const enum guest_object_kind kinds[] = {
		[FW_TABLE_QPC] = GUEST_QP,
		[FW_TABLE_CQC] = GUEST_CQ,
		[FW_TABLE_EQC] = GUEST_EQ,
		[FW_TABLE_SRQC] = GUEST_SRQ,
	};

	return guest_object(kinds[context_uses[use].table], number & 0xffffff);
}

static void line_written(struct context_line *line, int status)
{
	char text[REPORT_CHARS];

	line->writing = false;
	if (status) {
		snprintf(text, sizeof(text), "%s %x can not be written back",
			 context_uses[line->kind].name, line->key & 0xffffff);
		icm_report(line->hca, use_object(line->kind, line->key), line_icm(line),
			   line_len(line), text);
	}
	/* The context was changed while it was being written. Write it again if a caller waits for
	 * a flush, or if the use that changed it has been evicted: nothing else would write that
	 * change. */
	if (!status && line->dirty && (line->flushes || line->dirty & ~line->present)) {
		line_write(line);
		return;
	}
	flushes_run(line, status);
}

static void write_done(struct dma *dma)
{
	struct context_line *line = container_of(dma, struct context_line, write);

	line_written(line, dma->status ? -EFAULT : 0);
}

static void line_write(struct context_line *line)
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
	HCA_TRACE(hca, TP_CACHE_WRITEBACK, .text = context_uses[line->kind].name,
		  .args = {line->key & 0xffffff, line_icm(line)});
	line->write = (struct dma){
		.hca = hca,
		.done = write_done,
		.buf = line->bytes,
		.frags = line->write_frags,
		.n_frags = (unsigned)n,
		.len = line_len(line),
		.what = context_uses[line->kind].name,
		.qpn = context_uses[line->kind].table == FW_TABLE_QPC ? line->key & 0xffffff : 0};
	pcie_write(hca, &line->write, 0);
}

/* Takes a use from the line. Writes the line to ICM if that use has changed it. */
static void tag_evict(struct context_cache *cache, struct context_line *line, unsigned tag)
{
	bool dirty = line->dirty & 1u << tag;

	line->hca->stats.context_cache_evictions++;
	context_tag_drop(cache, line, tag);
	if (dirty && line->writing)
		line->dirty |= (uint8_t)(1u << tag); /* line_written() writes it again */
	if (dirty && !line->writing)
		line_write(line);
	else
		context_line_settle(cache, line);
}

/* Makes room in the set for one more line. */
static void set_shrink(struct context_cache *cache, enum context_use use, struct tag_set *set)
{
	unsigned tag = context_uses[use].tag;
	struct context_line *line = set->last;

	while (line && set->count >= cache->uses[use].room) {
		struct context_line *before = line->lru[tag].prev;

		if (!line->leases && !line->keeps)
			tag_evict(cache, line, tag);
		line = before;
	}
}

/* --- reading --- */

static void misses_start(struct hca *hca, enum miss_end end);

static void tags_enter(struct context_cache *cache, struct context_line *line, uint8_t want)
{
	for (unsigned tag = 0; tag < MAX_TAGS; tag++) {
		const enum context_use use = context_tag_use(line, tag);

		if (!(want & 1u << tag) || line->present & 1u << tag)
			continue;
		set_shrink(cache, use, context_set(cache, use, line->key));
		line->present |= (uint8_t)(1u << tag);
		context_lru_push(cache, line, tag);
	}
}

static void line_filled(struct context_line *line, int status)
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
	/* Waking a waiter may free the line, so the queue moves to this stack frame first. */
	waiters = line->waiters;
	line->waiters = (struct waiter_queue){0};
	for (w = waiters.first; w; w = w->next)
		w->in = &waiters;
	if (line->present)
		keep_for_all(&cache->keeps, &line->keeps, &waiters);
	context_line_settle(cache, line);
	waiter_queue_wake(&waiters);
}

static void read_done(struct dma *dma);

/*
 * The context has been read. READs and atomics also need the QP's responder resources (RDMARC), so
 * a second read fetches them. Only its time counts here: the bytes go to scratch, and atomic_read.h
 * reads them again when a request is a duplicate. False: no second read is needed or possible.
 */
static bool resources_read(struct context_line *line)
{
	struct hca *hca = line->hca;
	const uint32_t first = (line->key & 0xffffff) << hca->tables[FW_TABLE_RDMARC].log_num;
	int n;

	if (line->kind != CONTEXT_REQUESTER || line->orphan || line->resources ||
	    !(line->want & 1u << context_uses[CONTEXT_READS].tag))
		return false;
	n = icm_fragments(hca, icm_entry(hca, FW_TABLE_RDMARC, first), sizeof(struct rdmarc),
			  line->read_frags, ICM_MAX_FRAGS);
	if (n <= 0)
		return false;
	line->resources = true;
	line->read = (struct dma){.hca = hca,
				  .done = read_done,
				  .buf = hca->context_cache->scratch,
				  .frags = line->read_frags,
				  .n_frags = (unsigned)n,
				  .len = sizeof(struct rdmarc),
				  .at_ready = true,
				  .what = "rdmarc",
				  .qpn = line->key & 0xffffff};
	pcie_read(hca, &line->read, 0);
	return true;
}

static void read_done(struct dma *dma)
{
	struct context_line *line = container_of(dma, struct context_line, read);
	struct hca *hca = line->hca;
	const enum miss_end end = (enum miss_end)line->end;

	if (!dma->status && resources_read(line))
		return;
	line->resources = false;
	hca->context_cache->misses[end].active--;
	hca->stats.context_cache_miss_ps += hca_now(hca) - line->miss_ps;
	if (end == MISS_RECEIVE)
		hca->calls->receive_goes_on(hca);
	line_filled(line, dma->status ? -EFAULT : 0);
	misses_start(hca, end);
}

static void line_read(struct context_line *line)
{
	struct hca *hca = line->hca;
	struct context_cache *cache = hca->context_cache;

	if (line->orphan) {
		line_filled(line, -EFAULT);
		return;
	}
	cache->misses[line->end].active++;
	line->miss_ps = hca_now(hca);
	if (line->end == MISS_RECEIVE)
		hca->calls->receive_stalls(hca);
	HCA_TRACE(hca, TP_CACHE_MISS, .text = context_uses[line->kind].name,
		  .args = {line->key & 0xffffff, line_icm(line)});
	line->read = (struct dma){
		.hca = hca,
		.done = read_done,
		.buf = line->has_bytes ? cache->scratch : line->bytes,
		.frags = line->read_frags,
		.n_frags = line->n_read_frags,
		.len = line_len(line),
		.at_ready = true,
		.what = context_uses[line->kind].name,
		.qpn = context_uses[line->kind].table == FW_TABLE_QPC ? line->key & 0xffffff : 0};
	pcie_read(hca, &line->read, hca_now(hca) + param_context_cache_miss_latency(hca->params));
	HCA_TRACE(hca, TP_CACHE_RUN, .text = line->read.what, .qpn = line->read.qpn,
		  .corr = line->key & 0xffffff, .args = {line->read.ready_ps});
}

static void misses_start(struct hca *hca, enum miss_end end)
{
	struct miss_queue *queue = &hca->context_cache->misses[end];

	while (queue->first && queue->active < param_context_cache_misses(hca->params)) {
		struct context_line *line = queue->first;

		queue->first = line->miss_next;
		if (!queue->first)
			queue->last = NULL;
		line->miss_next = NULL;
		line_read(line);
	}
}

static void miss_queue(struct hca *hca, struct context_line *line, enum context_use use)
{
	const enum miss_end end = (enum miss_end)context_uses[use].end;
	struct miss_queue *queue = &hca->context_cache->misses[end];

	hca->stats.context_cache_misses++;
	hca->stats.context_cache_requester_misses += use == CONTEXT_REQUESTER;
	hca->stats.context_cache_responder_misses += use == CONTEXT_RESPONDER;
	hca->stats.context_cache_read_misses += use == CONTEXT_READS;
	line->filling = true;
	line->end = (uint8_t)end;
	if (queue->last)
		queue->last->miss_next = line;
	else
		queue->first = line;
	queue->last = line;
	/* Lines that are already in the queue are started by read_done(). Starting them here could
	 * make one of them fail, and wake its waiters inside this call. */
	if (queue->first == line && queue->active < param_context_cache_misses(hca->params))
		misses_start(hca, end);
	else
		hca->stats.context_cache_miss_waits++;
}

static int unreachable(struct hca *hca, enum context_use use, uint32_t number, const char *why)
{
	char text[REPORT_CHARS];

	snprintf(text, sizeof(text), "%s %x is not reachable: %s", context_uses[use].name,
		 number & 0xffffff, why);
	icm_report(hca, use_object(use, number), icm_entry(hca, context_uses[use].table, number),
		   entry_len(hca, use), text);
	return -EFAULT;
}

static int __attribute__((noinline))
context_miss(struct hca *hca, enum context_use use, uint32_t number, struct waiter *w,
	     const char *why)
{
	struct context_cache *cache = hca->context_cache;
	uint32_t key = context_line_key(hca, use, number);
	struct dma_frag frags[ICM_MAX_FRAGS];
	struct context_line *line;
	int n = 0;

	if (!icm_object_valid(hca, context_uses[use].table, number))
		return -ENOENT;
	if (cache->held && cache->held_key == key) {
		waiter_queue_add(&cache->held_waiters, w);
		return -EAGAIN;
	}
	line = context_line_find(cache, key);
	if (line && line->failures) {
		line->failures--;
		context_line_settle(cache, line);
		return unreachable(hca, use, number, why);
	}
	if (!(line && line->filling)) {
		n = icm_fragments(hca, icm_entry(hca, context_uses[use].table, number),
				  entry_len(hca, use), frags, ICM_MAX_FRAGS);
		if (n <= 0)
			return unreachable(hca, use, number, why);
	}
	if (!line)
		line = context_line_make(hca, use, key);
	line->want |= (uint8_t)(1u << context_uses[use].tag);
	waiter_queue_add(&line->waiters, w);
	if (line->filling)
		return -EAGAIN;
	/* If these pages are unmapped before the read begins, the line becomes an orphan. */
	memcpy(line->read_frags, frags, (unsigned)n * sizeof(*frags));
	line->n_read_frags = (unsigned)n;
	miss_queue(hca, line, use);
	return -EAGAIN;
}

static void *line_hit(struct hca *hca, enum context_use use, uint32_t number,
		      struct context_line *line)
{
	struct tag_sets *sets = &hca->context_cache->uses[use];
	unsigned tag = context_uses[use].tag;

	hca->stats.context_cache_hits++;
	if (line->lru[tag].prev) {
		context_lru_remove(hca->context_cache, line, tag);
		context_lru_push(hca->context_cache, line, tag);
	}
	sets->latest = line;
	sets->latest_number = number;
	return line->bytes;
}

static int __attribute__((noinline))
get_by_hash(struct hca *hca, enum context_use use, uint32_t number, struct waiter *w, void **bytes,
	    const char *why)
{
	struct context_cache *cache = hca->context_cache;
	uint8_t tag = (uint8_t)(1u << context_uses[use].tag);
	struct context_line *line = context_line_find(cache, context_line_key(hca, use, number));

	if (line && !line->present && line->writing && line->has_bytes && !line->filling) {
		/* The line has been evicted, but its write is not finished: its bytes are still
		 * valid, so it becomes a cached line again. */
		tags_enter(cache, line, tag);
	}
	if (!line || !(line->present & tag))
		return context_miss(hca, use, number, w, why);
	*bytes = line_hit(hca, use, number, line);
	return 0;
}

int context_get(struct hca *hca, enum context_use use, uint32_t number, struct waiter *w,
		void **bytes, const char *why)
{
	struct tag_sets *sets = &hca->context_cache->uses[use];

	if (sets->latest && sets->latest_number == number) {
		hca->stats.context_cache_hits++;
		*bytes = sets->latest->bytes;
		return 0;
	}
	return get_by_hash(hca, use, number, w, bytes, why);
}

static struct context_line *line_of(void *bytes)
{
	return (struct context_line *)(void *)((uint8_t *)bytes -
					       offsetof(struct context_line, bytes));
}

int context_lease(struct hca *hca, enum context_use use, uint32_t number, struct waiter *w,
		  void **bytes, const char *why)
{
	int err = context_get(hca, use, number, w, bytes, why);

	if (!err)
		line_of(*bytes)->leases++;
	return err;
}

void context_lease_end(void *bytes)
{
	line_of(bytes)->leases--;
}

static struct context_line *line_present(const struct hca *hca, enum context_use use,
					 uint32_t number)
{
	struct context_line *line =
		context_line_find(hca->context_cache, context_line_key(hca, use, number));

	return line && line->present & 1u << context_uses[use].tag ? line : NULL;
}

void context_changed(struct hca *hca, enum context_use use, uint32_t number)
{
	struct tag_sets *sets = &hca->context_cache->uses[use];
	struct context_line *line = sets->latest && sets->latest_number == number
					    ? sets->latest
					    : line_present(hca, use, number);

	if (line)
		line->dirty |= (uint8_t)(1u << context_uses[use].tag);
}

void context_flush(struct hca *hca, enum context_use use, uint32_t number, bool drop,
		   void (*done)(void *arg, int status), void *arg)
{
	struct context_cache *cache = hca->context_cache;
	struct context_line *line = context_line_find(cache, context_line_key(hca, use, number));
	struct flush *flush;

	if (!line || (!line->dirty && !line->writing)) {
		if (line && drop)
			context_line_drop(cache, line);
		done(arg, 0);
		return;
	}
	flush = memory_take(hca, sizeof(*flush), "contexts to be written");
	*flush = (struct flush){.next = line->flushes, .done = done, .arg = arg, .drop = drop};
	line->flushes = flush;
	if (!line->writing)
		line_write(line);
}

void context_hold(struct hca *hca, enum context_use use, uint32_t number)
{
	context_release(hca);
	hca->context_cache->held = true;
	hca->context_cache->held_key = context_line_key(hca, use, number);
}

void context_release(struct hca *hca)
{
	hca->context_cache->held = false;
	waiter_queue_wake(&hca->context_cache->held_waiters);
}

void context_evict(struct hca *hca, enum context_use use, uint32_t number)
{
	unsigned tag = context_uses[use].tag;
	struct context_line *line = line_present(hca, use, number);

	if (line)
		tag_evict(hca->context_cache, line, tag);
}

void context_drop(struct hca *hca, enum context_use use, uint32_t number)
{
	struct context_line *line =
		context_line_find(hca->context_cache, context_line_key(hca, use, number));

	if (line)
		context_line_drop(hca->context_cache, line);
}

void context_drop_range(struct hca *hca, uint64_t va, uint64_t len)
{
	struct context_cache *cache = hca->context_cache;
	uint32_t left = len ? cache->hashed : 0;

	for (uint32_t i = 0; left; i++) {
		struct context_line *next;

		for (struct context_line *line = cache->buckets[i]; line; line = next) {
			uint64_t at = line_icm(line);

			next = line->hash_next;
			left--;
			if (at + line_len(line) > va && at <= va + (len - 1))
				context_line_drop(cache, line);
		}
	}
}

const void *context_peek(const struct hca *hca, enum context_use use, uint32_t number)
{
	const struct context_line *line =
		context_line_find(hca->context_cache, context_line_key(hca, use, number));

	return line && line->has_bytes && (line->present || line->writing) ? line->bytes : NULL;
}
