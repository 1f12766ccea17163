/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A key is refused once its region is deregistered. When a region is registered again in the same
 * place with other rights, the new rights apply. When an MPT entry is reused with another variant
 * byte, the old key stays refused while the new one works. A registration with remote rights but
 * without local write is refused.
 * behaviours: MEM-3 MEM-5
 */
#include "testbench/scenario.h"

#include <errno.h>

static void refuse(struct tb *tb, struct tb_end *a, struct tb_end *b, uint32_t rkey)
{
	rdma_write(a, .wr_id = 1, .len = 8, .rkey = rkey);
	expect_cqe(a, .wr_id = 1, .status = IBV_WC_REM_ACCESS_ERR);
	expect_event(b, IBV_EVENT_QP_ACCESS_ERR);
	reconnect(0);
}

SCENARIO(key_variant, "deregistered keys, changed rights, new variants of a key",
	 .any_packets = true)
{
	const unsigned rw = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	struct drv_send_wr reg = {.wr_id = 2,
				  .opcode = IBV_WR_REG_MR,
				  .send_flags = IBV_SEND_SIGNALED,
				  .reg_iova = tb_va(b, b->dst),
				  .reg_length = 4096,
				  .reg_access = rw};
	struct drv_send_wr inv = {.wr_id = 3, .opcode = IBV_WR_LOCAL_INV};
	struct drv_mr *mr = NULL;
	uint32_t old;

	must_fail(-EINVAL, drv_mr_reg(b->pd, b->dst, 64, IBV_ACCESS_REMOTE_WRITE, &mr));
	must_fail(-EINVAL, drv_mr_reg(b->pd, b->dst, 64, IBV_ACCESS_REMOTE_ATOMIC, &mr));
	must(drv_mr_reg_iova(b->pd, b->dst, 4096, tb_va(b, b->dst), rw, &mr));
	if (!still_right())
		return;
	phase("rights");
	rdma_write(a, .wr_id = 4, .len = 8, .rkey = drv_mr_rkey(mr));
	expect_cqe(a, .wr_id = 4);
	expect_data(b, .len = 8);
	must(drv_mr_rereg_access(mr, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ));
	refuse(tb, a, b, drv_mr_rkey(mr));
	must(drv_mr_rereg_access(mr, rw));
	rdma_write(a, .wr_id = 5, .len = 8, .dst = 8, .src = 8, .rkey = drv_mr_rkey(mr));
	expect_cqe(a, .wr_id = 5);
	expect_data(b, .len = 8, .dst = 8, .src = 8);

	phase("gone");
	old = drv_mr_rkey(mr);
	must(drv_mr_dereg(mr));
	refuse(tb, a, b, old);

	phase("variants");
	must(drv_mr_alloc_fast(b->pd, 1, &mr));
	if (!still_right())
		return;
	must(drv_mr_fast_set(mr, b->dst, 4096));
	reg.reg_mr = mr;
	for (unsigned i = 0; i < 3 && still_right(); i++) {
		old = drv_mr_rkey(mr);
		must(drv_post_send(b->qp[0], &reg, NULL));
		expect_cqe(b, .wr_id = 2);
		refuse(tb, a, b, old);
		rdma_write(a, .wr_id = 6, .len = 8, .dst = 16 + i, .rkey = drv_mr_rkey(mr));
		expect_cqe(a, .wr_id = 6);
		expect_data(b, .len = 8, .dst = 16 + i);
		inv.invalidate_rkey = drv_mr_rkey(mr);
		inv.send_flags = IBV_SEND_SIGNALED;
		must(drv_post_send(b->qp[0], &inv, NULL));
		expect_cqe(b, .wr_id = 3);
	}
	must(drv_mr_dereg(mr));
}
