/* SPDX-License-Identifier: Apache-2.0 */
/* The ACK is lost once. The timer expires and the request is sent again; the responder sees a
 * duplicate and acknowledges it again without using a second receive. */
/* behaviours: REQ-3 DUP-1 */
#include "testbench/scenario.h"

SCENARIO(rc_lost_ack, "an ACK is lost: timeout, resend, the duplicate is acknowledged again",
	 .timeout = 10)
{
	post_recv(b, .wr_id = 1, .len = 64);
	drop_next(b_to_a, RC_ACKNOWLEDGE);
	post_send(a, .wr_id = 7, .len = 64);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 0xfffffe, .transmission = 1);
	expect_pkt_after(a_to_b, ACK_TIMEOUT(a), RC_SEND_ONLY, .psn = 0xfffffe, .transmission = 2);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .msn = 1);
	expect_cqe(a, .wr_id = 7);
	expect_cqe(b, .wr_id = 1, .byte_len = 64);
	expect_data(b, .len = 64);
	expect_stat(a, retry, ack_timeouts, 1);
	expect_stat(b, responder, duplicates, 1);
}
