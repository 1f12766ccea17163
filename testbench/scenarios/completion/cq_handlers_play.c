/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two hosts play ping-pong in the handlers of their CQs: each handler polls, posts a receive and the answer, and
 * arms the CQ again, while nobody else does anything. One arms before it polls, the other behind it; a handler may
 * find two completions, of a send and a receive. No stroke is lost. Who arms no more is not told of what comes then.
 */
/* behaviours: CQ-wait CQ-1 */
#include "testbench/services.h"

enum { STROKES = 24, LEN = 16, LATE = 5 };

struct player {
	struct drv_cq *cq;
	struct drv_qp *qp;
	struct drv_sge to, from;
	unsigned calls, receives, sends, wrong;
	bool arms_first;
};

static void answer(struct player *p)
{
	const struct drv_recv_wr recv = {.wr_id = 1, .sg_list = &p->to, .num_sge = 1};
	/* some sends make a completion, too */
	const struct drv_send_wr send = {.wr_id = 2,
					 .opcode = IBV_WR_SEND,
					 .send_flags = p->receives % 3 ? 0 : IBV_SEND_SIGNALED,
					 .sg_list = &p->from,
					 .num_sge = 1};

	p->wrong += drv_post_recv(p->qp, &recv, NULL) || drv_post_send(p->qp, &send, NULL);
}

/* In interrupt context. */
static void stroke(void *arg, struct drv_cq *cq)
{
	struct player *p = arg;
	struct drv_wc wc;

	p->calls++;
	if (p->receives >= STROKES)
		return;
	if (p->arms_first)
		p->wrong += !!drv_cq_arm(cq, false);
	while (drv_cq_poll(cq, 1, &wc) == 1) {
		p->wrong += wc.status != IBV_WC_SUCCESS;
		if (wc.is_send) {
			p->sends++;
		} else if (++p->receives < STROKES) {
			answer(p);
		}
	}
	if (!p->arms_first && p->receives < STROKES)
		p->wrong += !!drv_cq_arm(cq, false);
}

static struct player player(struct tb *tb, struct tb_end *end, bool arms_first)
{
	struct player p = {.cq = new_cq(end, 63, 0), .arms_first = arms_first};
	const uint32_t lkey = drv_mr_lkey(end->mr);

	p.qp = new_qp(end, .send_cq = p.cq, .recv_cq = p.cq);
	p.to = (struct drv_sge){tb_va(end, end->dst), LEN, lkey};
	p.from = (struct drv_sge){tb_va(end, end->src), LEN, lkey};
	return p;
}

SCENARIO(cq_handlers_play, "handlers of CQs poll, post and arm: ping-pong without any thread",
	 .any_packets = true)
{
	struct player x = player(tb, a, false), y = player(tb, b, true);
	unsigned told;

	connect_two(x.qp, y.qp);
	if (!still_right())
		return;
	drv_cq_set_callback(x.cq, stroke, &x);
	drv_cq_set_callback(y.cq, stroke, &y);
	recv_on(a, x.qp, .wr_id = 1, .len = LEN);
	recv_on(b, y.qp, .wr_id = 1, .len = LEN);
	must(drv_cq_arm(x.cq, false));
	must(drv_cq_arm(y.cq, false));
	send_on(a, x.qp, .len = LEN, .unsignaled = true);
	pass_time(CFG_MS(1));
	expect_equal(x.wrong + y.wrong, 0);
	expect_equal(y.receives, STROKES);
	expect_that(x.receives, >=, STROKES - 1);
	expect_equal(drv_cq_events(x.cq), x.calls);
	expect_equal(drv_cq_events(y.cq), y.calls);
	told = y.calls;
	for (unsigned i = 0; i < LATE; i++) {
		recv_on(b, y.qp, .wr_id = 1, .len = LEN);
		send_on(a, x.qp, .len = LEN, .unsignaled = true);
	}
	pass_time(CFG_US(100));
	expect_that(y.calls, <=, told + 1); /* one that armed before it polled */
	drv_cq_set_callback(x.cq, NULL, NULL);
	drv_cq_set_callback(y.cq, NULL, NULL);
	ignore_discarded(a);
	ignore_discarded(b);
	expect_data(a, .len = LEN);
	expect_data(b, .len = LEN);
	destroy_qp(y.qp);
	destroy_qp(x.qp);
	destroy_cq(y.cq);
	destroy_cq(x.cq);
}
