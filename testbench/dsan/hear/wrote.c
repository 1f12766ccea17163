// SPDX-License-Identifier: Apache-2.0
/* See wrote.h. */
#include "testbench/dsan/hear/wrote.h"

#include "testbench/dsan/hear/callout.h"

enum { STORES = 1 << 12 }; /* a power of two */

/* One process runs one simulation, and the driver's stack belongs to no host: so these are global. */
static struct store {
	uintptr_t at;
	size_t bytes;
	const void *pc;
} stores[STORES];
static unsigned long count;
static unsigned wanted;

static void on_store(void *ctx, uintptr_t at, size_t bytes, const void *pc)
{
	stores[count++ % STORES] = (struct store){at, bytes, pc};
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

const void *wrote_find(uintptr_t at, size_t bytes)
{
	const unsigned long oldest = count < STORES ? 0 : count - STORES;

	for (unsigned long n = count; n-- > oldest;) {
		const struct store *s = &stores[n % STORES];

		if (s->at < at + bytes && at < s->at + s->bytes)
			return s->pc;
	}
	return NULL;
}
