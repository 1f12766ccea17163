/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The response of an atomic is lost. The repeated request gets the value from before the first
 * execution, and the word has changed only once. A repeated compare and swap returns the value it
 * found the first time, although the word has changed since.
 */
/* behaviours: DUP-3 */
#include "testbench/services.h"

SCENARIO(dup_atomic_lost, "an atomic's answer is lost: replayed, done once")
{
	set_word(b, 0, 100);
	drop_next(b_to_a, RC_ATOMIC_ACKNOWLEDGE);
	fetch_add(a, .wr_id = 1, .target = 0, .compare = 7, .dst = 64);
	expect_pkt(a_to_b, RC_FETCH_ADD, .psn = 0xfffffe, .transmission = 1);
	expect_pkt_after(a_to_b, ACK_TIMEOUT(a), RC_FETCH_ADD, .psn = 0xfffffe, .transmission = 2);
	expect_pkt(b_to_a, RC_ATOMIC_ACKNOWLEDGE, .psn = 0xfffffe, .msn = 1);
	expect_cqe(a, .wr_id = 1);
	expect_word(a, 64, 100);
	expect_word(b, 0, 107);
	drop_next(b_to_a, RC_ATOMIC_ACKNOWLEDGE);
	compare_swap(a, .wr_id = 2, .target = 0, .compare = 107, .swap = 1, .dst = 72);
	expect_pkt(a_to_b, RC_COMPARE_SWAP, .psn = 0xffffff, .transmission = 1);
	expect_pkt(a_to_b, RC_COMPARE_SWAP, .psn = 0xffffff, .transmission = 2);
	expect_pkt(b_to_a, RC_ATOMIC_ACKNOWLEDGE, .psn = 0xffffff, .msn = 2);
	expect_cqe(a, .wr_id = 2);
	expect_word(a, 72, 107);
	expect_word(b, 0, 1);
	expect_stat(b, atomic_read, atomics, 2);
	expect_stat(b, atomic_read, replays, 2);
}
