/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call chains of host threads: who has called whom, as return addresses. Taking one costs some ten
 * instructions a call, because the driver and the test bench are built with frame pointers
 * (HOST_CFLAGS in the Makefile). testbench/os/symbols.h turns the addresses into functions and lines.
 */
#ifndef TESTBENCH_CALLS_H
#define TESTBENCH_CALLS_H

struct kernel_thread;

/* With 14, a handler of interrupts that gives a command through all layers did not get to its own name. */
enum { CALLS_MAX = 24 };

/* Places in functions that ran one after the other, the latest first; each place once. */
enum { RAN_MAX = 240 };

struct ran {
	unsigned n;
	const void *pc[RAN_MAX];
};

struct calls {
	unsigned n;
	const void *pc[CALLS_MAX]; /* return addresses, innermost first */
};

/* The calls that lead to the caller of this function, in this thread; none for NULL. */
void calls_take(struct calls *calls, const struct kernel_thread *thread);
/* Those in which another thread waits; none if it does not wait. */
void calls_of_waiting(struct calls *calls, const struct kernel_thread *thread);
/* The caller of this function runs the simulation: what runs outside of all threads, such as iWARP, is called from
 * there. `frame`: its own. */
void calls_outside_begin(const void *frame);
/* Those of the running thread where a signal has struck, or of what runs outside of all threads: `context` is what
 * the handler was given. */
void calls_of_signal(struct calls *calls, const void *context);

#endif
