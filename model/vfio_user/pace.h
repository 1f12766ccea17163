/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which simulated time belongs to a moment of the wall clock: a line through (base_wall_ns,
 * base_ps) with slope sim.pace. If the simulation cannot follow, the line is moved so that the
 * simulation is at most sim.pace_lag behind.
 */
#ifndef MODEL_VFIO_USER_PACE_H
#define MODEL_VFIO_USER_PACE_H

#include <stdint.h>

struct pace {
	uint64_t ps_per_ns; /* times PACE_UNIT */
	uint64_t lag_ps;
	uint64_t base_wall_ns, base_ps;
};

enum { PACE_UNIT = 100, PACE_PS_PER_NS = 1000 };

/* percent: of the wall clock's speed. */
static inline void pace_init(struct pace *pace, uint64_t percent, uint64_t lag_ps, uint64_t wall_ns,
			     uint64_t now_ps)
{
	pace->ps_per_ns = percent * PACE_PS_PER_NS;
	pace->lag_ps = lag_ps;
	pace->base_wall_ns = wall_ns;
	pace->base_ps = now_ps;
}

/*
 * The simulated time that belongs to wall_ns. next_ps is when the next event is due (UINT64_MAX:
 * none). If that is more than the lag in the past, the line is moved, and events come late instead
 * of in a hurry.
 */
static inline uint64_t pace_target_ps(struct pace *pace, uint64_t wall_ns, uint64_t next_ps)
{
	/* 128 bits: years of wall clock in ps */
	uint64_t passed = (uint64_t)((unsigned __int128)(wall_ns - pace->base_wall_ns) *
				     pace->ps_per_ns / PACE_UNIT);
	uint64_t target = pace->base_ps + passed;

	if (next_ps < target && target - next_ps > pace->lag_ps) {
		target = next_ps + pace->lag_ps;
		pace->base_ps = target;
		pace->base_wall_ns = wall_ns;
	}
	return target;
}

/* The wall time for a span of simulated time, rounded up. */
static inline uint64_t pace_wall_ns(const struct pace *pace, uint64_t ps)
{
	return (uint64_t)(((unsigned __int128)ps * PACE_UNIT + pace->ps_per_ns - 1) /
			  pace->ps_per_ns);
}

#endif
