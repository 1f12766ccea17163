/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A CQ is resized while another thread polls it. The thread may take the entry at which the device changes
 * buffers while the command is still under way, or sleep on an entry of the old buffer. It gets each
 * completion once and in order, over many rounds of both buffers, whether it polls all the time or arms
 * the CQ and sleeps. A second resize during the first is refused or waits, and harms nothing. Who sleeps
 * while the CQ is empty is woken by the first completion in the new buffer.
 */
/* behaviours: IBA-11.2.8.3-cq-resize */
#include "testbench/harm.h"

enum { ROUNDS = 24, BURST = 8, SMALL = 15, LARGE = 100, BATCH = 3 };

struct poller {
	struct tb_end *end;
	struct drv_cq *cq;
	bool by_events, stop, ended;
	uint64_t taken; /* completions, and the wr_id of the next one */
	unsigned wrong;
};

static unsigned poll_all(struct poller *p)
{
	struct drv_wc wc[BATCH];
	unsigned taken = 0;
	int n;

	while ((n = drv_cq_poll(p->cq, BATCH, wc)) > 0) {
		for (int i = 0; i < n; i++)
			p->wrong += wc[i].wr_id != p->taken++ || wc[i].status != IBV_WC_SUCCESS;
		taken += (unsigned)n;
	}
	p->wrong += n < 0;
	return taken;
}

static void poller(void *arg)
{
	struct poller *p = arg;
	struct platform *platform = p->end->platform;

	while (!p->stop) {
		const uint64_t deadline = platform->ops->now_ps(platform) + CFG_US(50);

		if (p->by_events)
			drv_cq_arm(p->cq, false);
		if (poll_all(p))
			continue;
		if (p->by_events)
			drv_cq_wait_event(p->cq, deadline);
		else
			drv_cq_wait(p->cq, deadline);
	}
	p->ended = true;
}

struct resizer {
	struct drv_cq *cq;
	unsigned entries;
	int rc;
	bool ended;
};

static void resize(void *arg)
{
	struct resizer *r = arg;

	r->rc = drv_cq_resize(r->cq, r->entries);
	r->ended = true;
}

static bool resized_or_refused(int rc)
{
	return !rc || rc == -EBUSY || rc == -EINVAL || rc == -ENOMEM;
}

/* Two threads resize at the same time, and the messages come meanwhile. */
static void resize_twice(struct tb *tb, struct tb_end *b, struct drv_cq *cq, unsigned round)
{
	struct resizer other = {.cq = cq, .entries = round % 4 < 2 ? LARGE / 2 : SMALL};

	b->platform->ops->thread_start(b->platform, "resizer", resize, &other);
	expect_true(resized_or_refused(drv_cq_resize(cq, round % 2 ? SMALL : LARGE)));
	for (unsigned i = 0; i < 100 && !other.ended; i++)
		pass_time(CFG_US(10));
	expect_true(other.ended && resized_or_refused(other.rc));
}

static void resized(struct tb *tb, struct tb_end *a, struct tb_end *b, bool by_events)
{
	struct drv_cq *cq = new_cq(b, SMALL, 0);
	struct drv_qp *x = new_qp(a), *y = new_qp(b, .recv_cq = cq);
	struct poller p = {.end = b, .cq = cq, .by_events = by_events};

	connect_two(x, y);
	if (!still_right())
		return;
	b->platform->ops->thread_start(b->platform, "poller", poller, &p);
	for (unsigned round = 0; round < ROUNDS && still_right(); round++) {
		recv_on(b, y, .wr_id = round * BURST, .len = 0, .repeat = BURST);
		send_on(a, x, .len = 0, .repeat = BURST);
		pass_time(CFG_NS(300) * (round % 8));
		resize_twice(tb, b, cq, round);
		expect_cqes(a, BURST);
		for (unsigned i = 0; i < 20 && p.taken != (round + 1) * BURST; i++)
			pass_time(CFG_US(10));
		expect_equal(p.taken, (round + 1) * BURST);
	}
	p.stop = true;
	for (unsigned i = 0; i < 20 && !p.ended; i++)
		pass_time(CFG_US(10));
	expect_true(p.ended && !p.wrong);
	destroy_qp(y);
	destroy_qp(x);
	destroy_cq(cq);
}

struct sleeper {
	struct tb_end *end;
	struct drv_cq *cq;
	struct drv_wc wc;
	int rc;
	bool ended;
};

/* The entry at which buffers change may end a wait, too. */
static void sleeper(void *arg)
{
	struct sleeper *s = arg;
	struct platform *platform = s->end->platform;
	const uint64_t deadline = platform->ops->now_ps(platform) + CFG_MS(100);

	do
		s->rc = drv_cq_wait(s->cq, deadline);
	while (!s->rc && !drv_cq_poll(s->cq, 1, &s->wc));
	s->ended = true;
}

static void slept(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct drv_cq *cq = new_cq(b, SMALL, 0);
	struct drv_qp *x = new_qp(a), *y = new_qp(b, .recv_cq = cq);

	connect_two(x, y);
	for (unsigned i = 0; i < ROUNDS && still_right(); i++) {
		static struct sleeper s;

		s = (struct sleeper){.end = b, .cq = cq};
		recv_on(b, y, .wr_id = i, .len = 0);
		b->platform->ops->thread_start(b->platform, "sleeper", sleeper, &s);
		pass_time(CFG_NS(70) * i);
		must(drv_cq_resize(cq, i % 2 ? SMALL : LARGE));
		pass_time(CFG_US(20));
		expect_true(!s.ended);
		send_on(a, x, .len = 0);
		pass_time(CFG_US(20));
		expect_true(s.ended && !s.rc);
		expect_equal(s.wc.wr_id, i);
		expect_cqe(a);
	}
	destroy_qp(y);
	destroy_qp(x);
	destroy_cq(cq);
}

SCENARIO(cq_resize_polled, "a CQ is resized while another thread polls it or sleeps for it",
	 .any_packets = true)
{
	phase("polled");
	resized(tb, a, b, false);
	phase("armed");
	resized(tb, a, b, true);
	phase("slept");
	slept(tb, a, b);
}
