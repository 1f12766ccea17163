/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The RNR retry counter counts RNR NAKs without progress between them. Two in a row are allowed
 * here, for message after message; a timeout between them neither counts nor resets the counter.
 * The third in a row ends the queue pair.
 * behaviours: REQ-5 IBA-9.7.5.2.8-rnr-counter
 */
#include "testbench/scenario.h"

enum { CODE = 12, LEN = 64, MESSAGES = 4 };

static void wait_for_naks(struct tb *tb, struct tb_end *b, uint64_t n)
{
	while (still_right() && tb_stat(b, "responder", "rnr_naks") < n)
		pass_time(CFG_US(50));
}

SCENARIO(rnr_reset, "RNR retries begin anew with progress, and only with it", .rnr_retry = 2,
	 .retry_cnt = 3, .timeout = 9, .min_rnr_timer = CODE)
{
	/* posted all at once: while the queue is busy, only progress resets the counter */
	ignore_packets();
	post_send(a, .wr_id = 1, .len = LEN, .repeat = MESSAGES);
	for (unsigned i = 0; i < MESSAGES; i++) {
		wait_for_naks(tb, b, 2 * (i + 1));
		post_recv(b, .wr_id = 10 + i, .len = LEN, .dst = i * LEN);
		expect_cqe(a, .wr_id = 1 + i);
		expect_cqe(b, .wr_id = 10 + i);
		expect_data(b, .dst = i * LEN, .len = LEN);
	}
	expect_stat(b, responder, rnr_naks, 2 * MESSAGES);

	phase("copies of one NAK are one");
	duplicate_next(b_to_a, RC_ACKNOWLEDGE, .copies = 3, .by_ps = CFG_US(20));
	post_send(a, .wr_id = 6, .len = LEN);
	wait_for_naks(tb, b, 2 * MESSAGES + 1);
	pass_time(CFG_US(200));
	post_recv(b, .wr_id = 20, .len = LEN);
	expect_cqe(a, .wr_id = 6);
	expect_cqe(b, .wr_id = 20);

	phase("three in a row, with a timeout between them");
	check_packets();
	post_send(a, .wr_id = 7, .len = LEN);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 3);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 3, .rnr = CODE);
	drop_next(a_to_b, RC_SEND_ONLY, .psn = 3);
	expect_pkt_after(a_to_b, ACK_TIMEOUT(a), RC_SEND_ONLY, .psn = 3, .transmission = 3);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 3, .rnr = CODE);
	expect_pkt_after(a_to_b, RNR_DELAY(b), RC_SEND_ONLY, .psn = 3, .transmission = 4);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 3, .rnr = CODE);
	expect_cqe(a, .wr_id = 7, .status = IBV_WC_RNR_RETRY_EXC_ERR);
}
