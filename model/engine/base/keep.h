/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cache line that a waiter has waited for is kept until the waiter has used it, even when the
 * cache then exceeds its number of entries: a real unit holds it in registers of its own. So each
 * piece of work reads a line only once, however many others compete for the same entries, and is
 * sure to finish. A cache creates keeps when a read is over; waiter_done() ends them.
 */
#ifndef MODEL_ENGINE_KEEP_H
#define MODEL_ENGINE_KEEP_H

#include "model/engine/base/engine.h"

/* Keeps one line for one waiter; it is in a list of each. */
struct keep {
	struct keep *next, **link;           /* of the waiter */
	struct keep *line_next, **line_link; /* of the line */
	struct keep **line;
	struct keep_pool *pool;
};

/* Free keeps. Each cache has such a pool and sets hca and ended(). */
struct keep_pool {
	struct hca *hca;
	struct keep *free;
	void (*ended)(struct keep **line); /* nobody keeps the line any more; may be NULL */
	size_t footprint;
};

/* Keeps the line for every waiter in the queue. */
void keep_for_all(struct keep_pool *pool, struct keep **line, const struct waiter_queue *queue);
/* The line is dropped although it is kept for waiters: ends its keeps without calling ended(). */
void keep_line_gone(struct keep **line);
void keep_end(struct waiter *w);
/* Frees the pool. None of its keeps may be in use. */
void keep_pool_free(struct keep_pool *pool);

/* The waiter's work is done or given up: nothing is kept for it any more. */
static inline void waiter_done(struct waiter *w)
{
	if (__builtin_expect(w->kept != NULL, 0))
		keep_end(w);
}

#endif
