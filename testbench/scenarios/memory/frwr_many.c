/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One fast region is registered and invalidated more often than its key has variants (8 bits).
 * Each registration has another key than the one before, of the same index; the key before it is
 * dead.
 */
/* behaviours: MEM-fast-key-variants */
#include "host_driver/mlx4/mlx4_internal.h"
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

/* A registration may name a list of its own, which takes the place of the region's. */
SCENARIO(frwr_other_list, "a fast region is registered with a page list that is another region's",
	 .any_packets = true, .of_mlx4 = "page lists in the host's memory")
{
	enum { OTHER = 8192 };
	struct drv_mr *mr, *other;

	must(drv_mr_alloc_fast(b->pd, 2, &mr));
	must(drv_mr_alloc_fast(b->pd, 2, &other));
	if (!still_right())
		return;
	must(drv_mr_fast_set(mr, b->dst, LEN));
	must(drv_mr_fast_set(other, b->dst + OTHER, LEN));
	for (unsigned i = 0; i < 4 && still_right(); i++) {
		const struct drv_send_wr reg = {.opcode = IBV_WR_REG_MR,
						.send_flags = IBV_SEND_SIGNALED,
						.reg_mr = mr,
						.reg_page_list = i % 2 ? other->page_list_bus : 0,
						.reg_iova = tb_va(b, b->dst),
						.reg_length = LEN,
						.reg_access = ACCESS};

		must(drv_post_send(b->qp[0], &reg, NULL));
		expect_cqe(b, .opcode = IBV_WC_REG_MR);
		rdma_write(a, .rkey = drv_mr_rkey(mr), .src = i, .len = LEN);
		expect_cqe(a);
		expect_data(b, .src = i, .dst = i % 2 ? OTHER : 0, .len = LEN);
		send_on(b, b->qp[0], .opcode = IBV_WR_LOCAL_INV, .inv_rkey = drv_mr_rkey(mr));
		expect_cqe(b, .opcode = IBV_WC_LOCAL_INV);
	}
	must(drv_mr_dereg(other));
	must(drv_mr_dereg(mr));
}
