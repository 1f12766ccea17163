/* SPDX-License-Identifier: Apache-2.0 */
/* Commands as the driver's functions were called to give them, against the command register. */
#ifndef TESTBENCH_DSAN_ASKED_WANTED_H
#define TESTBENCH_DSAN_ASKED_WANTED_H

#include <stdint.h>

struct ask;
struct wanted;

/* A sum over what the caller has where the answer is to go. */
uint64_t wanted_out_sum(const struct wanted *w);

/* GO is written for the command of this ask (ASK_INNER). */
void wanted_given(const struct ask *a);
/* Another command has the same token, so their answers cannot be told apart: `what` says which one. */
void wanted_same_token(const struct ask *a, const char *what);
/* The function gives up, and says that the device did not answer in time. */
void wanted_timed_out(const struct ask *a);
/* The function returns without an error. */
void wanted_answered(const struct ask *a);
/* It returns an error: then the output mailbox says nothing, and the caller gets none of it. Source: Linux
 * mlx4_cmd_wait, whose callers copy the mailbox behind the test of its result */
void wanted_failed(const struct ask *a);

#endif
