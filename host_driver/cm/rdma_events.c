// SPDX-License-Identifier: Apache-2.0
/* The library's side of rdma_cm: takes events, and updates the id and its queue pair. */
#include "host_driver/cm/rdma_lib.h"
#include "model/interface/macros.h"

#include <stdlib.h>
#include <string.h>

static int new_connection(struct lib_event *e, struct lib_id *listener, struct cma_id *kernel)
{
	struct lib_id *id =
		rdma_id_new(listener->rdma.channel, listener->rdma.context, listener->rdma.ps);
	int rc;

	if (!id)
		return -ENOMEM;
	id->kernel = kernel;
	id->responder_resources = kernel->responder_resources;
	id->initiator_depth = kernel->initiator_depth;
	rc = rdma_id_update(id);
	if (rc) {
		uv_heap_free(id);
		return rc;
	}
	kernel->user = id;
	if (listener->sync && rdma_migrate_id(&id->rdma, NULL)) {
		rc = -errno;
		kernel->user = NULL;
		uv_heap_free(id);
		return rc;
	}
	e->rdma.id = &id->rdma;
	e->rdma.listen_id = &listener->rdma;
	e->counted = listener;
	return 0;
}

/* The peer has accepted. Moves the queue pair to RTS first, and then tells the peer that it may
 * send. */
static void finish_connect(struct lib_event *e, struct lib_id *id)
{
	if (!id->rdma.qp || !id->own_qp)
		return;
	if (!rdma_move_to_rts(&id->rdma, RDMA_MAX_RESP_RES, RDMA_MAX_RESP_RES) &&
	    !CALL(cma_accept(id->kernel, NULL))) {
		e->rdma.event = RDMA_CM_EVENT_ESTABLISHED;
		return;
	}
	e->rdma.event = RDMA_CM_EVENT_CONNECT_ERROR;
	e->rdma.status = -errno;
	rdma_move_to_error(&id->rdma);
	CALL(cma_reject(id->kernel, NULL, 0));
}

/* 0, or -errno: the program does not get this event. */
static int event_fill(struct lib_event *e, const struct cma_event *k)
{
	struct lib_id *id = k->id->user;

	e->rdma.event = k->type;
	e->rdma.status = k->status;
	if (k->id->ud)
		e->rdma.param.ud = k->param.ud;
	else
		e->rdma.param.conn = k->param.conn;
	memcpy(e->data, k->data, sizeof(e->data));
	e->rdma.param.conn.private_data = k->param.conn.private_data ? e->data : NULL;
	if (k->listener)
		return new_connection(e, k->listener->user, k->id);
	e->rdma.id = &id->rdma;
	e->counted = id;
	if (k->type == RDMA_CM_EVENT_ROUTE_RESOLVED)
		return rdma_id_update(id);
	if (k->type == RDMA_CM_EVENT_CONNECT_RESPONSE)
		finish_connect(e, id);
	else if (k->type == RDMA_CM_EVENT_REJECTED)
		rdma_move_to_error(&id->rdma);
	return 0;
}

/* The process cannot get this event. A connection request is refused. */
static void drop(struct cma_event *k)
{
	struct lib_id *counted = k->listener ? k->listener->user : k->id->user;

	counted->acknowledged++;
	if (k->listener)
		CALL(cma_destroy(k->id, NULL));
}

int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	struct cma_channel *c = LIB_CHANNEL(channel)->kernel;
	struct lib_event *e = uv_heap_alloc(c->process, sizeof(*e));
	struct cma_event *k;
	int rc;

	if (!e)
		return rdma_minus_one(-ENOMEM);
	while (!(k = cma_take(c))) {
		if (c->process->fds[channel->fd].nonblock) {
			uv_heap_free(e);
			return rdma_minus_one(-EAGAIN);
		}
		uv_wait_readable(c->process, channel->fd, UINT64_MAX);
	}
	/* The event has left the kernel's queue. The process must not be killed before it is
	 * freed. */
	uv_kernel_enter();
	rc = event_fill(e, k);
	if (rc)
		drop(k);
	free(k);
	uv_kernel_leave();
	if (rc) {
		uv_heap_free(e);
		return rdma_minus_one(rc);
	}
	*event = &e->rdma;
	return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	struct lib_event *e = container_of(event, struct lib_event, rdma);
	struct uv_process *process;
	struct platform *p;

	if (!event)
		return rdma_minus_one(-EINVAL);
	process = rdma_process_of(event->id);
	p = process->host->platform;
	if (event->id->event == event)
		event->id->event = NULL;
	e->counted->acknowledged++;
	p->ops->waitq_wake_all(p, process->waitq);
	uv_heap_free(e);
	return 0;
}

const char *rdma_event_str(enum rdma_cm_event_type event)
{
	static const char *const names[] = {
		[RDMA_CM_EVENT_ADDR_RESOLVED] = "RDMA_CM_EVENT_ADDR_RESOLVED",
		[RDMA_CM_EVENT_ADDR_ERROR] = "RDMA_CM_EVENT_ADDR_ERROR",
		[RDMA_CM_EVENT_ROUTE_RESOLVED] = "RDMA_CM_EVENT_ROUTE_RESOLVED",
		[RDMA_CM_EVENT_ROUTE_ERROR] = "RDMA_CM_EVENT_ROUTE_ERROR",
		[RDMA_CM_EVENT_CONNECT_REQUEST] = "RDMA_CM_EVENT_CONNECT_REQUEST",
		[RDMA_CM_EVENT_CONNECT_RESPONSE] = "RDMA_CM_EVENT_CONNECT_RESPONSE",
		[RDMA_CM_EVENT_CONNECT_ERROR] = "RDMA_CM_EVENT_CONNECT_ERROR",
		[RDMA_CM_EVENT_UNREACHABLE] = "RDMA_CM_EVENT_UNREACHABLE",
		[RDMA_CM_EVENT_REJECTED] = "RDMA_CM_EVENT_REJECTED",
		[RDMA_CM_EVENT_ESTABLISHED] = "RDMA_CM_EVENT_ESTABLISHED",
		[RDMA_CM_EVENT_DISCONNECTED] = "RDMA_CM_EVENT_DISCONNECTED",
		[RDMA_CM_EVENT_DEVICE_REMOVAL] = "RDMA_CM_EVENT_DEVICE_REMOVAL",
		[RDMA_CM_EVENT_MULTICAST_JOIN] = "RDMA_CM_EVENT_MULTICAST_JOIN",
		[RDMA_CM_EVENT_MULTICAST_ERROR] = "RDMA_CM_EVENT_MULTICAST_ERROR",
		[RDMA_CM_EVENT_ADDR_CHANGE] = "RDMA_CM_EVENT_ADDR_CHANGE",
		[RDMA_CM_EVENT_TIMEWAIT_EXIT] = "RDMA_CM_EVENT_TIMEWAIT_EXIT",
	};

	return (unsigned)event < ARRAY_SIZE(names) ? names[event] : "UNKNOWN EVENT";
}
