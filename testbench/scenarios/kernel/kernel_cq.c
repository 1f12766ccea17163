/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completions reach done() in each polling context. SOFTIRQ and WORKQUEUE arm the CQ by themselves
 * and lose no completion, whenever it arrives. DIRECT polls only when asked, and never more
 * completions than asked for. A done() that sleeps in its WORKQUEUE holds up no other CQ, and its CQ
 * is freed only after it has returned. A request without a done() may fail.
 */
#include "testbench/scenarios/kernel/done_notes.h"

enum { ROUNDS = 60, NO_KEY = 0x700 };

static void sleepy_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct note *n = container_of(wc->wr_cqe, struct note, cqe);

	n->begun++;
	n->sleeps->ops->sleep_ps(n->sleeps, CFG_MS(2));
	n->done++;
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

SCENARIO(kernel_cq, "kernel verbs: done() in each context", .no_qps = true, .any_packets = true)
{
	context(tb, a, b, IB_POLL_SOFTIRQ);
	context(tb, a, b, IB_POLL_WORKQUEUE);
	direct(tb, a, b);
	without_done(tb, a);
	sleeping(tb, a, b);
}
