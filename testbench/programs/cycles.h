/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For programs that read the CPU's time stamp counter, which does not follow simulated time. It
 * defines the names of perftest's get_clock.h on top of the process' clock, with one cycle per
 * nanosecond. It is included before the program's text, in place of get_clock.h and get_clock.c.
 */
#ifndef GET_CLOCK_H
#define GET_CLOCK_H

#include <time.h>

typedef unsigned long long cycles_t;

static inline cycles_t get_cycles(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (cycles_t)now.tv_sec * 1000000000 + (cycles_t)now.tv_nsec;
}

/* Returns the cycles in a microsecond. */
static inline double get_cpu_mhz(int no_cpu_freq_warn)
{
	return 1000;
}

#endif
