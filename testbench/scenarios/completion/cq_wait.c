/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting for the events of a CQ: an event that came before the wait ends it at once, each event
 * ends one wait, and without an event the wait lasts to its deadline. A handler of the CQ hears of
 * the event, too, and takes it from no thread that waits.
 */
/* behaviours: CQ-wait */
#include "testbench/services.h"

enum { LEN = 8, EVENTS = 3 };

/* In interrupt context. */
static void heard(void *arg, struct drv_cq *cq)
{
	unsigned *events = arg;

	(void)cq;
	++*events;
}

SCENARIO(cq_wait, "events of a CQ that come before, during and after the wait for them",
	 .any_packets = true)
{
	struct drv_cq *cq = new_cq(b, 15, 0);
	struct drv_qp *x = new_qp(a), *y = new_qp(b, .recv_cq = cq);

	unsigned handled = 0;
	uint64_t start;

	connect_two(x, y);
	if (!still_right())
		return;
	recv_on(b, y, .len = LEN, .repeat = EVENTS + 1);
	for (unsigned i = 0; i < EVENTS; i++) {
		must(drv_cq_arm(cq, false));
		send_on(a, x, .len = LEN);
		expect_cqe(a);
		expect_cqe(b, .cq = cq);
		pass_time(CFG_US(20));
	}
	expect_equal(drv_cq_events(cq), EVENTS);
	for (unsigned i = 0; i < EVENTS; i++) {
		const uint64_t now = tb_now(tb);

		must(drv_cq_wait_event(cq, now + CFG_MS(1)));
		expect_equal(tb_now(tb), now);
	}
	must_fail(-ETIMEDOUT, drv_cq_wait_event(cq, tb_now(tb) + CFG_US(50)));
	drv_cq_set_callback(cq, heard, &handled);
	must(drv_cq_arm(cq, false));
	send_on(a, x, .len = LEN);
	start = tb_now(tb);
	must(drv_cq_wait_event(cq, start + CFG_MS(1)));
	expect_true(tb_now(tb) < start + CFG_US(500)); /* the event ended it, not the deadline */
	expect_equal(handled, 1);
	drv_cq_set_callback(cq, NULL, NULL);
	expect_cqe(b, .cq = cq);
	expect_cqe(a);
	for (unsigned i = 0; i <= EVENTS; i++)
		expect_data(b, .dst = i * LEN, .len = LEN);
	destroy_qp(y);
	destroy_qp(x);
	destroy_cq(cq);
}
