/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of the driver: what they do to memory that they share, the driver's own. A thread is not
 * preempted (host_driver/platform.h): others run where it sleeps, waits, or accesses a register. From
 * one such place to the next is a turn. What a thread has read in an older turn may have changed.
 *
 * threads.c hears of turns, loads and stores. locks.c judges locks, lockset.c what is done beside
 * them, waits.c those who sleep and those who wake them, flags.c flags that are locks or ask for work,
 * busy.c flags and counts that hold memory, handlers.c handlers that are left, freed.c memory that was
 * given back. None of them needs threads to meet in the run at hand: a lock that is missing is found
 * when the code behind it runs once.
 */
#ifndef TESTBENCH_DSAN_THREADS_THREADS_H
#define TESTBENCH_DSAN_THREADS_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct checker;
struct platform;
struct platform_waitq;

/* Stands between the driver and this platform until threads_leave(); c is its host's checker. */
void threads_hear(struct checker *c, struct platform *p);
void threads_leave(struct platform *p);
/* Destroys a wait queue; pc is in the function that wants it. */
void threads_queue_destroy(struct platform *p, struct platform_waitq *q, const void *pc);
/* The running thread calls the driver of this host. */
void threads_call(const struct platform *p);
/* Whether the running thread has stored into these bytes since others ran last. True also if it has stored
 * more than is kept. */
bool threads_stored(const void *at, size_t bytes);
/* Where the last store to that address was made, in any call; NULL: not known. */
const void *threads_setter(const void *at);

/* A handler of interrupts, which is called with `arg` by threads_interrupt(&it). */
struct interrupt {
	struct checker *c;
	void (*handler)(void *arg);
	void *arg;
};
void threads_interrupt(void *interrupt);
/* The checker of the running thread. NULL if no handler of interrupts can come there: it is in one, or holds a lock, which
 * may keep interrupts away. */
struct checker *threads_interruptible(void);

/* --- locks.c --- */

/* The running thread takes a lock: before the driver's function does it, and behind it. It gives one
 * back. pc is in the function that wants it. */
void locks_want(struct checker *c, const void *lock, const void *pc);
void locks_got(struct checker *c, const void *lock, const void *pc);
void locks_back(struct checker *c, const void *lock, const void *pc);
/* It is no more. */
void locks_forget(const void *lock);
/* How many the running thread holds; a call that began with `before` of them has ended;
 * `outermost`: it was not part of another one. */
unsigned locks_held(void);
/* A lock, and which time it was taken. */
struct lock_hold {
	const void *lock; /* NULL: none */
	uint32_t nth;     /* of all that were ever taken; 0: any */
};
/* The one that the running thread took last. */
struct lock_hold locks_newest(void);
/* It reads what was asked for while that lock was held, and must hold it still. */
void locks_answer(struct checker *c, struct lock_hold held, const char *what, const void *pc);
void locks_end(struct checker *c, const char *call, unsigned before, bool outermost);
/* The running thread reads, or writes, what others share with it and is no memory, such as a register
 * or a table in the device. `which` is its name to compare, `what` the one to print. */
void locks_read(struct checker *c, uintptr_t which, const void *pc);
void locks_write(struct checker *c, uintptr_t which, const char *what, const void *pc);

/* --- flags.c --- */

/* The running thread has armed a CQ; it has found one empty. */
void threads_armed(void);
void threads_found_empty(void);

/* --- handlers.c --- */

/* That memory has `what` with another part, under that number: a handler that is registered, an entry that it
 * holds. `what` is told as in "memory is freed, and WHAT". */
void handlers_add(const char *what, const void *with, unsigned number, const void *memory,
		  const void *pc);
void handlers_remove(const void *with, unsigned number);

/* --- freed.c --- */

/* The driver frees this: true when it may be freed now, false when that comes later. */
bool freed_take(void *at, const void *pc);

#endif
