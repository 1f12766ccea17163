/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drains that need not wait, or cannot. ib_drain_srq stops the receives of a queue pair with an
 * SRQ, and leaves one without an SRQ alone. If the CQ is not of ib_alloc_cq, nobody calls done():
 * the queue pair goes to the error state, and its completions stay for the owner of the CQ, without
 * one of the drain's own. A queue pair in RESET has nothing to drain and stays there.
 */
/* behaviours: IBA-10.2.9-last-wqe */
#include "model/interface/macros.h"
#include "testbench/kernel_verbs.h"

enum { SENDS = 3, RECEIVES = 2, LEN = 64, FIRST = 100 };

static unsigned done;

static void request_done(struct ib_cq *cq, struct ib_wc *wc)
{
	(void)cq;
	(void)wc;
	done++;
}

static enum ib_qp_state state_of(struct tb *tb, struct kv *x)
{
	struct ib_qp_attr attr = {0};

	must(ib_query_qp(x->qp, &attr, IB_QP_STATE, NULL));
	return attr.qp_state;
}

static void post(struct tb *tb, struct kv *x, struct ib_cqe *cqe)
{
	struct ib_sge sge = kv_sge(x, 0, LEN);
	struct ib_send_wr send = {.sg_list = &sge, .num_sge = 1, .opcode = IB_WR_SEND};
	struct ib_recv_wr recv = {.sg_list = &sge, .num_sge = 1};

	for (unsigned i = 0; i < SENDS; i++) {
		send.wr_id = FIRST + i;
		if (cqe)
			send.wr_cqe = cqe;
		must(ib_post_send(x->qp, &send, NULL));
	}
	for (unsigned i = 0; i < RECEIVES; i++) {
		recv.wr_id = FIRST + SENDS + i;
		if (cqe)
			recv.wr_cqe = cqe;
		must(x->qp->srq ? ib_post_srq_recv(x->qp->srq, &recv, NULL)
				: ib_post_recv(x->qp, &recv, NULL));
	}
}

/* The sends stay in their queue until the queue pair goes to the error state. */
static void hold_sends(struct tb *tb, struct kv *x)
{
	must(ib_modify_qp(x->qp, &(struct ib_qp_attr){.qp_state = IB_QPS_SQD}, IB_QP_STATE));
}

static void drains_srq(struct tb *tb, struct tb_end *a, struct ib_pd *pd, struct ib_srq *srq)
{
	struct ib_cqe cqe = {request_done};
	struct kv with, without;

	phase("ib_drain_srq");
	kv_open(a, &with, .pd = pd, .srq = srq, .alloc_cq = true);
	kv_open(a, &without, .pd = pd, .alloc_cq = true);
	kv_connect(&with, &without);
	if (!still_right())
		return;
	hold_sends(tb, &with);
	post(tb, &with, &cqe);
	done = 0;
	ib_drain_srq(without.qp);
	expect_equal(state_of(tb, &without), IB_QPS_RTS);
	ib_drain_srq(with.qp);
	expect_equal(state_of(tb, &with), IB_QPS_ERR);
	ib_drain_qp(with.qp);
	expect_equal(done, SENDS); /* the receives are the SRQ's, no queue pair has taken them */
	kv_close(&without);
	kv_close(&with);
}

/* The completions of the first `wanted` requests, and no others, are left. */
static void stay(struct tb *tb, struct kv *x, unsigned wanted)
{
	const uint64_t begun = tb_now(tb);
	struct ib_wc wc[SENDS + RECEIVES + 1];
	unsigned seen = 0;

	hold_sends(tb, x);
	post(tb, x, NULL);
	ib_drain_qp(x->qp);
	expect_that(tb_now(tb) - begun, <, CFG_MS(100));
	expect_equal(state_of(tb, x), IB_QPS_ERR);
	pass_time(CFG_MS(1));
	expect_equal(ib_poll_cq(x->cq, SENDS + RECEIVES + 1, wc), wanted);
	for (unsigned i = 0; i < wanted && still_right(); i++) {
		expect_equal(wc[i].status, IB_WC_WR_FLUSH_ERR);
		seen |= 1u << (wc[i].wr_id - FIRST);
	}
	expect_equal(seen, (1u << wanted) - 1);
}

static void owner_polls(struct tb *tb, struct tb_end *a, struct ib_pd *pd, struct ib_srq *srq)
{
	struct kv x, shared;

	phase("a CQ that its owner polls");
	kv_open(a, &x, .pd = pd);
	kv_open(a, &shared, .pd = pd, .srq = srq);
	kv_connect(&x, &shared);
	if (!still_right())
		return;
	stay(tb, &x, SENDS + RECEIVES);
	stay(tb, &shared, SENDS);
	kv_close(&shared);
	kv_close(&x);
}

static void in_reset(struct tb *tb, struct tb_end *a)
{
	const uint64_t begun = tb_now(tb);
	struct kv x;

	phase("RESET");
	if (!kv_open(a, &x, .alloc_cq = true))
		return;
	ib_drain_qp(x.qp);
	expect_that(tb_now(tb) - begun, <, CFG_MS(100));
	expect_equal(state_of(tb, &x), IB_QPS_RESET);
	kv_close(&x);
}

SCENARIO(kernel_drain_alone, "kernel verbs: drains that need not wait, or cannot", .no_qps = true,
	 .any_packets = true)
{
	struct ib_srq_init_attr init = {.attr = {.max_wr = 2 * RECEIVES, .max_sge = 1}};
	struct ib_pd *pd = kv_made(ib_alloc_pd(ib_device_of(a), 0));
	struct ib_srq *srq = pd ? kv_made(ib_create_srq(pd, &init)) : NULL;

	ignore_events(a);
	if (!srq)
		return;
	drains_srq(tb, a, pd, srq);
	owner_polls(tb, a, pd, srq);
	in_reset(tb, a);
	must(ib_destroy_srq(srq));
	must(ib_dealloc_pd(pd));
}
