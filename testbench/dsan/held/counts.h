/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts of users in the layers above mlx4. An object of the RDMA core counts those that use it, and is
 * not destroyed while there are any. What a new object counts, its end must count back, on the same
 * objects. Threads that make or destroy objects at the same time are not judged.
 */
#ifndef TESTBENCH_DSAN_HELD_COUNTS_H
#define TESTBENCH_DSAN_HELD_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

struct checker;

enum { COUNTS_MAX = 8 };

/* A call that makes or destroys an object is under way. */
struct counts {
	struct checker *c; /* NULL: nothing is judged */
	const char *call;
	uint64_t turn;
	unsigned n;
	struct count {
		const void *of;
		const unsigned *counter;
		unsigned before;
		int more; /* that it must be, or at least 1 for COUNTS_SOME */
		const char *what;
	} of[COUNTS_MAX];
};

enum { COUNTS_SOME = 1 << 16 };

void counts_begin(struct counts *n, struct checker *c, const char *call);
/* The call makes an object that uses this one; NULL: none. */
void counts_use(struct counts *n, const void *of, const unsigned *counter, const char *what);
/* It has made this object (NULL: it has failed, and must have counted nothing). */
void counts_made(struct counts *n, const void *object);
/* The call destroys that object; has destroyed it, or not. */
void counts_leave(struct counts *n, const void *object);
void counts_left(struct counts *n, const void *object, bool gone);
/* The drivers are gone. */
/* That memory is freed, or its object is not followed: what comes to stand there is another one. */
void counts_freed(const void *at);
void counts_forget(void);

#endif
