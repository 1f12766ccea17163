/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The circle of PSNs seen from the one that is expected: the 2^23 behind it are duplicates, which
 * are acknowledged with the newest PSN and do nothing; those ahead are out of sequence, of which
 * one NAK speaks until the expected one has come.
 * behaviours: IBA-9.7.1-psn-regions
 */
#include "testbench/services.h"

enum { NEXT = 0xfffffe, HALF = 1 << 23, MASK = 0xffffff, LEN = 16 };

#define SEND_AT(psn_) inject(b, RC_SEND_ONLY, .psn = (psn_)&MASK, .len = LEN, .ack_req = true)

SCENARIO(resp_psn_edges, "duplicates and gaps at the edges of the PSN circle")
{
	post_recv(b, .wr_id = 1, .len = LEN, .repeat = 2);
	phase("behind");
	SEND_AT(NEXT - 1);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = NEXT - 1, .msn = 0);
	SEND_AT(NEXT - HALF + 1);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = NEXT - 1, .msn = 0);
	SEND_AT(NEXT - HALF);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = NEXT - 1, .msn = 0);
	expect_stat(b, responder, duplicates, 3);

	phase("ahead");
	SEND_AT(NEXT + HALF - 1);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = NEXT, .nak = NAK_PSN_SEQUENCE, .msn = 0);
	SEND_AT(NEXT + 1);
	expect_no_more(CFG_US(20)); /* it has been said */
	SEND_AT(NEXT - 1);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = NEXT - 1, .msn = 0);
	SEND_AT(NEXT);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = NEXT, .msn = 1);
	expect_cqe(b, .wr_id = 1);
	SEND_AT(NEXT + 2);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = NEXT + 1, .nak = NAK_PSN_SEQUENCE, .msn = 1);
	SEND_AT(NEXT + 1);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = NEXT + 1, .msn = 2);
	expect_cqe(b, .wr_id = 2);
	ignore_data(b, .len = 2 * LEN);
}
