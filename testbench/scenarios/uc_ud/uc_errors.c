/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UC supports neither READ nor atomics: both are refused when posted. A send error moves the queue
 * pair to SQE: the requests behind it are flushed, and receives go on. Back in RTS it sends again,
 * and its PSNs continue. A WRITE that the responder refuses is silently dropped, and both queue
 * pairs keep working.
 * behaviours: UC-3 ST-5
 */
#include "testbench/scenario.h"

#include <errno.h>

SCENARIO(uc_errors, "UC: reads refused, send error to SQE and back, a bad R_Key dropped in silence",
	 .type = IBV_QPT_UC, .any_packets = true)
{
	const struct drv_qp_attr rts = {.qp_state = IBV_QPS_RTS};
	struct drv_qp_attr attr = {0};

	rdma_read(a, .len = 64, .result = -EINVAL);
	fetch_add(a, .result = -EINVAL);

	phase("send error");
	post_recv(b, .wr_id = 1, .len = 64);
	post_send(a, .wr_id = 2, .len = 64);
	post_send(a, .wr_id = 3, .len = 64, .lkey = drv_mr_lkey(a->mr) ^ 1);
	post_send(a, .wr_id = 4, .len = 64, .repeat = 3, .unsignaled = true);
	expect_cqe(a, .wr_id = 2);
	expect_cqe(a, .wr_id = 3, .status = IBV_WC_LOC_PROT_ERR);
	for (unsigned i = 4; i < 7; i++)
		expect_cqe(a, .wr_id = i, .status = IBV_WC_WR_FLUSH_ERR);
	expect_cqe(b, .wr_id = 1);
	expect_data(b, .len = 64);
	must(drv_qp_query(a->qp[0], &attr));
	expect_equal(attr.qp_state, IBV_QPS_SQE);

	phase("receives go on");
	post_recv(a, .wr_id = 7, .len = 64);
	post_send(b, .wr_id = 8, .len = 64);
	expect_cqe(b, .wr_id = 8);
	expect_cqe(a, .wr_id = 7);
	expect_data(a, .len = 64);
	post_send(a, .wr_id = 9, .len = 64);
	expect_cqe(a, .wr_id = 9, .status = IBV_WC_WR_FLUSH_ERR);

	phase("back");
	must(drv_qp_modify(a->qp[0], &rts, IBV_QP_STATE));
	post_recv(b, .wr_id = 10, .len = 64, .dst = 64);
	post_send(a, .wr_id = 11, .len = 64);
	expect_cqe(a, .wr_id = 11);
	expect_cqe(b, .wr_id = 10);
	expect_data(b, .len = 64, .dst = 64);
	must(drv_qp_query(a->qp[0], &attr));
	expect_equal(attr.qp_state, IBV_QPS_RTS);
	expect_equal(attr.sq_psn, 0); /* two messages have gone out */

	phase("refused");
	rdma_write(a, .wr_id = 12, .len = 64, .rkey = drv_mr_rkey(b->mr) ^ 1);
	expect_cqe(a, .wr_id = 12);
	rdma_write(a, .wr_id = 13, .len = 64, .dst = 128);
	expect_cqe(a, .wr_id = 13);
	pass_time(CFG_US(20));
	expect_data(b, .len = 64, .dst = 128);
	must(drv_qp_query(b->qp[0], &attr));
	expect_equal(attr.qp_state, IBV_QPS_RTS);
}
