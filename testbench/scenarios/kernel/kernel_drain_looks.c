/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device dies in the middle of a drain, and its last completions and events are lost. The kernel
 * reads the error buffer only every five seconds, but a drain looks at it itself when nothing has
 * come for a while: it ends long before, and done() of each request has been called. So it is for
 * both queues, with a CQ of each context, and for receives in an SRQ, where the last WQE is never
 * reached.
 */
/* behaviours: IBA-10.2.9-last-wqe */
#include "model/engine/base/engine.h"
#include "model/interface/macros.h"
#include "testbench/harm.h"
#include "testbench/kernel_verbs.h"

enum { QUEUE = 8, LEN = 4096, RESET_BIT = 1, DIES_MS = 5, LATE_MS = 300, LIMIT_MS = 1000 };

struct request {
	struct ib_cqe cqe;
	unsigned done;
};

static void request_done(struct ib_cq *cq, struct ib_wc *wc)
{
	(void)cq;
	container_of(wc->wr_cqe, struct request, cqe)->done++;
}

static void kill_device(void *arg)
{
	struct tb_end *end = arg;

	end->platform->ops->sleep_ps(end->platform, CFG_MS(DIES_MS));
	hca_catastrophe(host_hca(end->host), ERR_BUF_INJECTED, 0, "a test");
}

static void post_all(struct tb *tb, struct kv *x, struct request *r)
{
	struct ib_sge sge = kv_sge(x, 0, LEN);
	const struct ib_send_wr send = {
		.wr_cqe = &r[0].cqe, .sg_list = &sge, .num_sge = 1, .opcode = IB_WR_SEND};
	const struct ib_recv_wr recv = {.wr_cqe = &r[1].cqe, .sg_list = &sge, .num_sge = 1};

	for (unsigned i = 0; i < QUEUE; i++) {
		must(ib_post_send(x->qp, &send, NULL));
		must(x->qp->srq ? ib_post_srq_recv(x->qp->srq, &recv, NULL)
				: ib_post_recv(x->qp, &recv, NULL));
	}
}

/* No interrupt of a CQ comes any more. Vector 0 is that of commands. */
static void silence(struct tb *tb, struct tb_end *a, bool silent)
{
	for (unsigned i = 1; i <= (unsigned)ib_device_of(a)->num_comp_vectors; i++)
		mask_vector(a, i, silent);
}

static void again(struct tb *tb, struct tb_end *a)
{
	expect_event(a, IBV_EVENT_DEVICE_FATAL);
	expect_catastrophe(a);
	silence(tb, a, false);
	drv_raw_mmio_write32(a->dev, HCA_BAR_REGS, BAR0_RESET, RESET_BIT);
	pass_time(CFG_MS(10));
	abandon(a);
	bring_up(a);
	activate_ports();
}

static void dies(struct tb *tb, struct tb_end *a, enum ib_poll_context ctx, bool shared)
{
	struct request r[2] = {{.cqe = {request_done}}, {.cqe = {request_done}}};
	struct ib_srq_init_attr init = {.attr = {.max_wr = QUEUE, .max_sge = 1}};
	struct ib_pd *pd = kv_made(ib_alloc_pd(ib_device_of(a), 0));
	struct ib_srq *srq = pd && shared ? kv_made(ib_create_srq(pd, &init)) : NULL;
	struct kv x;
	uint64_t begun;

	if (!pd || !kv_open(a, &x, .pd = pd, .srq = srq, .queue = QUEUE, .alloc_cq = true,
			    .poll_ctx = ctx))
		return;
	kv_connect(&x, &x);
	must(ib_modify_qp(x.qp, &(struct ib_qp_attr){.qp_state = IB_QPS_SQD}, IB_QP_STATE));
	post_all(tb, &x, r);
	silence(tb, a, true);
	if (shared) /* the event "last WQE reached", behind the end of the command */
		late_write(a, "eqe", CFG_MS(LATE_MS), .skip = 1);
	else /* a DIRECT CQ needs no interrupt */
		late_write(a, "cqe", CFG_MS(LATE_MS));
	a->platform->ops->thread_start(a->platform, "killer", kill_device, a);
	begun = tb_now(tb);
	if (shared)
		ib_drain_srq(x.qp);
	ib_drain_qp(x.qp);
	expect_that(tb_now(tb) - begun, >, CFG_MS(DIES_MS));
	expect_that(tb_now(tb) - begun, <, CFG_MS(LIMIT_MS));
	expect_true(drv_is_dead(a->dev));
	expect_equal(r[0].done, QUEUE);
	expect_equal(r[1].done, shared ? 0 : QUEUE);
	pass_time(CFG_MS(LATE_MS));
	kv_close(&x);
	if (srq)
		must(ib_destroy_srq(srq));
	must(ib_dealloc_pd(pd));
	again(tb, a);
}

SCENARIO(kernel_drain_looks, "kernel verbs: a drain finds out by itself that the device is dead",
	 .no_qps = true, .any_packets = true)
{
	static const enum ib_poll_context contexts[] = {IB_POLL_SOFTIRQ, IB_POLL_WORKQUEUE,
							IB_POLL_DIRECT};

	ignore_events(b);
	for (unsigned i = 0; i < 3 && still_right(); i++) {
		dies(tb, a, contexts[i], false);
		dies(tb, a, contexts[i], true);
	}
}
