/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A done() is told that a request has failed, and posts others on another queue pair, as an upper layer
 * that has a second path does. Their packets are lost, and sent again. No other queue pair has a timer
 * by then.
 */
/* behaviours: IBA-9.9.2.1.1-retries-exceeded */
#include "testbench/scenarios/kernel/done_notes.h"

enum { REQUESTS = 8 };

static struct {
	struct ib_cqe cqe;
	struct tb *tb;
	struct kv *spare;
	struct note note; /* of the spare queue pair */
	enum ib_wc_status status;
} path;

static void failed(struct ib_cq *cq, struct ib_wc *wc)
{
	path.status = wc->status;
	post_empty(path.tb, path.spare, &path.note, REQUESTS);
}

SCENARIO(kernel_done_posts,
	 "kernel verbs: a done() posts on another queue pair, and the packet is lost",
	 .no_qps = true, .any_packets = true)
{
	const struct ib_rdma_wr wr = {.wr = {.wr_cqe = &path.cqe,
					     .opcode = IB_WR_RDMA_WRITE,
					     .send_flags = IB_SEND_SIGNALED}};
	unsigned order = 0;
	struct kv x, y, spare, to;

	if (!kv_open(a, &x, .alloc_cq = true) || !kv_open(b, &y) ||
	    !kv_open(a, &spare, .alloc_cq = true) || !kv_open(b, &to) || !kv_connect(&x, &y) ||
	    !kv_connect(&spare, &to))
		return;
	path.cqe.done = failed;
	path.tb = tb;
	path.spare = &spare;
	path.note = (struct note){.cqe = {note_done}, .order = &order};
	kv_close(&y);
	drop_next(a_to_b, RC_WRITE_ONLY, .qpn = to.qp->qp_num, .times = REQUESTS);
	must(ib_post_send(x.qp, &wr.wr, NULL));
	kv_until(&path.note.done, REQUESTS);
	expect_equal(path.status, IB_WC_RETRY_EXC_ERR);
	kv_close(&to);
	kv_close(&spare);
	kv_close(&x);
}
