/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A WORKQUEUE CQ has more completions than the thread takes in one turn. The others come in the next one,
 * although no event tells of them.
 */
#include "model/interface/macros.h"
#include "testbench/harm.h"
#include "testbench/kernel_verbs.h"

enum { QPS = 5, EACH = IB_POLL_BUDGET_WORKQUEUE / QPS + 2, CHAIN = 256 };

static struct note {
	struct ib_cqe cqe;
	unsigned done;
} note;

static void note_done(struct ib_cq *cq, struct ib_wc *wc)
{
	container_of(wc->wr_cqe, struct note, cqe)->done++;
}

static void post(struct tb *tb, struct kv *x)
{
	static struct ib_rdma_wr wr[CHAIN];

	for (unsigned i = 0; i < CHAIN; i++)
		wr[i].wr = (struct ib_send_wr){.next = i + 1 < CHAIN ? &wr[i + 1].wr : NULL,
					       .wr_cqe = &note.cqe,
					       .opcode = IB_WR_RDMA_WRITE,
					       .send_flags = IB_SEND_SIGNALED};
	for (unsigned left = EACH; left && still_right();) {
		const unsigned n = left < CHAIN ? left : CHAIN;

		must(ib_post_send(x->qp, &wr[CHAIN - n].wr, NULL));
		left -= n;
	}
}

SCENARIO(kernel_cq_turns, "kernel verbs: more completions than a thread takes in one turn",
	 .no_qps = true, .any_packets = true, .of_mlx4 = "vectors of interrupts")
{
	struct ib_cq *cq =
		kv_made(ib_alloc_cq(ib_device_of(a), NULL, QPS * (EACH + 1), 0, IB_POLL_WORKQUEUE));
	struct kv x[QPS];

	if (!cq)
		return;
	note = (struct note){.cqe = {note_done}};
	mask_vector(a, 1, true);
	for (unsigned i = 0; i < QPS; i++) {
		if (!kv_open(a, &x[i], .alloc_cq = true, .cq = cq, .queue = EACH) ||
		    !kv_connect(&x[i], &x[i]))
			return;
		post(tb, &x[i]);
	}
	pass_time(CFG_MS(100));
	expect_equal(note.done, 0);
	mask_vector(a, 1, false);
	kv_until(&note.done, QPS * EACH);
	for (unsigned i = 0; i < QPS; i++)
		kv_close(&x[i]);
	ib_free_cq(cq);
}
