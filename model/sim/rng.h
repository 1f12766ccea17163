/* SPDX-License-Identifier: Apache-2.0 */
/* Seeded random numbers, xoshiro256** (Blackman, Vigna). Each user has a stream of its own, so that
 * one user that draws more numbers does not change what another one gets. */
#ifndef MODEL_SIM_RNG_H
#define MODEL_SIM_RNG_H

#include <stdbool.h>
#include <stdint.h>

struct rng {
	uint64_t s[4];
};

void rng_init(struct rng *rng, uint64_t seed, const char *stream);

uint64_t rng_next(struct rng *rng);

/* Evenly distributed from 0 to n - 1. n 0 means 2^64. */
uint64_t rng_below(struct rng *rng, uint64_t n);

/* True with a probability of ppm in a million. Draws no number when ppm is 0, or a million or
 * more. */
bool rng_chance(struct rng *rng, uint32_t ppm);

#endif
