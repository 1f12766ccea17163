/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A CQ gets more completions than it holds, and nobody polls. The CQ fails and its error event
 * comes; the entries already in it stay valid. The queue pair whose completions have no room fails
 * too. Another queue pair with another CQ goes on.
 */
/* behaviours: IBA-11.6.3.2-cq-overrun */
#include "testbench/services.h"

/* It has failed, once and for all: polled or not it takes nothing, and a queue pair that uses it fails. */
static void stays_broken(struct tb *tb, struct tb_end *a, struct tb_end *b, struct drv_cq *cq)
{
	struct drv_qp *x = new_qp(a), *y = new_qp(b, .recv_cq = cq);
	struct drv_qp_attr attr = {0};

	connect_two(x, y);
	recv_on(b, y, .len = 0);
	send_on(a, x, .len = 0, .unsignaled = true);
	expect_event(b, IBV_EVENT_QP_FATAL);
	pass_time(CFG_US(30));
	must(drv_qp_query(y, &attr));
	expect_equal(attr.qp_state, IBV_QPS_ERR);
	destroy_qp(y);
	destroy_qp(x);
}

SCENARIO(cq_overrun, "CQ overrun: event, the queue pair fails, others go on")
{
	struct drv_cq *cq = new_cq(b, 7, 0);
	struct drv_qp *x = new_qp(a), *y = new_qp(b, .recv_cq = cq);
	unsigned room = 0;

	ignore_packets();
	connect_two(x, y);
	if (!still_right())
		return;
	room = drv_cq_entries(cq);
	recv_on(b, y, .wr_id = 1, .len = 16, .repeat = room + 4);
	send_on(a, x, .len = 16, .repeat = room + 2);
	expect_event(b, IBV_EVENT_CQ_ERR);
	expect_event(b, IBV_EVENT_QP_FATAL);
	stays_broken(tb, a, b, cq);
	/* it tells of an entry less than it has */
	for (unsigned i = 0; i <= room && still_right(); i++)
		expect_cqe(b, .cq = cq, .wr_id = 1 + i);
	expect_cqes(a, room + 2); /* acknowledged before the responder knew */
	stays_broken(tb, a, b, cq);
	expect_empty(cq);
	expect_stat(b, cqe_write, overruns, 1);
	post_recv(b, .wr_id = 1, .dst = 1000, .len = 64);
	post_send(a, .wr_id = 2, .len = 64);
	expect_cqe(b, .wr_id = 1);
	expect_cqe(a, .wr_id = 2);
	expect_data(b, .dst = 1000, .len = 64);
	for (unsigned i = 0; i < room + 2; i++)
		expect_data(b, .dst = i * 16, .len = 16);
	destroy_qp(y);
	destroy_qp(x);
	destroy_cq(cq);
}
