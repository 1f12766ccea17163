/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Masked atomics. Compare and swap compares and changes only the bits in its masks; fetch and add
 * does not carry beyond the top bit of a field. Lost responses are repeated without executing the
 * atomic again. An address that is not a multiple of 8 makes the request invalid.
 * behaviours: DUP-3 DUP-7
 */
#include "testbench/scenario.h"

enum { QUEUE = 2, ROUNDS = 99 };

static void masked(struct tb *tb, struct tb_end *a, struct tb_end *b, struct drv_send_wr wr,
		   uint64_t target)
{
	const struct drv_sge sge = {tb_va(a, a->dst), 8, drv_mr_lkey(a->mr)};

	wr.wr_id = 1;
	wr.send_flags = IBV_SEND_SIGNALED;
	wr.sg_list = &sge;
	wr.num_sge = 1;
	wr.rkey = drv_mr_rkey(b->mr);
	wr.remote_addr = tb_va(b, b->dst) + target;
	must(drv_post_send(a->qp[0], &wr, NULL));
}

/* A plain one has no mask, whatever the caller's says, and whatever its slot held before: each slot has both
 * kinds in turn. */
static void plain(struct tb *tb, struct tb_end *a, struct tb_end *b, struct drv_send_wr add)
{
	for (unsigned i = 0; i < ROUNDS && still_right(); i++) {
		add.opcode =
			i % 3 ? IBV_WR_ATOMIC_FETCH_AND_ADD : IBV_WR_MASKED_ATOMIC_FETCH_AND_ADD;
		add.compare_add_mask = i % 3 == 1 ? 0 : 0x8000800080008000;
		set_word(b, 72, 0xffff7fff0000ffff);
		masked(tb, a, b, add, 72);
		expect_cqe(a, .wr_id = 1,
			   .opcode = i % 3 ? IBV_WC_FETCH_ADD : IBV_WC_MASKED_FETCH_ADD);
		expect_word(a, 0, 0xffff7fff0000ffff);
		expect_word(b, 72, i % 3 ? 0x0000800000020000 : 0x0000800000010000);
	}
}

SCENARIO(rc_masked_atomic, "masked compare and swap, masked fetch and add, a lost answer",
	 .timeout = 10, .queue = QUEUE, .any_packets = true)
{
	struct drv_send_wr cas = {.opcode = IBV_WR_MASKED_ATOMIC_CMP_AND_SWP,
				  .compare_add = 0x00000000ffff5678,
				  .compare_add_mask = 0x000000000000ffff,
				  .swap = 0xaaaabbbbccccdddd,
				  .swap_mask = 0xffff0000ffff0000};
	struct drv_send_wr add = {.opcode = IBV_WR_MASKED_ATOMIC_FETCH_AND_ADD,
				  .compare_add = 0x0001000100010001,
				  .compare_add_mask = 0x8000800080008000};

	set_word(b, 64, 0x1111222233335678);
	drop_next(b_to_a, RC_ATOMIC_ACKNOWLEDGE);
	masked(tb, a, b, cas, 64);
	expect_cqe(a, .wr_id = 1, .opcode = IBV_WC_MASKED_COMP_SWAP);
	expect_word(a, 0, 0x1111222233335678);
	expect_word(b, 64, 0xaaaa2222cccc5678);
	expect_stat(b, atomic_read, replays, 1);

	cas.compare_add = 0x5679; /* differs in a compared bit */
	masked(tb, a, b, cas, 64);
	expect_cqe(a, .wr_id = 1);
	expect_word(a, 0, 0xaaaa2222cccc5678);
	expect_word(b, 64, 0xaaaa2222cccc5678);

	set_word(b, 72, 0xffff7fff0000ffff);
	masked(tb, a, b, add, 72);
	expect_cqe(a, .wr_id = 1, .opcode = IBV_WC_MASKED_FETCH_ADD);
	expect_word(a, 0, 0xffff7fff0000ffff);
	expect_word(b, 72, 0x0000800000010000);

	plain(tb, a, b, add);
	masked(tb, a, b, add, 76);
	expect_cqe(a, .wr_id = 1, .status = IBV_WC_REM_INV_REQ_ERR);
	expect_event(b, IBV_EVENT_QP_REQ_ERR);
}
