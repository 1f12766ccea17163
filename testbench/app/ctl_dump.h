/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of the control socket that read the devices' contexts. */
#ifndef TESTBENCH_CTL_DUMP_H
#define TESTBENCH_CTL_DUMP_H

#include "testbench/app/ctl.h"

/*
 * Prints, in one line, objects that may be waiting for software or software for them: QPs in ERR
 * with receives that are not flushed, armed CQs with unread completions, and EQs with events that
 * the driver has not taken. Each of these is normal for a moment. If one stays, a guest hangs on
 * it.
 */
void ctl_stuck(const struct ctl_target *target, FILE *answer);
/* Writes the same, one per line, and then every context to contexts.txt in the target's folder. */
void ctl_dump(const struct ctl_target *target, FILE *answer);

#endif
