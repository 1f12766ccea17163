/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrong on purpose: this consumer takes all completions when an event comes, and still expects an
 * event for each of them. It passes, because the second message takes long. When the consumer is
 * held until both are there, it waits for an event that never comes. hcasim explore must find that.
 */
#include "testbench/services.h"

enum { LONG = 60000, WAIT_MS = 10 };

static void take_all(struct drv_cq *cq)
{
	struct drv_wc wc;

	while (drv_cq_poll(cq, 1, &wc) == 1)
		;
}

SCENARIO(events_counted, "wrong on purpose: an event for each completion is expected")
{
	struct drv_cq *cq = new_cq(b, 64, 0);
	struct drv_qp *x = new_qp(a), *y = new_qp(b, .recv_cq = cq);

	ignore_packets();
	connect_two(x, y);
	if (!still_right())
		return;
	recv_on(b, y, .wr_id = 1, .len = 64);
	recv_on(b, y, .wr_id = 2, .dst = 64, .len = LONG);
	drv_cq_arm(cq, false);
	send_on(a, x, .len = 64);
	send_on(a, x, .len = LONG);
	for (unsigned i = 0; i < 2; i++) {
		expect_equal(drv_cq_wait_event(cq, tb_now(tb) + CFG_MS(WAIT_MS)), 0);
		take_all(cq);
		drv_cq_arm(cq, false);
	}
	expect_cqes(a, 2);
	ignore_data(b, .len = 64 + LONG);
	destroy_qp(y);
	destroy_qp(x);
	destroy_cq(cq);
}
