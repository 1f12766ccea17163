/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Child processes of a command: cells of a sweep, points of perf, compilers. No child outlives the
 * command, however the command ends.
 *
 * Each child has its own process group, so that its own children are killed with it. Between
 * children_begin() and children_end() the signals SIGINT, SIGTERM and SIGHUP are blocked, and
 * child_wait() receives them. If the command is killed by SIGKILL, PR_SET_PDEATHSIG kills the
 * children, but not their children.
 */
#ifndef TESTBENCH_CHILD_H
#define TESTBENCH_CHILD_H

#include <sys/types.h>

enum { CHILDREN_MAX = 4096 };

void children_begin(void);
/* Like fork(). -1 with errno EAGAIN if there are CHILDREN_MAX children. The child has the signal
 * mask from before children_begin(). */
pid_t child_start(void);
/* Waits for this child, or for any if 0. Returns its pid or -errno. -EINTR: a signal asked to end,
 * and all children have been ended. */
pid_t child_wait(pid_t pid, int *status);
/* Call when no child is left. A signal that was blocked strikes now, so this may not return. */
void children_end(void);

#endif
