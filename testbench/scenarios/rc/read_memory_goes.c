/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The region that a READ takes its data from is deregistered in the middle of the READ. What was sent
 * before has arrived. A NAK stands where the next response would, and the READ ends with an access error at
 * once: no timer runs out. A queue pair in error sends no more responses. But it still acknowledges a message
 * whose completion has told its user that it is there.
 */
/* behaviours: RESP-7 ST-3 */
#include "testbench/services.h"

enum { MTU = 256, LEN = 60 << 10 };

static void wait_for_responses(struct tb *tb, struct tb_end *b, uint64_t n)
{
	while (still_right() && tb_stat(b, "responder", "read_responses") < n)
		pass_time(CFG_US(1));
}

static void in_error(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	const uint64_t before = tb_stat(b, "responder", "read_responses");
	uint64_t sent;

	phase("a queue pair in error");
	rdma_read(a, .wr_id = 2, .len = LEN);
	wait_for_responses(tb, b, before + LEN / MTU / 4);
	move_qp(b->qp[0], IBV_QPS_ERR);
	pass_time(CFG_US(5));
	sent = tb_stat(b, "responder", "read_responses");
	pass_time(CFG_US(50));
	expect_equal(tb_stat(b, "responder", "read_responses"), sent);
	expect_that(sent, <, before + LEN / MTU);
	expect_cqe(a, .wr_id = 2, .status = IBV_WC_RETRY_EXC_ERR);
	reconnect(0);
	post_recv(b, .wr_id = 3, .dst = LEN, .len = 8);
	post_send(a, .wr_id = 4, .len = 8);
	expect_cqe(b, .wr_id = 3);
	move_qp(b->qp[0], IBV_QPS_ERR);
	expect_cqe(a, .wr_id = 4);
	expect_data(b, .dst = LEN, .len = 8);
}

SCENARIO(read_memory_goes, "a region that goes in the middle of a READ", .mtu = IBV_MTU_256,
	 .any_packets = true, .exact = true, .timeout = 8)
{
	const uint64_t src = tb_va(b, b->src);
	struct drv_mr *mr = NULL;

	must(drv_mr_reg_iova(b->pd, b->src, LEN, src, IBV_ACCESS_REMOTE_READ, &mr));
	if (!still_right())
		return;
	rdma_read(a, .wr_id = 1, .len = LEN, .rkey = drv_mr_rkey(mr));
	wait_for_responses(tb, b, LEN / MTU / 4);
	must(drv_mr_dereg(mr));
	expect_cqe(a, .wr_id = 1, .status = IBV_WC_REM_ACCESS_ERR);
	expect_event(b, IBV_EVENT_QP_ACCESS_ERR);
	expect_that(tb_stat(b, "responder", "read_responses"), <, LEN / MTU);
	expect_stat(a, retry, ack_timeouts, 0);
	expect_data(a, .len = LEN / 8);
	ignore_data(a, .dst = LEN / 8, .len = LEN - LEN / 8);
	reconnect(0);
	in_error(tb, a, b);
}
