/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cache line that a waiter has waited for stays until the waiter has used it, even when the cache
 * has more lines then than entries: a real unit holds it in registers of its own. So a piece of
 * work reads each line once, however many others want the same entries, and comes to its end. A
 * cache makes keeps when a read is over; waiter_done() ends them.
 */
#ifndef MODEL_ENGINE_KEEP_H
#define MODEL_ENGINE_KEEP_H

#include "model/engine/base/engine.h"

/* One line for one waiter: in the list of each. */
struct keep {
	struct keep *next, **link;           /* of the waiter */
	struct keep *line_next, **line_link; /* of the line */
	struct keep **line;
	struct keep_pool *pool;
};

/* Keeps that are free; a cache has one, which it gives the device and ended(). */
struct keep_pool {
	struct hca *hca;
	struct keep *free;
	void (*ended)(struct keep **line); /* nobody keeps the line any more; may be NULL */
	size_t footprint;
};

/* The line is kept for everybody in the queue. */
void keep_for_all(struct keep_pool *pool, struct keep **line, const struct waiter_queue *queue);
/* The line goes away although waiters keep it; ended() is not called. */
void keep_line_gone(struct keep **line);
void keep_end(struct waiter *w);
/* No line has keeps of it any more. */
void keep_pool_free(struct keep_pool *pool);

/* The waiter's work is done or given up: nothing is kept for it any more. */
static inline void waiter_done(struct waiter *w)
{
	if (__builtin_expect(w->kept != NULL, 0))
		keep_end(w);
}

#endif
