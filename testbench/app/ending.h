/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs that end early: by a signal from outside, or by a crash or exit() in the scenario. The
 * traces hold everything up to that moment. A crash or exit() is reported, and the status is never
 * 0.
 */
#ifndef TESTBENCH_ENDING_H
#define TESTBENCH_ENDING_H

#include <stdbool.h>

struct tb;

/* Handles signals for this run until ending_forget(). SIGINT, SIGTERM and SIGHUP stop the run at
 * the next event; a second one ends the process. A crash is reported with the last verb of the
 * scenario. With `debugged`, SIGINT is left to the debugger. A driver that computes for a long time while
 * simulated time stands still is reported, and fails the run: after at most 30 s of CPU time, or 3 s when
 * the run was asked to end. Then a run that hangs elsewhere is reported, too, after 9 s. */
void ending_watch(struct tb *tb, bool debugged);
void ending_forget(void);
/* _exit() was called. Does not return if a scenario is running. */
void ending_exit(void);
/* From now on a crash saves the traces before the process ends. */
void ending_watch_crashes(void);
/* Whether a signal has stopped the run. */
bool ending_asked(void);
/* Call when the files are closed: raises the signal that stopped the run, if there was one. */
void ending_raise(void);

#endif
