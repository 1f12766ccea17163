// SPDX-License-Identifier: Apache-2.0
/*
 * ACK timeouts and RNR waits: a deadline in each queue pair, and one thread that sleeps until the
 * earliest. They are exact in simulated time, where Linux counts in jiffies.
 */
#include "host_driver/rvt/rvt_impl.h"

uint64_t rvt_timer_step(struct rvt_device *dev)
{
	uint64_t next = RVT_NEVER;

	for (struct drv_list *l = dev->qp_list.next; l != &dev->qp_list; l = l->next) {
		struct rvt_qp *qp = container_of(l, struct rvt_qp, link);
		struct rvt_requester *r = &qp->req;

		if (r->rnr_until_ps <= rvt_now(dev)) {
			r->rnr_until_ps = RVT_NEVER;
			rvt_schedule(qp);
		}
		if (r->timeout_at_ps <= rvt_now(dev)) {
			r->timeout_at_ps = RVT_NEVER;
			rvt_timeout(qp);
		}
		next = r->rnr_until_ps < next ? r->rnr_until_ps : next;
		next = r->timeout_at_ps < next ? r->timeout_at_ps : next;
	}
	return next;
}

static void timer(void *arg)
{
	struct rvt_device *dev = arg;
	struct platform *p = dev->base.p;

	while (!dev->stop) {
		dev->timer_at_ps = rvt_timer_step(dev);
		rvt_cqs_tell(dev);
		if (!dev->stop)
			p->ops->waitq_wait(p, dev->timer_waitq, dev->timer_at_ps);
	}
	dev->timer_thread = false;
}

/* A deadline that is gone, or is later than before, wakes nobody: the thread finds out when it wakes. */
void rvt_timer_changed(struct rvt_qp *qp)
{
	const struct rvt_requester *r = &qp->req;
	struct rvt_device *dev = rvt_dev(qp);
	const uint64_t at = r->rnr_until_ps < r->timeout_at_ps ? r->rnr_until_ps : r->timeout_at_ps;

	if (at >= dev->timer_at_ps)
		return;
	dev->timer_at_ps = at;
	rvt_wake(dev, dev->timer_waitq);
}

int rvt_timer_start(struct rvt_device *dev)
{
	dev->timer_thread = true;
	dev->base.p->ops->thread_start(dev->base.p, "rvt timer", timer, dev);
	return 0;
}

void rvt_timer_stop(struct rvt_device *dev)
{
	struct platform *p = dev->base.p;

	dev->stop = true;
	while (dev->timer_thread) {
		rvt_wake(dev, dev->timer_waitq);
		p->ops->sleep_ps(p, PLATFORM_END_POLL_PS);
	}
}
