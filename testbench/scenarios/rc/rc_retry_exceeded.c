/* SPDX-License-Identifier: Apache-2.0 */
/* Nobody answers. The request is sent 1 + retry_cnt times, one timeout apart, and then fails. The
 * request behind it is flushed. */
/* behaviours: IBA-9.9.2.1.1-retries-exceeded DEFECT-error-state-flush */
#include "testbench/scenario.h"

SCENARIO(rc_retry_exceeded,
	 "no answer at all: resend until retries are used up, flush, and connect again",
	 .timeout = 8, .retry_cnt = 3)
{
	post_recv(b, .wr_id = 1, .len = 64);
	drop_next(b_to_a, RC_ACKNOWLEDGE, .times = 4);
	post_send(a, .wr_id = 7, .len = 64);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 0xfffffe);
	for (unsigned i = 0; i < 3; i++)
		expect_pkt_after(a_to_b, ACK_TIMEOUT(a), RC_SEND_ONLY, .psn = 0xfffffe);
	expect_cqe(a, .wr_id = 7, .status = IBV_WC_RETRY_EXC_ERR);
	expect_cqe(b, .wr_id = 1);
	expect_data(b, .len = 64);
	post_send(a, .wr_id = 8, .len = 64);
	expect_cqe(a, .wr_id = 8, .status = IBV_WC_WR_FLUSH_ERR);
	expect_stat(a, retry, ack_timeouts, 4);

	reconnect(0);
	post_recv(b, .wr_id = 2, .len = 64, .dst = 64);
	post_send(a, .wr_id = 9, .len = 64);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 0xfffffe, .transmission = 1);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .msn = 1);
	expect_cqe(a, .wr_id = 9);
	expect_cqe(b, .wr_id = 2);
	expect_data(b, .len = 64, .dst = 64);
}
