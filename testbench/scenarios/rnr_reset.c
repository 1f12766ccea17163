// SPDX-License-Identifier: Apache-2.0
/*
 * The RNR retry counter counts RNR NAKs without progress: two are allowed here, for message after
 * message; a timeout among them does not count as one, nor gives one back. The third in a row is
 * the end.
 * behaviours: REQ-5 IBA-9.7.5.2.8-rnr-counter
 */
#include "testbench/scenario.h"

enum { CODE = 12, LEN = 64 };

static void refused(struct tb *tb, struct tb_end *b, uint32_t psn)
{
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = psn);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = psn, .rnr = CODE);
}

SCENARIO(rnr_reset, "RNR retries begin anew with progress, and only with it", .rnr_retry = 2,
	 .retry_cnt = 3, .timeout = 9, .min_rnr_timer = CODE)
{
	uint32_t psn = 0xfffffe;

	for (unsigned i = 0; i < 3 && still_right(); i++) {
		post_send(a, .wr_id = i, .len = LEN);
		refused(tb, b, psn);
		refused(tb, b, psn);
		post_recv(b, .wr_id = 10 + i, .len = LEN, .dst = i * LEN);
		expect_pkt(a_to_b, RC_SEND_ONLY, .psn = psn, .transmission = 3);
		expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = psn);
		expect_cqe(a, .wr_id = i);
		expect_cqe(b, .wr_id = 10 + i);
		expect_data(b, .dst = i * LEN, .len = LEN);
		psn = (psn + 1) & 0xffffff;
	}

	phase("three in a row, with a timeout between them");
	post_send(a, .wr_id = 4, .len = LEN);
	refused(tb, b, psn);
	drop_next(a_to_b, RC_SEND_ONLY, .psn = psn, .transmission = 2);
	refused(tb, b, psn);
	refused(tb, b, psn);
	expect_cqe(a, .wr_id = 4, .status = IBV_WC_RNR_RETRY_EXC_ERR);
}
