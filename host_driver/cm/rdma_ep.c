// SPDX-License-Identifier: Apache-2.0
/* The library's side of rdma_cm: synchronous ids. */
#include "host_driver/cm/rdma_lib.h"

#include <string.h>

enum { RESOLVE_TIMEOUT_MS = 2000 /* as librdmacm */ };

/* Takes the next event of the id's own channel, and stores it in id->event. */
static int next_event(struct rdma_cm_id *id)
{
	struct rdma_cm_event *event;

	if (id->event)
		rdma_ack_cm_event(id->event);
	id->event = NULL;
	if (rdma_get_cm_event(id->channel, &event))
		return -1;
	id->event = event;
	if (!event->status)
		return 0;
	return rdma_minus_one(event->event == RDMA_CM_EVENT_REJECTED ? -ECONNREFUSED
			      : event->status < 0                    ? event->status
								     : -event->status);
}

int rdma_complete(struct rdma_cm_id *id)
{
	return LIB_ID(id)->sync ? next_event(id) : 0;
}

int rdma_get_request(struct rdma_cm_id *listen, struct rdma_cm_id **id)
{
	struct lib_id *lib = LIB_ID(listen);
	struct ibv_qp_init_attr init = lib->init;
	struct rdma_cm_event *event;

	if (!lib->sync)
		return rdma_minus_one(-EINVAL);
	if (next_event(listen))
		return -1;
	event = listen->event;
	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST)
		return rdma_minus_one(-EINVAL);
	listen->event = NULL;
	event->id->event = event;
	if (lib->has_init && rdma_create_qp(event->id, lib->init_pd, &init)) {
		const int error = errno;

		rdma_reject(event->id, NULL, 0);
		rdma_destroy_id(event->id);
		return rdma_minus_one(-error);
	}
	*id = event->id;
	return 0;
}

static int resolve(struct rdma_cm_id *id, const struct rdma_addrinfo *res, struct ibv_pd *pd,
		   struct ibv_qp_init_attr *init)
{
	if (rdma_resolve_addr(id, res->ai_src_addr, res->ai_dst_addr, RESOLVE_TIMEOUT_MS) ||
	    rdma_resolve_route(id, RESOLVE_TIMEOUT_MS))
		return -1;
	if (!init)
		return 0;
	init->qp_type = (enum ibv_qp_type)res->ai_qp_type;
	return rdma_create_qp(id, pd, init);
}

int rdma_create_ep(struct rdma_cm_id **out, struct rdma_addrinfo *res, struct ibv_pd *pd,
		   struct ibv_qp_init_attr *init)
{
	struct rdma_cm_id *id;
	int rc = rdma_create_id(NULL, &id, NULL, (enum rdma_port_space)res->ai_port_space);

	if (rc)
		return rc;
	if (res->ai_flags & RAI_PASSIVE) {
		rc = rdma_bind_addr(id, res->ai_src_addr);
		if (init) {
			LIB_ID(id)->init = *init;
			LIB_ID(id)->init.qp_type = id->qp_type;
			LIB_ID(id)->init_pd = pd;
			LIB_ID(id)->has_init = true;
		}
	} else {
		rc = resolve(id, res, pd, init);
	}
	if (rc) {
		const int error = errno;

		rdma_destroy_ep(id);
		return rdma_minus_one(-error);
	}
	*out = id;
	return 0;
}

void rdma_destroy_ep(struct rdma_cm_id *id)
{
	rdma_destroy_qp(id);
	rdma_destroy_id(id);
}
