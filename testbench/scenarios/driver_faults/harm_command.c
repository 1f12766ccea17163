/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Firmware refuses commands, each with a different status. The verb that needed the command fails
 * with the error for that status and leaves nothing behind, and the same verb succeeds the next
 * time. A refused transition leaves the queue pair in its state.
 */
/* behaviours: FAULT-command-status */
#include "model/interface/commands.h"
#include "testbench/harm.h"

SCENARIO(harm_command,
	 "commands that firmware refuses: the verb fails, leaves nothing, works again")
{
	static const struct {
		uint8_t status;
		int result;
	} rows[] = {
		{HCR_STATUS_INTERNAL_ERR, -EIO},   {HCR_STATUS_BAD_OP, -EPERM},
		{HCR_STATUS_BAD_PARAM, -EINVAL},   {HCR_STATUS_BAD_SYS_STATE, -ENXIO},
		{HCR_STATUS_BAD_RESOURCE, -EBADF}, {HCR_STATUS_RESOURCE_BUSY, -EBUSY},
		{HCR_STATUS_EXCEED_LIM, -ENOMEM},  {HCR_STATUS_ICM_ERROR, -ENFILE},
	};
	const struct drv_qp_attr to_sqd = {.qp_state = IBV_QPS_SQD},
				 to_rts = {.qp_state = IBV_QPS_RTS};
	struct drv_srq_init srq_init = {.max_wr = 8, .max_sge = 1};
	struct drv_cq *cq;
	struct drv_mr *mr;
	struct drv_srq *srq;
	struct drv_qp_attr now;

	for_each_row(i, rows) {
		fail_command(a, HCR_SW2HW_CQ, rows[i].status, 1);
		must_fail(rows[i].result, drv_cq_create(a->dev, 15, 0, &cq));
	}
	must(drv_cq_create(a->dev, 15, 0, &cq));
	must(drv_cq_destroy(cq));

	fail_command(a, HCR_SW2HW_MPT, HCR_STATUS_EXCEED_LIM, 1);
	must_fail(-ENOMEM, drv_mr_reg(a->pd, a->src, 4096, IBV_ACCESS_LOCAL_WRITE, &mr));
	must(drv_mr_reg(a->pd, a->src, 4096, IBV_ACCESS_LOCAL_WRITE, &mr));
	must(drv_mr_dereg(mr));

	fail_command(a, HCR_SW2HW_SRQ, HCR_STATUS_BAD_RESOURCE, 1);
	must_fail(-EBADF, drv_srq_create(a->pd, &srq_init, &srq));
	must(drv_srq_create(a->pd, &srq_init, &srq));
	must(drv_srq_destroy(srq));

	fail_command(a, HCR_MODIFY_CQ, HCR_STATUS_BAD_PARAM, 1);
	must_fail(-EINVAL, drv_cq_moderate(a->cq, 4, 10));
	fail_command(a, HCR_QUERY_QP, HCR_STATUS_BAD_RESOURCE, 1);
	must_fail(-EBADF, drv_qp_query(a->qp[0], &now));

	/* refused, the queue pair still sends; then it drains */
	fail_command(a, HCR_RTS2SQD_QP, HCR_STATUS_BAD_QP_STATE, 1);
	must_fail(-EINVAL, drv_qp_modify(a->qp[0], &to_sqd, IBV_QP_STATE));
	expect_equal(drv_qp_state(a->qp[0]), IBV_QPS_RTS);
	rdma_write(a, .wr_id = 1, .len = 8);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .psn = 0xfffffe);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe);
	expect_cqe(a, .wr_id = 1);
	must(drv_qp_modify(a->qp[0], &to_sqd, IBV_QP_STATE));
	fail_command(a, HCR_SQD2RTS_QP, HCR_STATUS_INTERNAL_ERR, 1);
	must_fail(-EIO, drv_qp_modify(a->qp[0], &to_rts, IBV_QP_STATE));
	expect_equal(drv_qp_state(a->qp[0]), IBV_QPS_SQD);
	rdma_write(a, .wr_id = 2, .dst = 8, .src = 8, .len = 8);
	expect_no_more(CFG_US(50));
	must(drv_qp_modify(a->qp[0], &to_rts, IBV_QP_STATE));
	expect_pkt(a_to_b, RC_WRITE_ONLY, .psn = 0xffffff);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xffffff);
	expect_cqe(a, .wr_id = 2);
	expect_data(b, .len = 16);
}
