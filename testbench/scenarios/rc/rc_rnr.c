/* SPDX-License-Identifier: Apache-2.0 */
/* No receive is posted. The responder sends an RNR NAK with its timer code, the requester waits
 * that long, and by then a receive is posted. */
/* behaviours: REQ-7 RESP-11 */
#include "testbench/scenario.h"

SCENARIO(rc_rnr, "SEND without a receive: RNR NAK, wait, resend", .min_rnr_timer = 12)
{
	post_send(a, .wr_id = 7, .len = 64);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 0xfffffe, .transmission = 1);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .rnr = 12);
	post_recv(b, .wr_id = 1, .len = 64);
	expect_pkt_after(a_to_b, RNR_DELAY(b), RC_SEND_ONLY, .psn = 0xfffffe, .transmission = 2);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .msn = 1);
	expect_cqe(a, .wr_id = 7);
	expect_cqe(b, .wr_id = 1, .byte_len = 64);
	expect_data(b, .len = 64);
	expect_stat(b, responder, rnr_naks, 1);
	expect_stat(a, retry, rnr_waits, 1);
}
