/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Receives of an SRQ fail, each for another queue pair: a wrong key, or too short a list. A
 * failed receive gives its slot back like any other, so the SRQ can be filled to its limit again
 * and again. Completions that are discarded unread with their queue pair give their slots back too.
 */
/* behaviours: SRQ-slots */
#include "testbench/services.h"

enum { ROOM = 7, ROUNDS = 3, LEN = 64 };

static void fill(struct tb *tb, struct tb_end *b, struct drv_srq *srq, unsigned left)
{
	for (unsigned i = 0; i < left && still_right(); i++)
		recv_srq(b, srq, .wr_id = 100 + i, .len = LEN);
	recv_srq(b, srq, .len = LEN, .result = -ENOMEM);
}

/* One receive that fails, and the queue pairs for it. */
static void fail_one(struct tb *tb, struct tb_end *a, struct tb_end *b, struct drv_srq *srq,
		     bool too_short)
{
	struct drv_qp *x = new_qp(a), *y = new_qp(b, .srq = srq);

	connect_two(x, y);
	if (!still_right())
		return;
	recv_srq(b, srq, .wr_id = 1, .len = too_short ? LEN - 1 : LEN,
		 .lkey = too_short ? TB_ANY : (int64_t)drv_mr_lkey(b->mr) + 1);
	send_on(a, x, .wr_id = 2, .len = LEN);
	expect_cqe(b, .wr_id = 1, .on = y,
		   .status = too_short ? IBV_WC_LOC_LEN_ERR : IBV_WC_LOC_PROT_ERR);
	expect_cqe(a, .wr_id = 2, .status = ANY_ERROR);
	expect_event(b, IBV_EVENT_QP_LAST_WQE_REACHED);
	destroy_qp(y);
	destroy_qp(x);
}

/* The SRQ is full, and is full again. */
static void unheard(struct tb *tb, struct tb_end *a, struct tb_end *b, struct drv_srq *srq)
{
	struct drv_qp *x = new_qp(a), *y = new_qp(b, .srq = srq);

	connect_two(x, y);
	drv_discard_register(b->dev, NULL, NULL);
	for (unsigned i = 0; i < ROOM && still_right(); i++) {
		send_on(a, x, .len = LEN);
		expect_cqe(a, .on = x);
	}
	pass_time(CFG_US(20));
	destroy_qp(y);
	fill(tb, b, srq, ROOM);
	destroy_qp(x);
}

SCENARIO(srq_failed_receives, "receives of an SRQ fail, or are discarded: their slots come back",
	 .any_packets = true)
{
	struct drv_srq *srq = new_srq(b, .max_wr = ROOM);
	struct drv_qp *x = new_qp(a), *y = new_qp(b, .srq = srq);

	connect_two(x, y);
	for (unsigned round = 0; round < ROUNDS && still_right(); round++) {
		for (unsigned i = 0; i < ROOM; i++)
			fail_one(tb, a, b, srq, i % 2);
		fill(tb, b, srq, ROOM);
		for (unsigned i = 0; i < ROOM; i++) {
			send_on(a, x, .len = LEN);
			expect_cqe(a);
		}
		pass_time(CFG_US(20));
		if (round + 1 < ROUNDS) {
			for (unsigned i = 0; i < ROOM; i++)
				expect_cqe(b, .wr_id = 100 + i, .on = y);
			continue;
		}
		destroy_qp(y); /* with its completions */
		expect_discarded(b, ROOM);
		fill(tb, b, srq, ROOM);
	}
	unheard(tb, a, b, srq);
	ignore_data(b, .len = LEN);
	destroy_qp(x);
	destroy_srq(srq);
}
