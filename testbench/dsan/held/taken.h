/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the driver has taken and must give back: memory, mappings, doorbell records, ranges of MTT
 * entries, references to ICM, numbers, wait queues. What a call takes belongs to the object that it makes. When
 * the object is destroyed, or the call fails, all of it must have been given back.
 *
 * What is given back is judged at once, too: no live object of the device may need it (claims.h).
 */
#ifndef TESTBENCH_DSAN_HELD_TAKEN_H
#define TESTBENCH_DSAN_HELD_TAKEN_H

#include <stdbool.h>
#include <stdint.h>

struct ask;
struct checker;

/* T(NAME, "what it is, in a report") */
#define TAKEN_KINDS(T)                                                                             \
	T(RECORD, "doorbell record")                                                               \
	T(BUFFER, "buffer")                                                                        \
	T(MTTS, "range of MTT entries")                                                            \
	T(BUDDY, "range of the allocator of MTT entries")                                          \
	T(ICM, "reference to ICM")                                                                 \
	T(NUMBER, "number")                                                                        \
	T(PAGES, "piece of DMA memory")                                                            \
	T(MAPPING, "mapping")                                                                      \
	T(QUEUE, "wait queue")                                                                     \
	T(HANDLER, "handler of interrupts")                                                        \
	T(LOCK, "lock, whose wait queue stays,")                                                   \
	T(MEMORY, "piece of memory")                                                               \
	T(POOLED, "region of a pool")

enum taken_kind {
#define T(NAME, what) TAKEN_##NAME,
	TAKEN_KINDS(T)
#undef T
		TAKEN_KIND_COUNT
};

/* The running call of the driver takes something, or gives it back. `of` and `number` name it; pc is in
 * the function that does it. Outside of asks nothing is noted. */
void taken_add(enum taken_kind kind, const void *of, uint64_t number, const void *pc);
/* The same, where a layer above mlx4 may take it, outside of asks: then it belongs to the driver of that
 * host, whose owner is `c`. */
void taken_add_of(const struct checker *c, enum taken_kind kind, const void *of, uint64_t number,
		  const void *pc);
void taken_back(enum taken_kind kind, const void *of, uint64_t number, const void *pc);
/* Whether it was taken, and is not given back. */
bool taken_is(enum taken_kind kind, const void *of, uint64_t number);
/* A part of a call has ended (ASK_INNER). When it has failed, what it took must be back. Else that
 * belongs to the call around it; or to all objects (`shared`), such as a page of doorbell records.
 * Returns rc. */
int taken_inner_end(struct ask *inner, int rc, bool shared);

/* The call has ended. It made the object (NULL: it made none and has not failed). */
void taken_made(struct ask *a, const void *object);
/* The call has failed: what it took must be back. `call` is its name. */
void taken_failed(struct ask *a, const char *call);
/* The object is gone, as the call says. */
void taken_gone(struct ask *a, const char *call, const void *object);
/* What gave these out is itself no more, such as the bitmap of numbers. */
void taken_forget_of(const void *of);
/* A driver that left its device as it is: nothing is expected any more. */
void taken_forget(const struct checker *c);

#endif
