/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of receives are checked against the SRQ's PD, whatever PD the queue pair has. The keys
 * of RDMA requests are checked against the queue pair's PD. */
/* behaviours: IBA-10.2.9-srq-pd MEM-1 */
#include "testbench/services.h"

SCENARIO(srq_pd, "an SRQ of another PD: its own keys count for receives")
{
	struct drv_srq *srq = new_srq(b);
	struct drv_qp *x = new_qp(a), *y = NULL;
	const struct drv_qp_init init = {
		.type = IBV_QPT_RC,
		.send_cq = b->cq,
		.recv_cq = b->cq,
		.srq = srq,
		.cap = {.max_send_wr = 4, .max_send_sge = 1},
	};
	struct drv_pd *pd = NULL;

	ignore_packets();
	must(drv_pd_alloc(b->dev, &pd));
	must(drv_qp_create(pd, &init, &y));
	connect_two(x, y);
	if (!still_right())
		return;
	recv_srq(b, srq, .wr_id = 1, .len = 64);
	send_on(a, x, .wr_id = 11, .len = 64);
	expect_cqe(b, .wr_id = 1, .on = y);
	expect_cqe(a, .wr_id = 11);
	expect_data(b, .len = 64);
	send_on(a, x, .wr_id = 12, .opcode = IBV_WR_RDMA_WRITE, .dst = 1000, .len = 64);
	expect_cqe(a, .wr_id = 12, .status = IBV_WC_REM_ACCESS_ERR);
	expect_event(b, IBV_EVENT_QP_ACCESS_ERR);
	expect_event(b, IBV_EVENT_QP_LAST_WQE_REACHED);
	destroy_qp(y);
	destroy_qp(x);
	destroy_srq(srq);
	must(drv_pd_free(pd));
}
