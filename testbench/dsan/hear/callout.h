/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call-outs: the driver says what it is about to load and store, and where its barriers are.
 *
 * The program hcasim-checked has the driver compiled with gcc's option -fsanitize=thread. The option
 * puts a call before each access to memory. The functions that are called are those of callout.c;
 * gcc's library is not linked. Barriers of the driver are C11 fences, and these become calls as
 * well. So do, with -fsanitize=bounds and -fsanitize=shift-exponent, an index that its array does not
 * have and a shift that its value does not have; and with -fstack-protector-strong, what was written
 * beyond an array on the stack. In hcasim the driver is compiled without these options, and nothing here is ever called.
 *
 * Listeners hear of the memory of simulated hosts, and of other memory if they ask for it. A call-out comes from the thread that makes
 * the access, before the access: after a store's call-out the memory has its old bytes still. A
 * listener may let simulated time pass (platform_ops), and so hold the thread back at this access.
 */
#ifndef TESTBENCH_DSAN_HEAR_CALLOUT_H
#define TESTBENCH_DSAN_HEAR_CALLOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a fence keeps in order: loads before it with loads behind it (acquire), stores before it with
 * stores behind it (release). A full fence has both bits. */
enum callout_fence {
	CALLOUT_FENCE_LOADS = 1 << 0,
	CALLOUT_FENCE_STORES = 1 << 1,
};

/* Functions that are NULL are not called. `pc` is in the function of the driver that makes the
 * access. The listener owns its memory. */
struct callout_listener {
	void *ctx;
	void (*load)(void *ctx, uintptr_t at, size_t bytes, const void *pc);
	void (*store)(void *ctx, uintptr_t at, size_t bytes, const void *pc);
	void (*fence)(void *ctx, unsigned fence, const void *pc);
	/* A store to other memory: the driver's stack and heap. */
	void (*elsewhere)(void *ctx, uintptr_t at, size_t bytes, const void *pc);
	/* A load of other memory. */
	void (*elsewhere_load)(void *ctx, uintptr_t at, size_t bytes, const void *pc);
	/* The store that was heard last copies these bytes from other memory. */
	void (*copied)(void *ctx, uintptr_t at, uintptr_t from, size_t bytes);
	/* A function of the layers above mlx4 begins, and ends. All its variables, and those of the
	 * functions that it has called, have lower addresses than `frame`. */
	void (*enter)(void *ctx, const void *pc);
	void (*leave)(void *ctx, const void *frame);
	/* A function of mlx4 begins, inlined or not. */
	void (*visit)(void *ctx, const void *pc);
	/* An index lies beyond its array, or a shift beyond the bits of its value: `what` says which.
	 * The driver goes on with it, unless it was an array on the stack. */
	void (*beyond)(void *ctx, const char *what, const void *pc);
	struct callout_listener *next; /* of callout.c */
};

/* Whether this program's driver has call-outs. */
bool callouts_built(void);
/* Adds a host's memory to what listeners hear of. */
void callouts_watch(const void *base, uint64_t bytes);
/* They are called in the order in which they were added. */
void callout_listen(struct callout_listener *l);
void callout_leave(struct callout_listener *l);

#endif
