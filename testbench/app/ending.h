/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run that ends before its time: by a signal from outside, its files whole; by a crash or exit()
 * in a scenario, which is told, and never with status 0. What had happened until then is in the
 * traces.
 */
#ifndef TESTBENCH_ENDING_H
#define TESTBENCH_ENDING_H

#include <stdbool.h>

struct tb;

/* From here to ending_forget() signals are those of this run. Interrupt and termination stop it at
 * the next event, a second one ends the process; a crash is told with the scenario's last verb.
 * With `debugged` an interrupt stays the debugger's. */
void ending_watch(struct tb *tb, bool debugged);
void ending_forget(void);
/* Something calls _exit(): a scenario does not return from here. */
void ending_exit(void);
/* From here to the end of the process a crash leaves the traces as they are then. */
void ending_watch_crashes(void);
/* Whether a signal has stopped the run. */
bool ending_asked(void);
/* The files are closed: ends the process by the signal that was held back, if there was one. */
void ending_raise(void);

#endif
