// SPDX-License-Identifier: Apache-2.0
/* Completion queues: rings in the host's memory, which only the transport writes. */
#include "host_driver/rvt/rvt_impl.h"

#include <errno.h>
#include <stdlib.h>

static int cq_create(struct rvt_device *dev, unsigned entries, int vector, struct drv_cq **out)
{
	struct platform *p = dev->base.p;
	struct rvt_cq *cq;

	if (!entries || entries > dev->limits.attr.max_cqe)
		return -EINVAL;
	if (vector >= (int)dev->limits.attr.comp_vectors) {
		rvt_refuse(rvt_drv(dev), "further completion vector");
		return -EINVAL;
	}
	cq = drv_calloc(1, sizeof(*cq));
	if (!cq)
		return -ENOMEM;
	/* as the hardware's: a power of two less one */
	cq->entries = UINT32_C(1) << drv_log2_up((uint64_t)entries + 1);
	cq->ring = drv_calloc(cq->entries, sizeof(*cq->ring));
	cq->waitq = cq->ring ? p->ops->waitq_create(p) : NULL;
	if (!cq->waitq) {
		free(cq->ring);
		free(cq);
		return -ENOMEM;
	}
	cq->dev = rvt_drv(dev);
	cq->polled = vector == DRV_CQ_POLLED;
	cq->cqn = ++dev->cqn_last;
	drv_list_init(&cq->due);
	drv_list_add(&dev->cq_list, &cq->link);
	*out = drv_cq_handle(cq);
	return 0;
}

int rvt_cq_create(struct drv_device *dev, unsigned entries, int vector, struct drv_cq **cq)
{
	DRV_ENTER(dev, "%u entries, vector %d", entries, vector);
	return DRV_LEAVE(dev, cq_create(rvt_of(dev), entries, vector, cq));
}

int rvt_cq_create_on(struct drv_device *dev, struct drv_uar *uar, unsigned entries, int vector,
		     struct drv_cq **cq)
{
	int rc = rvt_cq_create(dev, entries, vector, cq);

	if (!rc && uar) {
		rvt_cq_of(*cq)->uar = (struct rvt_uar *)(void *)uar;
		rvt_cq_of(*cq)->uar->users++;
	}
	return rc;
}

int rvt_cq_resize(struct drv_cq *handle, unsigned entries)
{
	struct rvt_cq *cq = rvt_cq_of(handle);
	const uint32_t used = cq->head - cq->tail;
	struct rvt_wc *ring;
	uint32_t size;

	if (!entries || entries > rvt_dev(cq)->limits.attr.max_cqe || used > entries)
		return -EINVAL;
	size = UINT32_C(1) << drv_log2_up((uint64_t)entries + 1);
	ring = drv_calloc(size, sizeof(*ring));
	if (!ring)
		return -ENOMEM;
	for (uint32_t i = 0; i < used; i++)
		ring[i] = cq->ring[(cq->tail + i) & (cq->entries - 1)];
	free(cq->ring);
	cq->ring = ring;
	cq->entries = size;
	cq->told -= cq->tail;
	cq->tail = 0;
	cq->head = used;
	return 0;
}

static void discarded(struct rvt_cq *cq, const struct drv_wc *wc)
{
	struct rvt_device *dev = rvt_dev(cq);

	if (dev->discard_fn)
		dev->discard_fn(dev->discard_arg, drv_cq_handle(cq), wc);
}

int rvt_cq_destroy(struct drv_cq *handle)
{
	struct rvt_cq *cq = rvt_cq_of(handle);
	struct platform *p = rvt_dev(cq)->base.p;

	if (cq->users)
		return -EBUSY;
	/* it is empty: each queue pair has taken its completions away */
	if (cq->uar)
		cq->uar->users--;
	drv_list_del(&cq->due);
	drv_list_del(&cq->link);
	p->ops->waitq_destroy(p, cq->waitq);
	free(cq->ring);
	free(cq);
	return 0;
}

unsigned rvt_cq_outstanding(const struct drv_cq *cq)
{
	return rvt_cq_of(cq)->head - rvt_cq_of(cq)->tail;
}

uint32_t rvt_cq_num(const struct drv_cq *cq)
{
	return rvt_cq_of(cq)->cqn;
}

unsigned rvt_cq_entries(const struct drv_cq *cq)
{
	return rvt_cq_of(cq)->entries - 1;
}

/* The slots of a queue are given back when its completions are polled, as those of hardware are: a
 * send's completion gives back all requests before it. */
static void retire(const struct rvt_wc *e)
{
	struct rvt_qp *qp = e->qp;

	if (!qp)
		return;
	if (!e->wc.is_send) {
		struct rvt_rq *rq = qp->srq ? &qp->srq->rq : &qp->rq;

		rq->polled++;
		return;
	}
	qp->req.polled = e->requests;
}

int rvt_cq_poll(struct drv_cq *handle, int n, struct drv_wc *wc)
{
	struct rvt_cq *cq = rvt_cq_of(handle);
	int done = 0;

	for (; done < n && cq->tail != cq->head; done++) {
		const struct rvt_wc *e = &cq->ring[cq->tail++ & (cq->entries - 1)];

		wc[done] = e->wc;
		retire(e);
		DRV_CALL(cq->dev, PLATFORM_CALL_POLL, e->wc.qp_num, cq->cqn,
			 "cqn %06x, qpn %06x, status %d", cq->cqn, e->wc.qp_num, e->wc.status);
		DRV_LEAVE(cq->dev, 1);
	}
	return done;
}

static void event_due(struct rvt_cq *cq)
{
	struct rvt_device *dev = rvt_dev(cq);

	cq->armed = RVT_UNARMED;
	cq->told = cq->head;
	if (drv_list_empty(&cq->due))
		drv_list_add(&dev->due, &cq->due);
	/* a thread that has no completion to make tells it */
	rvt_wake(dev, dev->ports[1].waitq);
}

static bool is_due(const struct rvt_cq *cq, const struct rvt_wc *e)
{
	return cq->armed == RVT_ARMED || (cq->armed == RVT_ARMED_SOLICITED &&
					  (e->solicited || e->wc.status != IBV_WC_SUCCESS));
}

/* What has come since the last event makes one at once, as with the hardware's CQs. */
int rvt_cq_arm(struct drv_cq *handle, bool solicited_only)
{
	struct rvt_cq *cq = rvt_cq_of(handle);

	if (cq->polled)
		return -EINVAL;
	if (!solicited_only || cq->armed != RVT_ARMED)
		cq->armed = solicited_only ? RVT_ARMED_SOLICITED : RVT_ARMED;
	if ((int32_t)(cq->told - cq->tail) < 0)
		cq->told = cq->tail;
	for (uint32_t i = cq->told; i != cq->head && cq->armed != RVT_UNARMED; i++)
		if (is_due(cq, &cq->ring[i & (cq->entries - 1)]))
			event_due(cq);
	return 0;
}

int rvt_cq_wait(struct drv_cq *handle, uint64_t deadline_ps)
{
	struct rvt_cq *cq = rvt_cq_of(handle);
	struct rvt_device *dev = rvt_dev(cq);
	struct platform *p = dev->base.p;

	while (cq->head == cq->tail) {
		if (rvt_now(dev) >= deadline_ps)
			return -ETIMEDOUT;
		p->ops->waitq_wait(p, cq->waitq, deadline_ps);
	}
	return 0;
}

int rvt_cq_wait_event(struct drv_cq *handle, uint64_t deadline_ps)
{
	struct rvt_cq *cq = rvt_cq_of(handle);
	struct rvt_device *dev = rvt_dev(cq);
	struct platform *p = dev->base.p;

	while (cq->events == cq->events_seen) {
		if (rvt_now(dev) >= deadline_ps)
			return -ETIMEDOUT;
		p->ops->waitq_wait(p, cq->waitq, deadline_ps);
	}
	cq->events_seen++;
	return 0;
}

void rvt_cq_wake(struct drv_cq *handle)
{
	struct rvt_cq *cq = rvt_cq_of(handle);

	cq->events++;
	rvt_wake(rvt_dev(cq), cq->waitq);
}

void rvt_cq_set_callback(struct drv_cq *handle, void (*fn)(void *arg, struct drv_cq *cq), void *arg)
{
	rvt_cq_of(handle)->fn = fn;
	rvt_cq_of(handle)->arg = arg;
}

unsigned rvt_cq_events(const struct drv_cq *cq)
{
	return rvt_cq_of(cq)->events;
}

void rvt_cq_set_owner(struct drv_cq *cq, void *owner)
{
	rvt_cq_of(cq)->owner = owner;
}

void *rvt_cq_owner(const struct drv_cq *cq)
{
	return rvt_cq_of(cq)->owner;
}

/* --- the transport's side --- */

static void overrun(struct rvt_cq *cq, struct rvt_qp *qp)
{
	const struct drv_event event = {.type = IBV_EVENT_CQ_ERR, .cq = drv_cq_handle(cq)};

	if (!cq->broken) {
		cq->broken = true;
		rvt_counters(cq)->cqe_write_overruns++;
		rvt_event(rvt_dev(cq), &event);
	}
	if (qp && qp->state != IBV_QPS_ERR) {
		rvt_qp_event(qp, IBV_EVENT_QP_FATAL);
		qp->state = IBV_QPS_ERR;
	}
}

void rvt_cq_add(struct rvt_cq *cq, struct rvt_qp *qp, const struct drv_wc *wc, bool solicited)
{
	struct rvt_device *dev = rvt_dev(cq);
	struct rvt_wc *e;

	if (cq->broken || cq->head - cq->tail >= cq->entries) {
		overrun(cq, qp);
		return;
	}
	dev->counters.cqe_write_cqes++;
	e = &cq->ring[cq->head++ & (cq->entries - 1)];
	*e = (struct rvt_wc){.wc = *wc,
			     .qp = qp,
			     .requests = qp && wc->is_send ? qp->req.tail : 0,
			     .solicited = solicited};
	if (is_due(cq, e))
		event_due(cq);
	rvt_wake(dev, cq->waitq);
}

void rvt_cqs_tell(struct rvt_device *dev)
{
	bool told = false;

	while (!drv_list_empty(&dev->due)) {
		struct rvt_cq *cq = container_of(dev->due.next, struct rvt_cq, due);

		drv_list_del(&cq->due);
		cq->events++;
		rvt_wake(dev, cq->waitq);
		if (cq->fn)
			cq->fn(cq->arg, drv_cq_handle(cq));
		told = true;
	}
	if (told && dev->softirq_fn)
		dev->softirq_fn(dev->softirq_arg);
}

void rvt_cq_clean(struct rvt_cq *cq, struct rvt_qp *qp)
{
	const uint32_t told = cq->told;
	uint32_t to = cq->tail;

	for (uint32_t from = cq->tail; from != cq->head; from++) {
		const struct rvt_wc e = cq->ring[from & (cq->entries - 1)];

		if (e.qp != qp) {
			cq->ring[to++ & (cq->entries - 1)] = e;
			continue;
		}
		discarded(cq, &e.wc);
		retire(&e);
		/* those behind it move up, told of or not */
		if ((int32_t)(told - from) > 0)
			cq->told--;
	}
	cq->head = to;
}

/* --- a dead device: its queue pairs are in error, their requests are flushed like others --- */

int rvt_cq_flush(struct drv_cq *cq, int n, struct drv_wc *wc)
{
	return rvt_cq_poll(cq, n, wc);
}

bool rvt_cq_flushable(const struct drv_cq *cq)
{
	return rvt_cq_outstanding(cq) > 0;
}
