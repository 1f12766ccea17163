/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues are drained in the middle of traffic in both directions. When the drain returns, the
 * done() of every posted request has been called, and the memory of the requests and of their data
 * is freed at once. A late access to either would be detected: to data by the IOMMU (rule
 * dma_unmapped), to requests by the address sanitizer or valgrind, because requests are on the
 * heap. Cases: full queues, CQs of each context, one CQ for two queue pairs (the other one goes
 * on), an SRQ (unused receives stay in it), and draining twice.
 */
#include "model/interface/macros.h"
#include "testbench/kernel_verbs.h"

#include <stdlib.h>

enum { QUEUE = 32, LEN = 8192, BYTES = QUEUE * LEN };

struct request {
	struct ib_cqe cqe;
	struct traffic *t;
};

/* A side's requests and their memory. */
struct traffic {
	struct kv *kv;
	struct request *requests; /* QUEUE sends, QUEUE receives */
	uint8_t *mem;
	uint64_t bus;
	unsigned posted, done, flushed;
};

static void request_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct request *r = container_of(wc->wr_cqe, struct request, cqe);

	r->t->done++;
	r->t->flushed += wc->status == IB_WC_WR_FLUSH_ERR;
}

static void begin(struct tb *tb, struct traffic *t, struct kv *kv, struct ib_srq *srq)
{
	*t = (struct traffic){.kv = kv, .requests = calloc(2 * QUEUE, sizeof(*t->requests))};
	t->mem = kv_memory(kv->end, BYTES);
	if (!t->requests || !t->mem)
		return;
	t->bus = ib_dma_map_single(kv->device, t->mem, BYTES, DMA_BIDIRECTIONAL);
	for (unsigned i = 0; i < 2 * QUEUE; i++) {
		struct ib_sge sge = {t->bus + i % QUEUE * LEN, LEN, kv->pd->local_dma_lkey};
		struct ib_send_wr send = {.wr_cqe = &t->requests[i].cqe,
					  .sg_list = &sge,
					  .num_sge = 1,
					  .opcode = IB_WR_SEND,
					  .send_flags = IB_SEND_SIGNALED};
		struct ib_recv_wr recv = {
			.wr_cqe = &t->requests[i].cqe, .sg_list = &sge, .num_sge = 1};

		t->requests[i] = (struct request){.cqe = {request_done}, .t = t};
		if (i >= QUEUE)
			must(ib_post_send(kv->qp, &send, NULL));
		else if (srq)
			must(ib_post_srq_recv(srq, &recv, NULL));
		else
			must(ib_post_recv(kv->qp, &recv, NULL));
		t->posted++;
	}
}

/* Frees everything; any later access to it is an error. */
static void end(struct traffic *t)
{
	struct kv *kv = t->kv;

	ib_dma_unmap_single(kv->device, t->bus, BYTES, DMA_BIDIRECTIONAL);
	kv_memory_free(kv->end, t->mem, BYTES);
	free(t->requests);
}

/* Returns how many requests the first drain has flushed. */
static unsigned both_ways(struct tb *tb, struct tb_end *a, struct tb_end *b,
			  enum ib_poll_context ctx, uint64_t after)
{
	const struct kv_setup setup = {.queue = QUEUE, .alloc_cq = true, .poll_ctx = ctx};
	struct traffic s, t;
	struct kv x, y;

	if (!tb_kv_open(tb, TB_HERE, a, &x, &setup) || !tb_kv_open(tb, TB_HERE, b, &y, &setup) ||
	    !kv_connect(&x, &y))
		return 0;
	begin(tb, &s, &x, NULL);
	begin(tb, &t, &y, NULL);
	if (!still_right())
		return 0;
	pass_time(after);
	ib_drain_qp(x.qp);
	expect_equal(s.done, 2 * QUEUE);
	end(&s);
	pass_time(CFG_US(30));
	ib_drain_qp(y.qp);
	expect_equal(t.done, 2 * QUEUE);
	end(&t);
	pass_time(CFG_S(1));
	ib_drain_qp(y.qp); /* the queues are empty: only the markers complete */
	kv_close(&y);
	kv_close(&x);
	return s.flushed;
}

/* The send queue takes no more: there is room for the marker when requests have been flushed. */
static void brim_full(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct traffic t = {0};
	struct request r = {.cqe = {request_done}, .t = &t};
	const struct ib_send_wr send = {
		.wr_cqe = &r.cqe, .opcode = IB_WR_SEND, .send_flags = IB_SEND_SIGNALED};
	struct kv x, y;

	if (!kv_open(a, &x, .alloc_cq = true, .cqe = 8 * QUEUE, .queue = QUEUE) ||
	    !kv_open(b, &y, .alloc_cq = true) || !kv_connect(&x, &y))
		return;
	/* nothing leaves, so nothing completes before the drain */
	must(ib_modify_qp(x.qp, &(struct ib_qp_attr){.qp_state = IB_QPS_SQD}, IB_QP_STATE));
	while (t.posted < 4 * QUEUE && !ib_post_send(x.qp, &send, NULL))
		t.posted++;
	expect_that(t.posted, <, 4 * QUEUE);
	ib_drain_sq(x.qp);
	expect_equal(t.done, t.posted);
	kv_close(&y);
	kv_close(&x);
}

/* Two queue pairs on one CQ; the other one goes on. */
static void shared_cq(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct traffic s, t;
	struct kv x, y, v, w;

	if (!kv_open(a, &x, .alloc_cq = true, .cqe = 4 * QUEUE + 2) ||
	    !kv_open(a, &v, .cq = x.cq) || !kv_open(b, &y, .alloc_cq = true) ||
	    !kv_open(b, &w, .alloc_cq = true) || !kv_connect(&x, &y) || !kv_connect(&v, &w))
		return;
	begin(tb, &s, &x, NULL);
	begin(tb, &t, &v, NULL);
	pass_time(CFG_US(10));
	ib_drain_qp(x.qp);
	expect_equal(s.done, s.posted);
	end(&s);
	expect_equal(t.flushed, 0);
	ib_drain_qp(v.qp);
	expect_equal(t.done, t.posted);
	end(&t);
	kv_close(&w);
	kv_close(&y);
	kv_close(&v);
	kv_close(&x);
}

static void reset_qp(struct tb *tb, struct kv *kv)
{
	const struct ib_qp_attr reset = {.qp_state = IB_QPS_RESET};

	must(ib_modify_qp(kv->qp, &reset, IB_QP_STATE));
}

/*
 * Sends that x has not sent leave their receives in y's SRQ, for another queue pair to use later.
 */
static void shared_receives(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct ib_srq_init_attr init = {.attr = {.max_wr = QUEUE, .max_sge = 1}};
	struct ib_pd *pd = kv_made(ib_alloc_pd(ib_device_of(b), 0));
	struct ib_srq *srq = pd ? kv_made(ib_create_srq(pd, &init)) : NULL;
	struct kv_setup setup = {
		.pd = pd, .srq = srq, .alloc_cq = true, .poll_ctx = IB_POLL_WORKQUEUE};
	struct traffic s, t, u;
	unsigned left;
	struct kv x, y, w;

	if (!srq || !kv_open(a, &x, .alloc_cq = true) || !tb_kv_open(tb, TB_HERE, b, &y, &setup) ||
	    !tb_kv_open(tb, TB_HERE, b, &w, &setup) || !kv_connect(&x, &y))
		return;
	begin(tb, &t, &y, srq);
	begin(tb, &s, &x, NULL);
	pass_time(CFG_US(20));
	ib_drain_qp(y.qp);
	left = t.posted - t.done;
	expect_that(left, <=, QUEUE);
	ib_drain_qp(x.qp);
	expect_equal(s.done, s.posted);
	end(&s);
	reset_qp(tb, &x);
	kv_connect(&x, &w);
	begin(tb, &u, &x, NULL);
	kv_until(&t.done, t.posted);
	ib_drain_qp(x.qp);
	ib_drain_qp(w.qp);
	end(&u);
	end(&t);
	kv_close(&w);
	kv_close(&y);
	kv_close(&x);
	must(ib_destroy_srq(srq));
	must(ib_dealloc_pd(pd));
}

/* UD, whose work request is a larger structure: the drain marker must be of that kind. */
static void datagrams(struct tb *tb, struct tb_end *a)
{
	struct request r = {.cqe = {request_done}};
	struct traffic t = {0};
	const struct ib_recv_wr recv = {.wr_cqe = &r.cqe};
	struct kv x;

	if (!kv_open(a, &x, .type = IB_QPT_UD, .alloc_cq = true) || !kv_connect(&x, &x))
		return;
	r.t = &t;
	must(ib_post_recv(x.qp, &recv, NULL));
	ib_drain_qp(x.qp);
	expect_equal(t.flushed, 1);
	kv_close(&x);
}

SCENARIO(kernel_drain, "kernel verbs: drained in the middle of traffic, memory freed at once",
	 .no_qps = true, .any_packets = true)
{
	unsigned flushed = 0;

	ignore_events(a);
	ignore_events(b);
	for (unsigned us = 1; us < 45 && still_right(); us += 7) {
		flushed += both_ways(tb, a, b, IB_POLL_SOFTIRQ, CFG_US(us));
		flushed += both_ways(tb, a, b, IB_POLL_WORKQUEUE, CFG_US(us));
		flushed += both_ways(tb, a, b, IB_POLL_DIRECT, CFG_US(us));
	}
	/* not in each round: under a schedule of hcasim explore one may come after all traffic */
	expect_that(flushed, >, 0);
	brim_full(tb, a, b);
	shared_cq(tb, a, b);
	shared_receives(tb, a, b);
	datagrams(tb, a);
}
