/* SPDX-License-Identifier: Apache-2.0 */
/* Requests whose done() notes that it was called, and when. */
#ifndef TESTBENCH_SCENARIOS_KERNEL_DONE_NOTES_H
#define TESTBENCH_SCENARIOS_KERNEL_DONE_NOTES_H

#include "model/interface/macros.h"
#include "testbench/kernel_verbs.h"

struct note {
	struct ib_cqe cqe;
	unsigned *order; /* counts the done() calls of the whole scenario */
	unsigned begun, done,
		last_at; /* of this CQ: how many done() calls, and the last call's place in the order */
	struct platform *sleeps;
};

static inline void note_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct note *n = container_of(wc->wr_cqe, struct note, cqe);

	n->done++;
	n->last_at = ++*n->order;
	if (n->sleeps)
		n->sleeps->ops->sleep_ps(n->sleeps, CFG_US(3));
}

static inline void post_empty(struct tb *tb, struct kv *kv, struct note *n, unsigned count)
{
	const struct ib_rdma_wr wr = {.wr = {.wr_cqe = &n->cqe,
					     .opcode = IB_WR_RDMA_WRITE,
					     .send_flags = IB_SEND_SIGNALED}};

	for (unsigned i = 0; i < count && still_right(); i++)
		must(ib_post_send(kv->qp, &wr.wr, NULL));
}

#endif
