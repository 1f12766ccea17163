/* SPDX-License-Identifier: Apache-2.0 */
/* Which call of a kind runs in which thread: each kind has a list of its own. What the driver does meanwhile in
 * the same thread belongs to that call. */
#ifndef TESTBENCH_DSAN_ASKED_RUNNING_H
#define TESTBENCH_DSAN_ASKED_RUNNING_H

/* The first member of what is known of a call; it stands on the stack of its wrapper. */
struct running {
	struct running *next, **list;
	unsigned thread;
};

/* From here to running_drop() it is also noted who stores what (wrote.h). */
void running_begin(struct running *r, struct running **list);
/* For the attribute cleanup: a process may be killed in the call. `call` begins with its struct running. */
void running_drop(void *call);
/* That of the running thread; NULL: none. */
void *running_find(struct running *list);

/* A call that posts requests. */
struct posting {
	struct running running;
	const void *qp, *wr; /* of that interface; wr: the next to be passed on */
};

#endif
