/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Retries are used up by sequence NAKs alone: the peer is played by hand and answers each
 * transmission with the same NAK. 1 + retry_cnt transmissions, then the retry error, at once and
 * without a timeout. retry_cnt 7 means seven.
 */
/* behaviours: IBA-9.9.2.1.1-retries-exceeded-by-nak */
#include "testbench/services.h"

enum { RETRIES = 7, NAK = 3 << 5 };

SCENARIO(nak_exceeded, "retries used up by sequence NAKs: 1 + 7 transmissions", .timeout = 18,
	 .retry_cnt = RETRIES)
{
	move_qp(b->qp[0], IBV_QPS_RESET);
	rdma_write(a, .wr_id = 1, .len = 8);
	for (unsigned i = 1; i <= 1 + RETRIES && still_right(); i++) {
		expect_pkt(a_to_b, RC_WRITE_ONLY, .psn = 0xfffffe, .transmission = i);
		expect_empty(a->cq);
		inject(a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .syndrome = NAK | NAK_PSN_SEQUENCE);
	}
	expect_cqe(a, .wr_id = 1, .status = IBV_WC_RETRY_EXC_ERR);
	expect_stat(a, retry, ack_timeouts, 0);
}
