// SPDX-License-Identifier: Apache-2.0
/* Queue pairs of the RDMA core: the QP itself, further handles of an XRC target QP, and XRC receive
 * QPs that have no handle at all. Each kind delivers events to other receivers. */
#include "host_driver/core/core.h"
#include "host_driver/core/include/rdma/rw.h"
#include "model/interface/macros.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { RNR_TIMER_MAX = 31, TIMEOUT_MAX = 31, RETRY_MAX = 7, MULTICAST = 0xff };

/* --- events --- */

static void tell(struct ib_qp *qp, enum ib_event_type type)
{
	struct ib_event e = {.device = qp->device, .element.qp = qp, .event = type};

	if (qp->event_handler)
		qp->event_handler(&e, qp->qp_context);
}

/* A QP that belongs to its domain may have no handle, so its events are counted and traced. */
static void log_event(struct ib_qp *qp, enum ib_event_type type)
{
	struct ib_device *device = qp->device;

	device->xrc_rcv_events++;
	device->xrc_rcv_event = type;
	device->xrc_rcv_event_qpn = qp->qp_num;
	if (device->platform->ops->trace_on(device->platform)) {
		core_trace(device, true, "xrc_rcv_qp_event", "qpn %06x, %s", qp->qp_num,
			   ib_event_msg(type));
		core_trace(device, false, "xrc_rcv_qp_event", "%d", 0);
	}
}

void core_qp_event(struct ib_qp *qp, enum ib_event_type type)
{
	struct drv_list *l = qp->open_list.next;

	if (type == IB_EVENT_QP_LAST_WQE_REACHED) {
		qp->last_wqe = true;
		core_wake(qp->device);
	}
	tell(qp, type);
	while (l != &qp->open_list) {
		struct ib_qp *handle = container_of(l, struct ib_qp, open_list);

		l = l->next;
		tell(handle, type);
	}
	if (qp->domain_owned)
		log_event(qp, type);
}

/* --- creation --- */

static void qp_count(struct ib_qp *qp, int n)
{
	if (qp->pd)
		qp->pd->usecnt += (unsigned)n;
	if (qp->send_cq)
		qp->send_cq->usecnt += (unsigned)n;
	if (qp->recv_cq)
		qp->recv_cq->usecnt += (unsigned)n;
	if (qp->srq)
		qp->srq->usecnt += (unsigned)n;
}

static void cap_read(const struct ib_qp *qp, struct ib_qp_cap *cap)
{
	struct drv_qp_cap c;

	drv_qp_cap(qp->drv, &c);
	*cap = (struct ib_qp_cap){.max_rdma_ctxs = cap->max_rdma_ctxs,
				  .max_send_wr = c.max_send_wr,
				  .max_recv_wr = c.max_recv_wr,
				  .max_send_sge = c.max_send_sge,
				  .max_recv_sge = c.max_recv_sge,
				  .max_inline_data = c.max_inline_data};
}

static bool init_ok(const struct ib_pd *pd, const struct ib_qp_init_attr *attr)
{
	if ((attr->srq && attr->srq->srq_type != IB_SRQT_BASIC) ||
	    (attr->cap.max_rdma_ctxs && attr->qp_type != IB_QPT_RC))
		return false;
	switch (attr->qp_type) {
	case IB_QPT_RC:
	case IB_QPT_UC:
	case IB_QPT_UD:
		return pd && attr->send_cq && attr->recv_cq;
	case IB_QPT_XRC_INI:
		return pd && attr->send_cq && !attr->srq;
	case IB_QPT_XRC_TGT:
		return attr->xrcd && !attr->srq;
	default:
		return false;
	}
}

/* Makes the QP itself. A target QP has no handle yet, and its domain does not list it yet. */
static struct ib_qp *qp_make(struct ib_pd *pd, const struct ib_qp_init_attr *attr)
{
	const bool target = attr->qp_type == IB_QPT_XRC_TGT, xrc = attr->qp_type == IB_QPT_XRC_INI;
	const struct drv_qp_init init = {
		.type = (enum ibv_qp_type)attr->qp_type,
		.send_cq = target ? NULL : attr->send_cq->drv,
		.recv_cq = target || xrc ? NULL : attr->recv_cq->drv,
		.srq = attr->srq ? attr->srq->drv : NULL,
		.xrcd = target ? attr->xrcd->drv : NULL,
		.cap = {.max_send_wr = target ? 0 : attr->cap.max_send_wr,
			.max_recv_wr = target || xrc || attr->srq ? 0 : attr->cap.max_recv_wr,
			.max_send_sge = target ? 0 : attr->cap.max_send_sge,
			.max_recv_sge = target || xrc || attr->srq ? 0 : attr->cap.max_recv_sge,
			.max_inline_data = target ? 0 : attr->cap.max_inline_data},
		.sq_sig_all = attr->sq_sig_type == IB_SIGNAL_ALL_WR,
		.user = attr->user,
		.uar = attr->uar,
	};
	struct ib_device *device = target ? attr->xrcd->device : pd->device;
	struct ib_qp *qp = drv_calloc(1, sizeof(*qp));
	struct ib_qp_cap cap = {0};
	int rc;

	if (!qp)
		return ERR_PTR(-ENOMEM);
	rc = drv_qp_create(target ? attr->xrcd->pd : pd->drv, &init, &qp->drv);
	if (rc) {
		free(qp);
		return ERR_PTR(rc);
	}
	qp->device = device;
	qp->pd = target ? NULL : pd;
	qp->send_cq = target ? NULL : attr->send_cq;
	qp->recv_cq = target || xrc ? NULL : attr->recv_cq;
	qp->srq = attr->srq;
	qp->xrcd = target ? attr->xrcd : NULL;
	qp->real_qp = qp;
	qp->qp_num = drv_qp_num(qp->drv);
	qp->qp_type = attr->qp_type;
	qp->sq_sig_type = attr->sq_sig_type;
	drv_list_init(&qp->open_list);
	drv_list_init(&qp->xrcd_list);
	drv_list_init(&qp->rdma_mrs);
	drv_list_add(&device->qps, &qp->link);
	drv_qp_set_owner(qp->drv, qp);
	qp_count(qp, 1);
	cap_read(qp, &cap);
	qp->max_write_sge = cap.max_send_sge;
	qp->max_read_sge = cap.max_send_sge < device->attrs.max_sge_rd ? cap.max_send_sge
								       : device->attrs.max_sge_rd;
	return qp;
}

void core_qp_free(struct ib_qp *qp)
{
	qp->dying = true;
	drv_list_del(&qp->xrcd_list);
	drv_list_del(&qp->link);
	drv_qp_destroy(qp->drv);
	core_gid_hold(qp->device, &qp->gid, NULL);
	qp_count(qp, -1);
	free(qp);
}

/* --- handles --- */

static struct ib_qp *handle_make(struct ib_qp *real,
				 void (*event_handler)(struct ib_event *event, void *qp_context),
				 void *qp_context)
{
	struct ib_qp *qp = drv_calloc(1, sizeof(*qp));

	if (!qp)
		return ERR_PTR(-ENOMEM);
	qp->device = real->device;
	qp->xrcd = real->xrcd;
	qp->drv = real->drv;
	qp->real_qp = real;
	qp->qp_num = real->qp_num;
	qp->qp_type = real->qp_type;
	qp->sq_sig_type = real->sq_sig_type;
	qp->event_handler = event_handler;
	qp->qp_context = qp_context;
	drv_list_init(&qp->link);
	drv_list_init(&qp->xrcd_list);
	drv_list_add(&real->open_list, &qp->open_list);
	real->usecnt++;
	real->xrcd->usecnt++;
	return qp;
}

struct ib_qp *ib_open_qp(struct ib_xrcd *xrcd, uint32_t qp_num,
			 void (*event_handler)(struct ib_event *event, void *qp_context),
			 void *qp_context)
{
	for (struct drv_list *l = xrcd->tgt_qps.next; l != &xrcd->tgt_qps; l = l->next) {
		struct ib_qp *real = container_of(l, struct ib_qp, xrcd_list);

		if (real->qp_num == qp_num && !real->domain_owned)
			return handle_make(real, event_handler, qp_context);
	}
	return ERR_PTR(-EINVAL);
}

int ib_close_qp(struct ib_qp *qp)
{
	if (qp->real_qp == qp)
		return -EINVAL;
	drv_list_del(&qp->open_list);
	qp->real_qp->usecnt--;
	qp->xrcd->usecnt--;
	free(qp);
	return 0;
}

/* Makes a QP with what rdma/rw.h needs: a longer send queue, and a pool of regions. */
static struct ib_qp *with_contexts(struct ib_pd *pd, struct ib_qp_init_attr *attr)
{
	struct ib_qp_init_attr longer = *attr;
	struct ib_qp *qp;
	int rc;

	rdma_rw_init_qp(pd->device, &longer);
	qp = qp_make(pd, &longer);
	if (IS_ERR(qp))
		return qp;
	qp->event_handler = attr->event_handler;
	qp->qp_context = attr->qp_context;
	rc = rdma_rw_init_mrs(qp, &longer);
	if (rc) {
		core_qp_free(qp);
		return ERR_PTR(rc);
	}
	cap_read(qp, &attr->cap);
	return qp;
}

struct ib_qp *ib_create_qp(struct ib_pd *pd, struct ib_qp_init_attr *attr)
{
	struct ib_qp *real, *qp;

	if (!init_ok(pd, attr))
		return ERR_PTR(-EINVAL);
	if (attr->cap.max_rdma_ctxs)
		return with_contexts(pd, attr);
	real = qp_make(pd, attr);
	if (IS_ERR(real))
		return real;
	cap_read(real, &attr->cap);
	if (attr->qp_type != IB_QPT_XRC_TGT) {
		real->event_handler = attr->event_handler;
		real->qp_context = attr->qp_context;
		return real;
	}
	qp = handle_make(real, attr->event_handler, attr->qp_context);
	if (IS_ERR(qp))
		core_qp_free(real);
	else
		drv_list_add(&attr->xrcd->tgt_qps, &real->xrcd_list);
	return qp;
}

/* Destroys a handle, and the QP with its last handle. core_qp_free() first takes the QP out of its
 * domain's list, because destroying it sleeps and nobody may open it meanwhile. */
static int handle_destroy(struct ib_qp *qp)
{
	struct ib_qp *real = qp->real_qp;

	ib_close_qp(qp);
	if (real->usecnt || real->domain_owned)
		return 0;
	core_qp_free(real);
	return 0;
}

int ib_destroy_qp(struct ib_qp *qp)
{
	if (qp->usecnt || qp->mrs_used)
		return -EBUSY;
	if (qp->real_qp != qp)
		return handle_destroy(qp);
	rdma_rw_cleanup_mrs(qp);
	core_qp_free(qp);
	return 0;
}

/* --- state --- */

static int attr_to_drv(const struct ib_qp *qp, const struct ib_qp_attr *attr, unsigned mask,
		       struct drv_qp_attr *a)
{
	const struct ib_device *device = qp->device;
	const unsigned port = mask & IB_QP_PORT ? attr->port_num : qp->real_qp->port;

	if (mask & IB_QP_PORT && (!attr->port_num || attr->port_num > device->phys_port_cnt))
		return -EINVAL;
	if (mask & IB_QP_PKEY_INDEX && attr->pkey_index >= device->attrs.pkeys[port])
		return -EINVAL;
	if ((mask & IB_QP_TIMEOUT && attr->timeout > TIMEOUT_MAX) ||
	    (mask & IB_QP_RETRY_CNT && attr->retry_cnt > RETRY_MAX) ||
	    (mask & IB_QP_RNR_RETRY && attr->rnr_retry > RETRY_MAX) ||
	    (mask & IB_QP_MIN_RNR_TIMER && attr->min_rnr_timer > RNR_TIMER_MAX) ||
	    (mask & IB_QP_PATH_MIG_STATE && (unsigned)attr->path_mig_state > IB_MIG_ARMED))
		return -EINVAL;
	DRV_QP_ATTR_COPY(a, attr);
	if (mask & IB_QP_AV && ib_ah_to_drv(device, &attr->ah_attr, &a->ah_attr))
		return -EINVAL;
	if (mask & IB_QP_ALT_PATH &&
	    (ib_ah_to_drv(device, &attr->alt_ah_attr, &a->alt_ah_attr) || !attr->alt_port_num ||
	     attr->alt_port_num > device->phys_port_cnt ||
	     attr->alt_pkey_index >= device->attrs.pkeys[attr->alt_port_num]))
		return -EINVAL;
	return 0;
}

/* Removes attributes that the service does not use: the device's command has no bit for them. */
static unsigned mask_of_type(enum ib_qp_type type, unsigned mask)
{
	if (type == IB_QPT_XRC_INI)
		return mask & ~(unsigned)(IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER);
	if (type == IB_QPT_XRC_TGT)
		return mask &
		       ~(unsigned)(IB_QP_MAX_QP_RD_ATOMIC | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY);
	return mask;
}

int ib_modify_qp(struct ib_qp *qp, const struct ib_qp_attr *attr, unsigned mask)
{
	const unsigned m = mask_of_type(qp->qp_type, mask);
	enum ib_qp_state from, to;
	struct drv_qp_attr a;
	int rc;

	if ((m & IB_QP_STATE && (unsigned)attr->qp_state > IB_QPS_ERR) ||
	    (m & IB_QP_CUR_STATE && (unsigned)attr->cur_qp_state > IB_QPS_SQE))
		return -EINVAL;
	from = m & IB_QP_CUR_STATE ? attr->cur_qp_state : (enum ib_qp_state)drv_qp_state(qp->drv);
	to = m & IB_QP_STATE ? attr->qp_state : from;
	if (!ib_modify_qp_is_ok(from, to, qp->qp_type, m))
		return -EINVAL;
	rc = attr_to_drv(qp, attr, m, &a);
	if (!rc && m & IB_QP_AV)
		rc = ib_resolve_eth_dmac(qp->device, &a.ah_attr);
	if (!rc)
		rc = drv_qp_modify(qp->drv, &a, m);
	if (!rc && m & IB_QP_PORT)
		qp->real_qp->port = attr->port_num;
	if (!rc && m & IB_QP_AV)
		core_gid_hold(qp->device, &qp->real_qp->gid, &a.ah_attr);
	if (!rc && to == IB_QPS_RESET) {
		core_gid_hold(qp->device, &qp->real_qp->gid, NULL);
		qp->last_wqe = false;
	}
	return rc;
}

static void ah_from_drv(const struct drv_ah_attr *drv, struct rdma_ah_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->dlid = drv->dlid;
	attr->sl = (uint8_t)drv->sl;
	attr->src_path_bits = (uint8_t)drv->src_path_bits;
	attr->static_rate = (uint8_t)drv->static_rate;
	attr->port_num = (uint8_t)drv->port_num;
	if (!drv->is_global)
		return;
	attr->ah_flags = IB_AH_GRH;
	memcpy(attr->grh.dgid.raw, drv->dgid, sizeof(attr->grh.dgid.raw));
	attr->grh.flow_label = drv->flow_label;
	attr->grh.sgid_index = (uint8_t)drv->sgid_index;
	attr->grh.hop_limit = (uint8_t)drv->hop_limit;
	attr->grh.traffic_class = (uint8_t)drv->traffic_class;
}

static void attr_from_drv(const struct drv_qp_attr *a, struct ib_qp_attr *attr)
{
	DRV_QP_ATTR_COPY(attr, a);
	ah_from_drv(&a->ah_attr, &attr->ah_attr);
	ah_from_drv(&a->alt_ah_attr, &attr->alt_ah_attr);
}

int ib_query_qp(struct ib_qp *qp, struct ib_qp_attr *attr, unsigned mask,
		struct ib_qp_init_attr *init)
{
	struct drv_qp_attr a = {.port_num = 1};
	int rc = 0;

	/* a QP in RESET has no context in the device */
	if (drv_qp_state(qp->drv) != IBV_QPS_RESET)
		rc = drv_qp_query(qp->drv, &a);
	if (rc)
		return rc;
	attr_from_drv(&a, attr);
	cap_read(qp, &attr->cap);
	if (!init)
		return 0;
	*init = (struct ib_qp_init_attr){.event_handler = qp->event_handler,
					 .qp_context = qp->qp_context,
					 .send_cq = qp->send_cq,
					 .recv_cq = qp->recv_cq,
					 .srq = qp->srq,
					 .xrcd = qp->xrcd,
					 .cap = attr->cap,
					 .sq_sig_type = qp->sq_sig_type,
					 .qp_type = qp->qp_type};
	return 0;
}

/* --- multicast --- */

static bool mcast_ok(const struct ib_qp *qp, const union ib_gid *gid)
{
	return qp->qp_type == IB_QPT_UD && gid->raw[0] == MULTICAST;
}

int ib_attach_mcast(struct ib_qp *qp, const union ib_gid *gid, uint16_t lid)
{
	int rc = mcast_ok(qp, gid) ? drv_mcast_attach(qp->drv, gid->raw, false) : -EINVAL;

	if (!rc)
		qp->usecnt++;
	return rc;
}

int ib_detach_mcast(struct ib_qp *qp, const union ib_gid *gid, uint16_t lid)
{
	int rc = mcast_ok(qp, gid) ? drv_mcast_detach(qp->drv, gid->raw) : -EINVAL;

	if (!rc)
		qp->usecnt--;
	return rc;
}

/* --- XRC receive QPs without a handle --- */

enum {
	RCV_INIT = IB_QP_ACCESS_FLAGS | IB_QP_PKEY_INDEX | IB_QP_PORT,
	RCV_RTR = IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN | IB_QP_MIN_RNR_TIMER,
	/* ignored: only a requester or a datagram service uses them */
	RCV_IGNORED = IB_QP_STATE | IB_QP_CUR_STATE | IB_QP_QKEY | IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
		      IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC | IB_QP_SQ_PSN | IB_QP_CAP |
		      IB_QP_EN_SQD_ASYNC_NOTIFY,
	RCV_OPTIONAL = IB_QP_ALT_PATH | IB_QP_PATH_MIG_STATE | IB_QP_MAX_DEST_RD_ATOMIC,
	RCV_READS = IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC,
};

static int rcv_mask_check(const struct ib_qp_attr *attr, unsigned mask)
{
	if ((mask & (RCV_INIT | RCV_RTR)) != (RCV_INIT | RCV_RTR) ||
	    mask & ~(unsigned)(RCV_INIT | RCV_RTR | RCV_IGNORED | RCV_OPTIONAL))
		return -EINVAL;
	if (attr->qp_access_flags & RCV_READS && !(mask & IB_QP_MAX_DEST_RD_ATOMIC))
		return -EINVAL;
	/* migration needs an alternate path */
	if (mask & IB_QP_PATH_MIG_STATE && attr->path_mig_state != IB_MIG_MIGRATED &&
	    !(mask & IB_QP_ALT_PATH))
		return -EINVAL;
	return 0;
}

static int rcv_to_rtr(struct ib_qp *qp, const struct ib_qp_attr *attr, unsigned mask)
{
	struct drv_qp_attr a;
	int rc = attr_to_drv(qp, attr, mask & ~(unsigned)RCV_IGNORED, &a);

	if (!rc)
		rc = ib_resolve_eth_dmac(qp->device, &a.ah_attr);
	if (rc)
		return rc;
	if (!(mask & IB_QP_MAX_DEST_RD_ATOMIC))
		a.max_dest_rd_atomic = 0;
	a.qp_state = IBV_QPS_INIT;
	rc = drv_qp_modify(qp->drv, &a, IBV_QP_STATE | RCV_INIT);
	if (rc)
		return rc;
	a.qp_state = IBV_QPS_RTR;
	rc = drv_qp_modify(qp->drv, &a,
			   IBV_QP_STATE | RCV_RTR | IBV_QP_MAX_DEST_RD_ATOMIC |
				   (mask & RCV_OPTIONAL));
	if (rc)
		return rc;
	qp->port = attr->port_num;
	core_gid_hold(qp->device, &qp->gid, &a.ah_attr);
	return 0;
}

int ib_alloc_xrc_rcv_qp(struct ib_xrcd *xrcd, const struct ib_qp_attr *attr, unsigned mask,
			uint32_t *qp_num)
{
	/* The capacities that a query reports. The device has no queue for any of them. */
	const struct ib_qp_init_attr init = {.qp_type = IB_QPT_XRC_TGT,
					     .xrcd = xrcd,
					     .cap = {.max_send_wr = 1, .max_send_sge = 1}};
	struct ib_qp *qp;
	int rc = rcv_mask_check(attr, mask);

	if (rc)
		return rc;
	qp = qp_make(NULL, &init);
	if (IS_ERR(qp))
		return (int)PTR_ERR(qp);
	qp->domain_owned = true;
	rc = rcv_to_rtr(qp, attr, mask);
	if (rc) {
		core_qp_free(qp);
		return rc;
	}
	drv_list_add(&xrcd->tgt_qps, &qp->xrcd_list);
	*qp_num = qp->qp_num;
	return 0;
}
