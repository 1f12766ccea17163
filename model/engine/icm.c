/*
 * ICM: see icm.h. Mapped pages stand in leaves of 64 pages (the 256 KiB in which the driver maps),
 * found by a hash of the leaf's number, so that what is not mapped costs nothing wherever it lies
 * in the 64-bit space.
 */
#include "model/engine/icm.h"
#include "model/engine/engine.h"
#include "model/interface/contexts.h"

#include <stdlib.h>
#include <string.h>

enum {
	LEAF_SHIFT = 6,
	LEAF_PAGES = 1 << LEAF_SHIFT,
	FIRST_ROOM = 64,  /* slots, a power of two */
	NUMBER_BITS = 24, /* of every object number */
};

#define NOT_MAPPED UINT64_MAX

struct leaf {
	uint64_t number; /* ICM page number >> LEAF_SHIFT */
	uint32_t mapped;
	uint64_t bus[LEAF_PAGES]; /* NOT_MAPPED, or a page's bus address */
};

struct valid_set {
	uint64_t *words;
	uint32_t mask;
};

struct icm {
	struct leaf **slots;
	uint32_t mask; /* slots - 1 */
	uint32_t count;
	struct valid_set valid[ICM_VALID_SETS];
};

static uint32_t leaf_hash(uint64_t number)
{
	return (uint32_t)((number * 0x9e3779b97f4a7c15u) >> 32);
}

/* The slot of a leaf, or the empty one where it belongs. */
static uint32_t leaf_slot(const struct icm *icm, uint64_t number)
{
	uint32_t i = leaf_hash(number) & icm->mask;

	while (icm->slots[i] && icm->slots[i]->number != number)
		i = (i + 1) & icm->mask;
	return i;
}

static void *zalloc(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p)
		abort();
	return p;
}

struct icm *icm_create(struct hca *hca)
{
	struct icm *icm = zalloc(1, sizeof(*icm));

	icm->slots = zalloc(FIRST_ROOM, sizeof(*icm->slots));
	icm->mask = FIRST_ROOM - 1;
	return icm;
}

static void leaves_free(struct icm *icm)
{
	for (uint32_t i = 0; i <= icm->mask; i++) {
		free(icm->slots[i]);
		icm->slots[i] = NULL;
	}
	icm->count = 0;
}

static void valid_free(struct icm *icm)
{
	for (unsigned set = 0; set < ICM_VALID_SETS; set++)
		free(icm->valid[set].words);
	memset(icm->valid, 0, sizeof(icm->valid));
}

void icm_destroy(struct icm *icm)
{
	if (!icm)
		return;
	leaves_free(icm);
	valid_free(icm);
	free(icm->slots);
	free(icm);
}

void icm_reset(struct hca *hca)
{
	leaves_free(hca->icm);
	valid_free(hca->icm);
	memset(hca->tables, 0, sizeof(hca->tables));
}

static void leaves_grow(struct icm *icm)
{
	struct leaf **old = icm->slots;
	uint32_t old_mask = icm->mask;

	icm->mask = icm->mask * 2 + 1;
	icm->slots = zalloc((size_t)icm->mask + 1, sizeof(*icm->slots));
	for (uint32_t i = 0; i <= old_mask; i++)
		if (old[i])
			icm->slots[leaf_slot(icm, old[i]->number)] = old[i];
	free(old);
}

static struct leaf *leaf_make(struct icm *icm, uint64_t number)
{
	uint32_t i = leaf_slot(icm, number);
	struct leaf *leaf = icm->slots[i];

	if (leaf)
		return leaf;
	if ((icm->count + 1) * 2 > icm->mask) {
		leaves_grow(icm);
		i = leaf_slot(icm, number);
	}
	leaf = zalloc(1, sizeof(*leaf));
	leaf->number = number;
	memset(leaf->bus, 0xff, sizeof(leaf->bus));
	icm->slots[i] = leaf;
	icm->count++;
	return leaf;
}

/* Empties slot i and moves those behind it that would not be found any more. */
static void leaf_remove(struct icm *icm, uint32_t i)
{
	uint32_t hole = i;

	free(icm->slots[i]);
	icm->slots[i] = NULL;
	icm->count--;
	for (i = (i + 1) & icm->mask; icm->slots[i]; i = (i + 1) & icm->mask) {
		uint32_t home = leaf_hash(icm->slots[i]->number) & icm->mask;

		if (((i - home) & icm->mask) < ((i - hole) & icm->mask))
			continue;
		icm->slots[hole] = icm->slots[i];
		icm->slots[i] = NULL;
		hole = i;
	}
}

int icm_map(struct hca *hca, uint64_t va, uint64_t bus, uint32_t pages)
{
	uint64_t bytes = (uint64_t)pages << ICM_PAGE_SHIFT;

	if ((va | bus) & (ICM_PAGE_SIZE - 1) || va + bytes < va || bus + bytes < bus)
		return -EINVAL;
	for (uint64_t page = va >> ICM_PAGE_SHIFT; pages--; page++, bus += ICM_PAGE_SIZE) {
		struct leaf *leaf = leaf_make(hca->icm, page >> LEAF_SHIFT);
		uint64_t *entry = &leaf->bus[page % LEAF_PAGES];

		leaf->mapped += *entry == NOT_MAPPED;
		*entry = bus;
	}
	return 0;
}

void icm_unmap(struct hca *hca, uint64_t va, uint32_t pages)
{
	struct icm *icm = hca->icm;
	uint64_t page = va >> ICM_PAGE_SHIFT, end = page + pages;

	while (page < end) {
		uint64_t leaf_end = (page | (LEAF_PAGES - 1)) + 1;
		uint32_t i = leaf_slot(icm, page >> LEAF_SHIFT);
		struct leaf *leaf = icm->slots[i];

		if (!leaf) {
			page = leaf_end;
			continue;
		}
		for (; page < end && page < leaf_end; page++) {
			uint64_t *entry = &leaf->bus[page % LEAF_PAGES];

			leaf->mapped -= *entry != NOT_MAPPED;
			*entry = NOT_MAPPED;
		}
		if (!leaf->mapped)
			leaf_remove(icm, i);
	}
}

void icm_unmap_all(struct hca *hca)
{
	leaves_free(hca->icm);
}

int icm_translate(const struct hca *hca, uint64_t va, uint64_t *bus)
{
	const struct icm *icm = hca->icm;
	uint64_t page = va >> ICM_PAGE_SHIFT;
	const struct leaf *leaf = icm->slots[leaf_slot(icm, page >> LEAF_SHIFT)];

	if (!leaf || leaf->bus[page % LEAF_PAGES] == NOT_MAPPED)
		return -ENOENT;
	*bus = leaf->bus[page % LEAF_PAGES] + va % ICM_PAGE_SIZE;
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

void icm_report(struct hca *hca, uint64_t va, uint32_t len, const char *text)
{
	struct dma_frag frags[ICM_MAX_FRAGS];

	if (icm_fragments(hca, va, len, frags, ICM_MAX_FRAGS) <= 0)
		guest_error(hca, RULE_icm_unmapped, "%s, icm %llx", text, (unsigned long long)va);
}

static void valid_size(struct valid_set *set, unsigned log_num)
{
	uint64_t bits = UINT64_C(1) << (log_num < NUMBER_BITS ? log_num : NUMBER_BITS);

	free(set->words);
	set->words = zalloc((bits + 63) / 64, sizeof(*set->words));
	set->mask = (uint32_t)(bits - 1);
}

void icm_table_set(struct hca *hca, unsigned table, uint64_t base, uint8_t log_num,
		   uint32_t entry_size)
{
	hca->tables[table] =
		(struct icm_table){.base = base, .log_num = log_num % 32, .entry_size = entry_size};
	if (table <= FW_TABLE_MPT || table == FW_TABLE_MCG)
		valid_size(&hca->icm->valid[table], log_num % 32);
	if (table == FW_TABLE_MPT) {
		valid_size(&hca->icm->valid[ICM_MPT_RELEASED], log_num % 32);
		valid_size(&hca->icm->valid[ICM_MPT_SYNCED], log_num % 32);
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
}

void icm_objects_clear(struct hca *hca)
{
	for (unsigned set = 0; set < ICM_VALID_SETS; set++)
		if (hca->icm->valid[set].words)
			memset(hca->icm->valid[set].words, 0,
			       (hca->icm->valid[set].mask + 64ull) / 64 * 8);
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
	for (; first <= last && first < count; first++)
		icm_object_set(hca, set, (uint32_t)first, false);
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
	size_t bytes = sizeof(*icm) + ((size_t)icm->mask + 1) * sizeof(*icm->slots) +
		       icm->count * sizeof(struct leaf);

	for (unsigned set = 0; set < ICM_VALID_SETS; set++)
		if (icm->valid[set].words)
			bytes += ((size_t)icm->valid[set].mask + 64) / 64 * 8;
	return bytes;
}
