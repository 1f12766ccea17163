/* SPDX-License-Identifier: Apache-2.0 */
/* The first packet that reaches a queue pair in RTR is answered, and the event "communication
 * established" comes once. In RTS there is no such event. A queue pair that was reset and is connected
 * again tells it again. */
/* behaviours: IBA-11.6.3.1-comm-est ST-1 */
#include "testbench/services.h"

/* Both begin anew, and y is not in RTS when the first packet comes. */
static void again(struct tb *tb, struct tb_end *a, struct tb_end *b, struct drv_qp *x,
		  struct drv_qp *y)
{
	const struct drv_rc_path there = path_to(b, drv_qp_num(y));
	const struct drv_rc_path back = path_to(a, drv_qp_num(x));

	phase("reset, and again");
	move_qp(y, IBV_QPS_RESET);
	move_qp(x, IBV_QPS_RESET);
	must(drv_qp_to_init(y, &back));
	recv_on(b, y, .wr_id = 11, .len = 64);
	must(drv_qp_to_rtr(y, &back));
	must(drv_qp_connect(x, &there));
	send_on(a, x, .wr_id = 12, .len = 64);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 0);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0, .msn = 1);
	expect_cqes(a, 1);
	expect_cqes(b, 1);
	expect_event(b, IBV_EVENT_COMM_EST);
	must(drv_qp_to_rts(y, &back));
	expect_data(b, .dst = 0, .len = 64);
}

SCENARIO(qp_comm_est, "RTR: the first request is answered and makes COMM_EST, once")
{
	struct drv_qp *x = new_qp(a), *y = new_qp(b);
	struct drv_rc_path there, back;

	if (!still_right())
		return;
	there = path_to(b, drv_qp_num(y));
	back = path_to(a, drv_qp_num(x));
	must(drv_qp_connect(x, &there));
	must(drv_qp_to_init(y, &back));
	recv_on(b, y, .wr_id = 1, .len = 64, .repeat = 3);
	inject(b, RC_SEND_ONLY, .qpn = drv_qp_num(y), .psn = 0, .len = 64);
	expect_no_more(CFG_US(20)); /* INIT: dropped */
	must(drv_qp_to_rtr(y, &back));
	send_on(a, x, .wr_id = 5, .len = 64, .repeat = 2);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 0);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 1);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0, .msn = 1);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 1, .msn = 2);
	expect_cqes(a, 2);
	expect_cqes(b, 2);
	expect_event(b, IBV_EVENT_COMM_EST);
	must(drv_qp_to_rts(y, &back));
	send_on(a, x, .wr_id = 7, .len = 64);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 2);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 2, .msn = 3);
	expect_cqes(a, 1);
	expect_cqes(b, 1);
	for (unsigned i = 0; i < 3; i++)
		expect_data(b, .dst = i * 64, .len = 64);
	again(tb, a, b, x, y);
	destroy_qp(y);
	destroy_qp(x);
}
