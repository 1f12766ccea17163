/* SPDX-License-Identifier: Apache-2.0 */
/* The old value is returned and the new value is in memory; a compare that fails changes nothing. A
 * lost response is repeated without executing the atomic again. */
#include "testbench/scenario.h"

SCENARIO(rc_atomic, "fetch and add, compare and swap, and a lost answer that is replayed",
	 .timeout = 10)
{
	set_word(b, 64, 1000);
	fetch_add(a, .wr_id = 1, .target = 64, .compare = 5);
	expect_pkt(a_to_b, RC_FETCH_ADD, .psn = 0xfffffe);
	expect_pkt(b_to_a, RC_ATOMIC_ACKNOWLEDGE, .psn = 0xfffffe);
	expect_cqe(a, .wr_id = 1, .opcode = IBV_WC_FETCH_ADD);
	expect_word(a, 0, 1000);
	expect_word(b, 64, 1005);

	drop_next(b_to_a, RC_ATOMIC_ACKNOWLEDGE);
	compare_swap(a, .wr_id = 2, .target = 64, .compare = 1005, .swap = 7, .dst = 8);
	expect_pkt(a_to_b, RC_COMPARE_SWAP, .psn = 0xffffff);
	expect_pkt_after(a_to_b, ACK_TIMEOUT(a), RC_COMPARE_SWAP, .psn = 0xffffff);
	expect_pkt(b_to_a, RC_ATOMIC_ACKNOWLEDGE, .psn = 0xffffff);
	expect_cqe(a, .wr_id = 2, .opcode = IBV_WC_COMP_SWAP);
	expect_word(a, 8, 1005);
	expect_word(b, 64, 7);
	expect_stat(b, atomic_read, replays, 1);

	compare_swap(a, .wr_id = 3, .target = 64, .compare = 1005, .swap = 9, .dst = 16);
	expect_pkt(a_to_b, RC_COMPARE_SWAP, .psn = 0);
	expect_pkt(b_to_a, RC_ATOMIC_ACKNOWLEDGE, .psn = 0);
	expect_cqe(a, .wr_id = 3);
	expect_word(a, 16, 7);
	expect_word(b, 64, 7);
}
