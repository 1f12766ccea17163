/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue pair completes sends into one CQ and receives into another. Each completion comes in its
 * own CQ and raises the event of that CQ on the vector of that CQ. A reset takes the queue pair's
 * completions out of both.
 */
/* behaviours: CQ-two */
#include "testbench/services.h"

enum { LEN = 16, N = 3 };

SCENARIO(two_cqs, "a queue pair with a CQ for sends and one for receives", .bare = true)
{
	const struct drv_options options = {.comp_vectors = 2};
	struct drv_cq *sends, *receives;
	struct drv_qp *x, *y;

	ignore_packets();
	must(drv_probe(b->platform, &options, &b->dev));
	bring_up(a);
	activate_ports();
	make_objects(a);
	make_objects(b);
	sends = new_cq(b, 15, 0);
	receives = new_cq(b, 15, 1);
	x = new_qp(a);
	y = new_qp(b, .send_cq = sends, .recv_cq = receives);
	connect_two(x, y);
	if (!still_right())
		return;
	must(drv_cq_arm(sends, false));
	must(drv_cq_arm(receives, false));
	recv_on(b, y, .wr_id = 10, .len = LEN, .repeat = N);
	send_on(a, x, .len = LEN, .repeat = N);
	expect_cqes(a, N);
	pass_time(CFG_US(20));
	expect_equal(drv_cq_events(receives), 1);
	expect_equal(drv_cq_events(sends), 0);
	expect_empty(sends);
	expect_cqe(b, .cq = receives, .wr_id = 10, .byte_len = LEN);

	recv_on(a, x, .wr_id = 20, .len = LEN, .repeat = N);
	send_on(b, y, .wr_id = 30, .len = LEN, .repeat = N);
	expect_cqes(a, N);
	pass_time(CFG_US(20));
	expect_equal(drv_cq_events(receives), 1);
	expect_equal(drv_cq_events(sends), 1);
	expect_cqe(b, .cq = sends, .wr_id = 30);

	move_qp(y, IBV_QPS_RESET); /* N - 1 are left in each */
	expect_empty(sends);
	expect_empty(receives);
	for (unsigned i = 0; i < N; i++) {
		expect_data(b, .dst = i * LEN, .len = LEN);
		expect_data(a, .dst = i * LEN, .len = LEN);
	}
	destroy_qp(y);
	destroy_qp(x);
	destroy_cq(receives);
	destroy_cq(sends);
	take_down(a);
	take_down(b);
}
