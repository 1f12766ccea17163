/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue pair with an SRQ fails. The receive that it had taken completes in error with its own
 * wr_id; receives not yet taken stay in the SRQ and serve the other queue pair. A QP that goes to
 * ERR has no receives to flush; it reports "last WQE reached" once.
 */
/* behaviours: IBA-10.2.9-last-wqe MEM-1 */
#include "testbench/services.h"

SCENARIO(srq_error, "QPs behind an SRQ in error: last WQE reached, receives stay")
{
	struct drv_srq *srq = new_srq(b);
	struct drv_qp *x = new_qp(a), *v = new_qp(a);
	struct drv_qp *y = new_qp(b, .srq = srq), *w = new_qp(b, .srq = srq);

	ignore_packets();
	connect_two(x, y);
	connect_two(v, w);
	if (!still_right())
		return;
	recv_srq(b, srq, .wr_id = 1, .len = 64, .lkey = drv_mr_lkey(b->mr) + 1);
	recv_srq(b, srq, .wr_id = 2, .dst = 1000, .len = 64, .repeat = 2);
	send_on(a, x, .wr_id = 11, .len = 64);
	expect_cqe(b, .wr_id = 1, .on = y, .status = IBV_WC_LOC_PROT_ERR);
	expect_cqe(a, .wr_id = 11, .on = x, .status = IBV_WC_REM_OP_ERR);
	expect_event(b, IBV_EVENT_QP_LAST_WQE_REACHED);
	send_on(a, v, .wr_id = 12, .len = 64);
	expect_cqe(b, .wr_id = 2, .on = w);
	expect_cqe(a, .wr_id = 12, .on = v);
	expect_data(b, .dst = 1000, .len = 64);
	move_qp(w, IBV_QPS_ERR);
	expect_event(b, IBV_EVENT_QP_LAST_WQE_REACHED);
	expect_no_more(CFG_MS(50)); /* one event for each QP, and no flush completion */
	destroy_qp(w);
	destroy_qp(y);
	destroy_qp(v);
	destroy_qp(x);
	destroy_srq(srq);
}
