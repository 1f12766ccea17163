/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two threads drain at the same time: the same queue pair, or two queue pairs with one CQ or two; with
 * receives of its own or of an SRQ. The last completions are late. When a drain returns, done() has been called for all
 * requests of its queue pair, whatever the other one does. A third drain has nothing to wait for.
 */
#include "model/interface/macros.h"
#include "testbench/harm.h"
#include "testbench/kernel_verbs.h"

/* A direct drain that another one has polled for sleeps on. Source: Linux __ib_drain_sq, HZ / 10 */
enum { REQUESTS = 6, LATE_US = 500, SOON_MS = 5, DIRECT_MS = 110 };

/* static: when the scenario fails, they complete after the return */
static struct request {
	struct ib_cqe cqe;
	unsigned done;
} requests[2];

static struct drainer {
	struct ib_qp *qp;
	void (*drain)(struct ib_qp *qp);
	const struct request *request;
	unsigned seen; /* how many requests had their done() when the drain returned */
	bool ended;
} drainers[2];

static void request_done(struct ib_cq *cq, struct ib_wc *wc)
{
	container_of(wc->wr_cqe, struct request, cqe)->done++;
}

static void drain_thread(void *arg)
{
	struct drainer *d = arg;

	d->drain(d->qp);
	d->seen = d->request->done;
	d->ended = true;
}

static void both_drained(struct tb *tb, struct tb_end *end, struct ib_qp *const qps[2],
			 void (*drain)(struct ib_qp *qp), unsigned want,
			 const struct request *first, const struct request *second)
{
	for (unsigned i = 0; i < 2; i++) {
		drainers[i] = (struct drainer){
			.qp = qps[i], .drain = drain, .request = i ? second : first};
		end->platform->ops->thread_start(end->platform, "drain", drain_thread,
						 &drainers[i]);
	}
	pass_time(qps[0]->send_cq->poll_ctx == IB_POLL_DIRECT ? CFG_MS(DIRECT_MS)
							      : CFG_MS(SOON_MS));
	for (unsigned i = 0; i < 2; i++) {
		expect_true(drainers[i].ended);
		expect_equal(drainers[i].seen, want);
		expect_equal(drainers[i].request->done, want);
	}
}

/* Receives that nothing fills, and sends that find no receive at the other side. */
static void post(struct tb *tb, struct kv *kv, struct request *r)
{
	const struct ib_send_wr send = {
		.wr_cqe = &r->cqe, .opcode = IB_WR_SEND, .send_flags = IB_SEND_SIGNALED};
	const struct ib_recv_wr recv = {.wr_cqe = &r->cqe};

	*r = (struct request){.cqe = {request_done}};
	for (unsigned i = 0; i < REQUESTS && still_right(); i++) {
		must(ib_post_recv(kv->qp, &recv, NULL));
		must(ib_post_send(kv->qp, &send, NULL));
	}
}

/* With a CQ of its own, the completions of v's sends come late. */
enum variant { ONE, TWO, TWO_CQS, FAILED, VARIANTS };

static const char *const names[VARIANTS] = {"one queue pair", "two with one CQ", "two with two CQs",
					    "one that has failed"};

static void own_receives(struct tb *tb, struct tb_end *a, struct tb_end *b,
			 enum ib_poll_context ctx, enum variant variant)
{
	const struct ib_qp_attr error = {.qp_state = IB_QPS_ERR};
	const bool two_cqs = variant == TWO_CQS || variant == FAILED;
	struct ib_qp *qps[2];
	struct kv x, y, v, w;

	if (!kv_open(a, &x, .alloc_cq = true, .poll_ctx = ctx, .cqe = 8 * REQUESTS) ||
	    !kv_open(a, &v, .cq = two_cqs ? NULL : x.cq, .alloc_cq = two_cqs, .poll_ctx = ctx,
		     .recv_cq = x.cq) ||
	    !kv_open(b, &y) || !kv_open(b, &w) || !kv_connect(&x, &y) || !kv_connect(&v, &w))
		return;
	post(tb, &x, &requests[0]);
	post(tb, &v, &requests[1]);
	pass_time(CFG_US(10));
	if (two_cqs) {
		evict(a, HCA_CQ, drv_cq_num(v.cq->drv));
		late_read(a, "cqc", CFG_US(LATE_US));
	}
	if (variant == FAILED)
		must(ib_modify_qp(v.qp, &error, IB_QP_STATE));
	qps[0] = variant == FAILED ? v.qp : x.qp;
	qps[1] = variant == ONE ? x.qp : v.qp;
	both_drained(tb, a, qps, ib_drain_qp, 2 * REQUESTS, &requests[variant == FAILED],
		     &requests[variant != ONE]);
	if (still_right()) {
		ib_drain_qp(x.qp);
		ib_drain_qp(v.qp);
		expect_equal(requests[0].done, 2 * REQUESTS);
		expect_equal(requests[1].done, 2 * REQUESTS);
	}
	kv_close(&w);
	kv_close(&y);
	kv_close(&v);
	kv_close(&x);
}

static void shared_receives(struct tb *tb, struct tb_end *a, struct tb_end *b,
			    enum ib_poll_context ctx)
{
	struct ib_srq_init_attr init = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ib_pd *pd = kv_made(ib_alloc_pd(ib_device_of(b), 0));
	struct ib_srq *srq = pd ? kv_made(ib_create_srq(pd, &init)) : NULL;
	const struct ib_recv_wr recv = {.wr_cqe = &requests[0].cqe};
	const struct ib_send_wr send = {.opcode = IB_WR_SEND};
	uint64_t begin;
	struct kv x, y;

	if (!srq || !kv_open(a, &x) ||
	    !kv_open(b, &y, .pd = pd, .srq = srq, .alloc_cq = true, .poll_ctx = ctx) ||
	    !kv_connect(&x, &y))
		return;
	requests[0] = (struct request){.cqe = {request_done}};
	must(ib_post_srq_recv(srq, &recv, NULL));
	must(ib_post_send(x.qp, &send, NULL));
	evict(b, HCA_CQ, drv_cq_num(y.cq->drv));
	late_read(b, "cqc", CFG_US(LATE_US));
	pass_time(CFG_US(7));
	both_drained(tb, b, (struct ib_qp *const[]){y.qp, y.qp}, ib_drain_qp, 1, &requests[0],
		     &requests[0]);
	if (still_right()) {
		begin = tb_now(tb);
		ib_drain_qp(y.qp);
		expect_that(tb_now(tb) - begin, <, CFG_MS(SOON_MS));
	}
	kv_close(&y);
	kv_close(&x);
	must(ib_destroy_srq(srq));
	must(ib_dealloc_pd(pd));
}

SCENARIO(kernel_drain_twice, "kernel verbs: two threads drain at the same time", .no_qps = true,
	 .any_packets = true, .of_mlx4 = "requests that do nothing")
{
	static const struct {
		const char *name;
		enum ib_poll_context ctx;
	} contexts[] = {{"interrupt", IB_POLL_SOFTIRQ},
			{"work queue", IB_POLL_WORKQUEUE},
			{"direct", IB_POLL_DIRECT}};

	ignore_events(a);
	ignore_events(b);
	for_each_row(i, contexts) {
		for (enum variant v = ONE; v < VARIANTS; v++) {
			name_row("%s, %s", contexts[i].name, names[v]);
			own_receives(tb, a, b, contexts[i].ctx, v);
		}
		name_row("%s, an SRQ", contexts[i].name);
		shared_receives(tb, a, b, contexts[i].ctx);
	}
}
