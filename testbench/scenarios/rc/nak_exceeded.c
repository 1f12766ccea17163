/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sequence NAKs alone use up the retries. The scenario plays the peer and answers each transmission
 * with the same NAK. There are 1 + retry_cnt transmissions, then the retry error comes at once,
 * without a timeout. retry_cnt 7 means seven, not infinitely many.
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
