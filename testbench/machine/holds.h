/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holds host threads back where a schedule says so (testbench/explore/), in a run that explores.
 *
 * Before a load or store a host stands still: none of its threads goes on, interrupt handlers
 * included, while devices and the other host do. The driver may be held there at any access, because
 * it is promised no more than that no other thread runs in between (host_driver/platform.h). Before
 * and after an access to a register, and after a wait, only the thread is held: other threads may run
 * there anyway.
 */
#ifndef TESTBENCH_HOLDS_H
#define TESTBENCH_HOLDS_H

#include "testbench/explore/explorer.h"

struct event_core;
struct hca;
struct holds;
struct kernel;
struct kernel_thread;

/* Of both hosts. NULL: no memory. */
struct holds *holds_create(struct explorer *e, struct kernel *kernel, struct event_core *core);
void holds_destroy(struct holds *h);

/* The host's memory, whose accesses are points: bytes at `base`. */
void holds_watch(struct holds *h, unsigned host, const void *base, uint64_t bytes);

/* All of these may be called with NULL, and then do nothing. */

/* The thread runs on this host alone. A thread that is not bound may act on both. */
void holds_bind(struct holds *h, const struct kernel_thread *thread, unsigned host);
/* The running thread goes on after a wait: first waits until its host stands still no longer. */
void holds_gate(struct holds *h);
/* The running thread of this host is about to access a register. */
void holds_register(struct holds *h, unsigned host, unsigned bar, uint64_t offset, bool write);
/* It has accessed the register: what was written is on its way, what was read is known. */
void holds_after(struct holds *h, unsigned host, unsigned bar, uint64_t offset, bool write);
/* It goes on after a wait. woken: somebody or something has ended the wait, not time. */
void holds_wake(struct holds *h, unsigned host, bool woken);
/* Whether the running thread has stood still since this was asked last. What it waits for now may
 * have happened then. */
bool holds_stood(struct holds *h);
/* When the last hold ended, or will end. */
uint64_t holds_calm_ps(const struct holds *h);
/* How long all holds so far are together: no more than this is anything late. */
uint64_t holds_held_ps(const struct holds *h);
/* How much later the host's next interrupt message arrives; *again: after how long the interrupt
 * comes once more, 0: not. */
uint64_t holds_interrupt(struct holds *h, unsigned host, unsigned vector, uint64_t *again);
/* The running thread of this host writes a register now, without a wait in between. */
void holds_doorbell(struct holds *h, unsigned host, unsigned bar, uint64_t offset);
/* From now on the DMA of this host's device, and the writes to its registers, can take longer. */
void holds_ask(struct holds *h, unsigned host, struct hca *hca);
/* The device reads or writes the host's memory. */
void holds_device(struct holds *h, unsigned host, uint64_t offset, size_t bytes, bool write);

#endif
