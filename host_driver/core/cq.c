// SPDX-License-Identifier: Apache-2.0
/*
 * Calls done() for completed requests. There are three ways to poll a CQ. DIRECT: the caller polls.
 * SOFTIRQ: interrupt context polls, and leaves the rest of a long queue to a thread. WORKQUEUE:
 * each CQ has its own thread. Threads of a host are not preempted, but a done() may sleep; `busy`
 * then keeps a second thread away from the CQ.
 */
#include "host_driver/core/core.h"
#include "model/interface/macros.h"

#include <errno.h>
#include <stdlib.h>

enum {
	IRQ_TURNS = 10, /* turns in interrupt context, before the thread takes over */
};

static const enum ib_cq_notify_flags poll_flags =
	(enum ib_cq_notify_flags)(IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS);

/* --- completions --- */

static int process(struct ib_cq *cq, int budget)
{
	struct ib_wc wc[IB_POLL_BATCH];
	int done = 0;

	while (done != budget) {
		const int left = budget - done;
		const int want = budget >= 0 && left < IB_POLL_BATCH ? left : IB_POLL_BATCH;
		const int got = ib_poll_cq(cq, want, wc);

		for (int i = 0; i < got; i++)
			if (wc[i].wr_cqe)
				wc[i].wr_cqe->done(cq, &wc[i]);
		done += got > 0 ? got : 0;
		if (got < want)
			break;
	}
	return done;
}

int ib_process_cq_direct(struct ib_cq *cq, int budget)
{
	return process(cq, budget);
}

/* Gives a CQ one turn, and returns whether it wants another one. A CQ that has fewer completions
 * than the budget is empty, and is armed again. */
static bool turn(struct core_poll *poll, int budget)
{
	bool again = true;

	poll->scheduled = false;
	poll->busy = true;
	if (process(poll->cq, budget) < budget) {
		poll->passes++;
		again = !poll->stop && ib_req_notify_cq(poll->cq, poll_flags) > 0;
	}
	poll->busy = false;
	core_wake(poll->cq->device);
	return again && !poll->stop;
}

/* --- SOFTIRQ: the CQs that want a turn stand in a list; who had one goes behind the others --- */

struct core_softirq {
	struct ib_device *device;
	struct drv_list list;
	struct platform_waitq *waitq; /* the thread waits here */
	unsigned cqs;
	bool running, stop, ended;
};

static void softirq_add(struct core_softirq *s, struct core_poll *poll)
{
	if (poll->scheduled || poll->stop)
		return;
	poll->scheduled = true;
	drv_list_add(&s->list, &poll->link);
}

static void softirq_wake(struct core_softirq *s)
{
	s->device->platform->ops->waitq_wake_all(s->device->platform, s->waitq);
}

static void softirq_run(struct core_softirq *s, unsigned turns)
{
	if (s->running)
		return;
	s->running = true;
	for (; turns && !drv_list_empty(&s->list); turns--) {
		struct core_poll *poll = container_of(s->list.next, struct core_poll, link);

		drv_list_del(&poll->link);
		if (turn(poll, IB_POLL_BUDGET_IRQ))
			softirq_add(s, poll);
	}
	s->running = false;
	if (!drv_list_empty(&s->list))
		softirq_wake(s);
}

static void softirq_thread(void *arg)
{
	struct core_softirq *s = arg;
	struct platform *p = s->device->platform;

	while (!s->stop) {
		if (drv_list_empty(&s->list) || s->running)
			p->ops->waitq_wait(p, s->waitq, UINT64_MAX);
		else
			softirq_run(s, IRQ_TURNS);
	}
	s->ended = true;
	core_wake(s->device);
}

/* Runs after the event queue has been served: all CQs that had events are then in the list. */
static void softirq_at_interrupt(void *arg)
{
	softirq_run(arg, IRQ_TURNS);
}

static int softirq_get(struct ib_device *device)
{
	struct platform *p = device->platform;
	struct core_softirq *s = device->softirq;

	if (s) {
		s->cqs++;
		return 0;
	}
	s = drv_calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->waitq = p->ops->waitq_create(p);
	if (!s->waitq) {
		free(s);
		return -ENOMEM;
	}
	s->device = device;
	s->cqs = 1;
	drv_list_init(&s->list);
	device->softirq = s;
	drv_softirq_register(device->drv, softirq_at_interrupt, s);
	p->ops->thread_start(p, "softirq", softirq_thread, s);
	return 0;
}

static void softirq_put(struct ib_device *device)
{
	struct core_softirq *s = device->softirq;

	if (--s->cqs)
		return;
	device->softirq = NULL;
	drv_softirq_register(device->drv, NULL, NULL);
	s->stop = true;
	softirq_wake(s);
	while (!s->ended || s->running)
		core_wait(device, UINT64_MAX);
	device->platform->ops->waitq_destroy(device->platform, s->waitq);
	free(s);
}

/* Interrupt context. */
static void softirq_completion(struct ib_cq *cq, void *cq_context)
{
	softirq_add(cq->device->softirq, cq->poll);
}

/* --- WORKQUEUE --- */

static void work_add(struct core_poll *poll)
{
	struct platform *p = poll->cq->device->platform;

	if (poll->stop)
		return;
	poll->scheduled = true;
	p->ops->waitq_wake_all(p, poll->waitq);
}

static void work_completion(struct ib_cq *cq, void *cq_context)
{
	work_add(cq->poll);
}

static void work_thread(void *arg)
{
	struct core_poll *poll = arg;
	struct ib_device *device = poll->cq->device;
	struct platform *p = device->platform;

	while (!poll->stop) {
		if (!poll->scheduled) {
			p->ops->waitq_wait(p, poll->waitq, UINT64_MAX);
		} else if (turn(poll, IB_POLL_BUDGET_WORKQUEUE)) {
			/* lets other threads that are ready run first */
			poll->scheduled = true;
			p->ops->waitq_wait(p, poll->waitq, p->ops->now_ps(p));
		}
	}
	poll->ended = true;
	core_wake(device);
}

static int work_start(struct core_poll *poll)
{
	struct platform *p = poll->cq->device->platform;

	poll->waitq = p->ops->waitq_create(p);
	if (!poll->waitq)
		return -ENOMEM;
	p->ops->thread_start(p, "ib-comp-wq", work_thread, poll);
	return 0;
}

static void work_stop(struct core_poll *poll)
{
	struct platform *p = poll->cq->device->platform;

	p->ops->waitq_wake_all(p, poll->waitq);
	while (!poll->ended)
		core_wait(poll->cq->device, UINT64_MAX);
	p->ops->waitq_destroy(p, poll->waitq);
}

/* --- the CQ --- */

static int context_start(struct core_poll *poll)
{
	struct ib_cq *cq = poll->cq;
	int rc = 0;

	switch (cq->poll_ctx) {
	case IB_POLL_DIRECT:
		return 0;
	case IB_POLL_SOFTIRQ:
		rc = softirq_get(cq->device);
		cq->comp_handler = softirq_completion;
		break;
	case IB_POLL_WORKQUEUE:
	case IB_POLL_UNBOUND_WORKQUEUE:
		rc = work_start(poll);
		cq->comp_handler = work_completion;
		break;
	}
	return rc ? rc : ib_req_notify_cq(cq, IB_CQ_NEXT_COMP);
}

/* Stops polling. When it returns, no done() is running and none will be called. */
static void context_stop(struct core_poll *poll)
{
	struct ib_cq *cq = poll->cq;

	cq->comp_handler = NULL;
	poll->stop = true;
	drv_list_del(&poll->link);
	while (poll->busy)
		core_wait(cq->device, UINT64_MAX);
	switch (cq->poll_ctx) {
	case IB_POLL_DIRECT:
		break;
	case IB_POLL_SOFTIRQ:
		softirq_put(cq->device);
		break;
	case IB_POLL_WORKQUEUE:
	case IB_POLL_UNBOUND_WORKQUEUE:
		work_stop(poll);
		break;
	}
}

static struct ib_cq *alloc_cq(struct ib_device *dev, void *private, int nr_cqe, int comp_vector,
			      enum ib_poll_context poll_ctx)
{
	const struct ib_cq_init_attr attr = {.cqe = nr_cqe < 1 ? 0 : (unsigned)nr_cqe,
					     .comp_vector = (unsigned)comp_vector};
	struct core_poll *poll;
	struct ib_cq *cq;
	int rc;

	if (comp_vector < 0 || (unsigned)poll_ctx > IB_POLL_DIRECT)
		return ERR_PTR(-EINVAL);
	poll = drv_calloc(1, sizeof(*poll));
	if (!poll)
		return ERR_PTR(-ENOMEM);
	cq = ib_create_cq(dev, NULL, NULL, private, &attr);
	if (IS_ERR(cq)) {
		free(poll);
		return cq;
	}
	drv_list_init(&poll->link);
	poll->cq = cq;
	cq->poll = poll;
	cq->poll_ctx = poll_ctx;
	rc = context_start(poll);
	if (!rc)
		return cq;
	ib_destroy_cq(cq);
	free(poll);
	return ERR_PTR(rc);
}

struct ib_cq *ib_alloc_cq(struct ib_device *dev, void *private, int nr_cqe, int comp_vector,
			  enum ib_poll_context poll_ctx)
{
	struct ib_cq *cq;

	CORE_ENTER(dev, "%d entries, vector %d, context %d", nr_cqe, comp_vector, poll_ctx);
	cq = alloc_cq(dev, private, nr_cqe, comp_vector, poll_ctx);
	CORE_LEAVE(dev, IS_ERR(cq) ? (int)PTR_ERR(cq) : 0);
	return cq;
}

struct ib_cq *ib_alloc_cq_any(struct ib_device *dev, void *private, int nr_cqe,
			      enum ib_poll_context poll_ctx)
{
	const unsigned vector = dev->next_vector++ % dev->num_comp_vectors;

	return ib_alloc_cq(dev, private, nr_cqe, (int)vector, poll_ctx);
}

void ib_free_cq(struct ib_cq *cq)
{
	struct ib_device *device = cq->device;
	struct core_poll *poll = cq->poll;

	if (cq->usecnt)
		return;
	CORE_ENTER(device, "cqn %06x", drv_cq_num(cq->drv));
	context_stop(poll);
	ib_destroy_cq(cq);
	free(poll);
	CORE_LEAVE(device, 0);
}

void core_cq_completion(struct ib_cq *cq)
{
	if (!cq->comp_handler)
		return;
	cq->comp_handler(cq, cq->cq_context);
	if (cq->poll && cq->poll_ctx == IB_POLL_SOFTIRQ)
		softirq_wake(cq->device->softirq);
}

void core_cq_flush(struct ib_cq *cq)
{
	struct core_poll *poll = cq->poll;
	/* A turn that is under way may have found the CQ empty before this call, so it does not
	 * count. */
	const unsigned want = poll->passes + (poll->busy ? 2 : 1);

	if (cq->poll_ctx == IB_POLL_DIRECT) {
		process(cq, -1);
		return;
	}
	while ((int)(poll->passes - want) < 0) {
		core_cq_completion(cq);
		core_wait(cq->device, UINT64_MAX);
	}
}
