/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completions reach done() in each polling context. SOFTIRQ and WORKQUEUE arm the CQ by themselves
 * and lose no completion, whenever it arrives. DIRECT polls only when asked, and never more
 * completions than asked for. A SOFTIRQ CQ with far more completions than its budget does not keep
 * another one waiting until it is empty. A done() that sleeps in its WORKQUEUE holds up no other
 * CQ, and its CQ is freed only after it has returned; so is a SOFTIRQ CQ whose done() the thread has
 * called. Another one that waits for its turn meanwhile can be freed, too. A WORKQUEUE CQ has all its
 * completions in one turn. A request without a done() may fail. With
 * moderation one event covers many completions.
 */
#include "model/interface/macros.h"
#include "testbench/harm.h"
#include "testbench/kernel_verbs.h"

/* A CQ has ten turns in the interrupt. */
enum { IN_INTERRUPTS = 10 * IB_POLL_BUDGET_IRQ };
enum {
	FLOOD = 3 * IB_POLL_BUDGET_IRQ,
	FEW = 5,
	ROUNDS = 60,
	COUNT = 4,
	PERIOD_US = 40000,
	NO_KEY = 0x700
};

struct note {
	struct ib_cqe cqe;
	unsigned *order; /* counts the done() calls of the whole scenario */
	unsigned begun, done,
		last_at; /* of this CQ: how many done() calls, and the last call's place in the order */
	struct platform *sleeps;
};

static void note_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct note *n = container_of(wc->wr_cqe, struct note, cqe);

	n->done++;
	n->last_at = ++*n->order;
	if (n->sleeps)
		n->sleeps->ops->sleep_ps(n->sleeps, CFG_US(3));
}

static void sleepy_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct note *n = container_of(wc->wr_cqe, struct note, cqe);

	n->begun++;
	n->sleeps->ops->sleep_ps(n->sleeps, CFG_MS(2));
	n->done++;
}

static void post_empty(struct tb *tb, struct kv *kv, struct note *n, unsigned count)
{
	const struct ib_rdma_wr wr = {.wr = {.wr_cqe = &n->cqe,
					     .opcode = IB_WR_RDMA_WRITE,
					     .send_flags = IB_SEND_SIGNALED}};

	for (unsigned i = 0; i < count && still_right(); i++)
		must(ib_post_send(kv->qp, &wr.wr, NULL));
}

/* Sends one or two messages at a time, with varying delay after the CQ was last armed. */
static void nothing_lost(struct tb *tb, struct kv *x, struct note *n)
{
	for (unsigned i = 1; i <= ROUNDS && still_right(); i++) {
		post_empty(tb, x, n, 1);
		pass_time(CFG_NS(100) * i);
		post_empty(tb, x, n, 1);
		kv_until(&n->done, 2 * i);
	}
}

static void context(struct tb *tb, struct tb_end *a, struct tb_end *b, enum ib_poll_context ctx)
{
	unsigned order = 0;
	struct note n = {.cqe = {note_done}, .order = &order};
	struct kv x, y;

	if (!kv_open(a, &x, .alloc_cq = true, .poll_ctx = ctx) || !kv_open(b, &y) ||
	    !kv_connect(&x, &y))
		return;
	if (ctx == IB_POLL_WORKQUEUE)
		n.sleeps = a->platform;
	nothing_lost(tb, &x, &n);
	kv_close(&x);
	kv_close(&y);
}

static void without_done(struct tb *tb, struct tb_end *a)
{
	struct ib_sge sge = {.addr = 1, .length = 1, .lkey = NO_KEY};
	struct ib_rdma_wr wr = {.wr = {.sg_list = &sge, .num_sge = 1, .opcode = IB_WR_RDMA_WRITE}};
	unsigned order = 0;
	struct note n = {.cqe = {note_done}, .order = &order};
	struct kv x;

	if (!kv_open(a, &x, .alloc_cq = true, .poll_ctx = IB_POLL_DIRECT) || !kv_connect(&x, &x))
		return;
	must(ib_post_send(x.qp, &wr.wr, NULL));
	must(ib_post_send(x.qp, &wr.wr, NULL));
	post_empty(tb, &x, &n, 1); /* one with it, behind them */
	pass_time(CFG_US(200));
	expect_equal((uint64_t)ib_process_cq_direct(x.cq, -1), 3);
	expect_equal(n.done, 1);
	kv_close(&x);
}

static void direct(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	unsigned order = 0;
	struct note n = {.cqe = {note_done}, .order = &order};
	struct kv x, y;

	if (!kv_open(a, &x, .alloc_cq = true, .poll_ctx = IB_POLL_DIRECT) || !kv_open(b, &y) ||
	    !kv_connect(&x, &y))
		return;
	post_empty(tb, &x, &n, 25);
	pass_time(CFG_MS(1));
	expect_equal(n.done, 0);
	expect_equal((uint64_t)ib_process_cq_direct(x.cq, 3), 3);
	expect_equal(n.done, 3);
	expect_equal((uint64_t)ib_process_cq_direct(x.cq, 0), 0);
	expect_equal((uint64_t)ib_process_cq_direct(x.cq, -1), 22);
	expect_equal(drv_cq_events(x.cq->drv), 0);
	kv_close(&x);
	kv_close(&y);
}

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

/* The done() of one CQ sleeps while another CQ goes on. Meanwhile the first CQ is freed. */
static void sleeping(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	const struct kv_setup setup = {.alloc_cq = true, .poll_ctx = IB_POLL_WORKQUEUE};
	unsigned order = 0;
	struct note slow = {.cqe = {sleepy_done}, .order = &order, .sleeps = a->platform},
		    fast = {.cqe = {note_done}, .order = &order};
	struct kv x, y, v, w;

	if (!tb_kv_open(tb, TB_HERE, a, &x, &setup) || !tb_kv_open(tb, TB_HERE, a, &v, &setup) ||
	    !kv_open(b, &y) || !kv_open(b, &w) || !kv_connect(&x, &y) || !kv_connect(&v, &w))
		return;
	post_empty(tb, &x, &slow, 1);
	kv_until(&slow.begun, 1);
	post_empty(tb, &v, &fast, 1);
	kv_until(&fast.done, 1);
	expect_equal(slow.done, 0);
	kv_close(&x);
	expect_equal(slow.done, 1);
	kv_close(&y);
	kv_close(&v);
	kv_close(&w);
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

SCENARIO(kernel_cq, "kernel verbs: done() in each context, budgets, fairness, moderation",
	 .no_qps = true, .any_packets = true)
{
	context(tb, a, b, IB_POLL_SOFTIRQ);
	context(tb, a, b, IB_POLL_WORKQUEUE);
	direct(tb, a, b);
	without_done(tb, a);
	fair(tb, a, b);
	moderated(tb, a, b);
	sleeping(tb, a, b);
	freed_in_thread(tb, a, b, false);
	freed_in_thread(tb, a, b, true);
	in_one_turn(tb, a);
}
