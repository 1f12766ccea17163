/* SPDX-License-Identifier: Apache-2.0 */
/* See pool.h. */
#include "model/engine/base/pool.h"

#include "model/engine/base/engine.h"
#include "model/interface/macros.h"

/* Precedes each object. */
struct pool_item {
	struct pool_item *next_all, *next_free;
	max_align_t object[];
};

void pool_init(struct pool *pool, struct hca *hca, size_t size, const char *what)
{
	*pool = (struct pool){.hca = hca, .size = size, .what = what};
}

static size_t item_bytes(const struct pool *pool)
{
	return sizeof(struct pool_item) + pool->size;
}

static struct pool_item *__attribute__((noinline)) item_make(struct pool *pool)
{
	struct pool_item *item = memory_take(pool->hca, item_bytes(pool), pool->what);

	item->next_all = pool->all;
	pool->all = item;
	pool->made++;
	return item;
}

void *pool_take(struct pool *pool)
{
	struct pool_item *item = pool->free;

	if (item)
		pool->free = item->next_free;
	else
		item = item_make(pool);
	pool->in_use++;
	return item->object;
}

void pool_give(struct pool *pool, void *object)
{
	struct pool_item *item = container_of(object, struct pool_item, object);

	item->next_free = pool->free;
	pool->free = item;
	pool->in_use--;
}

void pool_expect_unused(struct pool *pool)
{
	if (pool->in_use)
		hca_bug(pool->hca, "%u of the %s are still in use at a reset", pool->in_use,
			pool->what);
}

void pool_reset(struct pool *pool)
{
	pool->free = NULL;
	for (struct pool_item *item = pool->all; item; item = item->next_all) {
		item->next_free = pool->free;
		pool->free = item;
	}
	pool->in_use = 0;
}

void pool_each(const struct pool *pool, void (*visit)(struct hca *hca, void *object))
{
	for (struct pool_item *item = pool->all; item; item = item->next_all)
		visit(pool->hca, item->object);
}

void pool_free(struct pool *pool)
{
	while (pool->all) {
		struct pool_item *item = pool->all;

		pool->all = item->next_all;
		memory_give(pool->hca, item, item_bytes(pool));
	}
	pool->free = NULL;
	pool->in_use = pool->made = 0;
}

void pool_trim(struct pool *pool)
{
	if (!pool->in_use)
		pool_free(pool);
}

size_t pool_footprint(const struct pool *pool)
{
	return pool->made * item_bytes(pool);
}
