/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues are drained on a device that dies: before the kernel knows (the first command finds out),
 * in the middle of the drain, or when the kernel has known for a while. Each time the drain ends in
 * bounded time. The done() of every request has been called, with a flush error unless it completed
 * earlier. So it is where a process has an older queue pair. Nothing more can be posted, and every object can
 * be destroyed. Also with full queues, with receives or sends alone, and with a receive in an SRQ that no
 * queue pair has taken, so that it gets no completion.
 */
#include "model/engine/base/engine.h"
#include "model/interface/macros.h"
#include "testbench/kernel_verbs.h"

enum {
	QUEUE = 17 /* more than are polled at once */,
	LEN = 4096,
	RESET_BIT = 1,
	QUEUES = 4,
	ENTRIES = 400,
	POLL_MS = 50,
	LIMIT_S = 25
};

struct request {
	struct ib_cqe cqe;
	unsigned done, flushed;
};

static void request_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct request *r = container_of(wc->wr_cqe, struct request, cqe);

	r->done++;
	r->flushed += wc->status == IB_WC_WR_FLUSH_ERR;
}

enum when { NOBODY_KNOWS, IN_THE_MIDDLE, LONG_KNOWN, WHENS };
/* where receives are, and where they complete to; NO_SENDS: to a CQ of their own, and nothing is sent;
 * INITIATOR: of XRC, which has none */
enum receives { OWN_CQ, CQ_OF_SENDS, IN_SRQ, NO_SENDS, INITIATOR, RECEIVES };

struct killer {
	struct tb_end *end;
	uint64_t after_ps;
	bool done;
};

static void kill_device(void *arg)
{
	struct killer *k = arg;

	k->end->platform->ops->sleep_ps(k->end->platform, k->after_ps);
	hca_catastrophe(host_hca(k->end->host), ERR_BUF_INJECTED, 0, "a test");
	k->done = true;
}

/* b does not answer: what a sends stays in its queue. */
static void post_all(struct tb *tb, struct kv *x, struct ib_srq *srq, unsigned sends,
		     unsigned recvs, struct request *r)
{
	struct ib_sge sge = kv_sge(x, 0, LEN);
	const struct ib_send_wr send = {
		.wr_cqe = &r[0].cqe, .sg_list = &sge, .num_sge = 1, .opcode = IB_WR_SEND};
	const struct ib_recv_wr recv = {.wr_cqe = &r[1].cqe, .sg_list = &sge, .num_sge = 1};

	for (unsigned i = 0; i < sends; i++)
		must(ib_post_send(x->qp, &send, NULL));
	for (unsigned i = 0; i < recvs; i++)
		must(ib_post_recv(x->qp, &recv, NULL));
	for (unsigned i = 0; srq && i < QUEUE; i++)
		must(ib_post_srq_recv(srq, &recv, NULL));
}

static void refuses_more(struct tb *tb, struct kv *x, struct ib_srq *srq)
{
	struct ib_send_wr more = {.opcode = IB_WR_SEND};
	struct ib_recv_wr last = {.num_sge = 0};
	const struct ib_send_wr send = {.next = &more, .opcode = IB_WR_SEND}, *bad_send = NULL;
	const struct ib_recv_wr recv = {.next = &last}, *bad = NULL;

	must_fail(-EIO, ib_post_send(x->qp, &send, &bad_send));
	expect_true(bad_send == &send);
	if (srq)
		must_fail(-EIO, ib_post_srq_recv(srq, &recv, &bad));
	else
		must_fail(-EIO, ib_post_recv(x->qp, &recv, &bad));
	expect_true(bad == &recv);
}

static void again(struct tb *tb, struct tb_end *a)
{
	drv_raw_mmio_write32(a->dev, HCA_BAR_REGS, BAR0_RESET, RESET_BIT);
	pass_time(CFG_MS(10));
	abandon(a);
	bring_up(a);
	activate_ports();
}

static void dies(struct tb *tb, struct tb_end *a, enum ib_poll_context ctx, enum when when,
		 enum receives receives)
{
	const bool shared = receives == IN_SRQ;
	struct killer killer = {.end = a, .after_ps = when == IN_THE_MIDDLE ? CFG_US(20) : 0};
	struct request r[2] = {{.cqe = {request_done}}, {.cqe = {request_done}}};
	struct ib_srq_init_attr init = {.attr = {.max_wr = QUEUE, .max_sge = 1}};
	struct ib_pd *pd = kv_made(ib_alloc_pd(ib_device_of(a), 0));
	struct ib_srq *srq = pd && shared ? kv_made(ib_create_srq(pd, &init)) : NULL;
	struct ib_cq *recv_cq = pd && (receives == OWN_CQ || receives == NO_SENDS)
					? kv_made(ib_alloc_cq(pd->device, NULL, ENTRIES, 0, ctx))
					: NULL;
	unsigned sends = 0, recvs = 0; /* of the queue pair, which is full */
	struct ib_qp_attr attr;
	struct kv x;
	uint64_t begin;

	if (!pd || !kv_open(a, &x, .pd = pd, .srq = srq, .recv_cq = recv_cq, .queue = QUEUE,
			    .type = receives == INITIATOR ? IB_QPT_XRC_INI : IB_QPT_RC,
			    .cqe = ENTRIES, .alloc_cq = true, .poll_ctx = ctx))
		return;
	kv_connect(&x, &x);
	must(ib_query_qp(x.qp, &attr, IB_QP_CAP, NULL));
	if (receives != NO_SENDS)
		sends = attr.cap.max_send_wr;
	if (!shared && receives != INITIATOR)
		recvs = attr.cap.max_recv_wr;
	must(ib_modify_qp(x.qp, &(struct ib_qp_attr){.qp_state = IB_QPS_SQD}, IB_QP_STATE));
	post_all(tb, &x, srq, sends, recvs, r);
	if (!still_right())
		return;
	a->platform->ops->thread_start(a->platform, "killer", kill_device, &killer);
	pass_time(when == LONG_KNOWN ? CFG_MS(2 * POLL_MS) : CFG_NS(1));
	if (when == LONG_KNOWN) /* a DIRECT CQ is polled only on request */
		expect_equal(r[0].flushed, ctx == IB_POLL_DIRECT ? 0 : sends);
	if (when == LONG_KNOWN)
		expect_equal(r[1].flushed, ctx == IB_POLL_DIRECT ? 0 : recvs);
	begin = tb_now(tb);
	ib_drain_qp(x.qp);
	ib_drain_qp(x.qp);
	expect_that(tb_now(tb) - begin, <, CFG_S(LIMIT_S));
	expect_true(killer.done && drv_is_dead(a->dev));
	expect_equal(r[0].done, sends);
	expect_equal(r[1].done, recvs);
	if (when != IN_THE_MIDDLE)
		expect_equal(r[0].flushed + r[1].flushed, sends + recvs);
	refuses_more(tb, &x, srq);
	expect_event(a, IBV_EVENT_DEVICE_FATAL);
	expect_catastrophe(a);
	kv_close(&x);
	if (recv_cq)
		ib_free_cq(recv_cq);
	if (srq)
		must(ib_destroy_srq(srq));
	must(ib_dealloc_pd(pd));
	again(tb, a);
}

/* The request n of one of four queues: sends of x, receives of x, sends of y, receives of y. */
static uint64_t id_of(unsigned queue, unsigned n)
{
	return 1000 * (queue + 1) + n;
}

/* All that the CQ's queue pairs hold is there, each in its order, however many are polled at once. */
static void all_flushed(struct tb *tb, struct kv *x, struct kv *y, bool at_once)
{
	struct ib_wc wc[QUEUES * QUEUE + 1];
	unsigned next[QUEUES] = {0};
	unsigned all = 0;
	int n;

	do {
		const int want = at_once ? QUEUES * QUEUE + 1 : QUEUE + 3;

		memset(wc, 0xee, sizeof(wc));
		n = ib_poll_cq(x->cq, want, wc);
		expect_that(n, >=, 0);
		expect_that(n, <=, want);
		all += (unsigned)n;
		for (int i = 0; i < n && still_right(); i++) {
			const unsigned queue = (unsigned)(wc[i].wr_id / 1000) - 1;

			expect_that(queue, <, QUEUES);
			if (queue >= QUEUES)
				return;
			expect_equal(wc[i].wr_id, id_of(queue, next[queue]++));
			expect_true(wc[i].qp == (queue < 2 ? x : y)->qp);
			expect_equal(wc[i].status, IB_WC_WR_FLUSH_ERR);
			expect_equal(wc[i].vendor_err, CQE_SYND_WR_FLUSH_ERR);
		}
	} while (n && !at_once && still_right());
	expect_equal(all, QUEUES * QUEUE);
}

/* A CQ that its owner polls: the death is an event of it, and arming tells of what is to be flushed. */
static void own_poll(struct tb *tb, struct tb_end *a, bool at_once)
{
	struct killer killer = {.end = a};
	struct ib_qp_attr sqd = {.qp_state = IB_QPS_SQD};
	struct drv_qp *of_process;
	struct drv_cq *its_cq;
	struct drv_pd *its_pd;
	struct kv x, y;

	must(drv_pd_alloc(a->dev, &its_pd));
	must(drv_cq_create(a->dev, 1, 0, &its_cq));
	if (!still_right())
		return;
	must(drv_qp_create(its_pd,
			   &(struct drv_qp_init){.type = IBV_QPT_RC,
						 .send_cq = its_cq,
						 .recv_cq = its_cq,
						 .cap = {.max_send_wr = 1, .max_send_sge = 1},
						 .user = true},
			   &of_process));
	if (!kv_open(a, &x, .queue = QUEUE, .cqe = QUEUES * QUEUE) || !kv_connect(&x, &x) ||
	    !kv_open(a, &y, .queue = QUEUE, .cq = x.cq) || !kv_connect(&y, &y))
		return;
	must(ib_modify_qp(x.qp, &sqd, IB_QP_STATE));
	must(ib_modify_qp(y.qp, &sqd, IB_QP_STATE));
	for (unsigned i = 0; i < QUEUES * QUEUE; i++) {
		const unsigned queue = i % QUEUES;
		struct ib_qp *qp = (queue < 2 ? &x : &y)->qp;
		const struct ib_recv_wr recv = {.wr_id = id_of(queue, i / QUEUES)};
		const struct ib_send_wr send = {.wr_id = id_of(queue, i / QUEUES),
						.opcode = IB_WR_SEND};

		if (queue % 2)
			must(ib_post_recv(qp, &recv, NULL));
		else
			must(ib_post_send(qp, &send, NULL));
	}
	must(ib_req_notify_cq(x.cq, IB_CQ_NEXT_COMP));
	kill_device(&killer);
	pass_time(CFG_MS(2 * POLL_MS));
	expect_true(drv_is_dead(a->dev));
	expect_event(a, IBV_EVENT_DEVICE_FATAL);
	expect_that(x.comp_events, >=, 1); /* one for each queue */
	expect_equal((uint64_t)ib_req_notify_cq(x.cq, IB_CQ_NEXT_COMP), 0);
	expect_equal((uint64_t)ib_req_notify_cq(x.cq, IB_CQ_SOLICITED | IB_CQ_REPORT_MISSED_EVENTS),
		     1);
	all_flushed(tb, &x, &y, at_once);
	expect_equal((uint64_t)ib_req_notify_cq(x.cq, IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS),
		     0);
	expect_catastrophe(a);
	kv_close(&y);
	kv_close(&x);
	must(drv_qp_destroy(of_process));
	must(drv_cq_destroy(its_cq));
	must(drv_pd_free(its_pd));
	again(tb, a);
}

SCENARIO(kernel_drain_dead, "kernel verbs: drained while the device dies", .no_qps = true,
	 .any_packets = true, .settings = {"host.catas_poll=50ms"})
{
	ignore_events(b);
	own_poll(tb, a, true);
	own_poll(tb, a, false);
	for (enum when when = 0; when < WHENS && still_right(); when++)
		for (enum receives i = 0; i < RECEIVES; i++) {
			dies(tb, a, IB_POLL_SOFTIRQ, when, i);
			dies(tb, a, IB_POLL_WORKQUEUE, when, i);
			dies(tb, a, IB_POLL_DIRECT, when, i);
		}
}
