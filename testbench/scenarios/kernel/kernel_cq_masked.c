/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CQs whose vector is masked until they hold many completions. A SOFTIRQ CQ with far more completions
 * than its budget does not keep another one waiting until it is empty. A SOFTIRQ CQ whose done() the
 * thread has called is freed only after it has returned; another one that waits for its turn meanwhile
 * can be freed, too. A WORKQUEUE CQ has all its completions in one turn. With moderation one event
 * covers many completions.
 */
#include "testbench/harm.h"
#include "testbench/scenarios/kernel/done_notes.h"

/* A CQ has ten turns in the interrupt. */
enum { IN_INTERRUPTS = 10 * IB_POLL_BUDGET_IRQ };
enum { FLOOD = 3 * IB_POLL_BUDGET_IRQ, FEW = 5, COUNT = 4, PERIOD_US = 40000 };

/* Both CQs have their completions before either of them may be polled. */
static void fair(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	unsigned order = 0;
	struct note flood = {.cqe = {note_done}, .order = &order},
		    few = {.cqe = {note_done}, .order = &order};
	struct kv x, y, v, w;

	if (!kv_open(a, &x, .alloc_cq = true, .queue = FLOOD, .cqe = FLOOD + 1) ||
	    !kv_open(a, &v, .alloc_cq = true) || !kv_open(b, &y) || !kv_open(b, &w) ||
	    !kv_connect(&x, &y) || !kv_connect(&v, &w))
		return;
	mask_vector(a, 1, true);
	post_empty(tb, &x, &flood, FLOOD);
	post_empty(tb, &v, &few, FEW);
	pass_time(CFG_MS(1));
	expect_equal(order, 0);
	mask_vector(a, 1, false);
	kv_until(&flood.done, FLOOD);
	kv_until(&few.done, FEW);
	expect_that(few.last_at, <=, IB_POLL_BUDGET_IRQ + FEW);
	kv_close(&v);
	kv_close(&w);
	kv_close(&x);
	kv_close(&y);
}

static void moderated(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	unsigned order = 0, before;
	struct note n = {.cqe = {note_done}, .order = &order};
	struct kv x, y;

	if (!kv_open(a, &x, .alloc_cq = true) || !kv_open(b, &y) || !kv_connect(&x, &y))
		return;
	must(ib_modify_cq(x.cq, COUNT, PERIOD_US));
	before = drv_cq_events(x.cq->drv);
	post_empty(tb, &x, &n, COUNT - 1);
	pass_time(CFG_US(PERIOD_US / 4));
	expect_equal(n.done, 0);
	post_empty(tb, &x, &n, 1);
	pass_time(CFG_US(PERIOD_US / 4));
	expect_equal(n.done, COUNT);
	expect_equal(drv_cq_events(x.cq->drv), before + 1);
	post_empty(tb, &x, &n, 1);
	kv_until(&n.done, COUNT + 1);
	kv_close(&x);
	kv_close(&y);
}

/* WORKQUEUE: all that is in the CQ in one turn, and then the next one. Source: Linux IB_POLL_BUDGET_WORKQUEUE */
static void in_one_turn(struct tb *tb, struct tb_end *a)
{
	const struct kv_setup setup = {
		.alloc_cq = true, .poll_ctx = IB_POLL_WORKQUEUE, .queue = FLOOD, .cqe = FLOOD + 1};
	unsigned order = 0;
	struct note first = {.cqe = {note_done}, .order = &order},
		    second = {.cqe = {note_done}, .order = &order};
	struct kv x, v;

	if (!tb_kv_open(tb, TB_HERE, a, &x, &setup) || !tb_kv_open(tb, TB_HERE, a, &v, &setup) ||
	    !kv_connect(&x, &x) || !kv_connect(&v, &v))
		return;
	mask_vector(a, 1, true);
	post_empty(tb, &x, &first, FLOOD);
	post_empty(tb, &v, &second, FLOOD);
	pass_time(CFG_MS(2));
	expect_equal(order, 0);
	mask_vector(a, 1, false);
	kv_until(&first.done, FLOOD);
	kv_until(&second.done, FLOOD);
	expect_equal(first.last_at + second.last_at, 3 * FLOOD);
	kv_close(&v);
	kv_close(&x);
}

struct flood {
	struct ib_cqe cqe;
	unsigned done, begun, ended;
	struct platform *platform;
};

/* Sleeps when the interrupts have had their turns, and the thread has taken over. */
static void flood_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct flood *f = container_of(wc->wr_cqe, struct flood, cqe);

	if (++f->done <= IN_INTERRUPTS)
		return;
	f->begun++;
	f->platform->ops->sleep_ps(f->platform, CFG_MS(1));
	f->ended++;
}

/* SOFTIRQ: a CQ is freed while the thread is in done() for it; another CQ waits for its turn. The thread
 * ends with it, or a third CQ keeps it. */
static void freed_in_thread(struct tb *tb, struct tb_end *a, struct tb_end *b, bool kept)
{
	struct flood flood = {.cqe = {flood_done}, .platform = a->platform};
	unsigned order = 0;
	struct note waits = {.cqe = {note_done}, .order = &order};
	const struct ib_rdma_wr wr = {.wr = {.wr_cqe = &flood.cqe,
					     .opcode = IB_WR_RDMA_WRITE,
					     .send_flags = IB_SEND_SIGNALED}};
	struct kv x, y, v, w, keeps;

	if (kept && !kv_open(a, &keeps, .alloc_cq = true))
		return;
	if (!kv_open(a, &x, .alloc_cq = true, .queue = IN_INTERRUPTS + FEW,
		     .cqe = IN_INTERRUPTS + FEW + 1) ||
	    !kv_open(a, &v, .alloc_cq = true) || !kv_open(b, &y) || !kv_open(b, &w) ||
	    !kv_connect(&x, &y) || !kv_connect(&v, &w))
		return;
	mask_vector(a, 1, true);
	for (unsigned i = 0; i < IN_INTERRUPTS + FEW && still_right(); i++)
		must(ib_post_send(x.qp, &wr.wr, NULL));
	pass_time(CFG_MS(10));
	mask_vector(a, 1, false);
	kv_until(&flood.begun, 1);
	post_empty(tb, &v, &waits, FEW);
	pass_time(CFG_US(200));
	expect_equal(flood.ended, 0);
	kv_close(&v);
	kv_close(&x);
	expect_equal(flood.ended, flood.begun);
	expect_equal(waits.done, 0);
	kv_close(&y);
	kv_close(&w);
	if (kept)
		kv_close(&keeps);
}

SCENARIO(kernel_cq_masked, "kernel verbs: budgets, fairness, moderation behind a masked vector",
	 .no_qps = true, .any_packets = true, .of_mlx4 = "vectors of interrupts")
{
	fair(tb, a, b);
	moderated(tb, a, b);
	freed_in_thread(tb, a, b, false);
	freed_in_thread(tb, a, b, true);
	in_one_turn(tb, a);
}
