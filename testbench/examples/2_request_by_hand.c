/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scenario's body plays the requester, including requests that no driver would allow: it sends
 * arbitrary packets to b, with its own PSNs, keys and CRCs, and reads b's responses off the wire.
 */
#include "testbench/services.h"

SCENARIO(request_by_hand, "requests that are right, spoiled, ahead of their turn and not allowed")
{
	const uint32_t rkey = drv_mr_rkey(b->mr);
	const uint64_t to = tb_va(b, b->dst);

	inject(b, RC_WRITE_ONLY, .psn = 0xfffffe, .va = to, .rkey = rkey, .dma_len = 8, .len = 8,
	       .ack_req = true, .bad_vcrc = true);
	expect_no_more(CFG_US(10));
	expect_stat(b, port1, rcv_errors, 1);
	inject(b, RC_WRITE_ONLY, .psn = 0xfffffe, .va = to, .rkey = rkey, .dma_len = 8, .len = 8,
	       .ack_req = true);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .msn = 1);
	expect_data(b, .len = 8); /* the payload is taken from a's memory at src */

	inject(b, RC_READ_REQUEST, .psn = 0x000005, .va = to, .rkey = rkey, .dma_len = 8);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xffffff, .nak = NAK_PSN_SEQUENCE);
	inject(b, RC_READ_REQUEST, .psn = 0xffffff, .va = to, .rkey = rkey + 1, .dma_len = 8);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xffffff, .nak = NAK_REM_ACCESS);
	expect_event(b, IBV_EVENT_QP_ACCESS_ERR);
}
