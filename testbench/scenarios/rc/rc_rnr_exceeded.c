/* SPDX-License-Identifier: Apache-2.0 */
/* RNR retries are used up: after rnr_retry waits the request fails, the queue pair goes to error,
 * and the requests behind it are flushed. */
/* behaviours: DEFECT-error-state-flush REQ-7 */
#include "testbench/scenario.h"

SCENARIO(rc_rnr_exceeded, "no receive comes: RNR retries are used up, the rest is flushed",
	 .rnr_retry = 1)
{
	struct drv_qp_attr attr;

	post_send(a, .wr_id = 7, .len = 64);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 0xfffffe);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .rnr = 12);
	expect_pkt_after(a_to_b, RNR_DELAY(b), RC_SEND_ONLY, .psn = 0xfffffe);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .rnr = 12);
	expect_cqe(a, .wr_id = 7, .status = IBV_WC_RNR_RETRY_EXC_ERR);
	post_send(a, .wr_id = 8, .len = 64);
	expect_cqe(a, .wr_id = 8, .status = IBV_WC_WR_FLUSH_ERR);
	must(drv_qp_query(a->qp[0], &attr));
	expect_equal(attr.qp_state, IBV_QPS_ERR);
}
