/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads wait for a state of a port. Each goes on when the state comes, and at once when it is there already;
 * a state that does not come ends the wait at its deadline and not before. The events
 * of both ports come once each.
 */
/* behaviours: IBA-7.2.7-port-states IBA-11.6.3.5-port-events */
#include "testbench/services.h"

enum { PORT = 1, SOON_US = 200, WAITERS = 2 };

/* static: when the scenario fails, they are used after the return */
static struct waiter {
	struct tb_end *end;
	enum ibv_port_state state;
	uint64_t deadline_ps, ended_ps;
	int rc;
	bool ended;
} waiters[WAITERS];

static void wait(void *arg)
{
	struct waiter *w = arg;
	struct platform *p = w->end->platform;

	w->rc = drv_port_wait(w->end->dev, PORT, w->state, w->deadline_ps);
	w->ended_ps = p->ops->now_ps(p);
	w->ended = true;
}

static void begin(struct tb *tb, struct tb_end *end, unsigned n, enum ibv_port_state state,
		  uint64_t for_ps)
{
	waiters[n] = (struct waiter){
		.end = end, .state = state, .deadline_ps = tb_now(tb) + for_ps, .rc = 1};
	end->platform->ops->thread_start(end->platform, "waiter", wait, &waiters[n]);
}

static void both_wait(struct tb *tb, struct tb_end *a, struct tb_end *b, enum ibv_port_state state)
{
	begin(tb, a, 0, state, CFG_S(5));
	begin(tb, b, 1, state, CFG_S(5));
	pass_time(CFG_US(50));
	expect_true(!waiters[0].ended && !waiters[1].ended);
}

static void both_ended(struct tb *tb)
{
	pass_time(CFG_US(SOON_US));
	for (unsigned n = 0; n < WAITERS; n++) {
		expect_true(waiters[n].ended);
		expect_equal(waiters[n].rc, 0);
	}
}

SCENARIO(port_waits, "threads that wait for a port's state go on when it comes", .no_qps = true)
{
	struct sm_result sm;

	phase("down");
	both_wait(tb, a, b, IBV_PORT_DOWN);
	pull_cable(PORT);
	expect_event(a, IBV_EVENT_PORT_ERR);
	expect_event(b, IBV_EVENT_PORT_ERR);
	both_ended(tb);
	phase("active");
	both_wait(tb, a, b, IBV_PORT_ACTIVE);
	plug_cable(PORT);
	must(sm_run(a->dev, PORT, NULL, &sm));
	expect_event(a, IBV_EVENT_PORT_ACTIVE);
	expect_event(b, IBV_EVENT_PORT_ACTIVE);
	both_ended(tb);
	phase("at once, or in vain");
	begin(tb, a, 0, IBV_PORT_ACTIVE, CFG_S(5));
	begin(tb, b, 1, IBV_PORT_ARMED, CFG_US(700));
	pass_time(CFG_US(600));
	expect_true(waiters[0].ended && !waiters[1].ended);
	expect_equal(waiters[0].rc, 0);
	pass_time(CFG_US(400));
	expect_true(waiters[1].ended);
	expect_equal(waiters[1].rc, -ETIMEDOUT);
	expect_that(waiters[1].ended_ps, >=, waiters[1].deadline_ps);
	must_fail(-EINVAL, drv_port_wait(a->dev, DRV_PORTS_MAX + 1, IBV_PORT_ACTIVE, 0));
}
