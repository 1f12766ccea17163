/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What somebody has waited for stays in its cache until he has used it, if need be beyond the
 * number of entries: a unit holds it in registers of its own. So each line that a piece of work
 * needs is read for it once, however many others want the same places, and the work comes to its
 * end. The caches make keeps when a read is over; waiter_done() ends them.
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
/* The line goes away, whoever keeps it; without ended(). */
void keep_line_gone(struct keep **line);
void keep_end(struct waiter *w);
/* No line has keeps of it any more. */
void keep_pool_free(struct keep_pool *pool);

/* The work that the waiter stands for is done, or is given up: nothing is kept for it any more. */
static inline void waiter_done(struct waiter *w)
{
	if (__builtin_expect(w->kept != NULL, 0))
		keep_end(w);
}

#endif
