// SPDX-License-Identifier: Apache-2.0
/*
 * The credit limit of a sender never goes back: an older acknowledge that comes late says less than
 * is known. Beyond the limit one SEND more goes out, asking; the next one waits for credits.
 * behaviours: CRED-3 IBA-9.7.7.2.3-limit
 */
#include "testbench/services.h"

enum { CREDITS_2 = 2, CREDITS_0 = 0, LEN = 8 };

SCENARIO(credits_stale, "an acknowledge that is late takes no credits back", .timeout = 20)
{
	move_qp(b->qp[0], IBV_QPS_RESET);
	post_send(a, .wr_id = 1, .len = LEN, .repeat = 2);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 0xfffffe);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 0xffffff);
	inject(a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .msn = 1, .syndrome = CREDITS_2);
	inject(a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .msn = 1, .syndrome = CREDITS_0);
	expect_cqe(a, .wr_id = 1);
	post_send(a, .wr_id = 3, .len = LEN, .repeat = 3);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 0);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 1, .ack_req = 1); /* beyond the limit */
	expect_no_more(CFG_US(20));
	inject(a, RC_ACKNOWLEDGE, .psn = 1, .msn = 4, .syndrome = 1);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 2);
	inject(a, RC_ACKNOWLEDGE, .psn = 2, .msn = 5, .syndrome = CREDITS_0);
	expect_cqes(a, 4);
}
