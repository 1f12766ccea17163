/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invalid binds: beyond the region, to a region that does not allow windows, remote write on a
 * region without local write, a window or region of another protection domain, type 2 with length
 * 0. Each ends with a bind error and the queue pair in the error state, and the region's count of
 * windows does not change.
 * behaviours: IBA-10.6.7-bind-checks
 */
#include "testbench/scenario.h"

static void refuse(struct tb *tb, struct tb_end *end, struct drv_mw *mw, struct drv_mr *mr,
		   uint64_t addr, uint64_t length, unsigned access)
{
	const struct drv_send_wr bind = {.wr_id = 1,
					 .opcode = IBV_WR_BIND_MW,
					 .bind_mw = mw,
					 .bind_mr = mr,
					 .bind_addr = addr,
					 .bind_length = length,
					 .bind_access = access};

	must(drv_post_send(end->qp[0], &bind, NULL));
	expect_cqe(end, .wr_id = 1, .status = IBV_WC_MW_BIND_ERR);
	expect_equal(drv_qp_state(end->qp[0]),
		     IBV_QPS_RTS); /* the driver has not read the device's state yet */
	reconnect(0);
}

SCENARIO(mw_bind_refused, "binds that are refused, each for one reason")
{
	const uint64_t at = tb_va(b, b->dst);
	struct drv_mr *plain = NULL, *local = NULL, *foreign_mr = NULL;
	struct drv_mw *one = NULL, *two = NULL, *foreign = NULL;
	struct drv_pd *pd = NULL;

	must(drv_pd_alloc(b->dev, &pd));
	must(drv_mr_reg_iova(b->pd, b->dst, 8192, tb_va(b, b->dst), IBV_ACCESS_LOCAL_WRITE,
			     &plain));
	must(drv_mr_reg_iova(b->pd, b->dst, 8192, tb_va(b, b->dst), IBV_ACCESS_MW_BIND, &local));
	must(drv_mr_reg_iova(pd, b->dst, 8192, tb_va(b, b->dst),
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND, &foreign_mr));
	must(drv_mw_alloc(b->pd, IBV_MW_TYPE_1, &one));
	must(drv_mw_alloc(b->pd, IBV_MW_TYPE_2, &two));
	must(drv_mw_alloc(pd, IBV_MW_TYPE_1, &foreign));
	if (!still_right())
		return;
	refuse(tb, b, one, local, at + 1, 8192, IBV_ACCESS_REMOTE_READ);
	refuse(tb, b, one, local, at - 1, 1, IBV_ACCESS_REMOTE_READ);
	refuse(tb, b, one, local, at, UINT64_MAX, IBV_ACCESS_REMOTE_READ);
	refuse(tb, b, one, plain, at, 8, IBV_ACCESS_REMOTE_READ);
	refuse(tb, b, one, local, at, 8, IBV_ACCESS_REMOTE_WRITE);
	refuse(tb, b, one, foreign_mr, at, 8, IBV_ACCESS_REMOTE_READ);
	refuse(tb, b, foreign, local, at, 8, IBV_ACCESS_REMOTE_READ);
	refuse(tb, b, two, local, at, 0, IBV_ACCESS_REMOTE_READ);
	must(drv_mr_dereg(plain));
	must(drv_mr_dereg(local));
	must(drv_mr_dereg(foreign_mr));
	must(drv_mw_free(one));
	must(drv_mw_free(two));
	must(drv_mw_free(foreign));
	must(drv_pd_free(pd));
}
