/* SPDX-License-Identifier: Apache-2.0 */
/* See jitter.h. */
#include "model/engine/base/jitter.h"

#include "model/engine/base/engine.h"

#include <stdio.h>

void jitter_init(struct jitter *jitter, const struct hca *hca, uint64_t seed, const char *what,
		 uint64_t most_ps)
{
	char stream[64];

	snprintf(stream, sizeof(stream), "hca%u.%s", hca->index, what);
	rng_init(&jitter->rng, seed, stream);
	jitter->most_ps = most_ps;
}

uint64_t jitter_draw_ps(struct jitter *jitter)
{
	return jitter->most_ps ? rng_below(&jitter->rng, jitter->most_ps + 1) : 0;
}
