/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A READ response that says NAK in its AETH is no right answer. It still is a response, so what was
 * sent before the READ has arrived: the WRITE ends well, and the READ is the one that fails.
 * behaviours: IBA-9.9.2.1-bad-response IBA-9.7.5.1.1-implied-ack
 */
#include "testbench/services.h"

SCENARIO(req_read_nak_inside,
	 "a READ response with a NAK inside: the READ fails, not the WRITE before it",
	 .any_packets = true)
{
	move_qp(b->qp[0], IBV_QPS_RESET);
	rdma_write(a, .wr_id = 1, .len = 8);
	rdma_read(a, .wr_id = 2, .len = 8);
	rdma_write(a, .wr_id = 3, .len = 8);
	pass_time(CFG_US(10));
	inject(a, RC_READ_RESP_ONLY, .psn = 0xffffff, .syndrome = 0x60 | NAK_REM_ACCESS, .len = 8);
	expect_cqe(a, .wr_id = 1);
	expect_cqe(a, .wr_id = 2, .status = IBV_WC_BAD_RESP_ERR);
	expect_cqe(a, .wr_id = 3, .status = IBV_WC_WR_FLUSH_ERR);
	reconnect(0);
}
