/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each of the 32 RNR timer codes: the request is sent again no earlier than the time in the table,
 * and soon after it. The times are written here as in the specification (IBA table 46), in
 * microseconds.
 */
/* behaviours: REQ-7 */
#include "testbench/scenario.h"

static const unsigned table_us[32] = {655360, 10,    20,    30,     40,     60,     80,     120,
				      160,    240,   320,   480,    640,    960,    1280,   1920,
				      2560,   3840,  5120,  7680,   10240,  15360,  20480,  30720,
				      40960,  61440, 81920, 122880, 163840, 245760, 327680, 491520};

SCENARIO(rnr_codes, "the 32 RNR timer codes, each waited for")
{
	for (unsigned code = 0; code < 32 && still_right(); code++) {
		const struct drv_qp_attr attr = {.min_rnr_timer = code};
		const uint64_t wait = CFG_US(table_us[code]);

		must(drv_qp_modify(b->qp[0], &attr, IBV_QP_MIN_RNR_TIMER));
		post_send(a, .wr_id = code, .len = 8);
		expect_pkt(a_to_b, RC_SEND_ONLY, .transmission = 1);
		expect_pkt(b_to_a, RC_ACKNOWLEDGE, .rnr = code);
		post_recv(b, .wr_id = 100 + code, .len = 8);
		expect_pkt_after(a_to_b, WINDOW(wait, wait + wait / 8 + CFG_US(20)), RC_SEND_ONLY,
				 .transmission = 2);
		expect_pkt(b_to_a, RC_ACKNOWLEDGE);
		expect_cqe(a, .wr_id = code);
		expect_cqe(b, .wr_id = 100 + code);
	}
	expect_data(b, .len = 8);
}
