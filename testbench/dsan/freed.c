// SPDX-License-Identifier: Apache-2.0
/*
 * Memory of the driver that it has freed, and uses. What is freed is kept for a while, so nobody else
 * gets it, and each load and store of the driver that goes there is a mistake.
 */
#include "testbench/dsan/threads_impl.h"

#include <malloc.h>
#include <stdlib.h>

enum {
	BLOCKS = 1 << 12, /* that are kept; a power of two */
	KEPT_BYTES = 1 << 23,
	GRAIN = 16, /* of malloc() */
	SEATS = 1 << 16,
};

static struct block {
	uintptr_t at;
	size_t bytes;
	const void *pc; /* where it was freed */
} blocks[BLOCKS];
static unsigned first, end; /* ever added */
static size_t kept;
static uint16_t seats[SEATS]; /* how many freed grains have this hash */

static uint16_t *seat_of(uintptr_t at)
{
	return &seats[(at / GRAIN ^ at / GRAIN >> 16) % SEATS];
}

static void seats_add(const struct block *b, int more)
{
	for (size_t i = 0; i < b->bytes; i += GRAIN) {
		uint16_t *seat = seat_of(b->at + i);

		*seat = (uint16_t)(*seat + more);
	}
}

static void oldest_free(void)
{
	struct block *b = &blocks[first++ % BLOCKS];

	seats_add(b, -1);
	kept -= b->bytes;
	free((void *)b->at);
}

static const struct block *block_of(uintptr_t at)
{
	if (!*seat_of(at))
		return NULL;
	for (unsigned n = first; n != end; n++)
		if (at - blocks[n % BLOCKS].at < blocks[n % BLOCKS].bytes)
			return &blocks[n % BLOCKS];
	return NULL;
}

bool freed_take(void *at, const void *pc)
{
	struct runner *r = runner_now();
	const struct block *freed = block_of((uintptr_t)at);
	const size_t bytes = malloc_usable_size(at);

	if (freed) {
		if (r && r->c)
			r->c->tell(r->c, &(struct breach){RULE_freed_in_use, {0}, pc, freed->pc},
				   "memory is freed that was freed before");
		return false;
	}
	if (!r || !r->c || bytes > KEPT_BYTES)
		return true;
	locks_memory_gone((uintptr_t)at, bytes);
	waits_memory_gone(r, (uintptr_t)at, bytes);
	while (first != end && (end - first == BLOCKS || kept + bytes > KEPT_BYTES))
		oldest_free();
	blocks[end++ % BLOCKS] = (struct block){(uintptr_t)at, bytes, pc};
	seats_add(&blocks[(end - 1) % BLOCKS], 1);
	kept += bytes;
	return false;
}

void freed_check(struct runner *r, uintptr_t at, size_t bytes, bool store, const void *pc)
{
	const struct block *b = block_of(at);

	if (b && r->c)
		r->c->tell(r->c, &(struct breach){RULE_freed_in_use, {0}, pc, b->pc},
			   "memory is %s after it was freed", store ? "written" : "read");
}

void freed_forget(void)
{
	while (first != end)
		oldest_free();
}
