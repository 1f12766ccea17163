/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long users said that the driver may wait for an answer, against how long it waits. A wait in the
 * wrong unit shows else only if an answer is late.
 */
#ifndef TESTBENCH_DSAN_MADS_TIMEOUTS_H
#define TESTBENCH_DSAN_MADS_TIMEOUTS_H

#include <stdint.h>

struct checker;
struct smp;

/* A user asks the subnet administration; `pc` is in the function that it calls. */
void timeouts_asked(const struct checker *c, uint64_t timeout_ps, const void *pc);
/* That question leaves, and its answer is waited for so long. */
void timeouts_call(struct checker *c, const struct smp *request, uint64_t timeout_ps);
/* What the function at `pc` has made of a user's timeout. */
void timeouts_is(struct checker *c, uint64_t is_ps, uint64_t asked_ps, const void *pc);

#endif
