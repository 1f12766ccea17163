/* SPDX-License-Identifier: Apache-2.0 */
/* A 0 that a scenario states explicitly is used as 0, not replaced by the default: PSNs, retries,
 * an ACK timeout, keys, repeat counts. */
#include "testbench/services.h"

SCENARIO(words_zero, "zeros that are said", .timeout = 8, .retry_cnt = 0, .rnr_retry = 0,
	 .a_psn = 0, .b_psn = 0)
{
	struct drv_qp *x = new_qp(a), *y = new_qp(b);

	post_recv(b, .wr_id = 1, .len = 64, .repeat = 0);
	rdma_write(a, .wr_id = 1, .len = 64, .repeat = 0);
	post_send(a, .wr_id = 1, .len = 64);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 0);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0, .rnr = 12);
	expect_cqe(a, .wr_id = 1, .status = IBV_WC_RNR_RETRY_EXC_ERR);
	reconnect(0);

	drop_next(a_to_b, RC_WRITE_ONLY);
	rdma_write(a, .wr_id = 0, .len = 8);
	expect_cqe(a, .wr_id = 0, .status = IBV_WC_RETRY_EXC_ERR);
	reconnect(0);

	rdma_write(a, .wr_id = 3, .len = 8, .rkey = 0, .remote_addr = 0);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .rkey = 0, .va = 0);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .nak = NAK_REM_ACCESS);
	expect_cqe(a, .wr_id = 3, .status = IBV_WC_REM_ACCESS_ERR);
	expect_event(b, IBV_EVENT_QP_ACCESS_ERR);

	/* without a timer nothing is sent again */
	connect_two(x, y, .timeout = 0, .retry_cnt = 7);
	drop_next(a_to_b, RC_WRITE_ONLY);
	send_on(a, x, .opcode = IBV_WR_RDMA_WRITE, .wr_id = 4, .len = 8);
	expect_no_more(CFG_MS(100));
	destroy_qp(x);
	destroy_qp(y);
}
