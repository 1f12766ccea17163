/* SPDX-License-Identifier: Apache-2.0 */
/* What the control socket tells of the devices' contexts. */
#ifndef TESTBENCH_CTL_DUMP_H
#define TESTBENCH_CTL_DUMP_H

#include "testbench/app/ctl.h"

/*
 * Objects for which software waits, or which wait for software, in one line: QPs in ERR with
 * receives that are not flushed; CQs that are armed although there are completions that nobody has
 * read; EQs with events that the driver has not taken. Each is an ordinary state for a moment; one
 * that stays is what a guest hangs on.
 */
void ctl_stuck(const struct ctl_target *target, FILE *answer);
/* The same, a line each, and then every context, into contexts.txt of the target's folder. */
void ctl_dump(const struct ctl_target *target, FILE *answer);

#endif
