/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue pair with an SRQ is drained while the completion of its last receive is late: the context
 * of its CQ is not cached, and reading it takes half a millisecond. The event "last WQE reached"
 * promises that this completion has been written, so it comes after it, and the drain ends when
 * done() has been called for it. So it is each time that the queue pair is connected again. The
 * scenario runs with one CQ for both queues and with two; afterwards neither CQ holds a completion.
 * A done() may sleep while further receives complete. A drain that begins meanwhile ends when done() has
 * been called, and has returned, for those, too. The drain waits ten seconds for the event, and not longer.
 * behaviours: IBA-10.2.9-last-wqe
 */
#include "host_driver/mlx4/mad.h"
#include "model/interface/macros.h"
#include "testbench/harm.h"
#include "testbench/kernel_verbs.h"

enum { LEN = 64, LATE_US = 500, SENDS = 4, TIMES = 2, DRAIN_S = 10 /* Linux: 10 * HZ */ };

struct request {
	struct ib_cqe cqe;
	unsigned done;
};

static void request_done(struct ib_cq *cq, struct ib_wc *wc)
{
	container_of(wc->wr_cqe, struct request, cqe)->done++;
}

/* static: when the scenario fails, they complete after the return */
static struct request receive, sends, first;

/* static, as above: a drain that never ends */
static struct draining {
	struct ib_qp *qp;
	void (*drain)(struct ib_qp *qp);
	unsigned done;
} draining;

static void drain_thread(void *arg)
{
	draining.drain(draining.qp);
	draining.done++;
}

static void drained(struct tb *tb, struct tb_end *end, struct ib_qp *qp,
		    void (*drain)(struct ib_qp *qp))
{
	draining = (struct draining){.qp = qp, .drain = drain};
	end->platform->ops->thread_start(end->platform, "drain", drain_thread, NULL);
	kv_until(&draining.done, 1);
}

static void drain(struct tb *tb, struct tb_end *b, struct kv *x, struct kv *y, unsigned nth)
{
	const struct ib_qp_attr reset = {.qp_state = IB_QPS_RESET};
	struct ib_sge into = kv_sge(y, 0, LEN), from = kv_sge(x, 0, LEN);
	struct ib_recv_wr recv = {.wr_cqe = &receive.cqe, .sg_list = &into, .num_sge = 1};
	struct ib_send_wr send = {.wr_cqe = &first.cqe,
				  .sg_list = &from,
				  .num_sge = 1,
				  .opcode = IB_WR_SEND,
				  .send_flags = IB_SEND_SIGNALED};
	uint64_t begin;

	if (!kv_connect(x, y))
		return;
	must(ib_post_srq_recv(y->qp->srq, &recv, NULL));
	must(ib_post_send(x->qp, &send, NULL));
	evict(b, HCA_CQ, drv_cq_num(y->qp->recv_cq->drv));
	late_read(b, "cqc", CFG_US(LATE_US));
	pass_time(CFG_US(7));
	send.wr_cqe = &sends.cqe;
	from = kv_sge(y, LEN, LEN);
	for (unsigned i = 0; i < SENDS; i++)
		must(ib_post_send(y->qp, &send, NULL));
	begin = tb_now(tb);
	drained(tb, b, y->qp, ib_drain_qp);
	expect_equal(receive.done, nth);
	expect_equal(sends.done, nth * SENDS);
	expect_that(tb_now(tb) - begin, >, CFG_US(LATE_US) - CFG_US(20));
	expect_equal(drv_cq_outstanding(y->cq->drv), 0);
	pass_time(CFG_MS(1));
	expect_equal(drv_cq_outstanding(y->qp->recv_cq->drv), 0);
	must(ib_modify_qp(x->qp, &reset, IB_QP_STATE));
	must(ib_modify_qp(y->qp, &reset, IB_QP_STATE));
}

static void late(struct tb *tb, struct tb_end *a, struct tb_end *b, struct ib_cq *recv_cq)
{
	struct ib_srq_init_attr init = {.attr = {.max_wr = 8, .max_sge = 1}};
	struct ib_pd *pd = kv_made(ib_alloc_pd(ib_device_of(b), 0));
	struct ib_srq *srq = pd ? kv_made(ib_create_srq(pd, &init)) : NULL;
	struct kv x, y;

	receive = sends = first = (struct request){.cqe = {request_done}};
	if (!srq || !kv_open(a, &x, .alloc_cq = true) ||
	    !kv_open(b, &y, .pd = pd, .srq = srq, .alloc_cq = true, .recv_cq = recv_cq))
		return;
	for (unsigned nth = 1; nth <= TIMES && still_right(); nth++)
		drain(tb, b, &x, &y, nth);
	kv_close(&y);
	kv_close(&x);
	must(ib_destroy_srq(srq));
	must(ib_dealloc_pd(pd));
}

enum { LATER = 20, SLEEP_MS = 3 };

/* static, as above */
static struct slow {
	struct ib_cqe cqe;
	unsigned begun, ended, sleeps; /* only so many calls sleep */
	struct platform *platform;
} slow;

static void slow_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct slow *s = container_of(wc->wr_cqe, struct slow, cqe);

	if (++s->begun <= s->sleeps)
		s->platform->ops->sleep_ps(s->platform, CFG_MS(SLEEP_MS));
	s->ended++;
}

/* The first receive is in its done() when `later` more complete, and then the queue pair is drained. */
static void sleeps(struct tb *tb, struct tb_end *a, struct tb_end *b, enum ib_poll_context ctx,
		   unsigned later, unsigned sleeps)
{
	struct ib_srq_init_attr init = {.attr = {.max_wr = LATER + 2, .max_sge = 1}};
	struct ib_pd *pd = kv_made(ib_alloc_pd(ib_device_of(b), 0));
	struct ib_srq *srq = pd ? kv_made(ib_create_srq(pd, &init)) : NULL;
	struct ib_recv_wr recv = {.wr_cqe = &slow.cqe};
	struct ib_send_wr send = {.opcode = IB_WR_SEND};
	struct kv x, y;

	slow = (struct slow){.cqe = {slow_done}, .sleeps = sleeps, .platform = b->platform};
	if (!srq || !kv_open(a, &x) ||
	    !kv_open(b, &y, .pd = pd, .srq = srq, .alloc_cq = true, .poll_ctx = ctx) ||
	    !kv_connect(&x, &y))
		return;
	for (unsigned i = 0; i <= later; i++)
		must(ib_post_srq_recv(srq, &recv, NULL));
	must(ib_post_send(x.qp, &send, NULL));
	kv_until(&slow.begun, 1);
	for (unsigned i = 0; i < later; i++)
		must(ib_post_send(x.qp, &send, NULL));
	pass_time(CFG_US(300));
	expect_equal(slow.begun, 1);
	expect_equal(slow.ended, 0);
	drained(tb, b, y.qp, ib_drain_rq);
	expect_equal(slow.begun, 1 + later);
	expect_equal(slow.ended, 1 + later);
	kv_close(&y);
	kv_close(&x);
	must(ib_destroy_srq(srq));
	must(ib_dealloc_pd(pd));
}

/* DIRECT: the drain polls what nobody has polled, however much it is. */
static void unpolled(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct ib_srq_init_attr init = {.attr = {.max_wr = LATER, .max_sge = 1}};
	struct ib_pd *pd = kv_made(ib_alloc_pd(ib_device_of(b), 0));
	struct ib_srq *srq = pd ? kv_made(ib_create_srq(pd, &init)) : NULL;
	struct ib_recv_wr recv = {.wr_cqe = &receive.cqe};
	struct ib_send_wr send = {.opcode = IB_WR_SEND};
	struct kv x, y;

	receive = (struct request){.cqe = {request_done}};
	if (!srq || !kv_open(a, &x) ||
	    !kv_open(b, &y, .pd = pd, .srq = srq, .alloc_cq = true, .poll_ctx = IB_POLL_DIRECT) ||
	    !kv_connect(&x, &y))
		return;
	for (unsigned i = 0; i < LATER; i++) {
		must(ib_post_srq_recv(srq, &recv, NULL));
		must(ib_post_send(x.qp, &send, NULL));
	}
	pass_time(CFG_MS(1));
	expect_equal(receive.done, 0);
	drained(tb, b, y.qp, ib_drain_srq);
	expect_equal(receive.done, LATER);
	kv_close(&y);
	kv_close(&x);
	must(ib_destroy_srq(srq));
	must(ib_dealloc_pd(pd));
}

/* The event is lost, or comes when it has been waited for so long. */
static void event_late(struct tb *tb, struct tb_end *b, unsigned late_s)
{
	struct ib_srq_init_attr init = {.attr = {.max_wr = 1, .max_sge = 1}};
	struct ib_pd *pd = kv_made(ib_alloc_pd(ib_device_of(b), 0));
	struct ib_srq *srq = pd ? kv_made(ib_create_srq(pd, &init)) : NULL;
	struct ib_recv_wr recv = {.wr_cqe = &receive.cqe};
	const struct ib_send_wr send = {.opcode = IB_WR_SEND};
	const bool lost = late_s >= DRAIN_S;
	struct kv y;

	receive = (struct request){.cqe = {request_done}};
	if (!srq ||
	    !kv_open(b, &y, .pd = pd, .srq = srq, .alloc_cq = true, .poll_ctx = IB_POLL_DIRECT) ||
	    !kv_connect(&y, &y))
		return;
	must(ib_post_srq_recv(srq, &recv, NULL));
	must(ib_post_send(y.qp, &send, NULL));
	pass_time(CFG_MS(1));
	must(ib_modify_qp(y.qp, &(struct ib_qp_attr){.qp_state = IB_QPS_ERR}, IB_QP_STATE));
	pass_time(CFG_MS(1));
	expect_true(y.qp->last_wqe);
	y.qp->last_wqe = false;
	draining = (struct draining){.qp = y.qp, .drain = ib_drain_srq};
	b->platform->ops->thread_start(b->platform, "drain", drain_thread, NULL);
	pass_time(CFG_S(late_s) - CFG_MS(1));
	expect_equal(draining.done, 0);
	expect_equal(receive.done, 0);
	if (!lost)
		drv_notify(b->dev, &(struct drv_event){.type = IBV_EVENT_QP_LAST_WQE_REACHED,
						       .qp = y.qp->drv});
	pass_time(lost ? CFG_MS(200) : CFG_MS(1));
	expect_equal(draining.done, 1);
	expect_equal(receive.done, 1);
	kv_close(&y);
	must(ib_destroy_srq(srq));
	must(ib_dealloc_pd(pd));
}

SCENARIO(kernel_drain_srq, "kernel verbs: an SRQ is drained, the last completion is late",
	 .no_qps = true, .any_packets = true)
{
	static const enum ib_poll_context contexts[] = {IB_POLL_SOFTIRQ, IB_POLL_WORKQUEUE,
							IB_POLL_DIRECT};

	ignore_events(a);
	ignore_events(b);
	late(tb, a, b, NULL);
	for (unsigned i = 0; i < 3; i++) {
		struct ib_cq *cq = kv_made(ib_alloc_cq(ib_device_of(b), NULL, 8, 0, contexts[i]));

		if (!cq)
			return;
		late(tb, a, b, cq);
		ib_free_cq(cq);
	}
	for (unsigned n = 1; n <= 2; n++) {
		name_row("%u calls of done() sleep", n);
		sleeps(tb, a, b, IB_POLL_WORKQUEUE, 1, n);
		sleeps(tb, a, b, IB_POLL_UNBOUND_WORKQUEUE, LATER, n);
	}
	unpolled(tb, a, b);
	event_late(tb, b, DRAIN_S - 3);
	event_late(tb, b, DRAIN_S);
}
