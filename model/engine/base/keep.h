/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps a cache line that a waiter has waited for until the waiter has used it, even when the cache
 * then exceeds its number of entries: a real unit holds such a line in registers of its own. So
 * each piece of work reads a line only once, however many others compete for the same entries, and
 * always finishes. A cache creates keeps when a read is over; waiter_done() ends them.
 */
#ifndef MODEL_ENGINE_KEEP_H
#define MODEL_ENGINE_KEEP_H

#include "model/engine/base/engine.h"

/* Keeps one line for one waiter. It is in two lists: the waiter's and the line's. */
struct keep {
	struct keep *next, **link;           /* of the waiter */
	struct keep *line_next, **line_link; /* of the line */
	struct keep **line;
	struct keep_pool *pool;
};

/* Free keeps. Each cache has such a pool, and sets hca and ended(). */
struct keep_pool {
	struct hca *hca;
	struct keep *free;
	/* called when no waiter keeps the line any more; may be NULL */
	void (*ended)(struct keep **line);
	size_t footprint;
};

/* Keeps the line for every waiter in the queue. */
void keep_for_all(struct keep_pool *pool, struct keep **line, const struct waiter_queue *queue);
/* The line is dropped although waiters keep it: ends its keeps without calling ended(). */
void keep_line_gone(struct keep **line);
void keep_end(struct waiter *w);
/* Frees the pool. None of its keeps may be in use. */
void keep_pool_free(struct keep_pool *pool);

/* The waiter has done its work or has given it up: no line is kept for it any more. */
static inline void waiter_done(struct waiter *w)
{
	if (__builtin_expect(w->kept != NULL, 0))
		keep_end(w);
}

#endif
