/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A responder knows as many READs and atomics as it promised to take at a time. Each of them is answered
 * again when it comes again, the oldest too, in any order, with the data or the value of the first time.
 * Atomics compare, exchange and add all 64 bits: the halves differ in one, and a carry goes from one to the
 * other.
 */
/* behaviours: DUP-3 DUP-5 */
#include "testbench/services.h"

enum { KNOWN = 4, FIRST = 0xfffffe, MASK = 0xffffff, LEN = 64, WORD = 8192 };

static const uint64_t value = UINT64_C(0x12345678ffffffff);

/* The request number i of four: two READs between atomics, which add 1 and compare. */
static void ask(struct tb *tb, struct tb_end *b, unsigned i)
{
	const uint32_t psn = (FIRST + i) & MASK, rkey = drv_mr_rkey(b->mr);
	const uint64_t word = tb_va(b, b->dst + WORD), bytes = tb_va(b, b->src);

	switch (i) {
	case 0:
		inject(b, RC_FETCH_ADD, .psn = psn, .va = word, .rkey = rkey, .swap_add = 1);
		break;
	case 1:
		inject(b, RC_READ_REQUEST, .psn = psn, .va = bytes, .rkey = rkey, .dma_len = LEN);
		break;
	case 2: /* only the lower half is the same */
		inject(b, RC_COMPARE_SWAP, .psn = psn, .va = word, .rkey = rkey, .compare = 0,
		       .swap_add = 7);
		break;
	default:
		inject(b, RC_READ_REQUEST, .psn = psn, .va = bytes + LEN, .rkey = rkey,
		       .dma_len = LEN / 2);
		break;
	}
}

static void answered(struct tb *tb, unsigned i)
{
	const uint32_t psn = (FIRST + i) & MASK;

	if (i % 2)
		expect_pkt(b_to_a, RC_READ_RESP_ONLY, .psn = psn, .len = i == 1 ? LEN : LEN / 2);
	else
		expect_pkt(b_to_a, RC_ATOMIC_ACKNOWLEDGE, .psn = psn,
			   .original = (int64_t)(i ? value + 1 : value));
}

SCENARIO(fetches_known, "duplicates of each READ and atomic that a responder has promised to know",
	 .max_rd_atomic = KNOWN)
{
	static const unsigned again[] = {0, 3, 1, 2, 2, 0};

	set_word(b, WORD, value);
	for (unsigned i = 0; i < KNOWN && still_right(); i++) {
		ask(tb, b, i);
		answered(tb, i);
	}
	expect_word(b, WORD, value + 1);
	for (size_t i = 0; i < sizeof(again) / sizeof(again[0]) && still_right(); i++) {
		ask(tb, b, again[i]);
		answered(tb, again[i]);
	}
	expect_word(b, WORD, value + 1);
	inject(b, RC_COMPARE_SWAP, .psn = (FIRST + KNOWN) & MASK, .va = tb_va(b, b->dst + WORD),
	       .rkey = drv_mr_rkey(b->mr), .compare = value + 1, .swap_add = ~value);
	expect_pkt(b_to_a, RC_ATOMIC_ACKNOWLEDGE, .psn = (FIRST + KNOWN) & MASK,
		   .original = (int64_t)(value + 1));
	/* now the first one may be forgotten, and no other */
	for (unsigned i = 1; i < KNOWN && still_right(); i++) {
		ask(tb, b, i);
		answered(tb, i);
	}
	expect_no_more(CFG_US(20));
	expect_word(b, WORD, ~value);
}
