// SPDX-License-Identifier: Apache-2.0
/* Connection management of a device: start and stop, its thread, and the MADs that its ports
 * receive. */
#include "host_driver/cm/cm.h"

#include "model/interface/macros.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_CHARS = 16, FIRST_ID_BITS = 0xffff };

void cm_wake(struct cm_device *cm)
{
	cm->p->ops->waitq_wake_all(cm->p, cm->waitq);
}

/* --- what comes --- */

/* Runs in the agents' thread, which must not wait. Without memory it drops the message, as a
 * network may. */
static void mad_came(void *arg, unsigned port, unsigned qpn, const struct drv_wc *wc,
		     const struct drv_mad_addr *from, const struct smp *mad)
{
	struct cm_device *cm = arg;
	struct cm_work *work;

	if (mad_hdr_get_method(smp_hdr_const(mad)) != MAD_METHOD_SEND)
		return;
	work = drv_calloc(1, sizeof(*work));
	if (!work)
		return;
	work->port = port;
	work->from = *from;
	work->from.qkey = QKEY_GSI;
	work->mad = *mad;
	drv_list_add(&cm->works, &work->link);
	cm_wake(cm);
}

static void port_event(struct ib_event_handler *handler, struct ib_event *event)
{
	struct cm_device *cm = container_of(handler, struct cm_device, port_events);

	if (event->element.port_num > DRV_PORTS_MAX)
		return;
	cm->ports[event->element.port_num].valid = false;
	cm->ports[event->element.port_num].changes++;
}

static bool take_work(struct cm_device *cm)
{
	struct cm_work *work;

	if (drv_list_empty(&cm->works))
		return false;
	work = container_of(cm->works.next, struct cm_work, link);
	drv_list_del(&work->link);
	cm_received(cm, work);
	free(work);
	return true;
}

static void thread(void *arg)
{
	struct cm_device *cm = arg;

	while (!cm->stop)
		if (!take_work(cm) && !cm_expire(cm))
			cm->p->ops->waitq_wait(cm->p, cm->waitq, cm_next_deadline(cm));
	cm_thread_ends(cm);
}

/* --- life --- */

void cm_thread_start(struct cm_device *cm, const char *name, void (*fn)(void *arg))
{
	char text[NAME_CHARS];

	snprintf(text, sizeof(text), "%s%u", name, cm->p->host);
	cm->threads++;
	cm->p->ops->thread_start(cm->p, text, fn, cm);
}

void cm_thread_ends(struct cm_device *cm)
{
	cm->threads--;
	cm->p->ops->waitq_wake_all(cm->p, cm->gone);
}

static void cm_free(struct cm_device *cm)
{
	for (unsigned port = 1; port <= cm->device->phys_port_cnt; port++)
		if (cm->ports[port].serves)
			drv_mad_unserve(cm->device->drv, port, MAD_CLASS_CM);
	cm->stop = true;
	if (cm->waitq)
		cm_wake(cm);
	if (cm->sa_waitq)
		cm_sa_stop(cm);
	while (cm->threads)
		cm->p->ops->waitq_wait(cm->p, cm->gone, CM_NEVER);
	while (!drv_list_empty(&cm->works)) {
		struct cm_work *work = container_of(cm->works.next, struct cm_work, link);

		drv_list_del(&work->link);
		free(work);
	}
	while (!drv_list_empty(&cm->timewaits))
		cm_timewait_free(container_of(cm->timewaits.next, struct cm_timewait, link));
	cma_addr_clear(cm);
	if (cm->waitq)
		cm->p->ops->waitq_destroy(cm->p, cm->waitq);
	if (cm->gone)
		cm->p->ops->waitq_destroy(cm->p, cm->gone);
	if (cm->sa_waitq)
		cm->p->ops->waitq_destroy(cm->p, cm->sa_waitq);
	free(cm);
}

static int serve_ports(struct cm_device *cm)
{
	int rc = -ENODEV;

	for (unsigned port = 1; port <= cm->device->phys_port_cnt; port++) {
		int got = drv_mad_serve(cm->device->drv, port, MAD_CLASS_CM, mad_came, cm);

		if (got && got != -ENODEV)
			return got;
		cm->ports[port].serves = !got;
		rc = got ? rc : 0;
	}
	return rc;
}

int ib_cm_attach(struct ib_device *device)
{
	struct drv_device_attr attr;
	struct cm_device *cm;
	int rc;

	if (device->cm)
		return -EBUSY;
	cm = drv_calloc(1, sizeof(*cm));
	if (!cm)
		return -ENOMEM;
	cm->device = device;
	cm->p = device->platform;
	drv_list_init(&cm->ids);
	drv_list_init(&cm->timewaits);
	drv_list_init(&cm->works);
	drv_list_init(&cm->queries);
	drv_list_init(&cm->addrs);
	drv_list_init(&cm->bound);
	cm->waitq = cm->p->ops->waitq_create(cm->p);
	cm->gone = cm->p->ops->waitq_create(cm->p);
	cm->sa_waitq = cm->p->ops->waitq_create(cm->p);
	rc = cm->waitq && cm->gone && cm->sa_waitq ? drv_query_device(device->drv, &attr) : -ENOMEM;
	if (!rc) {
		cm->guid = attr.node_guid;
		cm->ack_delay = attr.local_ack_delay;
		cm->roce_version = drv_has_roce_v2(device->drv) ? 2 : 1;
		/* ids of two devices differ, so that a mix-up does not go unnoticed */
		cm->last_id = (uint32_t)(cm->guid & FIRST_ID_BITS) << 16;
		rc = serve_ports(cm);
	}
	if (rc) {
		cm_free(cm);
		return rc;
	}
	INIT_IB_EVENT_HANDLER(&cm->port_events, device, port_event);
	ib_register_event_handler(&cm->port_events);
	cm_thread_start(cm, "cm", thread);
	cm_sa_start(cm);
	device->cm = cm;
	return 0;
}

int ib_cm_detach(struct ib_device *device)
{
	struct cm_device *cm = cm_of(device);

	if (!cm)
		return 0;
	if (!drv_list_empty(&cm->ids))
		return -EBUSY;
	device->cm = NULL;
	ib_unregister_event_handler(&cm->port_events);
	cm_free(cm);
	return 0;
}

static unsigned length(const struct drv_list *head)
{
	unsigned n = 0;

	for (const struct drv_list *l = head->next; l != head; l = l->next)
		n++;
	return n;
}

int ib_cm_query_counters(struct ib_device *device, struct ib_cm_counters *counters)
{
	const struct cm_device *cm = cm_of(device);

	if (!cm)
		return -ENODEV;
	*counters = cm->counters;
	counters->ids = length(&cm->ids);
	counters->timewaits = 0;
	for (const struct drv_list *l = cm->timewaits.next; l != &cm->timewaits; l = l->next)
		counters->timewaits +=
			container_of(l, struct cm_timewait, link)->deadline != CM_NEVER;
	return 0;
}
