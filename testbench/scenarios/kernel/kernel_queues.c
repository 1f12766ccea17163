/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the completions of a CQ of kernel verbs are told: by the vector that it was made for, and CQs
 * that leave the choice to the core take the vectors in turn. It keeps its owner's pointer. A CQ is
 * not resized to less than it holds, and says its new size. An SRQ says its sizes and its limit, also
 * after a change that was refused.
 */
#include "host_driver/mlx4/mlx4_internal.h"
#include "model/interface/macros.h"
#include "testbench/harm.h"
#include "testbench/kernel_verbs.h"

enum { HELD = 40, FEW = 5, SGES = 3, LIMIT = 7, NO_BIT = 1 << 20, VECTORS = 3 };

struct note {
	struct ib_cqe cqe;
	unsigned done;
};

static void note_done(struct ib_cq *cq, struct ib_wc *wc)
{
	container_of(wc->wr_cqe, struct note, cqe)->done++;
}

static void post(struct tb *tb, struct kv *x, struct note *n)
{
	const struct ib_rdma_wr wr = {.wr = {.wr_cqe = &n->cqe,
					     .opcode = IB_WR_RDMA_WRITE,
					     .send_flags = IB_SEND_SIGNALED}};

	must(ib_post_send(x->qp, &wr.wr, NULL));
}

/* A request completes into a CQ while that vector is masked: whether done() runs meanwhile. */
static bool told(struct tb *tb, struct tb_end *a, struct ib_cq *cq, unsigned masked)
{
	struct note n = {.cqe = {note_done}};
	bool meanwhile;
	struct kv x;

	if (!cq || !kv_open(a, &x, .cq = cq, .alloc_cq = true) || !kv_connect(&x, &x))
		return false;
	mask_vector(a, masked + 1, true);
	post(tb, &x, &n);
	pass_time(CFG_US(200));
	meanwhile = n.done;
	mask_vector(a, masked + 1, false);
	kv_until(&n.done, 1);
	kv_close(&x);
	return meanwhile;
}

static void vectors(struct tb *tb, struct tb_end *a, struct ib_device *device)
{
	static const enum ib_poll_context contexts[] = {IB_POLL_SOFTIRQ, IB_POLL_WORKQUEUE,
							IB_POLL_UNBOUND_WORKQUEUE};
	const unsigned n = (unsigned)device->num_comp_vectors;
	struct ib_cq *any[2];
	unsigned held = 0;
	int last = -1;

	must_fail(-EINVAL, (int)PTR_ERR(ib_alloc_cq(device, NULL, 4, 0,
						    (enum ib_poll_context)(IB_POLL_DIRECT + 1))));
	must_fail(-EINVAL, (int)PTR_ERR(ib_alloc_cq(device, NULL, 4, -1, IB_POLL_DIRECT)));
	must_fail(-EINVAL, (int)PTR_ERR(ib_alloc_cq(device, NULL, 4, (int)n, IB_POLL_DIRECT)));
	must_fail(-EINVAL, (int)PTR_ERR(ib_alloc_cq(device, NULL, -1, 0, IB_POLL_DIRECT)));
	for (unsigned i = 0; i < n * ARRAY_SIZE(contexts) && still_right(); i++) {
		const enum ib_poll_context context = contexts[i % ARRAY_SIZE(contexts)];
		const unsigned v = i % n;
		struct ib_cq *cq = kv_made(ib_alloc_cq(device, &any[v % 2], 8, (int)v, context));

		if (!cq)
			return;
		name_row("vector %u, context %u", v, context);
		expect_true(cq->cq_context == &any[v % 2]);
		expect_equal(cq->poll_ctx, context);
		expect_true(!told(tb, a, cq, v));
		if (n > 1)
			expect_true(told(tb, a, cq, (v + 1) % n));
		ib_free_cq(cq);
	}
	name_row("%s", "any vector");
	for (unsigned v = 0; v < n && n > 1 && still_right(); v++) {
		any[0] = kv_made(ib_alloc_cq_any(device, NULL, 8, IB_POLL_UNBOUND_WORKQUEUE));
		if (any[0] && last >= 0)
			expect_that(any[0]->drv->vector, !=, last);
		last = any[0] ? any[0]->drv->vector : last;
		held += !told(tb, a, any[0], 0);
		if (any[0])
			ib_free_cq(any[0]);
	}
	expect_equal(held, n > 1);
	name_row("%s", "");
}

static void resized(struct tb *tb, struct tb_end *a)
{
	struct note n = {.cqe = {note_done}};
	struct kv x;
	int was;

	if (!kv_open(a, &x, .queue = HELD) || !kv_connect(&x, &x))
		return;
	for (unsigned i = 0; i < HELD; i++)
		post(tb, &x, &n);
	pass_time(CFG_US(200));
	was = x.cq->cqe;
	must_fail(-EINVAL, ib_resize_cq(x.cq, HELD - 1));
	expect_equal((unsigned)x.cq->cqe, (unsigned)was);
	must(ib_resize_cq(x.cq, 4 * was));
	expect_that(x.cq->cqe, >=, 4 * was);
	must(ib_resize_cq(x.cq, HELD));
	expect_that(x.cq->cqe, <, 4 * was);
	expect_that(x.cq->cqe, >=, HELD);
	for (unsigned i = 0; i < HELD; i++)
		kv_wait(&x, (uintptr_t)&n.cqe, IB_WC_SUCCESS);
	must(ib_resize_cq(x.cq, FEW));
	kv_close(&x);
}

static void srq_says(struct tb *tb, struct ib_srq *srq, const struct ib_srq_attr *made,
		     unsigned limit)
{
	struct ib_srq_attr got = {0};

	must(ib_query_srq(srq, &got));
	expect_equal(got.max_wr, made->max_wr);
	expect_equal(got.max_sge, made->max_sge);
	expect_equal(got.srq_limit, limit);
}

static void srqs(struct tb *tb, struct ib_device *device)
{
	struct ib_srq_init_attr init = {.attr = {.max_wr = HELD, .max_sge = SGES}};
	struct ib_srq_attr attr = {.srq_limit = LIMIT};
	struct ib_pd *pd = kv_made(ib_alloc_pd(device, 0));
	struct ib_srq *srq = pd ? kv_made(ib_create_srq(pd, &init)) : NULL;

	if (!srq)
		return;
	expect_that(init.attr.max_wr, >=, HELD);
	expect_that(init.attr.max_sge, >=, SGES);
	srq_says(tb, srq, &init.attr, 0);
	must(ib_modify_srq(srq, &attr, 0));
	must_fail(-EINVAL, ib_modify_srq(srq, &attr, IB_SRQ_LIMIT | IB_SRQ_MAX_WR));
	must_fail(-EINVAL, ib_modify_srq(srq, &attr, IB_SRQ_LIMIT | NO_BIT));
	srq_says(tb, srq, &init.attr, 0);
	must(ib_destroy_srq(srq));
	must(ib_dealloc_pd(pd));
}

SCENARIO(kernel_queues, "kernel verbs: vectors of CQs in turn, sizes of CQs and SRQs", .bare = true,
	 .any_packets = true, .of_mlx4 = "vectors of interrupts")
{
	const struct drv_options options = {.comp_vectors = VECTORS};
	struct ib_device *device;

	must(drv_probe(a->platform, &options, &a->dev));
	bring_up(b);
	activate_ports();
	device = ib_device_of(a);
	if (!device)
		return;
	expect_equal((unsigned)device->num_comp_vectors, VECTORS);
	vectors(tb, a, device);
	resized(tb, a);
	srqs(tb, device);
	take_down(b);
	take_down(a);
}
