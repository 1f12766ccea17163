/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A send queue is drained: requests that have begun complete, and the others wait. QUERY_QP reports
 * that the queue is draining, and the event reports that it is drained. Requests posted meanwhile
 * are accepted and go out when the queue pair is back in RTS. Receives go on all the time. When the
 * queue is drained, the queue pair's attributes may be changed.
 * behaviours: IBA-10.3.1-SQD ST-7
 */
#include "testbench/scenario.h"

SCENARIO(qp_sqd, "send queue drained: begun work completes, event, posts wait, attributes change",
	 .any_packets = true, .timeout = 10)
{
	const struct drv_qp_attr sqd = {.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = true};
	const struct drv_qp_attr rts = {.qp_state = IBV_QPS_RTS};
	struct drv_qp_attr attr = {0};

	phase("draining");
	drop_next(b_to_a, RC_ACKNOWLEDGE);
	rdma_write(a, .wr_id = 1, .len = 64);
	pass_time(CFG_US(20));
	must(drv_qp_modify(a->qp[0], &sqd, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY));
	must(drv_qp_query(a->qp[0], &attr));
	expect_equal(attr.qp_state, IBV_QPS_SQD);
	expect_true(attr.sq_draining);
	rdma_write(a, .wr_id = 2, .len = 64, .dst = 64, .src = 64);
	expect_cqe(a, .wr_id = 1); /* after its timeout */
	expect_event(a, IBV_EVENT_SQ_DRAINED);
	expect_data(b, .len = 64);

	phase("drained");
	must(drv_qp_query(a->qp[0], &attr));
	expect_equal(attr.qp_state, IBV_QPS_SQD);
	expect_true(!attr.sq_draining);
	expect_equal(attr.sq_psn, 0xffffff);
	post_recv(a, .wr_id = 3, .len = 64);
	post_send(b, .wr_id = 4, .len = 64);
	expect_cqe(a, .wr_id = 3);
	expect_cqe(b, .wr_id = 4);
	expect_data(a, .len = 64);
	attr = (struct drv_qp_attr){
		.qp_state = IBV_QPS_SQD, .port_num = 1, .retry_cnt = 3, .min_rnr_timer = 5};
	must(drv_qp_modify(a->qp[0], &attr,
			   IBV_QP_STATE | IBV_QP_PORT | IBV_QP_RETRY_CNT | IBV_QP_MIN_RNR_TIMER));
	must(drv_qp_query(a->qp[0], &attr));
	expect_equal(attr.port_num, 1);
	expect_equal(attr.retry_cnt, 3);
	expect_equal(attr.min_rnr_timer, 5);
	pass_time(CFG_MS(50));

	phase("on");
	must(drv_qp_modify(a->qp[0], &rts, IBV_QP_STATE));
	expect_cqe(a, .wr_id = 2);
	expect_data(b, .len = 64, .dst = 64, .src = 64);

	phase("draining in an RNR wait");
	post_send(a, .wr_id = 6, .len = 64);
	pass_time(CFG_US(20));
	must(drv_qp_modify(a->qp[0], &sqd, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY));
	rdma_write(a, .wr_id = 7, .len = 64, .dst = 192, .src = 64);
	pass_time(CFG_MS(2)); /* the wait ends, and another one begins */
	must(drv_qp_query(a->qp[0], &attr));
	expect_true(attr.sq_draining);
	post_recv(b, .wr_id = 8, .len = 64, .dst = 256);
	expect_cqe(a, .wr_id = 6);
	expect_cqe(b, .wr_id = 8);
	expect_event(a, IBV_EVENT_SQ_DRAINED);
	expect_data(b, .len = 64, .dst = 256);
	must(drv_qp_modify(a->qp[0], &rts, IBV_QP_STATE));
	expect_cqe(a, .wr_id = 7);
	expect_data(b, .len = 64, .dst = 192, .src = 64);

	phase("nothing to drain");
	must(drv_qp_modify(a->qp[0], &sqd, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY));
	expect_event(a, IBV_EVENT_SQ_DRAINED);
	must(drv_qp_modify(a->qp[0], &rts, IBV_QP_STATE));
	must(drv_qp_modify(a->qp[0], &sqd, IBV_QP_STATE)); /* without asking for the event */
	must(drv_qp_query(a->qp[0], &attr));
	expect_true(!attr.sq_draining);
	must(drv_qp_modify(a->qp[0], &rts, IBV_QP_STATE));
	rdma_write(a, .wr_id = 5, .len = 64, .dst = 128, .src = 64);
	expect_cqe(a, .wr_id = 5);
	expect_data(b, .len = 64, .dst = 128, .src = 64);
}

/* The port is the one attribute of the path that may change without the others. */
SCENARIO(qp_sqd_port, "a drained queue pair goes to another port, and back", .any_packets = true,
	 .settings = {"hca.ports=2"})
{
	const struct drv_qp_attr sqd = {.qp_state = IBV_QPS_SQD}, rts = {.qp_state = IBV_QPS_RTS};
	struct drv_qp_attr before, now, attr = sqd;

	must(drv_qp_query(a->qp[0], &before));
	must(drv_qp_modify(a->qp[0], &sqd, IBV_QP_STATE));
	pass_time(CFG_US(20));
	for (unsigned port = 2; port; port--) {
		attr.port_num = (uint8_t)port;
		must(drv_qp_modify(a->qp[0], &attr, IBV_QP_STATE | IBV_QP_PORT));
		must(drv_qp_query(a->qp[0], &now));
		expect_equal(now.port_num, port);
		expect_equal(now.ah_attr.dlid, before.ah_attr.dlid);
		expect_equal(now.pkey_index, before.pkey_index);
		expect_equal(now.timeout, before.timeout);
	}
	must(drv_qp_modify(a->qp[0], &rts, IBV_QP_STATE));
	rdma_write(a, .wr_id = 1, .len = 64);
	expect_cqe(a, .wr_id = 1);
	expect_data(b, .len = 64);
}
