// SPDX-License-Identifier: Apache-2.0
/* The library's side of rdma_cm: its structures, queue pairs that follow a connection, events. */
#include "host_driver/cm/cma.h"
#include "host_driver/uverbs/lib.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct lib_channel {
	struct rdma_event_channel rdma;
	struct cma_channel *kernel;
};

struct lib_id {
	struct rdma_cm_id rdma;
	struct cma_id *kernel;
	struct ibv_sa_path_rec path;
	uint8_t responder_resources, initiator_depth; /* of the request */
	unsigned acknowledged;
	bool own_qp; /* of rdma_create_qp */
};

struct lib_event {
	struct rdma_cm_event rdma;
	struct lib_id *counted; /* whose event it is */
	uint8_t data[CMA_DATA];
};

#define LIB_CHANNEL(p) DRV_CONTAINER(p, struct lib_channel, rdma)
#define LIB_ID(p)      DRV_CONTAINER(p, struct lib_id, rdma)

/* One call of the kernel; 0, or -1 with errno. */
#define CALL(call)                                                                                 \
	({                                                                                         \
		int rc_;                                                                           \
		uv_kernel_enter();                                                                 \
		rc_ = (call);                                                                      \
		uv_kernel_leave();                                                                 \
		minus_one(rc_);                                                                    \
	})

static int minus_one(int rc)
{
	if (!rc)
		return 0;
	errno = -rc;
	return -1;
}

static struct uv_process *process_of(const struct rdma_cm_id *id)
{
	return LIB_CHANNEL(id->channel)->kernel->process;
}

/* --- channels --- */

struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct uv_process *process = uv_process_current();
	struct lib_channel *c = NULL;
	int rc = -ENODEV;

	for (unsigned i = 0; process && i < process->host->n_devices; i++)
		if (process->host->devices[i]->cm)
			rc = 0;
	if (!rc) {
		c = uv_heap_alloc(process, sizeof(*c));
		rc = c ? 0 : -ENOMEM;
	}
	if (rc)
		return uv_fail(c, rc);
	if (CALL(cma_channel_create(process, &c->kernel)))
		return uv_fail(c, -errno);
	c->rdma.fd = c->kernel->uv->fd;
	return &c->rdma;
}

void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	struct lib_channel *c = LIB_CHANNEL(channel);

	if (!CALL(cma_channel_destroy(c->kernel)))
		uv_heap_free(c);
}

/* --- ids --- */

static struct lib_id *id_new(struct rdma_event_channel *channel, void *context,
			     enum rdma_port_space ps)
{
	struct lib_id *id = uv_heap_alloc(LIB_CHANNEL(channel)->kernel->process, sizeof(*id));

	if (!id)
		return NULL;
	id->rdma.channel = channel;
	id->rdma.context = context;
	id->rdma.ps = ps;
	id->rdma.qp_type = IBV_QPT_RC;
	return id;
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **out, void *context,
		   enum rdma_port_space ps)
{
	struct lib_id *id;
	int rc;

	if (!channel)
		return minus_one(-EINVAL);
	id = id_new(channel, context, ps);
	if (!id)
		return minus_one(-ENOMEM);
	rc = CALL(cma_create(LIB_CHANNEL(channel)->kernel, ps, id, &id->kernel));
	if (rc) {
		uv_heap_free(id);
		return rc;
	}
	*out = &id->rdma;
	return 0;
}

int rdma_destroy_id(struct rdma_cm_id *rdma)
{
	struct lib_id *id = LIB_ID(rdma);
	struct uv_process *process = process_of(rdma);
	struct platform *p = process->host->platform;
	unsigned reported;

	if (CALL(cma_destroy(id->kernel, &reported)))
		return -1;
	while (id->acknowledged != reported)
		p->ops->waitq_wait(p, process->waitq, UINT64_MAX);
	uv_heap_free(id);
	return 0;
}

/* The context of the process: one for all its ids, until it ends. */
static struct ibv_context *context_of(struct uv_process *process, const struct ib_device *ib)
{
	struct cma_process *p = process->rdma;
	struct ibv_device **list;

	if (p->verbs)
		return p->verbs;
	list = ibv_get_device_list(NULL);
	for (unsigned i = 0; list && list[i] && !p->verbs; i++)
		if (DRV_CONTAINER(list[i], struct uv_device, ibv)->ib == ib)
			p->verbs = ibv_open_device(list[i]);
	if (list)
		ibv_free_device_list(list);
	return p->verbs;
}

/* What the kernel knows of the id, once it has an address or a path. */
static int id_update(struct lib_id *id)
{
	struct rdma_cm_id *r = &id->rdma;
	const struct cma_id *k = id->kernel;
	const struct sa_path_rec *path = &k->path;

	memcpy(&r->route.addr.src_storage, &k->src, sizeof(k->src));
	memcpy(&r->route.addr.dst_storage, &k->dst, sizeof(k->dst));
	r->route.addr.addr.ibaddr = (struct rdma_ib_addr){.pkey = path->pkey};
	memcpy(r->route.addr.addr.ibaddr.sgid.raw, path->sgid.raw, sizeof(path->sgid.raw));
	memcpy(r->route.addr.addr.ibaddr.dgid.raw, path->dgid.raw, sizeof(path->dgid.raw));
	r->port_num = (uint8_t)k->port;
	if (k->port && !r->verbs) {
		r->verbs = context_of(process_of(r), k->cm->device);
		if (!r->verbs)
			return -errno;
	}
	if (!path->ib.dlid)
		return 0;
	id->path = (struct ibv_sa_path_rec){
		.dlid = path->ib.dlid,
		.slid = path->ib.slid,
		.raw_traffic = path->ib.raw_traffic,
		.flow_label = path->flow_label,
		.hop_limit = path->hop_limit,
		.traffic_class = path->traffic_class,
		.reversible = path->reversible,
		.numb_path = path->numb_path,
		.pkey = path->pkey,
		.sl = path->sl,
		.mtu_selector = path->mtu_selector,
		.mtu = path->mtu,
		.rate_selector = path->rate_selector,
		.rate = path->rate,
		.packet_life_time_selector = path->packet_life_time_selector,
		.packet_life_time = path->packet_life_time,
		.preference = path->preference,
	};
	id->path.dgid = r->route.addr.addr.ibaddr.dgid;
	id->path.sgid = r->route.addr.addr.ibaddr.sgid;
	r->route.path_rec = &id->path;
	r->route.num_paths = 1;
	return 0;
}

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	int rc = CALL(cma_bind(LIB_ID(id)->kernel, addr));

	return rc ? rc : minus_one(id_update(LIB_ID(id)));
}

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src_addr, struct sockaddr *dst_addr,
		      int timeout_ms)
{
	int rc = CALL(cma_resolve_addr(LIB_ID(id)->kernel, src_addr, dst_addr));

	return rc ? rc : minus_one(id_update(LIB_ID(id)));
}

int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
	return CALL(cma_resolve_route(LIB_ID(id)->kernel, timeout_ms));
}

int rdma_listen(struct rdma_cm_id *id, int backlog)
{
	int rc = CALL(cma_listen(LIB_ID(id)->kernel, backlog));

	return rc ? rc : minus_one(id_update(LIB_ID(id)));
}

__be16 rdma_get_src_port(struct rdma_cm_id *id)
{
	return id->route.addr.src_sin.sin_port;
}

__be16 rdma_get_dst_port(struct rdma_cm_id *id)
{
	return id->route.addr.dst_sin.sin_port;
}

/* --- queue pairs --- */

int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *qp_attr, int *qp_attr_mask)
{
	struct ib_qp_attr attr = {.qp_state = (enum ib_qp_state)qp_attr->qp_state};
	int mask, rc = CALL(cma_init_qp_attr(LIB_ID(id)->kernel, &attr, &mask));

	if (rc)
		return rc;
	uv_attr_from_ib(&attr, qp_attr);
	*qp_attr_mask = mask;
	return 0;
}

/* `resources`: of the transition, RDMA_MAX_RESP_RES as the kernel says. 0 or -1. */
static int move(struct rdma_cm_id *id, enum ibv_qp_state state, uint8_t resources)
{
	struct ibv_qp_attr attr = {.qp_state = state};
	int mask, rc = rdma_init_qp_attr(id, &attr, &mask);

	if (rc)
		return rc;
	if (resources != RDMA_MAX_RESP_RES && mask & IBV_QP_MAX_DEST_RD_ATOMIC)
		attr.max_dest_rd_atomic = resources;
	if (resources != RDMA_MAX_RESP_RES && mask & IBV_QP_MAX_QP_RD_ATOMIC)
		attr.max_rd_atomic = resources;
	return minus_one(-ibv_modify_qp(id->qp, &attr, mask));
}

static int move_to_rts(struct rdma_cm_id *id, uint8_t responder_resources, uint8_t initiator_depth)
{
	return move(id, IBV_QPS_INIT, RDMA_MAX_RESP_RES) ||
			       move(id, IBV_QPS_RTR, responder_resources) ||
			       move(id, IBV_QPS_RTS, initiator_depth)
		       ? -1
		       : 0;
}

static int move_to_error(struct rdma_cm_id *id)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	return id->qp && LIB_ID(id)->own_qp ? minus_one(-ibv_modify_qp(id->qp, &attr, IBV_QP_STATE))
					    : 0;
}

static struct ibv_pd *default_pd(struct rdma_cm_id *id)
{
	struct cma_process *p = process_of(id)->rdma;

	if (!p->pd)
		p->pd = ibv_alloc_pd(id->verbs);
	return p->pd;
}

int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp *qp;

	if (!id->verbs || id->qp || (pd && pd->context != id->verbs) || attr->qp_type != IBV_QPT_RC)
		return minus_one(-EINVAL);
	if (!pd)
		pd = default_pd(id);
	qp = pd ? ibv_create_qp(pd, attr) : NULL;
	if (!qp)
		return -1;
	id->qp = qp;
	if (move(id, IBV_QPS_INIT, RDMA_MAX_RESP_RES)) {
		const int error = errno;

		id->qp = NULL;
		ibv_destroy_qp(qp);
		return minus_one(-error);
	}
	id->pd = pd;
	id->send_cq = qp->send_cq;
	id->recv_cq = qp->recv_cq;
	id->srq = qp->srq;
	LIB_ID(id)->own_qp = true;
	return 0;
}

void rdma_destroy_qp(struct rdma_cm_id *id)
{
	if (!id->qp || ibv_destroy_qp(id->qp))
		return;
	id->qp = NULL;
	LIB_ID(id)->own_qp = false;
}

/* --- connecting --- */

static const struct rdma_conn_param all = {.responder_resources = RDMA_MAX_RESP_RES,
					   .initiator_depth = RDMA_MAX_INIT_DEPTH,
					   .retry_count = 7,
					   .rnr_retry_count = 7};

/* The queue pair's number and SRQ, and what "as many as there are" means. */
static int complete(struct rdma_cm_id *id, const struct rdma_conn_param *given,
		    uint8_t responder_resources, uint8_t initiator_depth, struct rdma_conn_param *p)
{
	const struct drv_device_attr *limits = &LIB_ID(id)->kernel->cm->device->attrs;

	*p = given ? *given : all;
	if (p->responder_resources == RDMA_MAX_RESP_RES)
		p->responder_resources = responder_resources;
	if (p->initiator_depth == RDMA_MAX_INIT_DEPTH)
		p->initiator_depth = initiator_depth;
	if (p->responder_resources > limits->max_dest_rd_atomic ||
	    p->initiator_depth > limits->max_rd_atomic)
		return -EINVAL;
	if (id->qp) {
		p->qp_num = id->qp->qp_num;
		p->srq = id->qp->srq != NULL;
	}
	return 0;
}

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	const struct cma_id *k = LIB_ID(id)->kernel;
	struct rdma_conn_param p;
	int rc;

	if (!k->cm)
		return minus_one(-EINVAL);
	rc = complete(id, param, (uint8_t)k->cm->device->attrs.max_dest_rd_atomic,
		      (uint8_t)k->cm->device->attrs.max_rd_atomic, &p);
	return rc ? minus_one(rc) : CALL(cma_connect(LIB_ID(id)->kernel, &p));
}

int rdma_establish(struct rdma_cm_id *id)
{
	return CALL(cma_accept(LIB_ID(id)->kernel, NULL));
}

int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	struct lib_id *lib = LIB_ID(id);
	struct rdma_conn_param p;
	int rc;

	if (lib->kernel->state != CMA_CONNECT)
		return minus_one(-EINVAL);
	rc = complete(id, param, lib->responder_resources, lib->initiator_depth, &p);
	if (rc)
		return minus_one(rc);
	if (id->qp && lib->own_qp && move_to_rts(id, p.responder_resources, p.initiator_depth)) {
		const int error = errno;

		move_to_error(id);
		return minus_one(-error);
	}
	rc = CALL(cma_accept(lib->kernel, &p));
	if (rc) {
		const int error = errno;

		move_to_error(id);
		return minus_one(-error);
	}
	return 0;
}

int rdma_reject(struct rdma_cm_id *id, const void *private_data, uint8_t private_data_len)
{
	return CALL(cma_reject(LIB_ID(id)->kernel, private_data, private_data_len));
}

int rdma_notify(struct rdma_cm_id *id, enum ibv_event_type event)
{
	return CALL(cma_notify(LIB_ID(id)->kernel, (enum ib_event_type)event));
}

int rdma_disconnect(struct rdma_cm_id *id)
{
	const struct cma_id *k = LIB_ID(id)->kernel;

	if (!k->ib || (k->state != CMA_CONNECT && k->state != CMA_DISCONNECT))
		return minus_one(-EINVAL);
	if (move_to_error(id))
		return -1;
	return CALL(cma_disconnect(LIB_ID(id)->kernel));
}

/* --- events --- */

static int new_connection(struct lib_event *e, struct lib_id *listener, struct cma_id *kernel)
{
	struct lib_id *id =
		id_new(listener->rdma.channel, listener->rdma.context, listener->rdma.ps);
	int rc;

	if (!id)
		return -ENOMEM;
	id->kernel = kernel;
	id->responder_resources = kernel->responder_resources;
	id->initiator_depth = kernel->initiator_depth;
	rc = id_update(id);
	if (rc) {
		uv_heap_free(id);
		return rc;
	}
	kernel->user = id;
	e->rdma.id = &id->rdma;
	e->rdma.listen_id = &listener->rdma;
	e->counted = listener;
	return 0;
}

/* The answer has come: the queue pair follows, then the peer hears that it may send. */
static void finish_connect(struct lib_event *e, struct lib_id *id)
{
	if (!id->rdma.qp || !id->own_qp)
		return;
	if (!move_to_rts(&id->rdma, RDMA_MAX_RESP_RES, RDMA_MAX_RESP_RES) &&
	    !CALL(cma_accept(id->kernel, NULL))) {
		e->rdma.event = RDMA_CM_EVENT_ESTABLISHED;
		return;
	}
	e->rdma.event = RDMA_CM_EVENT_CONNECT_ERROR;
	e->rdma.status = -errno;
	move_to_error(&id->rdma);
	CALL(cma_reject(id->kernel, NULL, 0));
}

/* 0, or -errno: it is not for the program. */
static int event_fill(struct lib_event *e, const struct cma_event *k)
{
	struct lib_id *id = k->id->user;

	e->rdma.event = k->type;
	e->rdma.status = k->status;
	e->rdma.param.conn = k->conn;
	memcpy(e->data, k->data, sizeof(e->data));
	e->rdma.param.conn.private_data = k->conn.private_data ? e->data : NULL;
	if (k->listener)
		return new_connection(e, k->listener->user, k->id);
	e->rdma.id = &id->rdma;
	e->counted = id;
	if (k->type == RDMA_CM_EVENT_ROUTE_RESOLVED)
		return id_update(id);
	if (k->type == RDMA_CM_EVENT_CONNECT_RESPONSE)
		finish_connect(e, id);
	else if (k->type == RDMA_CM_EVENT_REJECTED)
		move_to_error(&id->rdma);
	return 0;
}

/* A request that the process cannot have is refused. */
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
		return minus_one(-ENOMEM);
	while (!(k = cma_take(c))) {
		if (c->process->fds[channel->fd].nonblock) {
			uv_heap_free(e);
			return minus_one(-EAGAIN);
		}
		uv_wait_readable(c->process, channel->fd, UINT64_MAX);
	}
	/* the kernel's event is the process' now: it goes whenever that ends */
	uv_kernel_enter();
	rc = event_fill(e, k);
	if (rc)
		drop(k);
	free(k);
	uv_kernel_leave();
	if (rc) {
		uv_heap_free(e);
		return minus_one(rc);
	}
	*event = &e->rdma;
	e->rdma.id->event = &e->rdma;
	return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	struct lib_event *e = DRV_CONTAINER(event, struct lib_event, rdma);
	struct uv_process *process;
	struct platform *p;

	if (!event)
		return minus_one(-EINVAL);
	process = process_of(event->id);
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

	return (unsigned)event < sizeof(names) / sizeof(names[0]) ? names[event] : "UNKNOWN EVENT";
}
