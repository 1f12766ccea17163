/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ICM: see icm.h. Mapped pages are stored as extents, sorted by address. A chunk of a MAP_ICM list
 * is one extent whatever its size, so memory and time follow the number of chunks and not the sizes
 * that software states. Extents are stored in blocks. A full block is split in two, so inserting
 * stays cheap however many extents there are.
 */
#include "model/engine/memory/icm.h"
#include "model/engine/base/monitor.h"
#include "model/interface/contexts.h"

#include <stdlib.h>
#include <string.h>

enum {
	BLOCK_EXTENTS = 128,
	FOUND = 256,      /* page lookups that are remembered */
	NUMBER_BITS = 24, /* bits of an object number */
	WORD_BITS = 64,
};

/* A range of consecutive pages. All three members are page numbers or counts, not addresses. */
struct extent {
	uint64_t page, bus, pages;
};

struct block {
	uint32_t count; /* never 0 */
	struct extent extent[BLOCK_EXTENTS];
};

struct valid_set {
	uint64_t *words;
	uint32_t mask;
};

struct icm {
	struct hca *hca;
	struct block **blocks;
	uint32_t count, room;
	/* last lookups, indexed by page % FOUND; pages == 0: empty. Every change of the map empties
	 * it */
	struct extent found[FOUND];
	struct valid_set valid[ICM_VALID_SETS];
};

/* The place of an extent. `block` equal to icm.count, or `extent` equal to the block's count, is
 * the place after the last one. */
struct place {
	uint32_t block, extent;
};

static const char map_text[] = "the map of ICM", valid_text[] = "the valid bits of a table";

struct icm *icm_create(struct hca *hca)
{
	struct icm *icm = memory_create(1, sizeof(*icm), "ICM");

	icm->hca = hca;
	return icm;
}

static size_t valid_bytes(const struct valid_set *set)
{
	return ((size_t)set->mask + WORD_BITS) / WORD_BITS * sizeof(*set->words);
}

static void valid_free(struct icm *icm)
{
	for (unsigned set = 0; set < ICM_VALID_SETS; set++)
		memory_give(icm->hca, icm->valid[set].words, valid_bytes(&icm->valid[set]));
	memset(icm->valid, 0, sizeof(icm->valid));
}

static void extents_free(struct icm *icm)
{
	memset(icm->found, 0, sizeof(icm->found));
	for (uint32_t i = 0; i < icm->count; i++)
		memory_give(icm->hca, icm->blocks[i], sizeof(struct block));
	memory_give(icm->hca, icm->blocks, icm->room * sizeof(struct block *));
	icm->blocks = NULL;
	icm->count = icm->room = 0;
}

void icm_destroy(struct icm *icm)
{
	if (!icm)
		return;
	extents_free(icm);
	valid_free(icm);
	free(icm);
}

void icm_reset(struct hca *hca)
{
	extents_free(hca->icm);
	valid_free(hca->icm);
	memset(hca->tables, 0, sizeof(hca->tables));
	if (hca_is_monitored(hca))
		hca->monitor->forgotten(hca->monitor->ctx, true);
}

/* --- the map --- */

static uint64_t extent_end(const struct extent *e)
{
	return e->page + e->pages;
}

/* The last block that begins at or below the page; the first one when none does. */
static uint32_t block_find(const struct icm *icm, uint64_t page)
{
	uint32_t low = 0, high = icm->count;

	while (high - low > 1) {
		uint32_t mid = low + (high - low) / 2;

		if (icm->blocks[mid]->extent[0].page <= page)
			low = mid;
		else
			high = mid;
	}
	return low;
}

/* The first extent that ends behind the page. */
static struct place place_find(const struct icm *icm, uint64_t page)
{
	struct place at = {.block = block_find(icm, page)};
	uint32_t high;

	if (at.block == icm->count)
		return at;
	high = icm->blocks[at.block]->count;
	while (at.extent < high) {
		uint32_t mid = at.extent + (high - at.extent) / 2;

		if (extent_end(&icm->blocks[at.block]->extent[mid]) > page)
			high = mid;
		else
			at.extent = mid + 1;
	}
	if (at.extent == icm->blocks[at.block]->count && at.block + 1 < icm->count)
		at = (struct place){.block = at.block + 1};
	return at;
}

static struct extent *extent_at(const struct icm *icm, struct place at)
{
	if (at.block == icm->count || at.extent == icm->blocks[at.block]->count)
		return NULL;
	return &icm->blocks[at.block]->extent[at.extent];
}

static const struct extent *extent_of(struct icm *icm, uint64_t page)
{
	struct extent *found = &icm->found[page % FOUND];
	const struct extent *e;

	if (page - found->page < found->pages)
		return found;
	e = extent_at(icm, place_find(icm, page));
	if (!e || e->page > page)
		return NULL;
	*found = *e;
	return found;
}

static void block_insert(struct icm *icm, uint32_t at)
{
	if (icm->count == icm->room) {
		uint32_t room = icm->room ? icm->room * 2 : 1;
		struct block **blocks =
			memory_take(icm->hca, room * sizeof(struct block *), map_text);

		if (icm->count)
			memcpy(blocks, icm->blocks, icm->count * sizeof(struct block *));
		memory_give(icm->hca, icm->blocks, icm->room * sizeof(struct block *));
		icm->blocks = blocks;
		icm->room = room;
	}
	memmove(&icm->blocks[at + 1], &icm->blocks[at], (icm->count - at) * sizeof(struct block *));
	icm->blocks[at] = memory_take(icm->hca, sizeof(struct block), map_text);
	icm->count++;
}

static struct place block_split(struct icm *icm, struct place at)
{
	const uint32_t half = BLOCK_EXTENTS / 2;
	struct block *low, *high;

	block_insert(icm, at.block + 1);
	low = icm->blocks[at.block];
	high = icm->blocks[at.block + 1];
	high->count = low->count - half;
	memcpy(high->extent, &low->extent[half], high->count * sizeof(struct extent));
	low->count = half;
	return at.extent > half ? (struct place){at.block + 1, at.extent - half} : at;
}

static void extent_insert(struct icm *icm, struct place at, const struct extent *e)
{
	struct block *block;

	if (at.block == icm->count)
		block_insert(icm, at.block);
	else if (icm->blocks[at.block]->count == BLOCK_EXTENTS)
		at = block_split(icm, at);
	block = icm->blocks[at.block];
	memmove(&block->extent[at.extent + 1], &block->extent[at.extent],
		(block->count - at.extent) * sizeof(*e));
	block->extent[at.extent] = *e;
	block->count++;
}

static void extent_remove(struct icm *icm, struct place at)
{
	struct block *block = icm->blocks[at.block];

	block->count--;
	memmove(&block->extent[at.extent], &block->extent[at.extent + 1],
		(block->count - at.extent) * sizeof(struct extent));
	if (block->count)
		return;
	memory_give(icm->hca, block, sizeof(*block));
	icm->count--;
	memmove(&icm->blocks[at.block], &icm->blocks[at.block + 1],
		(icm->count - at.block) * sizeof(struct block *));
}

/* The part of an extent from `page` on, which is inside it or at its begin. */
static struct extent extent_from(const struct extent *e, uint64_t page)
{
	return (struct extent){page, e->bus + (page - e->page), extent_end(e) - page};
}

/* Nothing of [page, end) is mapped after this; what reaches over either edge is cut. */
static void extents_clear(struct icm *icm, uint64_t page, uint64_t end)
{
	struct extent *e;

	memset(icm->found, 0, sizeof(icm->found));
	for (;;) {
		struct place at = place_find(icm, page);
		struct extent behind;

		e = extent_at(icm, at);
		if (!e || e->page >= end)
			return;
		behind = extent_end(e) > end ? extent_from(e, end) : (struct extent){0};
		if (e->page < page) {
			e->pages = page - e->page;
			if (behind.pages) {
				extent_insert(icm, (struct place){at.block, at.extent + 1},
					      &behind);
				return;
			}
		} else if (behind.pages) {
			*e = behind;
			return;
		} else {
			extent_remove(icm, at);
		}
	}
}

int icm_map(struct hca *hca, uint64_t va, uint64_t bus, uint32_t pages)
{
	const uint64_t bytes = (uint64_t)pages << ICM_PAGE_SHIFT;
	const struct extent e = {va >> ICM_PAGE_SHIFT, bus >> ICM_PAGE_SHIFT, pages};

	if ((va | bus) & (ICM_PAGE_SIZE - 1) || va + bytes < va || bus + bytes < bus)
		return -EINVAL;
	if (!pages)
		return 0;
	extents_clear(hca->icm, e.page, extent_end(&e));
	extent_insert(hca->icm, place_find(hca->icm, e.page), &e);
	if (hca_is_monitored(hca))
		hca->monitor->icm_map(hca->monitor->ctx, va, bus, bytes);
	return 0;
}

void icm_unmap(struct hca *hca, uint64_t va, uint32_t pages)
{
	const uint64_t page = va >> ICM_PAGE_SHIFT;

	if (hca_is_monitored(hca))
		hca->monitor->icm_unmap(hca->monitor->ctx, va, (uint64_t)pages << ICM_PAGE_SHIFT);
	extents_clear(hca->icm, page, page + pages);
}

void icm_unmap_all(struct hca *hca)
{
	if (hca_is_monitored(hca))
		hca->monitor->icm_unmap(hca->monitor->ctx, 0, UINT64_MAX);
	extents_free(hca->icm);
}

int icm_translate(const struct hca *hca, uint64_t va, uint64_t *bus)
{
	const uint64_t page = va >> ICM_PAGE_SHIFT;
	const struct extent *e = extent_of(hca->icm, page);

	if (!e)
		return -ENOENT;
	*bus = ((e->bus + (page - e->page)) << ICM_PAGE_SHIFT) + va % ICM_PAGE_SIZE;
	return 0;
}

int icm_fragments(const struct hca *hca, uint64_t va, uint32_t len, struct dma_frag *frags,
		  unsigned room)
{
	unsigned n = 0;

	while (len) {
		uint32_t here = ICM_PAGE_SIZE - va % ICM_PAGE_SIZE;
		uint64_t bus;

		if (icm_translate(hca, va, &bus))
			return -ENOENT;
		if (here > len)
			here = len;
		if (n && frags[n - 1].bus + frags[n - 1].len == bus) {
			frags[n - 1].len += here;
		} else {
			if (n == room)
				return -ENOSPC;
			frags[n++] = (struct dma_frag){.bus = bus, .len = here};
		}
		va += here;
		len -= here;
	}
	return (int)n;
}

void icm_report(struct hca *hca, struct guest_object object, uint64_t va, uint32_t len,
		const char *text)
{
	struct dma_frag frags[ICM_MAX_FRAGS];

	if (icm_fragments(hca, va, len, frags, ICM_MAX_FRAGS) <= 0)
		guest_error(hca, RULE_icm_unmapped, object, "%s, icm %llx", text,
			    (unsigned long long)va);
}

/* --- valid bits --- */

static void valid_size(struct hca *hca, unsigned which, unsigned log_num)
{
	uint64_t bits = UINT64_C(1) << (log_num < NUMBER_BITS ? log_num : NUMBER_BITS);
	struct valid_set *set = &hca->icm->valid[which];

	memory_give(hca, set->words, valid_bytes(set));
	set->mask = (uint32_t)(bits - 1);
	set->words = memory_take(hca, valid_bytes(set), valid_text);
}

void icm_table_set(struct hca *hca, unsigned table, uint64_t base, uint8_t log_num,
		   uint32_t entry_size)
{
	hca->tables[table] =
		(struct icm_table){.base = base, .log_num = log_num % 32, .entry_size = entry_size};
	if (table <= FW_TABLE_MPT || table == FW_TABLE_MCG)
		valid_size(hca, table, log_num % 32);
	if (table == FW_TABLE_MPT) {
		valid_size(hca, ICM_MPT_RELEASED, log_num % 32);
		valid_size(hca, ICM_MPT_SYNCED, log_num % 32);
	}
}

uint64_t icm_entry(const struct hca *hca, unsigned table, uint32_t number)
{
	const struct icm_table *t = &hca->tables[table];
	unsigned log = t->log_num;

	if (table == FW_TABLE_RDMARC)
		log += hca->tables[FW_TABLE_QPC].log_num;
	return t->base + (number & ((UINT64_C(1) << log) - 1)) * t->entry_size;
}

bool icm_object_valid(const struct hca *hca, unsigned table, uint32_t number)
{
	const struct valid_set *set = &hca->icm->valid[table];

	number &= set->mask;
	return set->words && set->words[number / 64] >> number % 64 & 1;
}

bool icm_object_next(const struct hca *hca, unsigned table, uint32_t *number)
{
	const struct valid_set *set = &hca->icm->valid[table];
	uint64_t at = *number, rest;

	while (set->words && at <= set->mask) {
		rest = set->words[at / WORD_BITS] >> at % WORD_BITS;
		if (rest) {
			*number = (uint32_t)(at + (unsigned)__builtin_ctzll(rest));
			return true;
		}
		at = (at / WORD_BITS + 1) * WORD_BITS;
	}
	return false;
}

void icm_object_set(struct hca *hca, unsigned table, uint32_t number, bool valid)
{
	struct valid_set *set = &hca->icm->valid[table];
	uint64_t bit;

	if (!set->words)
		return;
	number &= set->mask;
	bit = UINT64_C(1) << number % 64;
	if (valid)
		set->words[number / 64] |= bit;
	else
		set->words[number / 64] &= ~bit;
	monitor_object(hca, table, number, valid, NULL);
}

void icm_objects_clear(struct hca *hca)
{
	for (unsigned set = 0; set < ICM_VALID_SETS; set++)
		if (hca->icm->valid[set].words)
			memset(hca->icm->valid[set].words, 0,
			       (hca->icm->valid[set].mask + 64ull) / 64 * 8);
	if (hca_is_monitored(hca))
		hca->monitor->forgotten(hca->monitor->ctx, false);
}

/* [first, last] */
static void bits_clear(uint64_t *words, uint64_t first, uint64_t last)
{
	const uint64_t from = UINT64_MAX << first % WORD_BITS;
	const uint64_t to = UINT64_MAX >> (WORD_BITS - 1 - last % WORD_BITS);
	uint64_t *low = &words[first / WORD_BITS], *high = &words[last / WORD_BITS];

	if (low == high) {
		*low &= ~(from & to);
		return;
	}
	*low &= ~from;
	*high &= ~to;
	memset(low + 1, 0, (size_t)(high - low - 1) * sizeof(*low));
}

void icm_objects_clear_range(struct hca *hca, unsigned set, uint64_t va, uint64_t len)
{
	const struct icm_table *t =
		&hca->tables[set == ICM_MPT_RELEASED || set == ICM_MPT_SYNCED ? FW_TABLE_MPT : set];
	uint64_t first, last, count = (uint64_t)hca->icm->valid[set].mask + 1;

	if (!hca->icm->valid[set].words || !t->entry_size || !len || va + (len - 1) < t->base)
		return;
	first = va > t->base ? (va - t->base) / t->entry_size : 0;
	last = (va + (len - 1) - t->base) / t->entry_size;
	if (first >= count)
		return;
	bits_clear(hca->icm->valid[set].words, first, last < count ? last : count - 1);
}

void icm_mpt_sync(struct hca *hca)
{
	const struct valid_set *released = &hca->icm->valid[ICM_MPT_RELEASED];
	const struct valid_set *synced = &hca->icm->valid[ICM_MPT_SYNCED];

	for (uint64_t i = 0; released->words && i <= released->mask / 64; i++)
		if (released->words[i])
			synced->words[i] |= released->words[i];
}

size_t icm_footprint(const struct hca *hca)
{
	const struct icm *icm = hca->icm;
	size_t bytes = sizeof(*icm) + icm->count * (sizeof(struct block) + sizeof(struct block *));

	for (unsigned set = 0; set < ICM_VALID_SETS; set++)
		if (icm->valid[set].words)
			bytes += ((size_t)icm->valid[set].mask + 64) / 64 * 8;
	return bytes;
}
