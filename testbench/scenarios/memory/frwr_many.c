/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One fast region is registered and invalidated more often than its key has variants (8 bits).
 * Each registration has another key than the one before, of the same index; the key before it is
 * dead.
 */
/* behaviours: MEM-fast-key-variants */
#include "testbench/services.h"

enum { ROUNDS = 260, LEN = 64, ACCESS = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE };

SCENARIO(frwr_many, "a fast region is registered until the variants of its key start again",
	 .any_packets = true)
{
	struct drv_mr *mr;
	uint32_t before = 0;

	must(drv_mr_alloc_fast(b->pd, 2, &mr));
	for (unsigned i = 0; i < ROUNDS && still_right(); i++) {
		const struct drv_send_wr reg = {.opcode = IBV_WR_REG_MR,
						.send_flags = IBV_SEND_SIGNALED,
						.reg_mr = mr,
						.reg_iova = tb_va(b, b->dst),
						.reg_length = LEN,
						.reg_access = ACCESS};

		must(drv_mr_fast_set(mr, b->dst, LEN));
		must(drv_post_send(b->qp[0], &reg, NULL));
		expect_cqe(b, .opcode = IBV_WC_REG_MR);
		if (before) {
			expect_true(drv_mr_rkey(mr) != before);
			expect_equal(drv_mr_rkey(mr) >> 8, before >> 8);
		}
		before = drv_mr_rkey(mr);
		rdma_write(a, .rkey = before, .src = i, .len = LEN);
		expect_cqe(a);
		send_on(b, b->qp[0], .opcode = IBV_WR_LOCAL_INV, .inv_rkey = before);
		expect_cqe(b, .opcode = IBV_WC_LOCAL_INV);
	}
	rdma_write(a, .rkey = before, .len = LEN);
	expect_cqe(a, .status = IBV_WC_REM_ACCESS_ERR);
	expect_event(b, IBV_EVENT_QP_ACCESS_ERR);
	expect_data(b, .src = ROUNDS - 1, .len = LEN);
	must(drv_mr_dereg(mr));
}
