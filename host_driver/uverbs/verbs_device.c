// SPDX-License-Identifier: Apache-2.0
/* The library: devices, contexts, queries of devices and ports, asynchronous events. */
#include "host_driver/uverbs/lib.h"
#include "model/interface/macros.h"

#include <arpa/inet.h>
#include <endian.h>
#include <limits.h>
#include <stdio.h>

enum {
	MAX_GROUPS = 8192,
	PAGE_SIZES = 0xfffff000u, /* as mlx4_ib says: 4 KiB and above */
};

/* --- devices --- */

struct ibv_device **ibv_get_device_list(int *num)
{
	struct uv_process *process = uv_process_current();
	struct ibv_device **list;
	unsigned n;

	if (!process) {
		errno = ENOSYS;
		return NULL;
	}
	n = process->host->n_devices;
	list = uv_heap_alloc(process, (n + 1) * sizeof(struct ibv_device *));
	for (unsigned i = 0; i < n && list; i++) {
		struct uv_device *d = uv_heap_alloc(process, sizeof(*d));

		if (!d) {
			ibv_free_device_list(list);
			list = NULL;
			break;
		}
		d->ib = process->host->devices[i];
		d->refs = 1;
		d->ibv.node_type = IBV_NODE_CA;
		d->ibv.transport_type = IBV_TRANSPORT_IB;
		snprintf(d->ibv.name, sizeof(d->ibv.name), "%s", d->ib->name);
		snprintf(d->ibv.dev_name, sizeof(d->ibv.dev_name), "uverbs%u", i);
		snprintf(d->ibv.dev_path, sizeof(d->ibv.dev_path),
			 "/sys/class/infiniband_verbs/uverbs%u", i);
		snprintf(d->ibv.ibdev_path, sizeof(d->ibv.ibdev_path), "/sys/class/infiniband/%s",
			 d->ib->name);
		list[i] = &d->ibv;
	}
	if (!list) {
		errno = ENOMEM;
		return NULL;
	}
	if (num)
		*num = (int)n;
	return list;
}

static void device_put(struct ibv_device *device)
{
	struct uv_device *d = container_of(device, struct uv_device, ibv);

	if (!--d->refs)
		uv_heap_free(d);
}

void ibv_free_device_list(struct ibv_device **list)
{
	for (unsigned i = 0; list[i]; i++)
		device_put(list[i]);
	uv_heap_free(list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

__be64 ibv_get_device_guid(struct ibv_device *device)
{
	return htobe64(container_of(device, struct uv_device, ibv)->ib->attrs.node_guid);
}

/* --- contexts --- */

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct uv_device *d = container_of(device, struct uv_device, ibv);
	struct uv_process *process = uv_process_current();
	struct uv_context *c;
	int rc;

	if (!process) {
		errno = ENOSYS;
		return NULL;
	}
	c = uv_heap_alloc(process, sizeof(*c));
	if (!c)
		return uv_fail(NULL, -ENOMEM);
	c->process = process;
	uv_kernel_enter();
	rc = uvk_open(process, d->ib, &c->file);
	uv_kernel_leave();
	if (rc)
		return uv_fail(c, rc);
	d->refs++;
	c->ibv = (struct ibv_context){.device = device,
				      .cmd_fd = -1,
				      .async_fd = c->file->async->fd,
				      .num_comp_vectors = (int)d->ib->num_comp_vectors};
	return &c->ibv;
}

int ibv_close_device(struct ibv_context *context)
{
	struct uv_context *c = UV_CONTEXT(context);

	if (c->file->calls)
		return EBUSY;
	uv_kernel_enter();
	uvk_close(c->file);
	uv_kernel_leave();
	device_put(context->device);
	uv_heap_free(c);
	return 0;
}

/* --- queries --- */

static unsigned device_flags(const struct ib_device *ib)
{
	static const struct {
		unsigned cap, flag;
	} map[] = {
		{DEV_CAP_BAD_PKEY_CNT, IBV_DEVICE_BAD_PKEY_CNTR},
		{DEV_CAP_BAD_QKEY_CNT, IBV_DEVICE_BAD_QKEY_CNTR},
		{DEV_CAP_APM, IBV_DEVICE_AUTO_PATH_MIG},
		{DEV_CAP_UD_AV_PORT, IBV_DEVICE_UD_AV_PORT_ENFORCE},
		{DEV_CAP_XRC, IBV_DEVICE_XRC},
		{DEV_CAP_MEM_WINDOW, IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2B},
	};
	unsigned flags = IBV_DEVICE_CHANGE_PHY_PORT | IBV_DEVICE_PORT_ACTIVE_EVENT |
			 IBV_DEVICE_SYS_IMAGE_GUID | IBV_DEVICE_RC_RNR_NAK_GEN |
			 IBV_DEVICE_MEM_MGT_EXTENSIONS;

	for (size_t i = 0; i < ARRAY_SIZE(map); i++)
		if (ib->attrs.flags & UINT64_C(1) << map[i].cap)
			flags |= map[i].flag;
	return flags;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	const struct ib_device *ib = UV_CONTEXT(context)->file->device;
	const struct drv_device_attr *a = &ib->attrs;
	const unsigned sge = a->max_send_sge < a->max_recv_sge ? a->max_send_sge : a->max_recv_sge;

	*attr = (struct ibv_device_attr){
		.node_guid = htobe64(a->node_guid),
		.sys_image_guid = htobe64(a->sys_image_guid),
		.max_mr_size = UINT64_MAX,
		.page_size_cap = PAGE_SIZES,
		.vendor_id = a->vendor_id,
		.vendor_part_id = a->device_id,
		.hw_ver = a->revision,
		.max_qp = (int)a->max_qp,
		.max_qp_wr = (int)a->max_qp_wr,
		.device_cap_flags = device_flags(ib),
		.max_sge = (int)sge,
		.max_sge_rd = (int)sge,
		.max_cq = (int)a->max_cq,
		.max_cqe = (int)a->max_cqe,
		.max_mr = (int)a->max_mr,
		.max_pd = (int)a->max_pd,
		.max_qp_rd_atom = (int)a->max_dest_rd_atomic,
		.max_res_rd_atom = (int)(a->max_dest_rd_atomic * a->max_qp),
		.max_qp_init_rd_atom = (int)a->max_rd_atomic,
		.atomic_cap = IBV_ATOMIC_HCA,
		.max_mw = (int)a->max_mr,
		.max_mcast_grp = MAX_GROUPS,
		.max_mcast_qp_attach = MCG_MEMBERS_MAX,
		.max_total_mcast_qp_attach = MAX_GROUPS * MCG_MEMBERS_MAX,
		.max_ah = INT_MAX,
		.max_srq = (int)a->max_srq,
		.max_srq_wr = (int)a->max_srq_wr,
		.max_srq_sge = (int)a->max_recv_sge - 1,
		.max_pkeys = (uint16_t)a->pkeys[1],
		.local_ca_ack_delay = (uint8_t)a->local_ack_delay,
		.phys_port_cnt = (uint8_t)a->ports,
	};
	snprintf(attr->fw_ver, sizeof(attr->fw_ver), "%s", a->fw_version);
	return 0;
}

int ibv_query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr)
{
	struct ib_port_attr a;
	int rc = UV_CALL(context, ib_query_port(file->device, port_num, &a));

	if (rc)
		return -rc;
	*attr = (struct ibv_port_attr){
		.state = (enum ibv_port_state)a.state,
		.max_mtu = (enum ibv_mtu)a.max_mtu,
		.active_mtu = (enum ibv_mtu)a.active_mtu,
		.gid_tbl_len = a.gid_tbl_len,
		.port_cap_flags = a.port_cap_flags,
		.max_msg_sz = a.max_msg_sz,
		.bad_pkey_cntr = a.bad_pkey_cntr,
		.qkey_viol_cntr = a.qkey_viol_cntr,
		.pkey_tbl_len = (uint16_t)a.pkey_tbl_len,
		.lid = (uint16_t)a.lid,
		.sm_lid = (uint16_t)a.sm_lid,
		.lmc = a.lmc,
		.max_vl_num = a.max_vl_num,
		.sm_sl = a.sm_sl,
		.subnet_timeout = a.subnet_timeout,
		.init_type_reply = a.init_type_reply,
		.active_width = a.active_width,
		.active_speed = (uint8_t)a.active_speed,
		.phys_state = a.phys_state,
		.link_layer = rdma_protocol_roce(UV_CONTEXT(context)->file->device, port_num)
				      ? IBV_LINK_LAYER_ETHERNET
				      : IBV_LINK_LAYER_INFINIBAND,
	};
	return 0;
}

static int minus_one(int rc)
{
	if (!rc)
		return 0;
	errno = -rc;
	return -1;
}

int ibv_query_gid(struct ibv_context *context, uint8_t port_num, int index, union ibv_gid *gid)
{
	union ib_gid g;
	int rc = UV_CALL(context, ib_query_gid(file->device, port_num, index, &g));

	if (!rc)
		memcpy(gid->raw, g.raw, sizeof(gid->raw));
	return minus_one(rc);
}

int ibv_query_pkey(struct ibv_context *context, uint8_t port_num, int index, __be16 *pkey)
{
	uint16_t p;
	int rc = index < 0 ? -EINVAL
			   : UV_CALL(context,
				     ib_query_pkey(file->device, port_num, (unsigned)index, &p));

	if (!rc)
		*pkey = htons(p);
	return minus_one(rc);
}

int ibv_get_pkey_index(struct ibv_context *context, uint8_t port_num, __be16 pkey)
{
	__be16 p;

	for (int i = 0; !ibv_query_pkey(context, port_num, i, &p); i++)
		if (p == pkey)
			return i;
	return -1;
}

/* --- events --- */

void uv_acknowledge(struct ibv_context *context, uint32_t *completed, unsigned n)
{
	struct uv_process *process = uv_process_of(context);
	struct platform *p = process->host->platform;

	*completed += n;
	p->ops->waitq_wake_all(p, process->waitq);
}

void uv_wait_acknowledged(struct ibv_context *context, const uint32_t *completed, unsigned reported)
{
	struct uv_process *process = uv_process_of(context);
	struct platform *p = process->host->platform;

	while (*completed != reported)
		p->ops->waitq_wait(p, process->waitq, UINT64_MAX);
}

static bool is_of_cq(uint32_t type)
{
	return type == IBV_EVENT_CQ_ERR;
}

static bool is_of_srq(uint32_t type)
{
	return type == IBV_EVENT_SRQ_ERR || type == IBV_EVENT_SRQ_LIMIT_REACHED;
}

static bool is_of_qp(uint32_t type)
{
	return type == IBV_EVENT_QP_LAST_WQE_REACHED ||
	       (type >= IBV_EVENT_QP_FATAL && type <= IBV_EVENT_PATH_MIG_ERR);
}

static void async_fill(const struct uv_event *e, struct ibv_async_event *event)
{
	memset(event, 0, sizeof(*event));
	event->event_type = (enum ibv_event_type)e->type;
	if (e->type & IBV_XRC_QP_EVENT_FLAG)
		event->element.xrc_qp_num = e->number;
	else if (is_of_cq(e->type))
		event->element.cq = e->element;
	else if (is_of_srq(e->type))
		event->element.srq = e->element;
	else if (is_of_qp(e->type))
		event->element.qp = e->element;
	else
		event->element.port_num = (int)e->number;
}

int uv_event_wait(struct uv_process *process, struct uv_channel *channel, struct uv_event *event)
{
	while (!uv_channel_take(channel, event)) {
		if (process->fds[channel->fd].nonblock) {
			errno = EAGAIN;
			return -1;
		}
		uv_wait_readable(process, channel->fd, UINT64_MAX);
	}
	return 0;
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	struct uv_context *c = UV_CONTEXT(context);
	struct uv_event e;

	if (uv_event_wait(c->process, c->file->async, &e))
		return -1;
	async_fill(&e, event);
	return 0;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	const uint32_t type = (uint32_t)event->event_type;

	if (type & IBV_XRC_QP_EVENT_FLAG)
		return;
	if (is_of_cq(type))
		uv_acknowledge(event->element.cq->context,
			       &event->element.cq->async_events_completed, 1);
	else if (is_of_srq(type))
		uv_acknowledge(event->element.srq->context, &event->element.srq->events_completed,
			       1);
	else if (is_of_qp(type))
		uv_acknowledge(event->element.qp->context, &event->element.qp->events_completed, 1);
}
