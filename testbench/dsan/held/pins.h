/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of processes that a call of user verbs holds, and what it borrows: while it lasts, nobody may
 * destroy them. When the call ends it must hold none, or its process can never destroy them. */
#ifndef TESTBENCH_DSAN_HELD_PINS_H
#define TESTBENCH_DSAN_HELD_PINS_H

#include <stdbool.h>
#include <stdint.h>

/* `what`, with that number, is how a report names it. */
void pin(unsigned host, const void *object, const char *what, uint32_t number, const void *pc);
void pin_back(const void *object);
/* The same in the middle of a call: what the call still does, it does without the object. False: the call does not
 * hold it. */
bool pin_back_in_call(const void *object, const void *pc);
/* The running thread gives a command, and others run until its answer. */
void pins_call_sleeps(void);
/* The running thread's call ends. */
void pins_call_ends(void);
/* Whether a call of any thread holds it. */
bool pins_held(const void *object);

#endif
