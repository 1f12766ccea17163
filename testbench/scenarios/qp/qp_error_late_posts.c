/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A receive posted to a queue pair in ERR is flushed however late it is posted. Only the doorbell
 * record shows the post to the device, so the device keeps reading it. While software does nothing
 * this costs nothing. When software arms the CQ after the post, as drivers that wait for an
 * interrupt do, the flush comes at once.
 * behaviours: IBA-10.3.1-ERR ST-6
 */
#include "testbench/services.h"

enum { LATEST_MS = 40, AT_ONCE_US = 20, EVENTS = 100 };

SCENARIO(qp_error_late_posts, "receives posted to a queue pair in ERR are flushed, however late")
{
	const uint64_t late_ps[] = {0, CFG_MS(1), CFG_MS(17), CFG_MS(100), CFG_S(3)};
	struct drv_cq *cq = new_cq(b, 16, 0);
	struct drv_qp *x = new_qp(a), *y = new_qp(b, .recv_cq = cq);
	uint64_t events;

	connect_two(x, y);
	move_qp(y, IBV_QPS_ERR);
	for (unsigned i = 0; i < 5 && still_right(); i++) {
		pass_time(late_ps[i]);
		recv_on(b, y, .wr_id = i, .len = 8);
		expect_cqe(b, .wr_id = i, .cq = cq, .status = IBV_WC_WR_FLUSH_ERR,
			   .within_ps = CFG_MS(LATEST_MS));
	}
	pass_time(CFG_MS(100));
	events = tb_machine(tb)->core.executed;
	pass_time(CFG_S(10));
	expect_that(tb_machine(tb)->core.executed - events, <, EVENTS);

	for (unsigned i = 0; i < 3 && still_right(); i++) {
		recv_on(b, y, .wr_id = 10 + i, .len = 8);
		must(drv_cq_arm(cq, false));
		expect_cqe(b, .wr_id = 10 + i, .cq = cq, .status = IBV_WC_WR_FLUSH_ERR,
			   .within_ps = CFG_US(AT_ONCE_US));
		pass_time(CFG_MS(50));
	}
	destroy_qp(y);
	destroy_qp(x);
	destroy_cq(cq);
}
