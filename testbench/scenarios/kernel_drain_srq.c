// SPDX-License-Identifier: Apache-2.0
/*
 * A queue pair behind an SRQ is drained while the completion of its last receive is late: the
 * context of the CQ is not cached, and its read takes half a millisecond. "Last WQE reached" comes
 * long before that completion; the drain ends behind it all the same.
 * behaviours: IBA-10.2.9-last-wqe
 */
#include "testbench/harm.h"
#include "testbench/kernel_verbs.h"

enum { LEN = 64, LATE_US = 500 };

struct receive {
	struct ib_cqe cqe;
	unsigned done;
};

static void receive_done(struct ib_cq *cq, struct ib_wc *wc)
{
	DRV_CONTAINER(wc->wr_cqe, struct receive, cqe)->done++;
}

SCENARIO(kernel_drain_srq, "kernel verbs: an SRQ is drained, the last completion is late",
	 .no_qps = true, .any_packets = true)
{
	struct ib_srq_init_attr init = {.attr = {.max_wr = 8, .max_sge = 1}};
	struct ib_pd *pd = kv_made(ib_alloc_pd(ib_device_of(b), 0));
	struct ib_srq *srq = pd ? kv_made(ib_create_srq(pd, &init)) : NULL;
	struct receive receive = {.cqe = {receive_done}};
	struct ib_sge into, from;
	struct ib_recv_wr recv = {.wr_cqe = &receive.cqe, .sg_list = &into, .num_sge = 1};
	struct ib_send_wr send = {.sg_list = &from, .num_sge = 1, .opcode = IB_WR_SEND};
	struct kv x, y;
	uint64_t begin;

	ignore_events(b);
	if (!srq || !kv_open(a, &x) || !kv_open(b, &y, .pd = pd, .srq = srq, .alloc_cq = true) ||
	    !kv_connect(&x, &y))
		return;
	into = kv_sge(&y, 0, LEN);
	from = kv_sge(&x, 0, LEN);
	must(ib_post_srq_recv(srq, &recv, NULL));
	must(ib_post_send(x.qp, &send, NULL));
	evict(b, HCA_CQ, drv_cq_num(y.cq->drv));
	late_read(b, "cqc", CFG_US(LATE_US));
	pass_time(CFG_US(7));
	begin = tb_now(tb);
	ib_drain_srq(y.qp);
	expect_equal(receive.done, 1);
	expect_true(tb_now(tb) - begin > CFG_US(LATE_US) - CFG_US(20));
	kv_close(&y);
	kv_close(&x);
	must(ib_destroy_srq(srq));
	must(ib_dealloc_pd(pd));
}
