/* SPDX-License-Identifier: Apache-2.0 */
#include "model/sim/rng.h"

static uint64_t rotate_left(uint64_t v, unsigned int n)
{
	return v << n | v >> (64 - n);
}

/* splitmix64, which the authors of xoshiro recommend for filling its state. */
static uint64_t mix(uint64_t *state)
{
	uint64_t v = *state += 0x9e3779b97f4a7c15;

	v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9;
	v = (v ^ v >> 27) * 0x94d049bb133111eb;
	return v ^ v >> 31;
}

void rng_init(struct rng *rng, uint64_t seed, const char *stream)
{
	uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */
	unsigned int i;

	for (; *stream; stream++)
		hash = (hash ^ (unsigned char)*stream) * 0x100000001b3;
	/* The seed is mixed first: with a plain seed ^ hash, different (seed, stream) pairs would
	 * coincide. */
	hash ^= mix(&seed);
	for (i = 0; i < 4; i++)
		rng->s[i] = mix(&hash);
}

uint64_t rng_next(struct rng *rng)
{
	uint64_t *s = rng->s, result = rotate_left(s[1] * 5, 7) * 9, t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate_left(s[3], 45);
	return result;
}

uint64_t rng_below(struct rng *rng, uint64_t n)
{
	uint64_t v, unfair;

	if (!n)
		return rng_next(rng);
	/* 2^64 mod n: rejecting this many values gives each result an equal share. */
	unfair = -n % n;
	do
		v = rng_next(rng);
	while (v < unfair);
	return v % n;
}

bool rng_chance(struct rng *rng, uint32_t ppm)
{
	if (!ppm)
		return false;
	return ppm >= 1000000 || rng_below(rng, 1000000) < ppm;
}
