/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A send queue is drained while a READ under way has lost a response and a fenced request waits
 * behind it. The READ is sent again and completes; then the queue is drained. The fenced request
 * has not begun and waits for RTS. If a request fails while the queue drains, the queue pair goes
 * to ERR instead.
 * behaviours: IBA-10.3.1-SQD
 */
#include "testbench/scenario.h"

enum { MTU = 1024 };

SCENARIO(qp_sqd_read, "a send queue drains while a READ is repeated, and while a request fails",
	 .mtu = IBV_MTU_1024, .timeout = 8, .any_packets = true)
{
	const struct drv_qp_attr sqd = {.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = true};
	const struct drv_qp_attr rts = {.qp_state = IBV_QPS_RTS};
	struct drv_qp_attr attr = {0};
	uint64_t packets;

	phase("a READ and a fence");
	drop_next(b_to_a, RC_READ_RESP_LAST);
	rdma_read(a, .wr_id = 1, .len = 3 * MTU);
	rdma_write(a, .wr_id = 2, .len = 64, .fence = true);
	pass_time(CFG_US(20));
	must(drv_qp_modify(a->qp[0], &sqd, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY));
	must(drv_qp_query(a->qp[0], &attr));
	expect_true(attr.sq_draining);
	expect_cqe(a, .wr_id = 1);
	expect_data(a, .len = 3 * MTU);
	expect_event(a, IBV_EVENT_SQ_DRAINED);
	expect_stat(a, retry, ack_timeouts, 1);
	packets = tb_stat(a, "requester", "packets");
	pass_time(CFG_MS(5));
	expect_equal(tb_stat(a, "requester", "packets"), packets);
	must(drv_qp_modify(a->qp[0], &rts, IBV_QP_STATE));
	expect_cqe(a, .wr_id = 2);
	expect_data(b, .len = 64);

	phase("a request that is refused");
	drop_next(b_to_a, RC_ACKNOWLEDGE);
	rdma_write(a, .wr_id = 3, .len = 64, .dst = 64, .rkey = drv_mr_rkey(b->mr) + 1);
	rdma_write(a, .wr_id = 4, .len = 64, .dst = 64);
	pass_time(CFG_US(20));
	must(drv_qp_modify(a->qp[0], &sqd, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY));
	expect_event(b, IBV_EVENT_QP_ACCESS_ERR);
	expect_cqe(a, .wr_id = 3,
		   .status = IBV_WC_RETRY_EXC_ERR); /* b is in ERR and its NAK is lost */
	expect_cqe(a, .wr_id = 4, .status = IBV_WC_WR_FLUSH_ERR);
	must(drv_qp_query(a->qp[0], &attr));
	expect_equal(attr.qp_state, IBV_QPS_ERR);
}
