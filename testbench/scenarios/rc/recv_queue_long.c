/* SPDX-License-Identifier: Apache-2.0 */
/*
 * More receives than the 16-bit counter of a doorbell record counts, of a queue pair and of a shared
 * receive queue. Each takes its message, in order, when the counter starts again from 0.
 */
/* behaviours: CQ-index-wrap */
#include "testbench/services.h"

/* 65,536 is no multiple of it, so the counter starts again amid a list */
enum { LIST = 60, LISTS = (1 << 16) / LIST + 20 };

static void messages(struct tb *tb, struct tb_end *a, struct tb_end *b, struct drv_qp *x,
		     struct drv_qp *y, struct drv_srq *srq)
{
	struct drv_send_wr send[LIST];
	struct drv_recv_wr recv[LIST];
	struct drv_wc wc[LIST];
	unsigned wrong = 0;

	for (unsigned i = 0; i < LIST; i++) {
		recv[i] = (struct drv_recv_wr){.next = i + 1 < LIST ? &recv[i + 1] : NULL};
		send[i] = (struct drv_send_wr){.next = i + 1 < LIST ? &send[i + 1] : NULL,
					       .opcode = IBV_WR_SEND,
					       .send_flags = i + 1 < LIST ? 0 : IBV_SEND_SIGNALED};
	}
	for (uint64_t n = 0; n < LISTS && still_right() && !wrong; n++) {
		for (unsigned i = 0; i < LIST; i++)
			recv[i].wr_id = n * LIST + i;
		must(srq ? drv_post_srq_recv(srq, recv, NULL) : drv_post_recv(y, recv, NULL));
		must(drv_post_send(x, send, NULL));
		expect_cqe(a);
		for (unsigned got = 0; got < LIST && still_right();) {
			const int rc = drv_cq_poll(b->cq, (int)(LIST - got), wc + got);

			expect_that(rc, >=, 0);
			got += (unsigned)rc;
			if (!rc)
				must(drv_cq_wait(b->cq, tb_now(tb) + CFG_MS(1)));
		}
		for (unsigned i = 0; i < LIST && still_right(); i++)
			wrong += wc[i].wr_id != n * LIST + i || wc[i].status != IBV_WC_SUCCESS;
	}
	expect_equal(wrong, 0);
}

SCENARIO(recv_queue_long, "66,720 receives of one queue pair, and as many of a shared queue",
	 .unobserved = true)
{
	struct drv_srq *srq = new_srq(b, .max_wr = LIST);
	struct drv_qp *x = new_qp(a),
		      *y = new_qp(b, .srq = srq,
				  .cap = {.max_recv_wr = TB_NONE, .max_recv_sge = TB_NONE});

	connect_two(x, y);
	messages(tb, a, b, a->qp[0], b->qp[0], NULL);
	messages(tb, a, b, x, y, srq);
	destroy_qp(x);
	destroy_qp(y);
	destroy_srq(srq);
}
