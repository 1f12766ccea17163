/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Retries are used up on queue pairs whose receives come from an SRQ. They have nothing to flush
 * except the failed request, so the device releases them during the handling of the timeout. There
 * are several at once, with and without a request behind the failed one; RNR retries and NAKs end
 * the same way. All of them work again afterwards.
 */
/* behaviours: DEFECT-error-state-flush IBA-9.9.2.1.1-retries-exceeded */
#include "testbench/services.h"

enum { PAIRS = 3, NAK = 3 << 5 };

/*
 * A message from b, so that a caches both the requester's and the responder's half of the context.
 */
static void the_other_way(struct tb *tb, struct tb_end *a, struct tb_end *b, struct drv_qp *x,
			  struct drv_qp *y)
{
	send_on(b, y, .wr_id = 4, .len = 64);
	expect_cqe(b, .wr_id = 4);
	expect_cqe(a, .on = x);
}

SCENARIO(retry_exceeded_srq, "retries used up with an SRQ behind: nothing else is left to flush",
	 .timeout = 8, .retry_cnt = 1, .rnr_retry = 1, .any_packets = true)
{
	struct drv_srq *here = new_srq(a), *there = new_srq(b);
	struct drv_qp *x[PAIRS], *y[PAIRS];

	for (unsigned i = 0; i < PAIRS; i++) {
		x[i] = new_qp(a, .srq = here);
		y[i] = new_qp(b, .srq = there);
		connect_two(x[i], y[i]);
	}
	if (!still_right())
		return;
	phase("timeout");
	recv_srq(a, here, .wr_id = 1, .len = 64, .repeat = PAIRS + 2);
	for (unsigned i = 0; i < PAIRS; i++)
		the_other_way(tb, a, b, x[i], y[i]);
	pass_time(CFG_MS(1));
	for (unsigned i = 0; i < PAIRS; i++) {
		move_qp(y[i], IBV_QPS_RESET);
		send_on(a, x[i], .wr_id = 10 + i, .len = 64, .repeat = i + 1);
	}
	for (unsigned i = 0; i < PAIRS; i++) {
		expect_cqe(a, .wr_id = 10 + i, .on = x[i], .status = IBV_WC_RETRY_EXC_ERR);
		for (unsigned k = 1; k <= i; k++)
			expect_cqe(a, .wr_id = 10 + i + k, .on = x[i],
				   .status = IBV_WC_WR_FLUSH_ERR);
		expect_event(a, IBV_EVENT_QP_LAST_WQE_REACHED);
	}

	phase("RNR, and a NAK");
	for (unsigned i = 0; i < PAIRS; i++) {
		move_qp(x[i], IBV_QPS_RESET);
		if (i < 2)
			move_qp(y[i], IBV_QPS_RESET);
		connect_two(x[i], y[i]);
		if (i < 2)
			the_other_way(tb, a, b, x[i], y[i]);
	}
	ignore_data(a, .len = (PAIRS + 2) * 64);
	send_on(a, x[0], .wr_id = 20, .len = 64);
	expect_cqe(a, .wr_id = 20, .on = x[0], .status = IBV_WC_RNR_RETRY_EXC_ERR);
	send_on(a, x[1], .opcode = IBV_WR_RDMA_WRITE, .wr_id = 21, .len = 64, .rkey = 0x7700);
	expect_cqe(a, .wr_id = 21, .on = x[1], .status = IBV_WC_REM_ACCESS_ERR);
	expect_event(b, IBV_EVENT_QP_ACCESS_ERR);
	expect_event(a, IBV_EVENT_QP_LAST_WQE_REACHED);
	expect_event(a, IBV_EVENT_QP_LAST_WQE_REACHED);
	expect_event(b, IBV_EVENT_QP_LAST_WQE_REACHED);

	phase("again");
	move_qp(x[0], IBV_QPS_RESET);
	move_qp(y[0], IBV_QPS_RESET);
	connect_two(x[0], y[0]);
	recv_srq(b, there, .wr_id = 30, .len = 64);
	send_on(a, x[0], .wr_id = 31, .len = 64);
	expect_cqe(a, .wr_id = 31);
	expect_cqe(b, .wr_id = 30, .on = y[0]);
	expect_data(b, .len = 64);
	for (unsigned i = 0; i < PAIRS; i++) {
		destroy_qp(x[i]);
		destroy_qp(y[i]);
	}
	destroy_srq(here);
	destroy_srq(there);
}
