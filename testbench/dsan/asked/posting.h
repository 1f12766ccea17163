/* SPDX-License-Identifier: Apache-2.0 */
/* Which call that posts requests runs in which thread, for the two interfaces that have such calls. */
#ifndef TESTBENCH_DSAN_ASKED_POSTING_H
#define TESTBENCH_DSAN_ASKED_POSTING_H

/* A call that posts requests, in any thread. Each interface has a list of its own, of calls that run. */
struct posting {
	struct posting *next, **list;
	unsigned thread;
	const void *qp, *wr; /* of that interface; wr: the next to be passed on */
};

void posting_begin(struct posting *p, struct posting **list, const void *qp, const void *wr);
void posting_drop(struct posting *p);
/* That of the running thread; NULL: none. */
struct posting *posting_find(struct posting *list);

#endif
