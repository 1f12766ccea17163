/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that the driver has taken from the heap, in whatever layer: all of it must be free again when
 * the last driver is gone. taken.h knows what belongs to one call or object; this knows the rest, such
 * as an event in a list that nobody empties.
 *
 * What is left is told with the functions that took it, the one that wrote it last, and the ones that
 * freed the structures in which a pointer to it stood: one of them should have freed it.
 *
 * The memory of the lowest layer holds no pointer to an object that is gone. Upper layers may still hold one, for they free their own structure afterwards.
 *
 * Behind each piece stand HEAP_MARGIN bytes that nobody may use: an access that goes there is told.
 */
#ifndef TESTBENCH_DSAN_HELD_HEAP_H
#define TESTBENCH_DSAN_HELD_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct checker;

/* An index that is a little too large ends in here, for the structures of which the driver has arrays. */
enum { HEAP_MARGIN = 128 };
/* What memory holds that nobody has set yet: it makes no valid pointer and no small number. */
enum { HEAP_UNSET = 0xa5 };

/* The driver takes memory, with HEAP_MARGIN bytes more than it has asked for, and gives it back; pc is in the function that does it. `lowest`: for its
 * lowest layer. */
void heap_taken(const void *at, size_t bytes, bool lowest, const void *pc);
/* `c` hears if a handler of interrupts may still use it; NULL: no handler can come there. */
void heap_back(struct checker *c, const void *at, const void *pc);
/* It was taken with each byte HEAP_UNSET, by pc: whoever reads these bytes has not set them. */
void heap_unset(const void *at, const void *pc);
/* It loads or stores `bytes` of memory that may be of the heap; `c` hears of a breach and may be NULL. `caller`: the
 * function that has called the one with pc; NULL: not known. `handler`: what the running handler of interrupts is called
 * with; NULL: none runs. */
void heap_load(struct checker *c, uintptr_t at, size_t bytes, const void *pc, const void *caller,
	       const void *handler);
void heap_store(struct checker *c, uintptr_t at, size_t bytes, const void *pc);
/* Interrupts call a handler with `arg` from now on, or no more. While they do, what a handler has read and still
 * reaches by a pointer that stands in the same piece of memory as `arg` must not be freed. */
void heap_handler(const void *arg, bool installed);
/* An object is freed and gone, such as "a QP": the lowest layer must not point to it any more. */
void heap_gone(struct checker *c, const void *object, const char *what);
/* The function that took the memory in which `at` is, then its callers: at most `max` places. Returns how many. */
unsigned heap_takers(const void *at, const void **pcs, unsigned max);
/* Who stored into these bytes, or right beside them, last: at most `max` places. Returns how many. */
unsigned heap_writers(const void *at, size_t bytes, const void **pcs, unsigned max);
/* Who took the memory in which a pointer to these bytes stands, though not in themselves: at most `max` places, those of the oldest piece first. Looks at
 * all that is taken. Returns how many. */
unsigned heap_pointers(uintptr_t at, size_t bytes, const void **pcs, unsigned max);
/* Whether both are in the same piece of memory. */
bool heap_same(uintptr_t at, uintptr_t other);
/* A driver begins; one is removed, or has failed to begin: with the last one, what is left is reported and forgotten. */
void heap_driver_begins(void);
void heap_driver_ends(struct checker *c);
/* The run is over, or a driver has left its device as it was: nothing is expected any more. */
void heap_forget(void);

#endif
