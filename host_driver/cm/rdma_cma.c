// SPDX-License-Identifier: Apache-2.0
/* The library's side of rdma_cm: channels, ids, addresses and routes, connecting. */
#include "host_driver/cm/rdma_lib.h"
#include "model/interface/macros.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct uv_process *rdma_process_of(const struct rdma_cm_id *id)
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

struct lib_id *rdma_id_new(struct rdma_event_channel *channel, void *context,
			   enum rdma_port_space ps)
{
	struct lib_id *id = uv_heap_alloc(LIB_CHANNEL(channel)->kernel->process, sizeof(*id));

	if (!id)
		return NULL;
	id->rdma.channel = channel;
	id->rdma.context = context;
	id->rdma.ps = ps;
	id->rdma.qp_type = ps == RDMA_PS_UDP ? IBV_QPT_UD : IBV_QPT_RC;
	return id;
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **out, void *context,
		   enum rdma_port_space ps)
{
	struct rdma_event_channel *own = channel ? NULL : rdma_create_event_channel();
	struct lib_id *id;

	if (!channel && !own)
		return -1;
	id = rdma_id_new(channel ? channel : own, context, ps);
	if (!id || CALL(cma_create(LIB_CHANNEL(id->rdma.channel)->kernel, ps, id, &id->kernel))) {
		const int error = id ? errno : ENOMEM;

		uv_heap_free(id);
		if (own)
			rdma_destroy_event_channel(own);
		return rdma_minus_one(-error);
	}
	id->sync = own;
	*out = &id->rdma;
	return 0;
}

/* Waits until the program has acknowledged every event that it took. */
static void wait_acknowledged(struct lib_id *id, const unsigned *reported)
{
	struct uv_process *process = rdma_process_of(&id->rdma);
	struct platform *p = process->host->platform;

	while (id->acknowledged != *reported)
		p->ops->waitq_wait(p, process->waitq, UINT64_MAX);
}

int rdma_destroy_id(struct rdma_cm_id *rdma)
{
	struct lib_id *id = LIB_ID(rdma);
	unsigned reported;

	if (id->sync && rdma->event)
		rdma_ack_cm_event(rdma->event);
	if (CALL(cma_destroy(id->kernel, &reported)))
		return -1;
	wait_acknowledged(id, &reported);
	if (id->sync)
		rdma_destroy_event_channel(rdma->channel);
	uv_heap_free(id);
	return 0;
}

int rdma_migrate_id(struct rdma_cm_id *rdma, struct rdma_event_channel *channel)
{
	struct rdma_event_channel *own = channel ? NULL : rdma_create_event_channel();
	struct rdma_event_channel *old = rdma->channel;
	struct lib_id *id = LIB_ID(rdma);

	if (!channel && !own)
		return -1;
	if (id->sync && rdma->event)
		rdma_ack_cm_event(rdma->event);
	uv_kernel_enter();
	cma_migrate(id->kernel, LIB_CHANNEL(channel ? channel : own)->kernel);
	uv_kernel_leave();
	rdma->channel = channel ? channel : own;
	wait_acknowledged(id, &id->kernel->reported);
	if (id->sync)
		rdma_destroy_event_channel(old);
	id->sync = own;
	return 0;
}

int rdma_set_option(struct rdma_cm_id *id, int level, int optname, void *optval, size_t optlen)
{
	return CALL(cma_set_option(LIB_ID(id)->kernel, level, optname, optval, optlen));
}

/* The verbs context of the process. All its ids share one, which stays open until the process
 * ends. */
static struct ibv_context *context_of(struct uv_process *process, const struct ib_device *ib)
{
	struct cma_process *p = process->rdma;
	struct ibv_device **list;

	if (p->verbs)
		return p->verbs;
	list = ibv_get_device_list(NULL);
	for (unsigned i = 0; list && list[i] && !p->verbs; i++)
		if (container_of(list[i], struct uv_device, ibv)->ib == ib)
			p->verbs = ibv_open_device(list[i]);
	if (list)
		ibv_free_device_list(list);
	return p->verbs;
}

int rdma_id_update(struct lib_id *id)
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
		r->verbs = context_of(rdma_process_of(r), k->cm->device);
		if (!r->verbs)
			return -errno;
	}
	if (path->rec_type == SA_PATH_REC_TYPE_IB && !path->ib.dlid)
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

	return rc ? rc : rdma_minus_one(rdma_id_update(LIB_ID(id)));
}

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src_addr, struct sockaddr *dst_addr,
		      int timeout_ms)
{
	if (CALL(cma_resolve_addr(LIB_ID(id)->kernel, src_addr, dst_addr, timeout_ms)) ||
	    rdma_minus_one(rdma_id_update(LIB_ID(id))))
		return -1;
	return rdma_complete(id);
}

int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
	return CALL(cma_resolve_route(LIB_ID(id)->kernel, timeout_ms)) ? -1 : rdma_complete(id);
}

int rdma_listen(struct rdma_cm_id *id, int backlog)
{
	int rc = CALL(cma_listen(LIB_ID(id)->kernel, backlog));

	return rc ? rc : rdma_minus_one(rdma_id_update(LIB_ID(id)));
}

__be16 rdma_get_src_port(struct rdma_cm_id *id)
{
	return id->route.addr.src_sin.sin_port;
}

__be16 rdma_get_dst_port(struct rdma_cm_id *id)
{
	return id->route.addr.dst_sin.sin_port;
}

/* --- connecting --- */

static const struct rdma_conn_param all = {.responder_resources = RDMA_MAX_RESP_RES,
					   .initiator_depth = RDMA_MAX_INIT_DEPTH,
					   .retry_count = 7,
					   .rnr_retry_count = 7};

/* Completes the parameters: sets the queue pair's number and whether it has an SRQ, and replaces
 * RDMA_MAX_RESP_RES and RDMA_MAX_INIT_DEPTH by numbers. */
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
		return rdma_minus_one(-EINVAL);
	rc = complete(id, param, (uint8_t)k->cm->device->attrs.max_dest_rd_atomic,
		      (uint8_t)k->cm->device->attrs.max_rd_atomic, &p);
	if (rc)
		return rdma_minus_one(rc);
	return CALL(cma_connect(LIB_ID(id)->kernel, &p)) ? -1 : rdma_complete(id);
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
		return rdma_minus_one(-EINVAL);
	rc = complete(id, param, lib->responder_resources, lib->initiator_depth, &p);
	if (rc)
		return rdma_minus_one(rc);
	if (!rdma_is_ud(id) && id->qp && lib->own_qp &&
	    rdma_move_to_rts(id, p.responder_resources, p.initiator_depth)) {
		const int error = errno;

		rdma_move_to_error(id);
		return rdma_minus_one(-error);
	}
	rc = CALL(cma_accept(lib->kernel, &p));
	if (rc) {
		const int error = errno;

		rdma_move_to_error(id);
		return rdma_minus_one(-error);
	}
	return rdma_is_ud(id) ? 0 : rdma_complete(id);
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
		return rdma_minus_one(-EINVAL);
	if (rdma_move_to_error(id))
		return -1;
	return CALL(cma_disconnect(LIB_ID(id)->kernel)) ? -1 : rdma_complete(id);
}
