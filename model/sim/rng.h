/* SPDX-License-Identifier: Apache-2.0 */
/* Seeded random numbers, xoshiro256** (Blackman, Vigna). A user of random numbers has a stream of
 * its own, so that one that draws more does not change what another one gets. */
#ifndef MODEL_SIM_RNG_H
#define MODEL_SIM_RNG_H

#include <stdbool.h>
#include <stdint.h>

struct rng {
	uint64_t s[4];
};

void rng_init(struct rng *rng, uint64_t seed, const char *stream);

uint64_t rng_next(struct rng *rng);

/* Evenly from 0 to n - 1; n 0 counts as 2^64. */
uint64_t rng_below(struct rng *rng, uint64_t n);

/* True ppm times in a million; draws nothing for 0, and for a million or more. */
bool rng_chance(struct rng *rng, uint32_t ppm);

#endif
