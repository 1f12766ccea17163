/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A CQ holds completions of two queue pairs in turn when one of them is reset. Its completions go,
 * and those of the other stay, in their order, wherever the end of the ring falls between them.
 * The room is given back: the CQ then holds as many completions as it has entries. Who has asked for it
 * hears of each completion that goes, in their order.
 */
/* behaviours: CQ-clean */
#include "testbench/services.h"

enum { SIZE = 16, PAIRS = 6, LEN = 8 };

/* x and v are connected with y and w, which share the CQ. */
struct four {
	struct drv_qp *x, *y, *v, *w;
	struct drv_cq *cq;
	unsigned discarded, wrong;
};

static void discarded(void *arg, struct drv_cq *cq, const struct drv_wc *wc)
{
	struct four *f = arg;

	f->wrong += cq != f->cq || wc->wr_id != f->discarded++ || wc->is_send ||
		    wc->status != IBV_WC_SUCCESS || wc->qp_num != drv_qp_num(f->y) ||
		    wc->byte_len != LEN;
}

/* n messages on x; their completions are polled. */
static void advance(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct four *f,
		    unsigned n)
{
	for (unsigned i = 0; i < n && still_right(); i++) {
		recv_on(b, f->w, .wr_id = 500, .len = LEN);
		send_on(a, f->v, .len = LEN);
		expect_cqe(a);
		expect_cqe(b, .cq = f->cq, .wr_id = 500);
	}
}

/* The newest completion is of the queue pair that is reset, or of the other one. */
static void clean(struct tb *tb, struct tb_end *a, struct tb_end *b, struct four *f, bool newest)
{
	for (unsigned i = 0; i < PAIRS; i++) {
		recv_on(b, f->y, .wr_id = i, .len = LEN);
		recv_on(b, f->w, .wr_id = 100 + i, .len = LEN);
		send_on(a, newest ? f->v : f->x, .len = LEN);
		expect_cqe(a);
		send_on(a, newest ? f->x : f->v, .len = LEN);
		expect_cqe(a);
	}
	pass_time(CFG_US(20));
	f->discarded = 0;
	move_qp(f->y, IBV_QPS_RESET);
	expect_equal(f->discarded, PAIRS);
	expect_equal(f->wrong, 0);
	for (unsigned i = 0; i < PAIRS && still_right(); i++)
		expect_cqe(b, .cq = f->cq, .wr_id = 100 + i, .on = f->w, .byte_len = LEN);
	expect_empty(f->cq);
	move_qp(f->x, IBV_QPS_RESET);
	connect_two(f->x, f->y);
}

SCENARIO(cq_clean_wrap, "a queue pair is reset: its completions leave a CQ that others share",
	 .any_packets = true)
{
	struct four f = {.cq = new_cq(b, SIZE - 1, 0)};

	f.x = new_qp(a);
	f.v = new_qp(a);
	f.y = new_qp(b, .recv_cq = f.cq);
	f.w = new_qp(b, .recv_cq = f.cq);
	connect_two(f.x, f.y);
	connect_two(f.v, f.w);
	drv_discard_register(b->dev, discarded, &f);
	/* each time the ring ends at another place */
	for (unsigned round = 0; round < SIZE && still_right(); round++) {
		clean(tb, a, b, &f, round % 2);
		advance(tb, a, b, &f, (2 * SIZE + 1 - 2 * PAIRS) % SIZE);
	}
	drv_discard_register(b->dev, NULL, NULL);
	if (!still_right())
		return;
	recv_on(b, f.w, .wr_id = 600, .len = LEN, .repeat = SIZE - 1);
	send_on(a, f.v, .len = LEN, .repeat = SIZE - 1);
	expect_cqes(a, SIZE - 1);
	pass_time(CFG_US(20));
	for (unsigned i = 0; i < SIZE - 1; i++)
		expect_cqe(b, .cq = f.cq, .wr_id = 600 + i);
	for (unsigned i = 0; i < SIZE; i++)
		ignore_data(b, .dst = i * LEN, .len = LEN);
	expect_data(b, .len = LEN);
	destroy_qp(f.w);
	destroy_qp(f.y);
	destroy_qp(f.v);
	destroy_qp(f.x);
	destroy_cq(f.cq);
}
