/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Duplicates of SEND, WRITE, READ and atomics. A SEND or WRITE is acknowledged again with the
 * newest PSN, and memory and receives are not touched. A READ is executed again, also when only its
 * last part is requested; a range beyond the original is dropped. An atomic returns its first
 * result and is not executed again.
 */
/* behaviours: DUP-1 DUP-3 DUP-5 */
#include "testbench/services.h"

enum { MTU = 256 };

SCENARIO(dup_requests, "duplicate requests: acknowledged, read or replayed again, never done twice",
	 .mtu = IBV_MTU_256)
{
	const uint32_t rkey = still_right() ? drv_mr_rkey(b->mr) : 0;
	const uint64_t dst = tb_va(b, b->dst), src = tb_va(b, b->src);

	post_recv(b, .wr_id = 1, .len = 64, .repeat = 2);
	inject(b, RC_SEND_ONLY, .psn = 0xfffffe, .len = 64, .ack_req = true);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .msn = 1);
	expect_cqe(b, .wr_id = 1);
	expect_data(b, .len = 64);
	inject(b, RC_WRITE_ONLY, .psn = 0xffffff, .va = dst + 100, .rkey = rkey, .dma_len = 8,
	       .len = 8, .ack_req = true);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xffffff, .msn = 2);
	expect_data(b, .dst = 100, .len = 8);
	inject(b, RC_SEND_ONLY, .psn = 0xfffffe, .src = 1000, .len = 64, .ack_req = true);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xffffff, .msn = 2);
	inject(b, RC_WRITE_ONLY, .psn = 0xffffff, .va = dst + 100, .rkey = rkey, .dma_len = 8,
	       .src = 1000, .len = 8, .ack_req = true);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xffffff, .msn = 2);
	expect_stat(b, responder, duplicates, 2);

	inject(b, RC_READ_REQUEST, .psn = 0, .va = src, .rkey = rkey, .dma_len = 3 * MTU);
	expect_pkt(b_to_a, RC_READ_RESP_FIRST, .psn = 0, .len = MTU);
	expect_pkt(b_to_a, RC_READ_RESP_MIDDLE, .psn = 1, .len = MTU);
	expect_pkt(b_to_a, RC_READ_RESP_LAST, .psn = 2, .len = MTU, .msn = 3);
	inject(b, RC_READ_REQUEST, .psn = 1, .va = src + MTU, .rkey = rkey, .dma_len = 2 * MTU);
	expect_pkt(b_to_a, RC_READ_RESP_FIRST, .psn = 1, .len = MTU);
	expect_pkt(b_to_a, RC_READ_RESP_LAST, .psn = 2, .len = MTU);
	/* what one of them asked for does not narrow the next one */
	inject(b, RC_READ_REQUEST, .psn = 2, .va = src + 2 * MTU, .rkey = rkey, .dma_len = MTU);
	expect_pkt(b_to_a, RC_READ_RESP_ONLY, .psn = 2, .len = MTU);
	inject(b, RC_READ_REQUEST, .psn = 0, .va = src, .rkey = rkey, .dma_len = 3 * MTU);
	expect_pkt(b_to_a, RC_READ_RESP_FIRST, .psn = 0, .len = MTU);
	expect_pkt(b_to_a, RC_READ_RESP_MIDDLE, .psn = 1, .len = MTU);
	expect_pkt(b_to_a, RC_READ_RESP_LAST, .psn = 2, .len = MTU);
	inject(b, RC_READ_REQUEST, .psn = 2, .va = src + 2 * MTU, .rkey = rkey, .dma_len = 2 * MTU);
	inject(b, RC_READ_REQUEST, .psn = 1, .va = src + 3 * MTU, .rkey = rkey, .dma_len = MTU);
	expect_no_more(CFG_US(20));

	set_word(b, 800, 10);
	inject(b, RC_FETCH_ADD, .psn = 3, .va = dst + 800, .rkey = rkey, .swap_add = 5);
	expect_pkt(b_to_a, RC_ATOMIC_ACKNOWLEDGE, .psn = 3, .msn = 4);
	expect_word(b, 800, 15);
	inject(b, RC_FETCH_ADD, .psn = 4, .va = dst + 800, .rkey = rkey, .swap_add = 1);
	expect_pkt(b_to_a, RC_ATOMIC_ACKNOWLEDGE, .psn = 4, .msn = 5);
	expect_word(b, 800, 16);
	inject(b, RC_FETCH_ADD, .psn = 3, .va = dst + 800, .rkey = rkey, .swap_add = 5);
	expect_pkt(b_to_a, RC_ATOMIC_ACKNOWLEDGE, .psn = 3);
	/* an answer that goes again counts the messages that were executed since */
	inject(b, RC_READ_REQUEST, .psn = 0, .va = src, .rkey = rkey, .dma_len = 3 * MTU);
	expect_pkt(b_to_a, RC_READ_RESP_FIRST, .psn = 0, .msn = 5);
	expect_pkt(b_to_a, RC_READ_RESP_MIDDLE, .psn = 1);
	expect_pkt(b_to_a, RC_READ_RESP_LAST, .psn = 2, .msn = 5);
	expect_no_more(CFG_US(20));
	expect_stat(b, atomic_read, atomics, 2);
	expect_stat(b, atomic_read, replays, 1);
}
