/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that a command starts: cells of a sweep, points of perf, compilers. None of them
 * outlives the command, however it ends.
 *
 * Each has a process group of its own, so that what it has started in turn goes with it. Between
 * children_begin() and children_end() interrupt, termination and hangup are held and seen by
 * child_wait(); what kills the command at once kills its children by PR_SET_PDEATHSIG, though not
 * what these have started.
 */
#ifndef TESTBENCH_CHILD_H
#define TESTBENCH_CHILD_H

#include <sys/types.h>

enum { CHILDREN_MAX = 4096 };

void children_begin(void);
/* As fork(); -1 with errno EAGAIN for more than CHILDREN_MAX. The child has the signals of before
 * children_begin(). */
pid_t child_start(void);
/* Waits for this child, or for any with 0; its pid, or -errno. -EINTR: a signal asks to end; all
 * children are gone then. */
pid_t child_wait(pid_t pid, int *status);
/* No child is left. A signal that was held takes effect now: mostly this does not return. */
void children_end(void);

#endif
