/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The region that a READ takes its data from is deregistered in the middle of the READ. What was sent
 * before has arrived. A NAK stands where the next response would, and the READ ends with an access error at
 * once: no timer runs out. Duplicates of the READ do not bring the data back.
 */
/* behaviours: RESP-7 */
#include "testbench/services.h"

enum { MTU = 256, LEN = 60 << 10 };

SCENARIO(read_memory_goes, "a region that goes in the middle of a READ", .mtu = IBV_MTU_256,
	 .any_packets = true)
{
	const uint64_t src = tb_va(b, b->src);
	struct drv_mr *mr = NULL;

	must(drv_mr_reg_iova(b->pd, b->src, LEN, src, IBV_ACCESS_REMOTE_READ, &mr));
	if (!still_right())
		return;
	rdma_read(a, .wr_id = 1, .len = LEN, .rkey = drv_mr_rkey(mr));
	while (still_right() && tb_stat(b, "responder", "read_responses") < LEN / MTU / 4)
		pass_time(CFG_US(1));
	must(drv_mr_dereg(mr));
	expect_cqe(a, .wr_id = 1, .status = IBV_WC_REM_ACCESS_ERR);
	expect_event(b, IBV_EVENT_QP_ACCESS_ERR);
	expect_that(tb_stat(b, "responder", "read_responses"), <, LEN / MTU);
	expect_stat(a, retry, ack_timeouts, 0);
	expect_data(a, .len = LEN / 8);
	ignore_data(a, .dst = LEN / 8, .len = LEN - LEN / 8);
}
