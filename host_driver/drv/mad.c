// SPDX-License-Identifier: Apache-2.0
/* See mad.h: the agents on QP0 and QP1. */
#include "host_driver/drv/trace.h"
#include "host_driver/mlx4/alloc.h"
#include "host_driver/mlx4/mad.h"
#include "model/interface/macros.h"
#include "model/interface/queues.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAD_SENDS = 128, /* posted at once; further ones wait */
	MAD_RECVS = 512,
	/* GRH area and MAD; a divisor of the page size, so that no slot crosses a page */
	MAD_SLOT = 512,
	MAD_RECV_BYTES = UD_GRH_AREA + MAD_BYTES,
	MAD_SLOTS = 2 * (MAD_SENDS + MAD_RECVS),
	SLOTS_PER_PAGE = PLATFORM_PAGE_SIZE / MAD_SLOT,
	MAD_PAGES = MAD_SLOTS / SLOTS_PER_PAGE,
	MAD_SERVERS = 4,
};

#define WR_SEND (UINT64_C(1) << 63)

/* A caller that waits for an answer. It is on the caller's stack. */
struct mad_call {
	struct drv_list link;
	uint64_t tid;
	void *response;
	bool done;
};

/* A MAD that the send queue has no room for. */
struct mad_waiting {
	struct drv_list link;
	struct drv_mad_addr to;
	uint8_t mad[MAD_BYTES];
};

/* The handler of a class' requests. */
struct mad_server {
	unsigned mgmt_class;
	drv_mad_handler *fn; /* NULL: this entry is free */
	void *arg;
	unsigned calls; /* handler calls under way */
};

struct drv_mad_agent {
	struct drv_device *dev;
	unsigned port;
	struct drv_pd *pd;
	struct drv_mr *mr;
	struct drv_cq *cq;
	struct drv_qp *qp[2];
	uint32_t sent[2], left[2];  /* MADs posted; those of them that have left */
	struct drv_list waiting[2]; /* the oldest first */
	uint8_t *pages[MAD_PAGES];
	uint64_t bus[MAD_PAGES];
	struct drv_list calls;
	struct platform_waitq *waitq;
	uint64_t next_tid;
	uint16_t pkey;
	unsigned lid;
	struct sl2vl sl2vl;
	drv_mad_handler *handler;
	void *handler_arg;
	struct mad_server servers[MAD_SERVERS];
	bool thread, stop;
};

/* --- buffers --- */

static void *slot_addr(struct drv_mad_agent *a, unsigned slot, uint64_t *bus)
{
	const unsigned page = slot / SLOTS_PER_PAGE, at = slot % SLOTS_PER_PAGE * MAD_SLOT;

	*bus = a->bus[page] + at;
	return a->pages[page] + at;
}

static unsigned send_slot(unsigned qpn, uint32_t index)
{
	return qpn * MAD_SENDS + index % MAD_SENDS;
}

static unsigned recv_slot(unsigned qpn, unsigned index)
{
	return 2 * MAD_SENDS + qpn * MAD_RECVS + index;
}

static int slot_post(struct drv_mad_agent *a, unsigned qpn, unsigned slot)
{
	struct drv_sge sge = {.length = MAD_RECV_BYTES, .lkey = drv_mr_lkey(a->mr)};
	const struct drv_recv_wr wr = {
		.wr_id = (uint64_t)qpn << 32 | slot, .sg_list = &sge, .num_sge = 1};

	slot_addr(a, slot, &sge.addr);
	return drv_post_recv(a->qp[qpn], &wr, NULL);
}

static void wake(struct drv_mad_agent *a)
{
	struct platform *p = drv_platform(a->dev);

	p->ops->waitq_wake_all(p, a->waitq);
}

/* --- sending --- */

static bool sends_full(const struct drv_mad_agent *a, unsigned qpn)
{
	return a->sent[qpn] - a->left[qpn] >= MAD_SENDS;
}

static int send_post(struct drv_mad_agent *a, unsigned qpn, const struct drv_mad_addr *to,
		     const void *mad)
{
	struct drv_special_send s = {
		.wr_id = WR_SEND | qpn,
		.dlid = to->dlid,
		.sl = to->sl,
		.path_bits = to->path_bits,
		.vl = qpn ? sl2vl_get(&a->sl2vl, to->sl & 0xf) : VL_MANAGEMENT,
		.dqpn = to->qpn,
		.qkey = to->qkey,
		.pkey = a->pkey,
		.lkey = drv_mr_lkey(a->mr),
		.length = MAD_BYTES,
	};
	int rc;

	if (drv_port_is_ethernet(a->dev, a->port))
		s.ah = &to->ah;
	/* The slot is taken before the doorbell, where other senders may run. A send that is refused
	 * rings none. */
	memcpy(slot_addr(a, send_slot(qpn, a->sent[qpn]++), &s.addr), mad, MAD_BYTES);
	rc = drv_special_send(a->qp[qpn], &s);
	if (rc)
		a->sent[qpn]--;
	return rc;
}

static int send_wait(struct drv_mad_agent *a, unsigned qpn, const struct drv_mad_addr *to,
		     const void *mad)
{
	struct mad_waiting *w = drv_calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->to = *to;
	memcpy(w->mad, mad, MAD_BYTES);
	drv_list_add(&a->waiting[qpn], &w->link);
	return 0;
}

static void waiting_drop(struct mad_waiting *w)
{
	drv_list_del(&w->link);
	free(w);
}

/* A MAD has left: those that wait move up. */
static void sends_go(struct drv_mad_agent *a, unsigned qpn)
{
	struct drv_list *waiting = &a->waiting[qpn];

	while (!sends_full(a, qpn) && !drv_list_empty(waiting)) {
		struct mad_waiting *w = container_of(waiting->next, struct mad_waiting, link);

		/* One that cannot be sent is lost, as on the wire: its sender has been told 0. */
		send_post(a, qpn, &w->to, w->mad);
		waiting_drop(w);
	}
}

static int agent_send(struct drv_mad_agent *a, unsigned qpn, const struct drv_mad_addr *to,
		      const void *mad)
{
	if (!a->qp[qpn]) /* QP0 of an Ethernet port */
		return -ENODEV;
	if (drv_qp_state(a->qp[qpn]) != IBV_QPS_RTS)
		return -EINVAL;
	if (sends_full(a, qpn) || !drv_list_empty(&a->waiting[qpn]))
		return send_wait(a, qpn, to, mad);
	return send_post(a, qpn, to, mad);
}

static struct drv_mad_agent *agent_of(struct drv_device *dev, unsigned port)
{
	struct drv_mad_agent **slot = drv_agent_slot(dev, port);

	return slot ? *slot : NULL;
}

int drv_mad_send(struct drv_device *dev, unsigned port, unsigned qpn, const struct drv_mad_addr *to,
		 const void *mad)
{
	struct drv_mad_agent *a = agent_of(dev, port);

	if (!a || qpn > 1)
		return -ENODEV;
	DRV_ENTER(dev, "port %u, qp%u, dlid %u", port, qpn, to->dlid);
	return DRV_LEAVE(dev, agent_send(a, qpn, to, mad));
}

/* Some devices tell of the change themselves. */
static void tell(struct drv_mad_agent *a, enum ibv_event_type type)
{
	if (!drv_has_port_events(a->dev))
		drv_notify(a->dev, &(struct drv_event){.type = type, .port = a->port});
}

/* The device has executed a Set, which may have changed values that the host caches. */
static void set_snoop(struct drv_mad_agent *a, const struct smp *smp)
{
	const struct mad_hdr *hdr = smp_hdr_const(smp);
	const struct port_info *pi = (const struct port_info *)(const void *)smp_data_cptr(smp);

	if (mad_hdr_get_status(hdr) & (SMP_DIRECTION - 1))
		return;
	switch (mad_hdr_get_attr_id(hdr)) {
	case SMP_ATTR_PORT_INFO:
		if (port_info_get_client_rereg(pi))
			tell(a, IBV_EVENT_CLIENT_REREGISTER);
		if (port_info_get_lid(pi) != a->lid)
			tell(a, IBV_EVENT_LID_CHANGE);
		a->lid = port_info_get_lid(pi);
		break;
	case SMP_ATTR_PKEY_TABLE:
		if (!(mad_hdr_get_attr_mod(hdr) & 0xffff))
			a->pkey = (uint16_t)pkey_table_get(
				(const struct pkey_table *)(const void *)pi, 0);
		tell(a, IBV_EVENT_PKEY_CHANGE);
		break;
	case SMP_ATTR_GUID_INFO:
		tell(a, IBV_EVENT_GID_CHANGE);
		break;
	case SMP_ATTR_SL2VL:
		memcpy(&a->sl2vl, pi, sizeof(a->sl2vl));
		break;
	default:
		break;
	}
}

/* A directed route without hops does not leave the node. The device executes it by MAD_IFC. */
static int own_node_call(struct drv_mad_agent *a, const struct smp *request, struct smp *response)
{
	const bool set = mad_hdr_get_method(smp_hdr_const(request)) == MAD_METHOD_SET;
	int rc = drv_mad_ifc(a->dev, a->port, NULL, request, response);

	if (rc)
		return rc;
	if (set)
		set_snoop(a, response);
	mad_hdr_set_direction(smp_hdr(response), 1);
	return 0;
}

static int mad_call(struct drv_mad_agent *a, unsigned qpn, const struct drv_mad_addr *to,
		    struct smp *request, void *response, uint64_t timeout_ps)
{
	struct platform *p = drv_platform(a->dev);
	struct mad_call call = {.tid = ++a->next_tid, .response = response};
	struct smp packet;
	uint64_t deadline;
	int rc = 0;

	mad_hdr_set_tid(smp_hdr(request), call.tid);
	packet = *request;
	if (mad_hdr_get_mgmt_class(smp_hdr(&packet)) == MAD_CLASS_SUBN_DR &&
	    !mad_hdr_get_hop_count(smp_hdr(&packet)))
		return own_node_call(a, &packet, response);
	if (mad_hdr_get_mgmt_class(smp_hdr(&packet)) == MAD_CLASS_SUBN_DR &&
	    !drv_smi_send(&packet, a->port))
		return -EINVAL;
	drv_list_add(&a->calls, &call.link);
	rc = agent_send(a, qpn, to, &packet);
	deadline = p->ops->now_ps(p) + timeout_ps;
	while (!rc && !call.done) {
		p->ops->sleep_ps(p, 0); /* the CPU time charged so far passes */
		if (call.done)
			break;
		if (a->stop)
			rc = -ENODEV;
		else if (p->ops->now_ps(p) >= deadline)
			rc = -ETIMEDOUT;
		else
			p->ops->waitq_wait(p, a->waitq, deadline);
	}
	drv_list_del(&call.link);
	return rc;
}

int drv_mad_call(struct drv_device *dev, unsigned port, unsigned qpn, const struct drv_mad_addr *to,
		 void *request, void *response, uint64_t timeout_ps)
{
	struct drv_mad_agent *a = agent_of(dev, port);

	if (!a || qpn > 1)
		return -ENODEV;
	DRV_ENTER(dev, "port %u, qp%u, attribute %04x", port, qpn,
		  mad_hdr_get_attr_id(smp_hdr(request)));
	return DRV_LEAVE(dev, mad_call(a, qpn, to, request, response, timeout_ps));
}

/* --- receiving --- */

/* Whether the device's own agents handle the request. */
static bool request_known(const struct mad_hdr *hdr)
{
	const uint32_t method = mad_hdr_get_method(hdr);
	const bool get_set = method == MAD_METHOD_GET || method == MAD_METHOD_SET;

	switch (mad_hdr_get_mgmt_class(hdr)) {
	case MAD_CLASS_SUBN_LID:
	case MAD_CLASS_SUBN_DR:
		return (get_set || method == MAD_METHOD_TRAP_REPRESS) &&
		       mad_hdr_get_attr_id(hdr) != SMP_ATTR_SM_INFO;
	case MAD_CLASS_PERF:
	case MAD_CLASS_VENDOR1:
	case MAD_CLASS_VENDOR2:
	case MAD_CLASS_CC:
		return get_set;
	default:
		return false;
	}
}

static void answer(struct drv_mad_agent *a, unsigned qpn, const struct drv_wc *wc,
		   const struct drv_mad_addr *from, struct smp *request, const uint8_t *grh)
{
	const bool directed = mad_hdr_get_mgmt_class(smp_hdr(request)) == MAD_CLASS_SUBN_DR;
	struct drv_mad_source source = {.slid = wc->slid,
					.sl = wc->sl,
					.path_bits = wc->dlid_path_bits,
					.pkey_index = wc->pkey_index,
					.src_qp = wc->src_qp,
					.my_qpn = qpn,
					.has_grh = wc->wc_flags & IBV_WC_GRH};
	const bool set = mad_hdr_get_method(smp_hdr(request)) == MAD_METHOD_SET;
	struct smp response;

	memcpy(source.grh, grh, GRH_BYTES);
	if (drv_mad_ifc(a->dev, a->port, &source, request, &response))
		return;
	if (!(mad_hdr_get_method(smp_hdr(&response)) & MAD_RESPONSE_BIT))
		return; /* TrapRepress has no answer */
	if (set)
		set_snoop(a, &response);
	if (directed) {
		mad_hdr_set_direction(smp_hdr(&response), 1);
		if (!drv_smi_send(&response, a->port))
			return;
	}
	agent_send(a, qpn, from, &response);
}

static void give_response(struct drv_mad_agent *a, const struct smp *smp)
{
	const uint64_t tid = mad_hdr_get_tid(smp_hdr_const(smp));

	for (struct drv_list *l = a->calls.next; l != &a->calls; l = l->next) {
		struct mad_call *call = container_of(l, struct mad_call, link);

		if (call->tid != tid || call->done)
			continue;
		memcpy(call->response, smp, sizeof(*smp));
		call->done = true;
		wake(a);
		return;
	}
}

/* The device gives a trap of its own port to software, which knows the way to the subnet
 * manager. */
static void forward_trap(struct drv_mad_agent *a, const struct smp *trap)
{
	struct drv_port_attr attr;
	struct drv_mad_addr to = {0};

	if (drv_query_port(a->dev, a->port, &attr) || !attr.sm_lid)
		return;
	to.dlid = attr.sm_lid;
	to.sl = attr.sm_sl;
	agent_send(a, QPN_SMI, &to, trap);
}

void drv_mad_register(struct drv_device *dev, unsigned port, drv_mad_handler *fn, void *arg)
{
	struct drv_mad_agent *a = agent_of(dev, port);

	if (!a)
		return;
	a->handler = fn;
	a->handler_arg = arg;
}

static struct mad_server *server_of(struct drv_mad_agent *a, unsigned mgmt_class)
{
	for (unsigned i = 0; i < MAD_SERVERS; i++)
		if (a->servers[i].fn && a->servers[i].mgmt_class == mgmt_class)
			return &a->servers[i];
	return NULL;
}

int drv_mad_serve(struct drv_device *dev, unsigned port, unsigned mgmt_class, drv_mad_handler *fn,
		  void *arg)
{
	struct drv_mad_agent *a = agent_of(dev, port);

	if (!a)
		return -ENODEV;
	if (server_of(a, mgmt_class))
		return -EBUSY;
	for (unsigned i = 0; i < MAD_SERVERS; i++) {
		if (a->servers[i].fn || a->servers[i].calls)
			continue;
		a->servers[i] = (struct mad_server){.mgmt_class = mgmt_class, .fn = fn, .arg = arg};
		return 0;
	}
	return -ENOSPC;
}

void drv_mad_unserve(struct drv_device *dev, unsigned port, unsigned mgmt_class)
{
	struct platform *p = drv_platform(dev);
	struct drv_mad_agent *a = agent_of(dev, port);
	struct mad_server *s = a ? server_of(a, mgmt_class) : NULL;

	if (!s)
		return;
	s->fn = NULL;
	while (s->calls)
		p->ops->sleep_ps(p, PLATFORM_END_POLL_PS);
}

/* Passes on a request that the device does not handle. */
static void serve(struct drv_mad_agent *a, unsigned qpn, const struct drv_wc *wc,
		  const struct drv_mad_addr *from, const struct smp *smp)
{
	struct mad_server *s = server_of(a, mad_hdr_get_mgmt_class(smp_hdr_const(smp)));

	if (s) {
		s->calls++;
		s->fn(s->arg, a->port, qpn, wc, from, smp);
		s->calls--;
	} else if (a->handler) {
		a->handler(a->handler_arg, a->port, qpn, wc, from, smp);
	}
}

/* The way back to the sender of a datagram. false: it came to a GID that the port does not have. */
static bool came_from(const struct drv_mad_agent *a, unsigned qpn, const struct drv_wc *wc,
		      const uint8_t *grh, struct drv_mad_addr *from)
{
	*from = (struct drv_mad_addr){.dlid = wc->slid,
				      .sl = wc->sl,
				      .path_bits = wc->dlid_path_bits,
				      .qpn = wc->src_qp,
				      .qkey = qpn ? QKEY_GSI : 0};
	return !drv_port_is_ethernet(a->dev, a->port) ||
	       !drv_eth_way_back(a->dev, a->port, wc, grh, &from->ah);
}

/* Datagrams of subnet management come to QP0, and no others. Source: IBA 13.5.1, Linux validate_mad */
static bool came_to_right_queue(const struct mad_hdr *hdr, unsigned qpn)
{
	const uint32_t mgmt_class = mad_hdr_get_mgmt_class(hdr);

	return (mgmt_class == MAD_CLASS_SUBN_LID || mgmt_class == MAD_CLASS_SUBN_DR) == !qpn;
}

static void agent_received(struct drv_mad_agent *a, unsigned qpn, const struct drv_wc *wc,
			   const uint8_t *buf)
{
	struct smp smp;
	struct mad_hdr *hdr = smp_hdr(&smp);
	struct drv_mad_addr from;

	if (wc->byte_len < MAD_RECV_BYTES || !came_from(a, qpn, wc, buf, &from))
		return;
	memcpy(&smp, buf + UD_GRH_AREA, sizeof(smp));
	if (mad_hdr_get_base_version(hdr) != MAD_BASE_VERSION || !came_to_right_queue(hdr, qpn))
		return;
	if (mad_hdr_get_mgmt_class(hdr) == MAD_CLASS_SUBN_DR && !drv_smi_receive(&smp, a->port))
		return;
	if (mad_hdr_get_method(hdr) & MAD_RESPONSE_BIT)
		give_response(a, &smp);
	else if (request_known(hdr))
		answer(a, qpn, wc, &from, &smp, buf);
	else if (mad_hdr_get_method(hdr) == MAD_METHOD_TRAP && !qpn && !wc->slid)
		forward_trap(a, &smp);
	else
		serve(a, qpn, wc, &from, &smp);
}

static void agent_completion(struct drv_mad_agent *a, const struct drv_wc *wc)
{
	const unsigned qpn = wc->wr_id >> 32 & 1, slot = (uint32_t)wc->wr_id;
	uint64_t bus;

	if (wc->wr_id & WR_SEND) {
		a->left[wc->wr_id & 1]++;
		sends_go(a, wc->wr_id & 1);
		return;
	}
	if (wc->status == IBV_WC_SUCCESS)
		agent_received(a, qpn, wc, slot_addr(a, slot, &bus));
	if (wc->status != IBV_WC_WR_FLUSH_ERR)
		slot_post(a, qpn, slot);
}

static void agent_thread(void *arg)
{
	struct drv_mad_agent *a = arg;
	struct drv_wc wc;

	while (!a->stop) {
		drv_cq_arm(a->cq, false);
		while (!a->stop && drv_cq_poll(a->cq, 1, &wc) > 0)
			agent_completion(a, &wc);
		if (!a->stop)
			drv_cq_wait_event(a->cq, UINT64_MAX);
	}
	a->thread = false;
}

/* --- start and stop --- */

static int agent_memory(struct drv_mad_agent *a)
{
	struct platform *p = drv_platform(a->dev);
	struct drv_device *dev = a->dev;
	int rc;

	for (unsigned i = 0; i < MAD_PAGES; i++) {
		a->pages[i] = p->ops->pages_alloc(p, PLATFORM_PAGE_SIZE, &a->bus[i]);
		if (!a->pages[i])
			return -ENOMEM;
	}
	rc = drv_pd_alloc(dev, &a->pd);
	if (!rc)
		rc = drv_mr_reg_dma(a->pd, IBV_ACCESS_LOCAL_WRITE, &a->mr);
	if (!rc)
		rc = drv_cq_create(dev, 2 * (MAD_SENDS + MAD_RECVS), 0, &a->cq);
	if (!rc)
		drv_cq_set_owner(a->cq, a);
	return rc;
}

static int agent_qp(struct drv_mad_agent *a, unsigned qpn)
{
	const struct drv_special_init init = {.port = a->port,
					      .qpn = qpn,
					      .cq = a->cq,
					      .max_send_wr = MAD_SENDS,
					      .max_recv_wr = MAD_RECVS};
	struct drv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .qkey = qpn ? QKEY_GSI : 0};
	int rc = drv_special_create(a->pd, &init, &a->qp[qpn]);

	if (rc)
		return rc;
	rc = drv_qp_modify(a->qp[qpn], &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_QKEY);
	attr.qp_state = IBV_QPS_RTR;
	if (!rc)
		rc = drv_qp_modify(a->qp[qpn], &attr, IBV_QP_STATE);
	attr.qp_state = IBV_QPS_RTS;
	if (!rc)
		rc = drv_qp_modify(a->qp[qpn], &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
	for (unsigned i = 0; !rc && i < MAD_RECVS; i++)
		rc = slot_post(a, qpn, recv_slot(qpn, i));
	return rc;
}

static int agent_attributes(struct drv_mad_agent *a)
{
	struct pkey_table pkeys;
	struct port_info pi;
	int rc = drv_smp_get(a->dev, a->port, SMP_ATTR_PKEY_TABLE, 0, &pkeys);

	if (rc)
		return rc;
	a->pkey = (uint16_t)pkey_table_get(&pkeys, 0);
	rc = drv_smp_get(a->dev, a->port, SMP_ATTR_PORT_INFO, 0, &pi);
	if (rc)
		return rc;
	a->lid = port_info_get_lid(&pi);
	/* on a port without the table every SL uses VL 0 */
	rc = drv_smp_get(a->dev, a->port, SMP_ATTR_SL2VL, 0, &a->sl2vl);
	return rc == -EIO ? 0 : rc;
}

static void agent_free(struct drv_mad_agent *a)
{
	struct platform *p = drv_platform(a->dev);

	a->stop = true;
	/* The thread, and callers that wait for answers, must have left before what they use is
	 * freed. */
	while (a->thread || !drv_list_empty(&a->calls)) {
		if (a->cq)
			drv_cq_wake(a->cq);
		p->ops->waitq_wake_all(p, a->waitq);
		p->ops->sleep_ps(p, PLATFORM_END_POLL_PS);
	}
	for (unsigned i = 0; i < 2; i++)
		while (!drv_list_empty(&a->waiting[i]))
			waiting_drop(container_of(a->waiting[i].next, struct mad_waiting, link));
	for (unsigned i = 0; i < 2; i++)
		if (a->qp[i])
			drv_qp_destroy(a->qp[i]);
	if (a->cq)
		drv_cq_destroy(a->cq);
	if (a->mr)
		drv_mr_dereg(a->mr);
	if (a->pd)
		drv_pd_free(a->pd);
	for (unsigned i = 0; i < MAD_PAGES && a->pages[i]; i++)
		p->ops->pages_free(p, a->pages[i], PLATFORM_PAGE_SIZE);
	p->ops->waitq_destroy(p, a->waitq);
	free(a);
}

int drv_agent_start(struct drv_device *dev, unsigned port)
{
	struct platform *p = drv_platform(dev);
	struct drv_mad_agent **slot = drv_agent_slot(dev, port);
	struct drv_mad_agent *a;
	char name[16];
	int rc;

	if (!slot)
		return -EINVAL;
	if (*slot)
		return 0;
	a = drv_calloc(1, sizeof(*a));
	if (!a)
		return -ENOMEM;
	*a = (struct drv_mad_agent){.dev = dev,
				    .port = port,
				    .next_tid = (uint64_t)(p->host + 1) << 40 | (uint64_t)port
											<< 32};
	drv_list_init(&a->calls);
	for (unsigned i = 0; i < 2; i++)
		drv_list_init(&a->waiting[i]);
	a->waitq = p->ops->waitq_create(p);
	if (!a->waitq) {
		free(a);
		return -ENOMEM;
	}
	rc = agent_memory(a);
	/* no packet of subnet management comes over Ethernet */
	for (unsigned i = drv_port_is_ethernet(dev, port); !rc && i < 2; i++)
		rc = agent_qp(a, i);
	/* a port of InfiniBand that opens, which it does with QP0, has forgotten what it was told */
	if (!rc)
		rc = agent_attributes(a);
	if (!rc && drv_port_is_ethernet(dev, port))
		rc = drv_eth_open(dev, port, true);
	if (rc) {
		agent_free(a);
		return rc;
	}
	*slot = a;
	a->thread = true;
	snprintf(name, sizeof(name), "mad%u.%u", p->host, port);
	p->ops->thread_start(p, name, agent_thread, a);
	return 0;
}

void drv_agent_stop(struct drv_device *dev, unsigned port)
{
	struct drv_mad_agent *a = agent_of(dev, port);

	if (!a)
		return;
	*drv_agent_slot(dev, port) = NULL;
	if (drv_port_is_ethernet(dev, port))
		drv_eth_open(dev, port, false);
	agent_free(a);
}
