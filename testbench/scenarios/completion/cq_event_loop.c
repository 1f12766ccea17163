/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Consumers that sleep until an event, in the three usual orders of arming, polling and waiting.
 * Completions come at any time between these steps, and none may be slept over: the consumer never
 * waits for an event that has been lost. hcasim explore moves the completions to every place.
 */
/* behaviours: CQ-1 */
#include "testbench/services.h"

enum { MESSAGES = 24, BYTES = 2048, WAIT_MS = 100 };

struct order {
	const char *name;
	bool arm_first;  /* arms, polls until the CQ is empty, waits */
	bool poll_again; /* after arming; if it finds something, the consumer does not wait */
};

static const struct order orders[] = {
	{"arm, poll, wait", .arm_first = true},
	{"poll, arm, poll again, wait", .poll_again = true},
	{"poll, arm, wait",
	 .arm_first = false}, /* the device makes an event for what came in between */
};

static unsigned drain(struct drv_cq *cq)
{
	struct drv_wc wc;
	unsigned n = 0;

	while (drv_cq_poll(cq, 1, &wc) == 1)
		n++;
	return n;
}

static unsigned turn(struct drv_cq *cq, const struct order *order)
{
	unsigned n = order->arm_first ? 0 : drain(cq);

	drv_cq_arm(cq, false);
	if (order->arm_first || order->poll_again)
		n += drain(cq);
	return n;
}

/* Takes the next completion. */
static int consume(struct tb *tb, struct drv_cq *cq, const struct order *order)
{
	unsigned n = 0;
	int rc = 0;

	while (!rc && !n) {
		n = turn(cq, order);
		if (!n)
			rc = drv_cq_wait_event(cq, tb_now(tb) + CFG_MS(WAIT_MS));
	}
	return rc;
}

SCENARIO(cq_event_loop, "consumers that arm, poll and wait, in any order: no event is lost")
{
	for_each_row(i, orders) {
		struct drv_cq *cq = new_cq(b, 64, 0);
		struct drv_qp *x = new_qp(a), *y = new_qp(b, .recv_cq = cq);

		name_row("%s", orders[i].name);
		ignore_packets();
		connect_two(x, y);
		if (!still_right())
			return;
		recv_on(b, y, .wr_id = 1, .len = BYTES, .repeat = MESSAGES);
		/* the next message comes when this one is taken: nothing else would wake the consumer */
		for (unsigned n = 0; n < MESSAGES; n++) {
			send_on(a, x, .src = n, .len = 1 + n * n % 7 * 300);
			expect_equal(consume(tb, cq, &orders[i]), 0);
		}
		expect_cqes(a, MESSAGES);
		ignore_data(b, .len = MESSAGES * BYTES);
		destroy_qp(y);
		destroy_qp(x);
		destroy_cq(cq);
	}
}
