/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting for the events of a CQ: an event that came before the wait ends it at once, each event
 * ends one wait, and without an event the wait lasts to its deadline. A handler of the CQ hears of
 * the event, too, and takes it from no thread that waits; it finds the event counted, and may arm the CQ
 * again for the next one, which may be there already.
 */
/* behaviours: CQ-wait */
#include "testbench/services.h"

enum { LEN = 8, EVENTS = 3, HANDLED = 3 };

struct heard {
	unsigned events, counted;
	int armed;
};

/* In interrupt context. */
static void heard(void *arg, struct drv_cq *cq)
{
	struct heard *h = arg;

	h->events++;
	h->counted = drv_cq_events(cq);
	h->armed = drv_cq_arm(cq, false);
}

/* Each message makes an event, because the handler of the one before has armed the CQ. */
static void armed_by_handler(struct tb *tb, struct tb_end *a, struct tb_end *b, struct drv_qp *x,
			     struct drv_cq *cq)
{
	static struct heard h; /* the handler may outlive a failure */

	h = (struct heard){0};
	drv_cq_set_callback(cq, heard, &h);
	must(drv_cq_arm(cq, false));
	for (unsigned i = 1; i <= HANDLED; i++) {
		const uint64_t start = tb_now(tb);

		send_on(a, x, .len = LEN);
		must(drv_cq_wait_event(cq, start + CFG_MS(1)));
		/* the event ended it, not the deadline */
		expect_true(tb_now(tb) < start + CFG_US(500));
		expect_equal(h.events, i);
		expect_equal(h.counted, EVENTS + i);
		expect_equal(h.armed, 0);
		expect_cqe(b, .cq = cq);
		expect_cqe(a);
	}
	drv_cq_set_callback(cq, NULL, NULL);
}

/* Several completions come at once. The first one's handler arms again and polls nothing: what came behind it has an
 * event of its own, although it was there when the handler ran. */
static void armed_for_the_rest(struct tb *tb, struct tb_end *b, struct drv_cq *cq, struct drv_qp *y)
{
	static struct heard h; /* the handler may outlive a failure */

	h = (struct heard){0};
	recv_on(b, y, .len = LEN, .repeat = EVENTS);
	drv_cq_set_callback(cq, heard, &h);
	must(drv_cq_arm(cq, false));
	move_qp(y, IBV_QPS_ERR);
	pass_time(CFG_US(200));
	expect_that(h.events, >=, 2);
	expect_that(h.events, <=, EVENTS);
	expect_equal(h.armed, 0);
	drv_cq_set_callback(cq, NULL, NULL);
	for (unsigned i = 0; i < EVENTS; i++)
		expect_cqe(b, .cq = cq, .status = IBV_WC_WR_FLUSH_ERR);
}

SCENARIO(cq_wait, "events of a CQ that come before, during and after the wait for them",
	 .any_packets = true)
{
	struct drv_cq *cq = new_cq(b, 15, 0);
	struct drv_qp *x = new_qp(a), *y = new_qp(b, .recv_cq = cq);

	connect_two(x, y);
	if (!still_right())
		return;
	recv_on(b, y, .len = LEN, .repeat = EVENTS + HANDLED);
	for (unsigned i = 0; i < EVENTS; i++) {
		must(drv_cq_arm(cq, false));
		send_on(a, x, .len = LEN);
		expect_cqe(a);
		pass_time(CFG_US(20));
		must(drv_cq_wait(cq, tb_now(tb))); /* it is there, so its time may be up */
		expect_cqe(b, .cq = cq);
	}
	expect_equal(drv_cq_events(cq), EVENTS);
	must_fail(-ETIMEDOUT, drv_cq_wait(cq, tb_now(tb)));
	for (unsigned i = 0; i < EVENTS; i++) {
		const uint64_t now = tb_now(tb);

		/* one has come, so it does not matter that the time for the last wait is up */
		must(drv_cq_wait_event(cq, i == EVENTS - 1 ? now : now + CFG_MS(1)));
		expect_equal(tb_now(tb), now);
	}
	expect_equal(drv_cq_events(cq), EVENTS); /* also those that were waited for */
	must_fail(-ETIMEDOUT, drv_cq_wait_event(cq, tb_now(tb) + CFG_US(50)));
	armed_by_handler(tb, a, b, x, cq);
	armed_for_the_rest(tb, b, cq, y);
	for (unsigned i = 0; i < EVENTS + HANDLED; i++)
		expect_data(b, .dst = i * LEN, .len = LEN);
	destroy_qp(y);
	destroy_qp(x);
	destroy_cq(cq);
}
