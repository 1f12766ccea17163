// SPDX-License-Identifier: Apache-2.0
/* See late.h. */
#include "testbench/dsan/own/late.h"

#include "model/sim/rng.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Assumptions: a store buffer drains in some 100 ns; a store that nothing hurries may stay in it
 * longer. */
#define LATE_PS        CFG_NS(200)
#define ADVERSARIAL_PS CFG_US(1)

enum {
	STORES = 256,     /* that are under way; the oldest becomes visible when there is no room */
	STORE_BYTES = 64, /* larger ones are visible at once: memory that is being cleared */
};

struct late_store {
	uintptr_t at;
	size_t bytes;
	uint64_t visible_ps;
	uint8_t before[STORE_BYTES];
};

struct late {
	enum cfg_memory_order order;
	struct rng rng;
	struct late_store stores[STORES]; /* the oldest first */
	unsigned n;
};

struct late *late_create(enum cfg_memory_order order, uint64_t seed)
{
	struct late *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->order = order;
	rng_init(&l->rng, seed, "memory order");
	return l;
}

void late_destroy(struct late *l)
{
	free(l);
}

static bool overlap(const struct late_store *s, uintptr_t at, size_t bytes)
{
	return s->at < at + bytes && at < s->at + s->bytes;
}

static void forget(struct late *l, unsigned i)
{
	memmove(&l->stores[i], &l->stores[i + 1], (--l->n - i) * sizeof(l->stores[0]));
}

static uint64_t draw(struct late *l)
{
	if (l->order == CFG_ORDER_ADVERSARIAL)
		return ADVERSARIAL_PS / 2 + rng_below(&l->rng, ADVERSARIAL_PS / 2);
	return rng_below(&l->rng, LATE_PS);
}

static void forget_visible(struct late *l, uint64_t now_ps)
{
	for (unsigned i = 0; i < l->n;)
		if (l->stores[i].visible_ps <= now_ps)
			forget(l, i);
		else
			i++;
}

void late_store(struct late *l, uintptr_t at, size_t bytes, uint64_t now_ps)
{
	struct late_store *s;
	uint64_t visible_ps = now_ps + draw(l);

	forget_visible(l, now_ps);
	if (bytes > STORE_BYTES) {
		late_device_writes(l, at, bytes);
		return;
	}
	for (unsigned i = 0; i < l->n; i++)
		if ((l->order == CFG_ORDER_X86 || overlap(&l->stores[i], at, bytes)) &&
		    l->stores[i].visible_ps > visible_ps)
			visible_ps = l->stores[i].visible_ps;
	if (l->n == STORES)
		forget(l, 0);
	s = &l->stores[l->n++];
	*s = (struct late_store){.at = at, .bytes = bytes, .visible_ps = visible_ps};
	memcpy(s->before, (const void *)at, bytes);
}

void late_fence(struct late *l)
{
	if (l->order != CFG_ORDER_X86) /* there it is no instruction */
		l->n = 0;
}

void late_register(struct late *l)
{
	if (l->order == CFG_ORDER_X86)
		l->n = 0;
}

void late_device_writes(struct late *l, uintptr_t at, size_t bytes)
{
	for (unsigned i = 0; i < l->n;)
		if (overlap(&l->stores[i], at, bytes))
			forget(l, i);
		else
			i++;
}

void late_device_reads(struct late *l, uintptr_t at, uint8_t *bytes, size_t len, uint64_t now_ps)
{
	forget_visible(l, now_ps);
	/* from the newest: what the oldest found there is what the device sees */
	for (unsigned i = l->n; i--;) {
		const struct late_store *s = &l->stores[i];
		const uintptr_t from = s->at > at ? s->at : at;
		const uintptr_t to = s->at + s->bytes < at + len ? s->at + s->bytes : at + len;

		if (from < to)
			memcpy(bytes + (from - at), s->before + (from - s->at), to - from);
	}
}
