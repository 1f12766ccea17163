/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that do not ask for an ACK are acknowledged together, at most the device's delay later;
 * the last one is always acknowledged. A request that asks for an ACK is answered at once, and the
 * ACK covers all requests before it.
 */
/* behaviours: RESP-13 DUP-1 DEFECT-ack-interval-stall */
#include "testbench/services.h"

enum { FEW = 3 };

SCENARIO(resp_ack_coalesced, "ACKs are coalesced, the final one always comes",
	 .of_mlx4 = "timer that acknowledges what did not ask for it")
{
	const uint32_t rkey = still_right() ? drv_mr_rkey(b->mr) : 0;
	const uint64_t dst = tb_va(b, b->dst);

	for (unsigned i = 0; i < FEW; i++)
		inject(b, RC_WRITE_ONLY, .psn = (0xfffffe + i) & 0xffffff, .va = dst, .rkey = rkey,
		       .dma_len = 8, .len = 8);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0, .msn = FEW);
	expect_no_more(CFG_US(20));
	for (unsigned i = 0; i < FEW; i++)
		inject(b, RC_WRITE_ONLY, .psn = 1 + i, .va = dst, .rkey = rkey, .dma_len = 8,
		       .len = 8, .ack_req = i == FEW - 1);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = FEW, .msn = 2 * FEW);
	expect_no_more(CFG_US(20));
	expect_data(b, .len = 8);
	/* packets ahead of the expected PSN: one NAK names the missing PSN, and is not repeated */
	for (unsigned i = 0; i < FEW; i++)
		inject(b, RC_WRITE_ONLY, .psn = 2 + FEW + i, .va = dst + 100, .rkey = rkey,
		       .dma_len = 8, .len = 8, .ack_req = true);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 1 + FEW, .nak = NAK_PSN_SEQUENCE, .msn = 2 * FEW);
	expect_no_more(CFG_US(20));
	expect_stat(b, responder, out_of_sequence, FEW);
}
