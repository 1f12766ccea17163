// SPDX-License-Identifier: Apache-2.0
/* See counted.h. */
#include "testbench/dsan/held/counted.h"

#include "testbench/dsan/asked/asked_impl.h"
#include "testbench/dsan/held/taken.h"

#include "model/engine/base/engine.h"
#include "model/interface/macros.h"

enum { RECORD_BYTES = 8 };

enum { WORD_BITS = 64 };

static const struct guest_object none;

static bool bit_of(const uint64_t *words, uint32_t n)
{
	return words[n / WORD_BITS] >> n % WORD_BITS & 1;
}

/* A buddy or a bitmap names no host: that of the running call has it. */
static struct checker *checker_running(void)
{
	struct ask *a = ask_taker();

	return a ? a->c : NULL;
}

static struct checker *checker_for(const struct drv_device *dev)
{
	return checker_of_host(dev->p->host);
}

static struct breach breach_at(enum guest_rule rule, const void *pc)
{
	return (struct breach){rule, none, pc, NULL};
}

/* --- MTT entries --- */

/* All entries are either in use, or in a free block. */
static void buddy_whole_check(struct checker *c, const struct drv_buddy *b, const char *call,
			      const void *pc)
{
	const struct breach breach = breach_at(RULE_mtt_shared, pc);
	uint64_t free_entries = 0;

	for (unsigned o = 0; o <= b->max_order; o++)
		free_entries += (uint64_t)b->n_free[o] << o;
	if (b->used + free_entries != UINT64_C(1) << b->max_order)
		checker_report(c, &breach,
			       "behind %s %u entries are in use and %llu are free, of %u", call,
			       b->used, (unsigned long long)free_entries, 1u << b->max_order);
}

static void buddy_used_check(struct checker *c, const struct drv_buddy *b, uint32_t should,
			     const char *call, const void *pc)
{
	const struct breach breach = breach_at(RULE_mtt_shared, pc);

	if (b->used != should)
		checker_report(c, &breach, "behind %s %u entries count as used, and %u are", call,
			       b->used, should);
	else
		buddy_whole_check(c, b, call, pc);
}

/* A free block that has some of these entries; the order of it, or more than max_order. */
static unsigned free_block_with(const struct drv_buddy *b, uint32_t first, unsigned order)
{
	unsigned o = 0;

	for (; o <= b->max_order; o++) {
		const uint32_t blocks = o < order ? 1u << (order - o) : 1;

		for (uint32_t n = 0; n < blocks; n++)
			if (bit_of(b->bits[o], (first >> o) + n))
				return o;
	}
	return o;
}

void counted_buddy_taken(const struct drv_buddy *b, uint32_t used, unsigned order, uint32_t first,
			 const void *pc)
{
	const struct breach breach = breach_at(RULE_mtt_shared, pc);
	const uint32_t size = 1u << order;
	struct checker *c = checker_running();

	if (!c)
		return;
	if (first & (size - 1) || first + (uint64_t)size > UINT64_C(1) << b->max_order)
		checker_report(c, &breach,
			       "drv_buddy_alloc gives the entries from 0x%x on, and %u were asked "
			       "for: they are not aligned, or there are not so many",
			       first, size);
	else if (free_block_with(b, first, order) <= b->max_order)
		checker_report(c, &breach,
			       "drv_buddy_alloc gives %u entries from 0x%x on, and a block of %u "
			       "with some of them is still free",
			       size, first, 1u << free_block_with(b, first, order));
	else
		buddy_used_check(c, b, used + size, "drv_buddy_alloc", pc);
}

void counted_buddy_back(const struct drv_buddy *b, uint32_t used, unsigned order, uint32_t first,
			const void *pc)
{
	const struct breach breach = breach_at(RULE_mtt_shared, pc);
	const unsigned is = free_block_with(b, first, order);
	struct checker *c = checker_running();

	if (!c)
		return;
	if (is > b->max_order || is < order)
		checker_report(c, &breach,
			       "drv_buddy_free got %u entries from 0x%x on, and they are %s",
			       1u << order, first, is < order ? "free in pieces" : "not free");
	else if (is < b->max_order && bit_of(b->bits[is], (first >> is) ^ 1))
		checker_report(c, &breach,
			       "drv_buddy_free got %u entries from 0x%x on, and two free halves of "
			       "%u are not joined",
			       1u << order, first, 1u << is);
	else
		buddy_used_check(c, b, used - (1u << order), "drv_buddy_free", pc);
}

/* --- numbers --- */

static void number_check(const struct drv_bitmap *b, uint32_t should, uint32_t number, bool taken,
			 const void *pc)
{
	const struct breach breach = breach_at(taken ? RULE_number_taken : RULE_not_given_back, pc);
	const char *call = taken ? "drv_bitmap_alloc" : "drv_bitmap_free";
	struct checker *c = checker_running();

	if (!c)
		return;
	if (bit_of(b->words, number & (b->size - 1)) != taken)
		checker_report(c, &breach, "number 0x%x is %s behind %s", number,
			       taken ? "free" : "not free", call);
	else if (b->used != should)
		checker_report(c, &breach, "behind %s %u numbers count as used, and %u are", call,
			       b->used, should);
	else if (taken && number & ~(b->mask | (b->size - 1)))
		checker_report(c, &breach, "%s gives number 0x%x, which has bits beyond 0x%x", call,
			       number, b->mask | (b->size - 1));
}

void counted_numbers_made(const struct drv_bitmap *b, uint32_t low, uint32_t high, const void *pc)
{
	const struct {
		uint32_t number;
		bool reserved;
	} edges[] = {{0, low > 0},           {low - 1, true},
		     {low, false},           {b->size - high - 1, false},
		     {b->size - high, true}, {b->size - 1, high > 0}};
	const struct breach breach = breach_at(RULE_number_reserved, pc);
	struct checker *c = checker_running();

	if (!c || (uint64_t)low + high >= b->size)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(edges); i++)
		if (edges[i].number < b->size &&
		    bit_of(b->words, edges[i].number) != edges[i].reserved)
			checker_report(c, &breach,
				       "drv_bitmap_init has%s reserved number 0x%x, of the %u "
				       "lowest and %u highest of 0x%x",
				       edges[i].reserved ? " not" : "", edges[i].number, low, high,
				       b->size);
}

void counted_number_taken(const struct drv_bitmap *b, uint32_t used, uint32_t number,
			  const void *pc)
{
	number_check(b, used + 1, number, true, pc);
}

void counted_number_back(const struct drv_bitmap *b, uint32_t used, uint32_t number, const void *pc)
{
	number_check(b, used - 1, number, false, pc);
}

/* --- doorbell records --- */

enum { HOSTS = 2 };

/* The bus address of the record that was given back last; 0: none. */
static uint64_t record_back[HOSTS];

static bool is_clear(const uint8_t *at, size_t bytes)
{
	return !bytes || (!*at && !memcmp(at, at + 1, bytes - 1));
}

void counted_record_taken(const struct drv_device *dev, unsigned used, const struct drv_db *db,
			  const void *pc)
{
	struct breach breach = breach_at(RULE_record_shared, pc);
	struct checker *c = checker_for(dev);

	if (!c)
		return;
	if (checker_address(c, db->bus) != (uintptr_t)db->record)
		checker_report(c, &breach,
			       "drv_db_alloc gives a record whose bus address 0x%llx is another "
			       "one's",
			       (unsigned long long)db->bus);
	else if (taken_is(TAKEN_RECORD, db->record, 0))
		checker_report(
			c, &breach,
			"drv_db_alloc gives the record at 0x%llx, which is in use; drv_db_free "
			"gave back the one at 0x%llx last",
			(unsigned long long)db->bus,
			(unsigned long long)record_back[dev->p->host % HOSTS]);
	else if (dev->db_records != used + 1)
		checker_report(c, &breach, "behind drv_db_alloc %u records count as used, not %u",
			       dev->db_records, used + 1);
	else if (!is_clear(db->record, RECORD_BYTES))
		checker_report(c, &(struct breach){RULE_context_differs, {0}, pc, NULL},
			       "drv_db_alloc gives a record that is not zero; what stands there "
			       "belongs to "
			       "its last owner");
}

void counted_record_back(const struct drv_device *dev, unsigned used, const struct drv_db *db,
			 uint64_t bus, const void *pc)
{
	const struct breach breach = breach_at(RULE_not_given_back, pc);

	record_back[dev->p->host % HOSTS] = bus;
	if (checker_for(dev) && (dev->db_records != used - 1 || db->page))
		checker_report(checker_for(dev), &breach,
			       "behind drv_db_free %u records count as used, not %u, and its owner "
			       "%s",
			       dev->db_records, used - 1, db->page ? "has it still" : "has none");
}

/* --- buffers, entries --- */

void counted_buffer_taken(const struct drv_device *dev, const struct drv_buf *buf, size_t bytes,
			  const void *pc)
{
	const struct breach breach = breach_at(RULE_context_differs, pc);
	const size_t pages = (bytes + PLATFORM_PAGE_SIZE - 1) / PLATFORM_PAGE_SIZE;
	struct checker *c = checker_for(dev);

	if (c && buf->n != pages)
		checker_report(c, &breach, "drv_buf_alloc gives %u pages for %zu bytes", buf->n,
			       bytes);
	for (unsigned i = 0; c && i < buf->n; i++) {
		if (is_clear(buf->pages[i], PLATFORM_PAGE_SIZE))
			continue;
		checker_report(c, &breach,
			       "drv_buf_alloc gives a buffer whose page %u holds the bytes of its "
			       "last user",
			       i);
		return;
	}
}

void counted_entry_found(const struct drv_icm_table *t, uint32_t entry, const void *at,
			 const void *pc)
{
	const struct breach breach = breach_at(RULE_context_differs, pc);
	const uint64_t virt = t->virt + (uint64_t)(entry & (t->entries - 1)) * t->entry_bytes;
	struct checker *c = t->dev ? checker_for(t->dev) : NULL;
	uint64_t bus;

	if (!c || !t->chunks || t->dev->dead || hca_icm_bus(c->host.hca, virt, &bus) ||
	    checker_address(c, bus) == (uintptr_t)at)
		return;
	checker_report(c, &breach,
		       "drv_table_find gives %s for entry 0x%x of table %u, and the device has it "
		       "elsewhere",
		       at ? "a place" : "nothing", entry, (unsigned)(t - t->dev->tables));
}
