// SPDX-License-Identifier: Apache-2.0
/*
 * Memory of the driver that it has freed, and uses. What is freed is kept for a while, so nobody else
 * gets it, and each load and store of the driver that goes there is a mistake.
 */
#include "testbench/dsan/threads/threads_impl.h"

#include "testbench/dsan/hear/chain.h"
#include "testbench/dsan/held/heap.h"

#include <malloc.h>
#include <stdlib.h>

enum {
	BLOCKS = 1 << 12, /* that are kept; a power of two */
	KEPT_BYTES = 1 << 23,
	LINE = 64,
	LINES = KEPT_BYTES / LINE + 2 * BLOCKS,
	BUCKETS = 1 << 16,
	HOLDERS = 8, /* functions that took memory with a pointer to a freed block */
};

static struct block {
	uintptr_t at;
	size_t bytes;
	const void *pc; /* where it was freed */
	struct calls by;
} blocks[BLOCKS];
static unsigned first, end; /* ever added */
static size_t kept;

/* The lines of memory that blocks touch: a block's follow each other, as the blocks do, so they are a
 * ring. A link is the place in the ring and 1; 0: none. */
static struct line {
	uintptr_t line;
	unsigned block;
	uint32_t next; /* of the same hash */
} lines[LINES];
static uint32_t buckets[BUCKETS];
static uint64_t lines_first, lines_end;

static uint32_t *bucket_of(uintptr_t line)
{
	return &buckets[(line ^ line >> 16) % BUCKETS];
}

static void lines_add(unsigned n)
{
	const struct block *b = &blocks[n % BLOCKS];

	for (uintptr_t line = b->at / LINE; line <= (b->at + b->bytes - 1) / LINE; line++) {
		const uint32_t place = (uint32_t)(lines_end++ % LINES);
		uint32_t *bucket = bucket_of(line);

		lines[place] = (struct line){line, n, *bucket};
		*bucket = place + 1;
	}
}

static void lines_remove(unsigned n)
{
	while (lines_first != lines_end && lines[lines_first % LINES].block == n) {
		const uint32_t place = (uint32_t)(lines_first++ % LINES);
		uint32_t *at = bucket_of(lines[place].line);

		while (*at != place + 1)
			at = &lines[*at - 1].next;
		*at = lines[place].next;
	}
}

static void oldest_free(void)
{
	struct block *b = &blocks[first % BLOCKS];

	lines_remove(first++);
	kept -= b->bytes;
	free((void *)b->at);
}

static const struct block *block_of(uintptr_t at)
{
	for (uint32_t i = *bucket_of(at / LINE); i; i = lines[i - 1].next) {
		const struct block *b = &blocks[lines[i - 1].block % BLOCKS];

		if (lines[i - 1].line == at / LINE && at - b->at < b->bytes)
			return b;
	}
	return NULL;
}

bool freed_take(void *at, const void *pc)
{
	struct runner *r = runner_now();
	struct checker *c = threads_checker(r);
	const struct block *freed = block_of((uintptr_t)at);
	const size_t bytes = malloc_usable_size(at);

	if (freed) {
		if (c)
			c->tell(c, &(struct breach){RULE_freed_in_use, {0}, pc, freed->pc},
				"memory is freed that was freed before");
		return false;
	}
	locals_memory_gone((uintptr_t)at, bytes);
	lockset_memory_gone((uintptr_t)at, bytes);
	if (!c || bytes > KEPT_BYTES)
		return true;
	locks_memory_gone((uintptr_t)at, bytes);
	flags_memory_gone((uintptr_t)at, bytes);
	setters_memory_gone((uintptr_t)at, bytes);
	if (r && r->c) {
		handlers_memory_gone(r, (uintptr_t)at, bytes, pc);
		waits_memory_gone(r, (uintptr_t)at, bytes);
		busy_memory_gone(r, (uintptr_t)at, bytes, pc);
	}
	while (first != end && (end - first == BLOCKS || kept + bytes > KEPT_BYTES))
		oldest_free();
	blocks[end % BLOCKS] = (struct block){.at = (uintptr_t)at, .bytes = bytes, .pc = pc};
	chain_take(&blocks[end % BLOCKS].by);
	lines_add(end++);
	kept += bytes;
	return false;
}

void freed_check(struct runner *r, uintptr_t at, size_t bytes, bool store, const void *pc)
{
	struct checker *c = threads_checker(r);
	const struct block *b = block_of(at);
	char names[CHAIN_BYTES], holders[CHAIN_BYTES];
	const void *pcs[HOLDERS];

	if (!b || !c)
		return;
	if (b->by.n)
		chain_format(&b->by, names, sizeof(names));
	else /* in an event of the simulation */
		checker_functions(&b->pc, 1, names, sizeof(names));
	checker_functions(pcs, heap_pointers(b->at, b->bytes, pcs, HOLDERS), holders,
			  sizeof(holders));
	c->tell(c, &(struct breach){RULE_freed_in_use, {0}, pc, b->pc},
		"memory is %s after it was freed by %s%s%s", store ? "written" : "read", names,
		*holders ? "; a pointer to it is left in memory taken by " : "", holders);
}

void freed_forget(void)
{
	while (first != end)
		oldest_free();
}
