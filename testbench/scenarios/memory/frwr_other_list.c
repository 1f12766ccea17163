// SPDX-License-Identifier: Apache-2.0
/* A registration may name a page list of its own, which takes the place of the region's. */
#include "host_driver/mlx4/mlx4_internal.h"
#include "testbench/services.h"

enum { LEN = 64, OTHER = 8192, ACCESS = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE };

SCENARIO(frwr_other_list, "a fast region is registered with a page list that is another region's",
	 .any_packets = true, .of_mlx4 = "page lists in the host's memory")
{
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
