/* SPDX-License-Identifier: Apache-2.0 */
/* See keep.h. */
#include "model/engine/base/keep.h"

#include <stdlib.h>

static struct keep *keep_take(struct keep_pool *pool)
{
	struct keep *keep = pool->free;

	if (keep) {
		pool->free = keep->next;
		return keep;
	}
	keep = memory_take(pool->hca, sizeof(*keep), "waits for memory");
	keep->pool = pool;
	pool->footprint += sizeof(*keep);
	return keep;
}

static void keep_give(struct keep *keep)
{
	keep->next = keep->pool->free;
	keep->pool->free = keep;
}

void keep_for_all(struct keep_pool *pool, struct keep **line, const struct waiter_queue *queue)
{
	for (struct waiter *w = queue->first; w; w = w->next) {
		struct keep *keep = keep_take(pool);

		keep->next = w->kept;
		keep->link = &w->kept;
		if (keep->next)
			keep->next->link = &keep->next;
		w->kept = keep;
		keep->line = line;
		keep->line_next = *line;
		keep->line_link = line;
		if (keep->line_next)
			keep->line_next->line_link = &keep->line_next;
		*line = keep;
	}
}

void keep_line_gone(struct keep **line)
{
	while (*line) {
		struct keep *keep = *line;

		*line = keep->line_next;
		*keep->link = keep->next;
		if (keep->next)
			keep->next->link = keep->link;
		keep_give(keep);
	}
}

void __attribute__((noinline)) keep_end(struct waiter *w)
{
	while (w->kept) {
		struct keep *keep = w->kept;

		w->kept = keep->next;
		*keep->line_link = keep->line_next;
		if (keep->line_next)
			keep->line_next->line_link = keep->line_link;
		keep_give(keep);
		if (!*keep->line && keep->pool->ended)
			keep->pool->ended(keep->line);
	}
}

void keep_pool_free(struct keep_pool *pool)
{
	while (pool->free) {
		struct keep *keep = pool->free;

		pool->free = keep->next;
		memory_give(pool->hca, keep, sizeof(*keep));
	}
	pool->footprint = 0;
}
