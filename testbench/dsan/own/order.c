// SPDX-License-Identifier: Apache-2.0
/*
 * Order: what the device reads must have been stored before the store that made it read, with a
 * write barrier between the two; what stands in a CQE or EQE must be loaded behind its owner bit,
 * with a read barrier between them. Whether the processor at hand would have kept the order without
 * the barrier does not matter.
 *
 * Every thread counts its barriers. Each interval between two of them has a number of its own, the
 * epoch. So two accesses of one epoch are those of one thread without a barrier between them.
 */
#include "testbench/dsan/checker_impl.h"

#include "model/interface/macros.h"
#include "model/interface/queues.h"

#include <stdlib.h>
#include <string.h>

enum {
	ENTRIES = 1 << 16,  /* CQEs and EQEs that are remembered; a power of two */
	TRIGGERS = 1 << 16, /* epochs whose register writes are remembered; a power of two */
	RECORDS = 1 << 10,  /* doorbell records that are known; a power of two */
	OWNER_WORD = CQE_SIZE - WORD,
};

_Static_assert((int)CQE_SIZE == (int)EQE_SIZE, "the owner bit is in the last word of both");

/* Present epochs of a thread. */
struct order_thread {
	uint32_t loads, stores;
};

/* A CQE or EQE, as written by the device once. */
struct entry {
	uint32_t id;    /* 0: none */
	uint32_t epoch; /* of loads, at the first load of it; 0: nobody has looked */
	uintptr_t at;
	const void *pc;
	const char *what;
};

struct trigger { /* the epoch's last one */
	uint32_t epoch, seq;
	const void *pc;
	uintptr_t at; /* of a store */
};

struct order {
	struct checker *c;
	struct order_thread *threads;
	unsigned n_threads;
	const struct kernel_thread *running; /* the thread that `now` belongs to */
	struct order_thread *now;
	uint32_t epochs, entry_ids;
	struct entry entries[ENTRIES];
	struct trigger triggers[TRIGGERS];
	/* The last store of each epoch. A doorbell record that is stored without a barrier before it is the
	 * last store in the epoch of the receive that it counts. */
	struct trigger stores[TRIGGERS];
	uintptr_t records[RECORDS]; /* doorbell records of receives that the device has read */
	bool *stored_pages;         /* of the host's memory: the driver has stored there, ever */
};

struct order *order_create(struct checker *c)
{
	struct order *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->c = c;
	o->stored_pages = calloc(c->host.bytes / PLATFORM_PAGE_SIZE, sizeof(*o->stored_pages));
	if (o->stored_pages)
		return o;
	free(o);
	return NULL;
}

void order_destroy(struct order *o)
{
	if (!o)
		return;
	free(o->threads);
	free(o->stored_pages);
	free(o);
}

/* --- threads --- */

static void threads_grow(struct order *o, unsigned number)
{
	const unsigned n = 2 * number + 16;
	struct order_thread *grown = realloc(o->threads, n * sizeof(*grown));

	if (!grown)
		abort();
	o->threads = grown;
	for (; o->n_threads < n; o->n_threads++)
		grown[o->n_threads] = (struct order_thread){++o->epochs, ++o->epochs};
}

/* Code that runs outside of threads counts as thread 0. */
static struct order_thread *thread_now(struct order *o)
{
	/* a guest has one processor, and what runs there is one thread */
	const struct kernel_thread *running =
		o->c->guest ? NULL : kernel_thread_self(o->c->host.kernel);
	unsigned number;

	if (running == o->running && o->now)
		return o->now;
	number = running ? kernel_thread_number(running) : 0;
	if (number >= o->n_threads)
		threads_grow(o, number);
	o->running = running;
	o->now = &o->threads[number];
	return o->now;
}

void order_fence(struct order *o, unsigned fence)
{
	struct order_thread *t = thread_now(o);

	if (fence & CALLOUT_FENCE_LOADS)
		t->loads = ++o->epochs;
	if (fence & CALLOUT_FENCE_STORES)
		t->stores = ++o->epochs;
}

uint32_t order_epoch(struct order *o)
{
	return thread_now(o)->stores;
}

/* --- stores, and what made the device read them --- */

static size_t page_of(const struct order *o, uintptr_t at)
{
	return (at - (uintptr_t)o->c->host.memory) / PLATFORM_PAGE_SIZE;
}

/* The word at `at`, or the first behind it in a page that the driver has stored to. Most of what
 * moves is payload, which the driver never touches. */
static uintptr_t stored_word(const struct order *o, uintptr_t at, uintptr_t end)
{
	uintptr_t w = at & ~(uintptr_t)(WORD - 1);

	while (w < end && !o->stored_pages[page_of(o, w)])
		w = (w | (PLATFORM_PAGE_SIZE - 1)) + 1;
	return w;
}

static uintptr_t *record_place(struct order *o, uintptr_t at)
{
	return &o->records[at / WORD % RECORDS];
}

void order_store(struct order *o, uintptr_t at, size_t bytes, const void *pc)
{
	const struct stored s = {.seq = ++o->c->seq, .epoch = thread_now(o)->stores, .pc = pc};

	for (size_t page = page_of(o, at); page <= page_of(o, at + bytes - 1); page++)
		o->stored_pages[page] = true;
	o->stores[s.epoch % TRIGGERS] = (struct trigger){s.epoch, s.seq, pc, at};
	for (uintptr_t w = at & ~(uintptr_t)(WORD - 1); w < at + bytes; w += WORD)
		*checker_stored(o->c, w) = s;
}

void order_trigger(struct order *o, const void *pc)
{
	const uint32_t epoch = thread_now(o)->stores;

	o->triggers[epoch % TRIGGERS] =
		(struct trigger){.epoch = epoch, .seq = ++o->c->seq, .pc = pc};
}

/* What follows the store without a write barrier between them: of register writes, or of stores. */
static const struct trigger *trigger_behind(const struct trigger triggers[TRIGGERS],
					    const struct stored *s)
{
	const struct trigger *t = &triggers[s->epoch % TRIGGERS];

	return s->seq && t->epoch == s->epoch && t->seq > s->seq ? t : NULL;
}

static bool unordered(const struct stored *first, const struct stored *then)
{
	return first->seq && first->epoch == then->epoch && first->seq < then->seq;
}

/* Of the words of [at, at + len) the first that was stored before `t` without a barrier. */
static void check_before_trigger(struct order *o, uintptr_t at, uint32_t len, const char *what)
{
	for (uintptr_t w = stored_word(o, at, at + len); w < at + len;
	     w = stored_word(o, w + WORD, at + len)) {
		const struct stored *s = checker_stored(o->c, w);
		const struct trigger *t = trigger_behind(o->triggers, s);

		if (!t)
			continue;
		checker_report(o->c, &(struct breach){RULE_order_doorbell, {0}, s->pc, t->pc},
			       "%s, byte %u", what, (unsigned)(w - at));
		return;
	}
}

/* The record may count many more receives by now. The store that counted this one is the next one behind it. */
static void check_receive(struct order *o, uintptr_t at, uint32_t len, uint32_t qpn)
{
	for (uintptr_t w = stored_word(o, at, at + len); w < at + len;
	     w = stored_word(o, w + WORD, at + len)) {
		const struct stored *s = checker_stored(o->c, w);
		const struct trigger *t = trigger_behind(o->stores, s);

		if (!t || *record_place(o, t->at) != t->at)
			continue;
		checker_report(o->c,
			       &(struct breach){RULE_order_receive, {GUEST_QP, qpn}, s->pc, t->pc},
			       "receive of qpn %06x", qpn);
		return;
	}
}

static bool is_legal_behind_owner(uintptr_t offset)
{
	/* fields bf_index and bf_qpn, which only a BlueFlame write needs: dwords 0 and 1 */
	return offset < 2 * WORD;
}

/*
 * A device that reads ahead knows a chunk that is not written yet by the stamp in its first word. So
 * that word is stored last. Source: Linux mlx4 set_data_seg, build_mlx_header; rdma-core libmlx4
 * set_data_seg. Reports the first chunk where it is not.
 */
static void check_chunks(struct order *o, uintptr_t at, size_t len, const struct guest_object *qp)
{
	for (size_t offset = WQE_CHUNK; offset < len; offset += WORD) {
		const size_t chunk = offset / WQE_CHUNK * WQE_CHUNK;
		const struct stored *head = checker_stored(o->c, at + chunk),
				    *s = checker_stored(o->c, at + offset);

		if (offset == chunk || !head->seq || (s->seq <= head->seq && !unordered(s, head)))
			continue;
		checker_report(o->c, &(struct breach){RULE_order_wqe_body, *qp, s->pc, head->pc},
			       "byte %u of a WQE%s the first word of its chunk", (unsigned)offset,
			       s->seq > head->seq ? ", behind" : " and");
		return;
	}
}

void order_wqe(struct order *o, const struct hca_wqe_seen *wqe)
{
	const size_t len = (size_t)wqe_ctrl_get_ds(wqe->bytes) * WQE_UNIT;
	const uintptr_t at = checker_address(o->c, wqe->bus);
	const struct guest_object qp = {GUEST_QP, wqe->qpn};
	const struct stored *owner, *s;
	const struct trigger *t;

	/* a size that is wrong may lead out of the memory */
	if (!at || (len && !checker_has(o->c, at + len - 1)) || !checker_still_stored(o->c, at))
		return;
	owner = checker_stored(o->c, at);
	t = trigger_behind(o->triggers, owner);
	if (t)
		checker_report(o->c, &(struct breach){RULE_order_doorbell, qp, owner->pc, t->pc},
			       "owner bit of wqe %u", wqe->index);
	check_chunks(o, at, len, &qp);
	for (uintptr_t offset = WORD; offset < len; offset += WORD) {
		s = checker_stored(o->c, at + offset);
		if (!unordered(s, owner) && (s->seq <= owner->seq || is_legal_behind_owner(offset)))
			continue;
		checker_report(o->c, &(struct breach){RULE_order_wqe_body, qp, s->pc, owner->pc},
			       "byte %u of wqe %u%s", (unsigned)offset, wqe->index,
			       s->seq > owner->seq ? ", behind the owner bit" : "");
		return;
	}
}

void order_owner(struct order *o, uintptr_t at, uint32_t qpn)
{
	const size_t len = (size_t)wqe_ctrl_get_ds((const struct wqe_ctrl *)at) * WQE_UNIT;
	const struct stored *owner = checker_stored(o->c, at), *s;

	check_chunks(o, at, len, &(struct guest_object){GUEST_QP, qpn});
	for (uintptr_t offset = WORD; offset < len; offset += WORD) {
		s = checker_stored(o->c, at + offset);
		if (!unordered(s, owner))
			continue;
		checker_report(
			o->c,
			&(struct breach){RULE_order_wqe_body, {GUEST_QP, qpn}, s->pc, owner->pc},
			"byte %u of the newest WQE", (unsigned)offset);
		return;
	}
}

/* --- loads behind an owner bit --- */

static void entry_written(struct order *o, uintptr_t at, const char *what)
{
	uint32_t id = ++o->entry_ids ? o->entry_ids : ++o->entry_ids;

	o->entries[id % ENTRIES] = (struct entry){.id = id, .at = at, .what = what};
	for (unsigned i = 0; i < CQE_SIZE; i += WORD)
		*checker_stored(o->c, at + i) = (struct stored){.entry = id};
}

static void check_load(struct order *o, struct entry *e, uintptr_t w, const void *pc)
{
	const uint32_t epoch = thread_now(o)->loads;

	if (!e->epoch) {
		e->epoch = epoch;
		e->pc = pc;
		if (w - e->at != OWNER_WORD)
			checker_report(o->c, &(struct breach){RULE_order_entry, {0}, pc, NULL},
				       "%s, byte %u was loaded before the owner bit", e->what,
				       (unsigned)(w - e->at));
	} else if (e->epoch == epoch && w - e->at != OWNER_WORD) {
		checker_report(o->c, &(struct breach){RULE_order_entry, {0}, pc, e->pc},
			       "%s, byte %u", e->what, (unsigned)(w - e->at));
	}
}

void order_load(struct order *o, uintptr_t at, size_t bytes, const void *pc)
{
	for (uintptr_t w = at & ~(uintptr_t)(WORD - 1); w < at + bytes; w += WORD) {
		const uint32_t id = checker_stored(o->c, w)->entry;

		if (id && o->entries[id % ENTRIES].id == id)
			check_load(o, &o->entries[id % ENTRIES], w, pc);
	}
}

/* --- what the device does --- */

enum dma_class {
	DMA_ENTRY,     /* a CQE or EQE is written */
	DMA_RECORD,    /* a doorbell record of receives */
	DMA_RECEIVE,   /* a receive, which the record counts */
	DMA_TRIGGERED, /* read because of a doorbell or command */
};

/* The DMAs that have to do with order. Of the rest either nothing is promised, or it is checked
 * elsewhere: a send WQE by order_wqe(). */
static const struct dma_row {
	const char *what;
	enum dma_class class;
} dma_rows[] = {
	{"cqe", DMA_ENTRY},           {"eqe", DMA_ENTRY},          {"doorbell record", DMA_RECORD},
	{"receive wqe", DMA_RECEIVE}, {"firmware", DMA_TRIGGERED}, {"firmware icm", DMA_TRIGGERED},
	{"mpt", DMA_TRIGGERED},       {"mtt", DMA_TRIGGERED},      {"page list", DMA_TRIGGERED},
	{"payload", DMA_TRIGGERED},
};

static const struct dma_row *dma_row_find(const char *what)
{
	for (const struct dma_row *r = dma_rows; r < dma_rows + ARRAY_SIZE(dma_rows); r++)
		if (!strcmp(r->what, what))
			return r;
	return NULL;
}

static void device_stores(struct order *o, uintptr_t at, uint32_t len)
{
	for (uintptr_t w = stored_word(o, at, at + len); w < at + len;
	     w = stored_word(o, w + WORD, at + len))
		if (checker_stored(o->c, w)->seq)
			*checker_stored(o->c, w) = (struct stored){0};
}

void order_dma(struct order *o, const struct hca_dma_seen *dma)
{
	const struct dma_row *row = dma_row_find(dma->what);
	const uintptr_t at = checker_address(o->c, dma->bus);

	if (!at || !checker_has(o->c, at + dma->len - 1))
		return;
	if (dma->write) {
		if (row && row->class == DMA_ENTRY)
			entry_written(o, at, row->what);
		else
			device_stores(o, at, dma->len);
		return;
	}
	if (!row)
		return;
	if (row->class == DMA_RECORD)
		*record_place(o, at) = at;
	else if (row->class == DMA_RECEIVE)
		check_receive(o, at, dma->len, dma->qpn);
	else if (row->class == DMA_TRIGGERED)
		check_before_trigger(o, at, dma->len, row->what);
}
