/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The credit limit of a sender never decreases: an older ACK that arrives late carries an older
 * limit and is ignored. Beyond the limit one more SEND goes out and asks for an ACK; the next one
 * waits for credits.
 * behaviours: CRED-3 IBA-9.7.7.2.3-limit
 */
#include "testbench/services.h"

enum { CREDITS_3 = 3, CREDITS_2 = 2, CREDITS_0 = 0, LEN = 8 };

SCENARIO(credits_stale, "an acknowledge that is late takes no credits back", .timeout = 20)
{
	move_qp(b->qp[0], IBV_QPS_RESET);
	post_send(a, .wr_id = 1, .len = LEN);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 0xfffffe);
	inject(a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .msn = 1, .syndrome = CREDITS_3);
	expect_cqe(a, .wr_id = 1);
	post_send(a, .wr_id = 2, .len = LEN, .repeat = 2);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 0xffffff);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 0);
	inject(a, RC_ACKNOWLEDGE, .psn = 0xffffff, .msn = 2, .syndrome = CREDITS_2);
	inject(a, RC_ACKNOWLEDGE, .psn = 0xffffff, .msn = 2, .syndrome = CREDITS_0);
	expect_cqe(a, .wr_id = 2);
	post_send(a, .wr_id = 4, .len = LEN, .repeat = 3);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 1);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 2, .ack_req = 1); /* beyond the limit */
	expect_no_more(CFG_US(20));
	inject(a, RC_ACKNOWLEDGE, .psn = 2, .msn = 5, .syndrome = 1);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 3);
	inject(a, RC_ACKNOWLEDGE, .psn = 3, .msn = 6, .syndrome = CREDITS_0);
	expect_cqes(a, 4);
}
