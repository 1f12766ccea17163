// SPDX-License-Identifier: Apache-2.0
/* See wrote.h. */
#include "testbench/dsan/hear/wrote.h"

#include "testbench/dsan/hear/callout.h"

enum { STORES = 1 << 12, WORDS = 1 << 12, WORD = 8 }; /* powers of two */

/* One process runs one simulation, and the driver's stack belongs to no host: so these are global. */
static struct store {
	uintptr_t at;
	size_t bytes;
	const void *pc;
} stores[STORES];
static unsigned long count;
/* For the words of memory that fall on the same place: how many stores there were with the newest one to any of them.
 * Most words that are asked for were never stored to, and need no search. */
static unsigned long newest[WORDS];
static unsigned wanted;

static unsigned long *newest_of(uintptr_t word)
{
	return &newest[(word ^ word / WORDS) % WORDS];
}

static void on_store(void *ctx, uintptr_t at, size_t bytes, const void *pc)
{
	stores[count++ % STORES] = (struct store){at, bytes, pc};
	for (uintptr_t word = at / WORD; bytes && word <= (at + bytes - 1) / WORD; word++)
		*newest_of(word) = count;
}

static struct callout_listener listener = {.elsewhere = on_store};

void wrote_begin(void)
{
	if (!wanted++)
		callout_listen(&listener);
}

void wrote_end(void)
{
	if (!--wanted)
		callout_leave(&listener);
}

unsigned long wrote_count(void)
{
	return count;
}

const void *wrote_find(uintptr_t at, size_t bytes)
{
	return wrote_find_since(at, bytes, 0);
}

const void *wrote_find_since(uintptr_t at, size_t bytes, unsigned long since)
{
	const unsigned long kept = count < STORES ? 0 : count - STORES;
	const unsigned long oldest = since > kept ? since : kept;
	unsigned long n = 0;

	for (uintptr_t word = at / WORD; bytes && word <= (at + bytes - 1) / WORD; word++)
		if (*newest_of(word) > n)
			n = *newest_of(word);
	for (; n > oldest; n--) {
		const struct store *s = &stores[(n - 1) % STORES];

		if (s->at < at + bytes && at < s->at + s->bytes)
			return s->pc;
	}
	return NULL;
}
