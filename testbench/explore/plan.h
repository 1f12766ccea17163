/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which schedules to try. The plan is made from the points of one run that nobody disturbs, and
 * schedule N of a seed is always the same one.
 *
 * Of four schedules three are guided, so that conflicting accesses are tried in the other order, too.
 * The first takes the places (one instruction of the driver, one interrupt vector, one purpose of
 * DMA) in turn, and holds points of it until the device has gone past: until after its next access
 * to the same cache line, or after one of its next writes. The second takes the places that follow a
 * write of the device to the same cache line, or a register access or a wait that follows any write,
 * and holds that write until the driver has gone past. The third takes the register accesses and
 * waits that come before an interrupt or before their thread's next sleep, and holds them until the
 * interrupt has been handled, or until that sleep would have been over: what wakes the thread then
 * comes when it is not asleep yet. So each place is tried in
 * the other order before any is tried a second time. The fourth schedule is random, after PCT
 * (Burckhardt and others, "A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs",
 * ASPLOS 2010): one to three points, evenly distributed over all.
 */
#ifndef TESTBENCH_EXPLORE_PLAN_H
#define TESTBENCH_EXPLORE_PLAN_H

#include "testbench/explore/explorer.h"

struct plan;

/* NULL: no memory. The notes must outlive the plan. */
struct plan *plan_make(const struct notes *notes, uint64_t seed);
void plan_free(struct plan *p);
/* Fills in the turns of schedule `number`, from 1 on. */
void plan_schedule(const struct plan *p, unsigned number, struct schedule *s);

struct plan_size {
	size_t points, places, parties;
	/* places that access a cache line that the device accesses as well, one of them writing; and
	 * how many of them schedules 1 to `number` hold until the device has come by */
	size_t conflicts, reversed;
	/* places that follow a write of the device; and how many of them schedules 1 to `number`
	 * let go before it */
	size_t follow, preceded;
	/* places where other threads may go on, soon before an interrupt or a sleep; and how many of
	 * them schedules 1 to `number` hold until it is over */
	size_t yield, yielded;
	/* PCT's bound for one random schedule, as 1 in so many: the chance to find a mistake that
	 * shows when one point (depth 2), or two (depth 3), come at the wrong time */
	double depth_2, depth_3;
};

void plan_measure(const struct plan *p, unsigned number, struct plan_size *size);

#endif
