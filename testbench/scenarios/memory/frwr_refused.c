/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invalid fast registers: on a queue pair without the right, of a region that is already valid,
 * with more pages than the region has. Invalid invalidates: of an ordinary window, of a foreign or
 * unknown key.
 * behaviours: IBA-10.7.2-fast-register-checks IBA-10.6.5-invalidate-checks
 */
#include "testbench/services.h"

static void refuse(struct tb *tb, struct tb_end *end, const struct drv_send_wr *wr,
		   enum ibv_wc_status status)
{
	must(drv_post_send(end->qp[0], wr, NULL));
	expect_cqe(end, .wr_id = wr->wr_id, .status = status);
	reconnect(0);
}

static void user_qp(struct tb *tb, struct tb_end *end, const struct drv_send_wr *reg)
{
	struct drv_qp_init init = {.type = IBV_QPT_UC,
				   .send_cq = end->cq,
				   .recv_cq = end->cq,
				   .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1},
				   .user = true};
	struct drv_rc_path path = path_to(end->peer, 1);
	struct drv_qp_attr attr;
	struct drv_qp *qp = NULL;

	must(drv_qp_create(end->pd, &init, &qp));
	if (!still_right())
		return;
	must(drv_qp_connect(qp, &path));
	must(drv_post_send(qp, reg, NULL));
	expect_cqe(end, .wr_id = reg->wr_id, .status = IBV_WC_LOC_QP_OP_ERR);
	must(drv_qp_query(qp, &attr));
	expect_equal(attr.qp_state, IBV_QPS_SQE);
	must(drv_qp_destroy(qp));
}

SCENARIO(frwr_refused, "fast registers and invalidates that are refused, each for one reason")
{
	struct drv_send_wr reg = {.wr_id = 1,
				  .opcode = IBV_WR_REG_MR,
				  .reg_iova = tb_va(b, b->dst),
				  .reg_length = 8192,
				  .reg_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND};
	struct drv_send_wr bad = {0}, inv = {.wr_id = 2, .opcode = IBV_WR_LOCAL_INV};
	struct drv_mr *mr = NULL, *foreign = NULL;
	struct drv_mw *mw = NULL;
	struct drv_pd *pd = NULL;

	must(drv_pd_alloc(b->dev, &pd));
	must(drv_mr_alloc_fast(b->pd, 2, &mr));
	must(drv_mr_reg_iova(pd, b->dst, 64, tb_va(b, b->dst), 0, &foreign));
	must(drv_mw_alloc(b->pd, IBV_MW_TYPE_1, &mw));
	if (!still_right())
		return;
	must(drv_mr_fast_set(mr, b->dst, 8192));
	reg.reg_mr = mr;
	expect_true((tb_va(b, b->dst) & 4095) == 0);

	user_qp(tb, b, &reg);
	bad = reg;
	bad.reg_iova++; /* 8192 bytes now span 3 pages */
	refuse(tb, b, &bad, IBV_WC_MW_BIND_ERR);
	bad = reg;
	bad.reg_length = UINT64_MAX;
	refuse(tb, b, &bad, IBV_WC_MW_BIND_ERR);
	bad = reg;
	bad.reg_access = IBV_ACCESS_REMOTE_WRITE;
	refuse(tb, b, &bad, IBV_WC_MW_BIND_ERR);
	reg.send_flags = IBV_SEND_SIGNALED;
	must(drv_post_send(b->qp[0], &reg, NULL));
	expect_cqe(b, .wr_id = 1);
	refuse(tb, b, &reg, IBV_WC_MW_BIND_ERR);

	inv.invalidate_rkey = drv_mw_rkey(mw);
	refuse(tb, b, &inv, IBV_WC_MW_BIND_ERR);
	inv.invalidate_rkey = drv_mr_rkey(foreign);
	refuse(tb, b, &inv, IBV_WC_MW_BIND_ERR);
	inv.invalidate_rkey = 0xffff00;
	refuse(tb, b, &inv, IBV_WC_MW_BIND_ERR);
	must(drv_mr_dereg(foreign));
	must(drv_mr_dereg(mr));
	must(drv_mw_free(mw));
	must(drv_pd_free(pd));
}
