/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Firmware holds the context of a queue pair at the moment of an event that happens only once. With
 * timeout code 0, where nothing repairs a loss: the ACK arrives while the send queue goes to SQD,
 * and the queue is drained all the same; or the RNR timer expires. With a timeout: it expires, and
 * the request is sent again as soon as firmware is done, not one timeout later. With the move to
 * ERR: waiting packets are dropped, and a READ under way ends. The moments are swept.
 */
/* behaviours: IBA-10.3.1-SQD IBA-10.3.1-ERR REQ-3 */
#include "testbench/services.h"

enum {
	MOMENTS = 12,
	STEP_NS = 1370,
	BEGUN_NS = 300,
	BEGUN_IN_SOFTWARE_NS = 5000,
	CODE = 4,
	LEN = 64,
	LONG = 60000
};

static void connect_half(struct tb *tb, struct drv_qp *qp, const struct tb_end *peer,
			 const struct drv_qp *other, unsigned timeout)
{
	struct drv_rc_path path = path_to(peer, drv_qp_num(other));

	path.timeout = timeout;
	path.min_rnr_timer = 1;
	path.sq_psn = path.rq_psn = 100;
	move_qp(qp, IBV_QPS_RESET);
	must(drv_qp_connect(qp, &path));
}

static void drain(struct tb *tb, struct tb_end *a, struct drv_qp *x)
{
	const struct drv_qp_attr sqd = {.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = true};

	for (unsigned i = 0; i < MOMENTS && still_right(); i++) {
		send_on(a, x, .opcode = IBV_WR_RDMA_WRITE, .wr_id = i, .len = LONG);
		/* a request that the device has not begun may stay in the queue (IBA 10.3.1.5) */
		pass_time(CFG_NS(in_software(a) ? BEGUN_IN_SOFTWARE_NS : BEGUN_NS) +
			  i * CFG_NS(STEP_NS));
		must(drv_qp_modify(x, &sqd, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY));
		expect_cqe(a, .wr_id = i);
		expect_event(a, IBV_EVENT_SQ_DRAINED);
		must(drv_qp_modify(x, &sqd, IBV_QP_STATE));
		move_qp(x, IBV_QPS_RTS);
	}
}

static void rnr_runs_out(struct tb *tb, struct tb_end *a, struct tb_end *b, struct drv_qp *x,
			 struct drv_qp *y)
{
	for (unsigned i = 0; i < MOMENTS && still_right(); i++) {
		send_on(a, x, .wr_id = i, .len = LEN);
		pass_time(i * CFG_NS(STEP_NS));
		move_qp(x, IBV_QPS_RTS);
		recv_on(b, y, .wr_id = i, .len = LEN);
		expect_cqe(a, .wr_id = i);
		expect_cqe(b, .wr_id = i);
	}
}

/* Returns the time to the completion of a request whose ACK is lost. The queue pair is modified
 * `modify_ps` after the post (0: not at all). */
static uint64_t lost_ack(struct tb *tb, struct tb_end *a, struct drv_qp *x, uint64_t modify_ps,
			 uint64_t *command_ps)
{
	uint64_t begin = tb_now(tb);

	drop_next(b_to_a, RC_ACKNOWLEDGE);
	send_on(a, x, .opcode = IBV_WR_RDMA_WRITE, .wr_id = 1, .len = LEN);
	pass_time(modify_ps);
	*command_ps = tb_now(tb);
	if (modify_ps)
		move_qp(x, IBV_QPS_RTS);
	*command_ps = tb_now(tb) - *command_ps;
	expect_cqe(a, .wr_id = 1);
	return tb_now(tb) - begin;
}

static void timeout_runs_out(struct tb *tb, struct tb_end *a, struct drv_qp *x)
{
	uint64_t command_ps, plain_ps = lost_ack(tb, a, x, 0, &command_ps), took_ps;

	for (unsigned i = 0; i < 2 * MOMENTS && still_right(); i++) {
		took_ps = lost_ack(tb, a, x, plain_ps - i * CFG_NS(STEP_NS), &command_ps);
		expect_true(took_ps <= plain_ps + command_ps + CFG_US(5)); /* 5 us for a post */
	}
	expect_stat(a, retry, ack_timeouts, 2 * MOMENTS + 1);
}

static void take_all(struct tb *tb, struct tb_end *end)
{
	struct drv_wc wc;

	while (still_right() && drv_cq_poll(end->cq, 1, &wc) == 1)
		;
}

static void error(struct tb *tb, struct tb_end *a, struct tb_end *b, struct drv_qp *x,
		  struct drv_qp *y)
{
	for (unsigned i = 0; i < MOMENTS && still_right(); i++) {
		connect_half(tb, x, b, y, 0);
		connect_half(tb, y, a, x, 0);
		send_on(a, x, .opcode = IBV_WR_RDMA_READ, .wr_id = 1, .len = LONG);
		send_on(a, x, .opcode = IBV_WR_RDMA_WRITE, .wr_id = 2, .dst = LONG, .len = LEN,
			.repeat = 4);
		pass_time(i * CFG_NS(STEP_NS));
		move_qp(y, IBV_QPS_ERR);
		pass_time(CFG_US(100));
		take_all(tb, a);
		move_qp(x, i % 2 ? IBV_QPS_RESET : IBV_QPS_ERR);
		pass_time(CFG_US(50));
		take_all(tb, a);
	}
	ignore_discarded(a); /* the reset removes completions that have not been polled */
	ignore_data(a, .len = LONG);
	ignore_data(b, .dst = LONG, .len = LEN);
}

SCENARIO(modify_live_timers, "what happens once is not lost while firmware changes a queue pair",
	 .any_packets = true)
{
	struct drv_qp *x = new_qp(a), *y = new_qp(b);

	phase("drained, no ACK timeout");
	connect_half(tb, x, b, y, 0);
	connect_half(tb, y, a, x, 0);
	drain(tb, a, x);
	expect_data(b, .len = LONG);
	phase("RNR timer");
	rnr_runs_out(tb, a, b, x, y);
	phase("ACK timer");
	connect_half(tb, x, b, y, CODE);
	connect_half(tb, y, a, x, CODE);
	timeout_runs_out(tb, a, x);
	phase("to ERR");
	error(tb, a, b, x, y);
	destroy_qp(y);
	destroy_qp(x);
}
