/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unsignalled requests complete without a CQE; the CQE of a later signalled request covers them. An
 * unsignalled request that fails still makes a CQE. A queue pair created to signal all requests
 * makes a CQE for each.
 */
/* behaviours: CQ-3 */
#include "testbench/services.h"

SCENARIO(cq_unsignaled, "unsignalled requests: no completion, unless it is an error")
{
	struct drv_qp *x = new_qp(a, .sq_sig_all = true), *y = new_qp(b);

	ignore_packets();
	connect_two(x, y);
	if (!still_right())
		return;
	rdma_write(a, .wr_id = 1, .len = 64, .unsignaled = true, .repeat = 5);
	pass_time(CFG_US(30));
	expect_no_more(CFG_US(10));
	rdma_write(a, .wr_id = 6, .len = 64);
	expect_cqe(a, .wr_id = 6);
	expect_data(b, .len = 64);
	rdma_write(a, .wr_id = 7, .len = 64, .unsignaled = true, .rkey = 0x12345678);
	expect_cqe(a, .wr_id = 7, .status = IBV_WC_REM_ACCESS_ERR);
	expect_event(b, IBV_EVENT_QP_ACCESS_ERR);

	send_on(a, x, .opcode = IBV_WR_RDMA_WRITE, .wr_id = 11, .dst = 100, .src = 100, .len = 64,
		.unsignaled = true, .repeat = 2);
	expect_cqe(a, .wr_id = 11, .on = x);
	expect_cqe(a, .wr_id = 12, .on = x);
	expect_data(b, .dst = 100, .src = 100, .len = 64);
	destroy_qp(y);
	destroy_qp(x);
}
