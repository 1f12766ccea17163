/* SPDX-License-Identifier: Apache-2.0 */
/* The limit event comes once, when fewer receives than the limit are left, and then disarms itself.
 * If fewer are left when it is armed, it comes at once. A limit of 0 disarms it, and
 * no limit is beyond what the SRQ holds. */
/* behaviours: IBA-10.2.9-srq-limit */
#include "testbench/services.h"

enum { LIMIT = 3 };

struct rearmed {
	unsigned events;
	int rc;
};

static void arm_again(void *arg, const struct drv_event *event)
{
	struct rearmed *r = arg;

	if (event->type == IBV_EVENT_SRQ_LIMIT_REACHED && !r->events++)
		r->rc = drv_srq_arm(event->srq, LIMIT - 1);
}

/* Who hears of the event arms the SRQ again at that moment. Transport in software lets it. */
static void armed_by_handler(struct tb *tb, struct tb_end *a, struct tb_end *b, struct drv_qp *x,
			     struct drv_srq *srq)
{
	static struct rearmed r; /* the handler may outlive a failure */

	r = (struct rearmed){.rc = -1};
	drv_event_register(b->dev, arm_again, &r);
	recv_srq(b, srq, .wr_id = 20, .len = 64, .repeat = LIMIT);
	must(drv_srq_arm(srq, LIMIT));
	for (unsigned taken = 1; taken <= LIMIT; taken++) {
		send_on(a, x, .len = 64);
		expect_cqes(a, 1);
		expect_cqes(b, 1);
		expect_equal(r.events, taken < 2 ? 1 : 2);
	}
	expect_equal(r.rc, 0);
	drv_event_register(b->dev, NULL, NULL);
}

SCENARIO(srq_limit, "the SRQ's limit event: once, at once when already below, disarmed")
{
	struct drv_srq *srq = new_srq(b);
	struct drv_qp *x = new_qp(a), *y = new_qp(b, .srq = srq);
	unsigned max_wr, limit;

	ignore_packets();
	connect_two(x, y);
	if (!still_right())
		return;
	recv_srq(b, srq, .wr_id = 1, .len = 64, .repeat = 5);
	must(drv_srq_arm(srq, LIMIT));
	must(drv_srq_query(srq, &max_wr, &limit));
	expect_equal(limit, LIMIT);
	send_on(a, x, .wr_id = 11, .len = 64, .repeat = 2);
	expect_cqes(a, 2);
	expect_cqes(b, 2);
	expect_no_more(CFG_US(20)); /* three receives are left */
	send_on(a, x, .wr_id = 13, .len = 64);
	expect_event(b, IBV_EVENT_SRQ_LIMIT_REACHED);
	expect_cqes(a, 1);
	expect_cqes(b, 1);
	must(drv_srq_query(srq, &max_wr, &limit));
	expect_equal(limit, 0);
	send_on(a, x, .wr_id = 14, .len = 64);
	expect_cqes(a, 1);
	expect_cqes(b, 1);
	expect_no_more(CFG_US(20)); /* the limit is disarmed */
	must(drv_srq_arm(srq, LIMIT));
	expect_event(b, IBV_EVENT_SRQ_LIMIT_REACHED); /* one receive is left */
	/* receives posted since are counted before the comparison */
	recv_srq(b, srq, .wr_id = 6, .dst = 5 * 64, .len = 64, .repeat = 4);
	must(drv_srq_arm(srq, LIMIT));
	send_on(a, x, .wr_id = 15, .len = 64);
	expect_cqes(a, 1);
	expect_cqes(b, 1);
	expect_no_more(CFG_US(20));
	must(drv_srq_arm(srq, 0));
	send_on(a, x, .wr_id = 16, .len = 64, .repeat = 4);
	expect_cqes(a, 4);
	expect_cqes(b, 4);
	expect_no_more(CFG_US(20));
	for (unsigned i = 0; i < 9; i++)
		expect_data(b, .dst = i * 64, .len = 64);
	/* as many as it holds, and one more */
	must(drv_srq_arm(srq, max_wr));
	expect_event(b, IBV_EVENT_SRQ_LIMIT_REACHED);
	must_fail(-EINVAL, drv_srq_arm(srq, max_wr + 1));
	must(drv_srq_query(srq, &max_wr, &limit));
	expect_equal(limit, 0);
	expect_stat(b, srq, limits, 3);
	if (in_software(b))
		armed_by_handler(tb, a, b, x, srq);
	destroy_qp(y);
	destroy_qp(x);
	destroy_srq(srq);
}
