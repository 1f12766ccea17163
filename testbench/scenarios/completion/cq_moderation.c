/* SPDX-License-Identifier: Apache-2.0 */
/* A CQ with moderation: the event comes with the fourth completion, or when the moderation period,
 * which starts at the first completion, is over. */
/* behaviours: IBA-11.2.8-cq-moderation */
#include "testbench/services.h"

enum { COUNT = 4, PERIOD_US = 200 };

SCENARIO(cq_moderation, "completion events by count and by period")
{
	struct drv_cq *cq = new_cq(b, 64, 0);
	struct drv_qp *x = new_qp(a), *y = new_qp(b, .recv_cq = cq);

	ignore_packets();
	connect_two(x, y);
	if (!still_right())
		return;
	must(drv_cq_moderate(cq, COUNT, PERIOD_US));
	recv_on(b, y, .wr_id = 1, .len = 16, .repeat = 20);
	drv_cq_arm(cq, false);
	send_on(a, x, .len = 16, .repeat = COUNT - 1);
	pass_time(CFG_US(50));
	expect_equal(drv_cq_events(cq), 0);
	send_on(a, x, .len = 16);
	pass_time(CFG_US(50));
	expect_equal(drv_cq_events(cq), 1);
	for (unsigned i = 1; i <= COUNT; i++)
		expect_cqe(b, .cq = cq, .wr_id = i);
	drv_cq_arm(cq, false);
	send_on(a, x, .len = 16, .repeat = 2);
	pass_time(CFG_US(PERIOD_US - 20));
	expect_equal(drv_cq_events(cq), 1);
	pass_time(CFG_US(40));
	expect_equal(drv_cq_events(cq), 2);
	expect_cqe(b, .cq = cq, .wr_id = 5);
	expect_cqe(b, .cq = cq, .wr_id = 6);
	must(drv_cq_moderate(cq, 0, 0));
	drv_cq_arm(cq, false);
	send_on(a, x, .len = 16);
	pass_time(CFG_US(20));
	expect_equal(drv_cq_events(cq), 3);
	expect_cqe(b, .cq = cq, .wr_id = 7);
	expect_cqes(a, 7);
	for (unsigned i = 0; i < 7; i++)
		expect_data(b, .dst = i * 16, .len = 16);
	destroy_qp(y);
	destroy_qp(x);
	destroy_cq(cq);
}
