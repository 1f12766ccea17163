/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The behaviour of a queue pair in each state. INIT accepts receives and drops packets. RTR answers
 * but may not send. RTS does both. ERR flushes present and later requests on both queues, in order,
 * and drops packets. RESET discards everything without completions, and the QP works again
 * afterwards. The query returns the right state after each step. Transitions that are not in the
 * table are refused.
 * behaviours: ST-1 ST-3 ST-7
 */
#include "testbench/services.h"

#include <errno.h>

static void query(struct tb *tb, struct drv_qp *qp, enum ibv_qp_state state, uint32_t rq_psn,
		  uint32_t sq_psn)
{
	struct drv_qp_attr attr = {0};

	must(drv_qp_query(qp, &attr));
	expect_equal(attr.qp_state, state);
	expect_equal(attr.cur_qp_state, state);
	expect_equal(attr.rq_psn, rq_psn);
	expect_equal(attr.sq_psn, sq_psn);
}

SCENARIO(qp_states, "each state of a queue pair: what it sends, answers, flushes and tells",
	 .any_packets = true, .timeout = 8)
{
	const struct drv_qp_attr reset = {.qp_state = IBV_QPS_RESET},
				 err = {.qp_state = IBV_QPS_ERR};
	const struct drv_qp_attr rts = {.qp_state = IBV_QPS_RTS};
	struct drv_rc_path path = path_to(a, drv_qp_num(a->qp[0]));

	path.rq_psn = 0xfffffe;
	path.sq_psn = 0xfffffd;
	phase("init");
	must(drv_qp_modify(b->qp[0], &reset, IBV_QP_STATE));
	must_fail(-EINVAL, drv_qp_modify(b->qp[0], &rts, IBV_QP_STATE));
	must(drv_qp_to_init(b->qp[0], &path));
	query(tb, b->qp[0], IBV_QPS_INIT, 0, 0);
	post_recv(b, .wr_id = 1, .len = 64);
	post_send(b, .result = -EINVAL);
	post_send(a, .wr_id = 2, .len = 64);
	pass_time(CFG_MS(3)); /* more than one timeout */
	expect_that(tb_stat(a, "retry", "ack_timeouts"), >=, 1);
	expect_equal(tb_stat(b, "responder", "packets"), 0);

	phase("ready to receive");
	must(drv_qp_to_rtr(b->qp[0], &path));
	query(tb, b->qp[0], IBV_QPS_RTR, 0xfffffe, 0);
	post_send(b, .result = -EINVAL);
	expect_cqe(a, .wr_id = 2);
	expect_cqe(b, .wr_id = 1);
	expect_data(b, .len = 64);
	expect_event(b, IBV_EVENT_COMM_EST);
	query(tb, b->qp[0], IBV_QPS_RTR, 0xffffff, 0);

	phase("ready to send");
	must(drv_qp_to_rts(b->qp[0], &path));
	query(tb, b->qp[0], IBV_QPS_RTS, 0xffffff, 0xfffffd);
	post_recv(a, .wr_id = 3, .len = 64);
	post_send(b, .wr_id = 4, .len = 64);
	expect_cqe(a, .wr_id = 3);
	expect_cqe(b, .wr_id = 4);
	expect_data(a, .len = 64);
	query(tb, b->qp[0], IBV_QPS_RTS, 0xffffff, 0xfffffe);

	phase("error");
	post_recv(b, .wr_id = 10, .len = 64, .repeat = 3);
	must(drv_qp_modify(b->qp[0], &err, IBV_QP_STATE));
	for (unsigned i = 10; i < 13; i++)
		expect_cqe(b, .wr_id = i, .status = IBV_WC_WR_FLUSH_ERR);
	post_recv(b, .wr_id = 13, .len = 64, .repeat = 2);
	expect_cqe(b, .wr_id = 13, .status = IBV_WC_WR_FLUSH_ERR);
	expect_cqe(b, .wr_id = 14, .status = IBV_WC_WR_FLUSH_ERR);
	post_send(b, .wr_id = 15, .len = 64, .repeat = 3);
	for (unsigned i = 15; i < 18; i++)
		expect_cqe(b, .wr_id = i, .status = IBV_WC_WR_FLUSH_ERR);
	must_fail(-EINVAL, drv_qp_modify(b->qp[0], &rts, IBV_QP_STATE));

	phase("reset with work outstanding");
	rdma_write(a, .wr_id = 20, .len = 64, .repeat = 5); /* nobody answers */
	pass_time(CFG_US(50));
	post_recv(a, .wr_id = 30, .len = 64, .repeat = 5);
	reconnect(0);
	pass_time(CFG_MS(10));
	expect_equal(drv_cq_wait(a->cq, tb_now(tb) + 1), (uint64_t)-ETIMEDOUT);
	query(tb, a->qp[0], IBV_QPS_RTS, 0xfffffd, 0xfffffe);
	post_recv(b, .wr_id = 40, .len = 64, .dst = 64);
	post_send(a, .wr_id = 41, .len = 64);
	expect_cqe(a, .wr_id = 41);
	expect_cqe(b, .wr_id = 40);
	expect_data(b, .len = 64, .dst = 64);
}
