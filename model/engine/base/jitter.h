/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much longer than usual something takes each time: evenly distributed from 0 to a bound, by a
 * stream of random numbers of its own. See hca_jitter() of hca.h.
 */
#ifndef MODEL_ENGINE_JITTER_H
#define MODEL_ENGINE_JITTER_H

#include "model/sim/rng.h"

#include <stdint.h>

struct hca;

/* All zero: no jitter. */
struct jitter {
	struct rng rng;
	uint64_t most_ps;
};

/* `what` names the stream of this device: equal seeds give equal numbers. */
void jitter_init(struct jitter *jitter, const struct hca *hca, uint64_t seed, const char *what,
		 uint64_t most_ps);
uint64_t jitter_draw_ps(struct jitter *jitter);

#endif
