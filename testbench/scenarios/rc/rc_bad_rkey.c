/* SPDX-License-Identifier: Apache-2.0 */
/* A WRITE with an invalid R_Key: a remote access NAK, an error at the requester, an access event at
 * the responder, and no byte written. */
/* behaviours: RESP-7 */
#include "testbench/scenario.h"

SCENARIO(rc_bad_rkey,
	 "RDMA WRITE with a wrong R_Key: NAK, error completion, access event, no byte written")
{
	struct drv_qp_attr attr;

	rdma_write(a, .wr_id = 7, .len = 64, .rkey = drv_mr_rkey(b->mr) ^ 0x55);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .psn = 0xfffffe);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .nak = 2);
	expect_cqe(a, .wr_id = 7, .status = IBV_WC_REM_ACCESS_ERR);
	expect_event(b, IBV_EVENT_QP_ACCESS_ERR);
	must(drv_qp_query(b->qp[0], &attr));
	expect_equal(attr.qp_state, IBV_QPS_ERR);
	must(drv_qp_query(a->qp[0], &attr));
	expect_equal(attr.qp_state, IBV_QPS_ERR);
}
