/* SPDX-License-Identifier: Apache-2.0 */
/* Software hands the device a work request with an unknown opcode. It completes in error, nothing
 * goes out, and the queue pair goes to error. */
#include "host_driver/mlx4/mlx4_internal.h"
#include "testbench/scenario.h"

enum { NO_OPCODE = 0x1f };

SCENARIO(guest_wqe_malformed,
	 "rule wqe_malformed: a work request with an opcode that does not exist")
{
	struct drv_qp *qp = a->qp[0];
	struct wqe_ctrl *ctrl = drv_buf_at(&qp->buf, qp->sq.offset);
	struct drv_qp_attr attr;
	struct send_db db = {{0}};

	/* writes the first WQE of the queue by hand; the driver counts it as posted */
	memset(ctrl, 0, sizeof(*ctrl));
	wqe_ctrl_set_ds(ctrl, 2);
	wqe_ctrl_set_opcode(ctrl, NO_OPCODE);
	qp->sq.wr_id[0] = 7;
	qp->sq.head++;
	send_db_set_qpn(&db, drv_qp_num(qp));
	drv_raw_mmio_write(a->dev, HCA_BAR_UAR,
			   (uint64_t)a->dev->verbs.page * UAR_PAGE_SIZE + UAR_SEND_DB, db.b,
			   sizeof(db.b));
	expect_guest_error(a, wqe_malformed);
	expect_cqe(a, .wr_id = 7, .status = IBV_WC_LOC_QP_OP_ERR);
	must(drv_qp_query(qp, &attr));
	expect_equal(attr.qp_state, IBV_QPS_ERR);
}
