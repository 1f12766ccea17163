/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PSN space around the expected PSN. The 2^23 PSNs before it are duplicates: they are
 * acknowledged with the newest PSN and have no other effect. The PSNs after it are out of sequence:
 * one NAK reports them, and no further NAK is sent until the expected PSN has arrived.
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
	expect_no_more(CFG_US(20)); /* the NAK has been sent already */
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
