/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A packet that looks like a repeated READ or atomic, but differs from the request that had this
 * PSN, is dropped: another kind of request, another operation, address or key, or a range that
 * exceeds the original. Memory does not change. The true rest of a READ is read again.
 * behaviours: DUP-3 DUP-5
 */
#include "testbench/services.h"

enum { MTU = 1024, WRITE_PSN = 0xfffffe, ATOMIC_PSN = 0xffffff, READ_PSN = 0 };

SCENARIO(dup_mismatch, "requests that repeat nothing that was: dropped", .mtu = IBV_MTU_1024)
{
	const uint64_t va = tb_va(b, b->dst), from = tb_va(b, b->src);
	const uint32_t rkey = drv_mr_rkey(b->mr);

	set_word(b, 4096, 100);
	rdma_write(a, .wr_id = 1, .len = 64);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .psn = WRITE_PSN);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = WRITE_PSN);
	fetch_add(a, .wr_id = 2, .dst = 4096, .target = 4096, .compare = 1);
	expect_pkt(a_to_b, RC_FETCH_ADD, .psn = ATOMIC_PSN);
	expect_pkt(b_to_a, RC_ATOMIC_ACKNOWLEDGE, .psn = ATOMIC_PSN);
	rdma_read(a, .wr_id = 3, .len = 2 * MTU);
	expect_pkt(a_to_b, RC_READ_REQUEST, .psn = READ_PSN);
	expect_pkt(b_to_a, RC_READ_RESP_FIRST, .psn = READ_PSN);
	expect_pkt(b_to_a, RC_READ_RESP_LAST, .psn = READ_PSN + 1);
	expect_cqes(a, 3);
	expect_data(b, .len = 64);
	expect_word(a, 4096, 100);
	expect_word(b, 4096, 101);
	expect_data(a, .len = 2 * MTU);

	phase("what was not");
	inject(b, RC_FETCH_ADD, .psn = WRITE_PSN, .va = va + 4096, .rkey = rkey, .swap_add = 1);
	inject(b, RC_FETCH_ADD, .psn = READ_PSN, .va = va + 4096, .rkey = rkey, .swap_add = 1);
	inject(b, RC_COMPARE_SWAP, .psn = ATOMIC_PSN, .va = va + 4096, .rkey = rkey, .compare = 101,
	       .swap_add = 7);
	inject(b, RC_READ_REQUEST, .psn = WRITE_PSN, .va = from, .rkey = rkey, .dma_len = 8);
	inject(b, RC_READ_REQUEST, .psn = ATOMIC_PSN, .va = from, .rkey = rkey, .dma_len = 8);
	inject(b, RC_READ_REQUEST, .psn = READ_PSN, .va = from, .rkey = rkey,
	       .dma_len = 2 * MTU + 1);
	inject(b, RC_READ_REQUEST, .psn = READ_PSN + 1, .va = from, .rkey = rkey, .dma_len = 8);
	inject(b, RC_READ_REQUEST, .psn = READ_PSN, .va = from + 8, .rkey = rkey, .dma_len = 8);
	inject(b, RC_READ_REQUEST, .psn = READ_PSN, .va = from, .rkey = rkey + 1, .dma_len = 8);
	expect_no_more(CFG_US(30));
	expect_word(b, 4096, 101);

	phase("what was");
	inject(b, RC_READ_REQUEST, .psn = READ_PSN + 1, .va = from + MTU, .rkey = rkey,
	       .dma_len = MTU);
	expect_pkt(b_to_a, RC_READ_RESP_ONLY, .psn = READ_PSN + 1, .len = MTU);
	inject(b, RC_FETCH_ADD, .psn = ATOMIC_PSN, .va = va + 4096, .rkey = rkey, .swap_add = 1);
	expect_pkt(b_to_a, RC_ATOMIC_ACKNOWLEDGE, .psn = ATOMIC_PSN);
	inject(b, RC_SEND_ONLY, .psn = ATOMIC_PSN, .len = 8);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = READ_PSN + 1);
	expect_no_more(CFG_US(20));
	expect_word(b, 4096, 101);
}
