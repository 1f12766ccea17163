// SPDX-License-Identifier: Apache-2.0
/* The RDMA core's device: registration, ports, and passing the driver's events to their objects. */
#include "host_driver/core/core.h"
#include "model/interface/macros.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRACE_CHARS = 160 };

struct device {
	struct ib_device ib;
	void (*event_fn)(void *arg, const struct drv_event *event);
	void *event_arg;
};

void core_trace(struct ib_device *device, bool enter, const char *name, const char *fmt, ...)
{
	char text[TRACE_CHARS];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	device->platform->ops->trace_call(
		device->platform,
		&(struct platform_call){.kind = enter ? PLATFORM_CALL_ENTER : PLATFORM_CALL_EXIT,
					.name = name,
					.args = text});
}

/* --- events --- */

static const char *const event_names[] = {
	[IB_EVENT_CQ_ERR] = "CQ error",
	[IB_EVENT_QP_FATAL] = "QP fatal error",
	[IB_EVENT_QP_REQ_ERR] = "QP request error",
	[IB_EVENT_QP_ACCESS_ERR] = "QP access error",
	[IB_EVENT_COMM_EST] = "communication established",
	[IB_EVENT_SQ_DRAINED] = "send queue drained",
	[IB_EVENT_PATH_MIG] = "path migration successful",
	[IB_EVENT_PATH_MIG_ERR] = "path migration failed",
	[IB_EVENT_DEVICE_FATAL] = "device fatal error",
	[IB_EVENT_PORT_ACTIVE] = "port active",
	[IB_EVENT_PORT_ERR] = "port error",
	[IB_EVENT_LID_CHANGE] = "LID changed",
	[IB_EVENT_PKEY_CHANGE] = "P_key changed",
	[IB_EVENT_SM_CHANGE] = "SM changed",
	[IB_EVENT_SRQ_ERR] = "SRQ error",
	[IB_EVENT_SRQ_LIMIT_REACHED] = "SRQ limit reached",
	[IB_EVENT_QP_LAST_WQE_REACHED] = "last WQE reached",
	[IB_EVENT_CLIENT_REREGISTER] = "client reregister",
	[IB_EVENT_GID_CHANGE] = "GID changed",
};

const char *ib_event_msg(enum ib_event_type event)
{
	if ((size_t)event >= ARRAY_SIZE(event_names))
		return "unrecognized event";
	return event_names[event];
}

/* The device has died. The driver now flushes what the queues still hold, so a completion event
 * makes the owners of the CQs poll. */
static void device_died(struct ib_device *device)
{
	for (struct drv_list *l = device->qps.next; l != &device->qps; l = l->next) {
		struct ib_qp *qp = container_of(l, struct ib_qp, link);

		if (qp->send_cq && drv_cq_flushable(qp->send_cq->drv))
			core_cq_completion(qp->send_cq);
		if (qp->recv_cq && drv_cq_flushable(qp->recv_cq->drv))
			core_cq_completion(qp->recv_cq);
	}
	core_wake(device);
}

static void port_event(struct ib_device *device, const struct drv_event *event)
{
	struct ib_event e = {.device = device,
			     .element.port_num = event->port,
			     .event = (enum ib_event_type)event->type};
	struct drv_list *l = device->event_handlers.next;

	while (l != &device->event_handlers) {
		struct ib_event_handler *h = container_of(l, struct ib_event_handler, list);

		l = l->next;
		h->handler(h, &e);
	}
}

static void cq_event(struct ib_cq *cq, const struct drv_event *event)
{
	struct ib_event e = {
		.device = cq->device, .element.cq = cq, .event = (enum ib_event_type)event->type};

	if (cq->event_handler)
		cq->event_handler(&e, cq->cq_context);
}

static void srq_event(struct ib_srq *srq, const struct drv_event *event)
{
	struct ib_event e = {.device = srq->device,
			     .element.srq = srq,
			     .event = (enum ib_event_type)event->type};

	if (srq->event_handler)
		srq->event_handler(&e, srq->srq_context);
}

static void event_came(void *arg, const struct drv_event *event)
{
	struct device *d = arg;
	struct ib_qp *qp = event->qp ? drv_qp_owner(event->qp) : NULL;
	struct ib_cq *cq = event->cq ? drv_cq_owner(event->cq) : NULL;
	struct ib_srq *srq = event->srq ? drv_srq_owner(event->srq) : NULL;

	if ((qp && qp->dying) || (cq && cq->dying) || (srq && srq->dying))
		return;
	if (qp) {
		core_qp_event(qp, (enum ib_event_type)event->type);
	} else if (cq) {
		cq_event(cq, event);
	} else if (srq) {
		srq_event(srq, event);
	} else {
		if (event->type == IBV_EVENT_DEVICE_FATAL)
			device_died(&d->ib);
		if (!event->qp && !event->cq && !event->srq)
			port_event(&d->ib, event);
		if (d->event_fn)
			d->event_fn(d->event_arg, event);
	}
}

int ib_register_event_handler(struct ib_event_handler *handler)
{
	drv_list_add(&handler->device->event_handlers, &handler->list);
	return 0;
}

void ib_unregister_event_handler(struct ib_event_handler *handler)
{
	drv_list_del(&handler->list);
}

/* --- life --- */

int ib_device_create(struct drv_device *drv, const char *name,
		     void (*event_fn)(void *arg, const struct drv_event *event), void *event_arg,
		     struct ib_device **device)
{
	struct device *d = drv_calloc(1, sizeof(*d));
	int rc;

	if (!d)
		return -ENOMEM;
	rc = drv_query_device(drv, &d->ib.attrs);
	if (rc) {
		free(d);
		return rc;
	}
	d->ib.waitq = drv_platform(drv)->ops->waitq_create(drv_platform(drv));
	if (!d->ib.waitq) {
		free(d);
		return -ENOMEM;
	}
	snprintf(d->ib.name, sizeof(d->ib.name), "%s", name);
	d->ib.drv = drv;
	d->ib.platform = drv_platform(drv);
	d->ib.phys_port_cnt = d->ib.attrs.ports;
	d->ib.num_comp_vectors = d->ib.attrs.comp_vectors;
	drv_list_init(&d->ib.event_handlers);
	drv_list_init(&d->ib.qps);
	drv_list_init(&d->ib.xrcds);
	d->event_fn = event_fn;
	d->event_arg = event_arg;
	drv_event_register(drv, event_came, d);
	*device = &d->ib;
	return 0;
}

unsigned ib_device_objects(const struct ib_device *device)
{
	unsigned n =
		device->pds + device->mrs + device->mws + device->cqs + device->srqs + device->ahs;

	for (const struct drv_list *l = device->qps.next; l != &device->qps; l = l->next)
		n++;
	for (const struct drv_list *l = device->xrcds.next; l != &device->xrcds; l = l->next)
		n++;
	return n;
}

int ib_device_destroy(struct ib_device *device)
{
	struct device *d = container_of(device, struct device, ib);

	if (ib_device_objects(device))
		return -EBUSY;
	drv_event_register(device->drv, d->event_fn, d->event_arg);
	device->platform->ops->waitq_destroy(device->platform, device->waitq);
	free(d);
	return 0;
}

/* --- ports --- */

static bool port_ok(const struct ib_device *device, unsigned port)
{
	return port && port <= device->phys_port_cnt;
}

int ib_query_port(struct ib_device *device, unsigned port, struct ib_port_attr *attr)
{
	struct drv_port_attr a;
	int rc;

	if (!port_ok(device, port))
		return -EINVAL;
	rc = drv_query_port(device->drv, port, &a);
	if (rc)
		return rc;
	*attr = (struct ib_port_attr){
		.state = (enum ib_port_state)a.state,
		.max_mtu = (enum ib_mtu)a.max_mtu,
		.active_mtu = (enum ib_mtu)a.active_mtu,
		.gid_tbl_len = (int)a.gid_count,
		.pkey_tbl_len = (int)a.pkey_count,
		.port_cap_flags = a.cap_mask,
		.max_msg_sz = (uint32_t)device->attrs.max_message,
		.bad_pkey_cntr = a.bad_pkeys,
		.qkey_viol_cntr = a.bad_qkeys,
		.lid = a.lid,
		.sm_lid = a.sm_lid,
		.lmc = (uint8_t)a.lmc,
		.max_vl_num = (uint8_t)a.vl_cap,
		.sm_sl = (uint8_t)a.sm_sl,
		.subnet_timeout = (uint8_t)a.subnet_timeout,
		.active_width = (uint8_t)a.active_width,
		.active_speed =
			(uint16_t)(a.active_ext_speed ? a.active_ext_speed << 4 : a.active_speed),
		.phys_state = (uint8_t)a.phys_state,
	};
	return 0;
}

int ib_query_gid(struct ib_device *device, unsigned port, int index, union ib_gid *gid)
{
	if (!port_ok(device, port) || index < 0 || (unsigned)index >= device->attrs.gids[port])
		return -EINVAL;
	return drv_query_gid(device->drv, port, (unsigned)index, gid->raw);
}

int ib_query_pkey(struct ib_device *device, unsigned port, unsigned index, uint16_t *pkey)
{
	if (!port_ok(device, port) || index >= device->attrs.pkeys[port])
		return -EINVAL;
	return drv_query_pkey(device->drv, port, index, pkey);
}
