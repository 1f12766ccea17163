/* SPDX-License-Identifier: Apache-2.0 */
/* How a scenario ends whose driver has harmed its device beyond repair. */
#ifndef TESTBENCH_SCENARIOS_DRIVER_FAULTS_RESET_END_H
#define TESTBENCH_SCENARIOS_DRIVER_FAULTS_RESET_END_H

#include "testbench/services.h"

enum { RESET_BIT = 1, RESET_TAKES_MS = 10 };

/* The device of a is reset, and its driver goes without asking the device for anything more; b ends as
 * usual. Both have events of the lost connection. */
static inline void reset_end(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	drv_raw_mmio_write32(a->dev, HCA_BAR_REGS, BAR0_RESET, RESET_BIT);
	pass_time(CFG_MS(RESET_TAKES_MS));
	ignore_events(a);
	ignore_events(b);
	abandon(a);
	take_down(b);
}

#endif
