// SPDX-License-Identifier: Apache-2.0
/* The kernel's side of each call: it finds the objects that handles name, and calls the RDMA core
 * for them. */
#include "host_driver/uverbs/uverbs.h"
#include "model/interface/macros.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct group {
	struct drv_list link;
	union ib_gid gid;
	uint16_t lid;
};

/* Converts the result of an ERR_PTR function to 0 or -errno. */
static int result(const void *p)
{
	return IS_ERR(p) ? (int)PTR_ERR(p) : 0;
}

/* --- protection domains, memory --- */

int uvk_alloc_pd(struct uv_file *file, uint32_t *handle)
{
	struct uv_object *o = uv_object_new(file, UV_PD, NULL);

	if (!o)
		return -ENOMEM;
	o->pd = ib_alloc_user_pd(file->device);
	return uv_object_done(o, result(o->pd), handle);
}

int uvk_reg_mr(struct uv_file *file, uint32_t pd, void *addr, uint64_t length, uint64_t iova,
	       unsigned access, struct ibv_mr *mr, struct drv_mr **hw)
{
	int rc = 0;
	struct uv_object *p = uv_object_get(file, UV_PD, pd, &rc);
	struct uv_object *o = rc ? NULL : uv_object_new(file, UV_MR, mr);

	if (!rc && !o)
		rc = -ENOMEM;
	if (rc)
		goto put;
	o->mr = ib_reg_user_mr(p->pd, addr, length, iova,
			       access & ~(unsigned)IBV_ACCESS_RELAXED_ORDERING);
	rc = result(o->mr);
	if (!rc) {
		mr->lkey = o->mr->lkey;
		mr->rkey = o->mr->rkey;
		*hw = o->mr->drv;
	}
	rc = uv_object_done(o, rc, &mr->handle);
put:
	uv_object_put(p);
	return rc;
}

enum {
	REREG_ACCESS = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
		       IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND,
};

int uvk_rereg_mr(struct uv_file *file, uint32_t mr, unsigned access)
{
	int rc = 0;
	struct uv_object *o = uv_object_get(file, UV_MR, mr, &rc);

	if (rc)
		return rc;
	access &= ~(unsigned)IBV_ACCESS_RELAXED_ORDERING;
	if (access & ~(unsigned)REREG_ACCESS ||
	    (access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC) &&
	     !(access & IBV_ACCESS_LOCAL_WRITE)))
		rc = -EINVAL;
	else
		rc = drv_mr_rereg_access(o->mr->drv, access);
	uv_object_put(o);
	return rc;
}

int uvk_alloc_mw(struct uv_file *file, uint32_t pd, struct ibv_mw *mw, struct drv_mw **hw)
{
	int rc = 0;
	struct uv_object *p = uv_object_get(file, UV_PD, pd, &rc);
	struct uv_object *o = rc ? NULL : uv_object_new(file, UV_MW, mw);

	if (!rc && !o)
		rc = -ENOMEM;
	if (rc)
		goto put;
	o->mw = ib_alloc_mw(p->pd, (enum ib_mw_type)mw->type);
	rc = result(o->mw);
	if (!rc) {
		mw->rkey = o->mw->rkey;
		*hw = o->mw->drv;
	}
	rc = uv_object_done(o, rc, &mw->handle);
put:
	uv_object_put(p);
	return rc;
}

/* --- completion queues --- */

int uvk_create_cq(struct uv_file *file, int cqe, struct uv_channel *channel, int vector,
		  bool stamped, struct ibv_cq *cq, struct drv_cq **hw)
{
	const struct ib_cq_init_attr attr = {
		.cqe = (unsigned)cqe,
		.comp_vector = (unsigned)vector,
		.flags = stamped ? IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION : 0,
		.uar = file->uar,
	};
	struct uv_object *o;
	int rc;

	if (cqe < 1 || vector < 0)
		return -EINVAL;
	o = uv_object_new(file, UV_CQ, cq);
	if (!o)
		return -ENOMEM;
	o->cq = ib_create_cq(file->device, uv_comp_handler, uv_object_event, o, &attr);
	rc = result(o->cq);
	if (!rc) {
		o->channel = channel;
		if (channel)
			channel->refs++;
		cq->cqe = o->cq->cqe;
		*hw = o->cq->drv;
	}
	return uv_object_done(o, rc, &cq->handle);
}

int uvk_modify_cq(struct uv_file *file, uint32_t cq, uint16_t count, uint16_t period_us)
{
	int rc = 0;
	struct uv_object *o = uv_object_get(file, UV_CQ, cq, &rc);

	if (rc)
		return rc;
	rc = ib_modify_cq(o->cq, count, period_us);
	uv_object_put(o);
	return rc;
}

int uvk_resize_cq(struct uv_file *file, uint32_t cq, int cqe, int *got)
{
	int rc = 0;
	struct uv_object *o = uv_object_get(file, UV_CQ, cq, &rc);

	if (rc)
		return rc;
	rc = ib_resize_cq(o->cq, cqe);
	if (!rc)
		*got = o->cq->cqe;
	uv_object_put(o);
	return rc;
}

/* --- shared receive queues --- */

int uvk_create_srq(struct uv_file *file, struct ibv_srq_init_attr_ex *attr, struct ibv_srq *srq,
		   struct drv_srq **hw)
{
	const bool xrc = attr->srq_type == IBV_SRQT_XRC;
	struct uv_object *pd, *xrcd = NULL, *cq = NULL, *o = NULL;
	struct ib_srq_init_attr init = {
		.event_handler = uv_object_event,
		.attr = {.max_wr = attr->attr.max_wr, .max_sge = attr->attr.max_sge},
		.srq_type = (enum ib_srq_type)attr->srq_type,
	};
	int rc = 0;

	pd = uv_object_get(file, UV_PD, attr->pd->handle, &rc);
	if (xrc) {
		xrcd = uv_object_get(file, UV_XRCD, attr->xrcd->handle, &rc);
		cq = uv_object_get(file, UV_CQ, attr->cq->handle, &rc);
	}
	if (!rc) {
		o = uv_object_new(file, UV_SRQ, srq);
		rc = o ? 0 : -ENOMEM;
	}
	if (rc)
		goto put;
	init.srq_context = o;
	init.ext.cq = xrc ? cq->cq : NULL;
	init.ext.xrc.xrcd = xrc ? xrcd->domain->xrcd : NULL;
	o->srq = ib_create_srq(pd->pd, &init);
	rc = result(o->srq);
	if (!rc) {
		o->xrcd = xrcd;
		if (xrcd)
			xrcd->xrcd_users++;
		attr->attr.max_wr = init.attr.max_wr;
		attr->attr.max_sge = init.attr.max_sge;
		*hw = o->srq->drv;
	}
	rc = uv_object_done(o, rc, &srq->handle);
put:
	uv_object_put(cq);
	uv_object_put(xrcd);
	uv_object_put(pd);
	return rc;
}

int uvk_modify_srq(struct uv_file *file, uint32_t srq, const struct ibv_srq_attr *attr, int mask)
{
	const struct ib_srq_attr a = {.max_wr = attr->max_wr, .srq_limit = attr->srq_limit};
	int rc = 0;
	struct uv_object *o = uv_object_get(file, UV_SRQ, srq, &rc);

	if (rc)
		return rc;
	rc = ib_modify_srq(o->srq, &a, (unsigned)mask);
	uv_object_put(o);
	return rc;
}

int uvk_query_srq(struct uv_file *file, uint32_t srq, struct ibv_srq_attr *attr)
{
	struct ib_srq_attr a;
	int rc = 0;
	struct uv_object *o = uv_object_get(file, UV_SRQ, srq, &rc);

	if (rc)
		return rc;
	rc = ib_query_srq(o->srq, &a);
	if (!rc)
		*attr = (struct ibv_srq_attr){
			.max_wr = a.max_wr, .max_sge = a.max_sge, .srq_limit = a.srq_limit};
	uv_object_put(o);
	return rc;
}

/* --- queue pairs --- */

static void qp_made(struct uv_object *o, struct uv_object *xrcd, struct ibv_qp *qp)
{
	qp->qp_num = o->qp->qp_num;
	o->xrcd = xrcd;
	if (xrcd)
		xrcd->xrcd_users++;
}

/* The objects that a queue pair is made of. */
struct qp_parts {
	struct uv_object *pd, *xrcd, *send_cq, *recv_cq, *srq;
};

static int parts_get(struct uv_file *file, const struct ibv_qp_init_attr_ex *attr,
		     struct qp_parts *parts)
{
	int rc = 0;

	*parts = (struct qp_parts){0};
	if (attr->qp_type == IBV_QPT_XRC_RECV) {
		parts->xrcd = uv_object_get(file, UV_XRCD, attr->xrcd->handle, &rc);
		return rc;
	}
	parts->pd = uv_object_get(file, UV_PD, attr->pd->handle, &rc);
	if (attr->send_cq)
		parts->send_cq = uv_object_get(file, UV_CQ, attr->send_cq->handle, &rc);
	if (attr->recv_cq)
		parts->recv_cq = uv_object_get(file, UV_CQ, attr->recv_cq->handle, &rc);
	if (attr->srq)
		parts->srq = uv_object_get(file, UV_SRQ, attr->srq->handle, &rc);
	return rc;
}

static void parts_put(const struct qp_parts *parts)
{
	uv_object_put(parts->srq);
	uv_object_put(parts->recv_cq);
	uv_object_put(parts->send_cq);
	uv_object_put(parts->pd);
	uv_object_put(parts->xrcd);
}

static void cap_read(const struct ib_qp_cap *ib, struct ibv_qp_cap *cap)
{
	*cap = (struct ibv_qp_cap){.max_send_wr = ib->max_send_wr,
				   .max_recv_wr = ib->max_recv_wr,
				   .max_send_sge = ib->max_send_sge,
				   .max_recv_sge = ib->max_recv_sge,
				   .max_inline_data = ib->max_inline_data};
}

int uvk_create_qp(struct uv_file *file, struct ibv_qp_init_attr_ex *attr, struct ibv_qp *qp,
		  struct drv_qp **hw)
{
	struct ib_qp_init_attr init = {
		.event_handler = uv_object_event,
		.cap = {.max_send_wr = attr->cap.max_send_wr,
			.max_recv_wr = attr->cap.max_recv_wr,
			.max_send_sge = attr->cap.max_send_sge,
			.max_recv_sge = attr->cap.max_recv_sge,
			.max_inline_data = attr->cap.max_inline_data},
		.sq_sig_type = attr->sq_sig_all ? IB_SIGNAL_ALL_WR : IB_SIGNAL_REQ_WR,
		.qp_type = (enum ib_qp_type)attr->qp_type,
		.user = true,
		/* a target QP may outlive the process, and with it the process' UAR */
		.uar = attr->qp_type == IBV_QPT_XRC_RECV ? NULL : file->uar,
	};
	struct uv_object *o = NULL;
	struct qp_parts parts;
	int rc = parts_get(file, attr, &parts);

	if (!rc) {
		o = uv_object_new(file, UV_QP, qp);
		rc = o ? 0 : -ENOMEM;
	}
	if (rc)
		goto put;
	init.qp_context = o;
	init.send_cq = parts.send_cq ? parts.send_cq->cq : NULL;
	init.recv_cq = parts.recv_cq ? parts.recv_cq->cq : NULL;
	init.srq = parts.srq ? parts.srq->srq : NULL;
	init.xrcd = parts.xrcd ? parts.xrcd->domain->xrcd : NULL;
	o->qp = ib_create_qp(parts.pd ? parts.pd->pd : NULL, &init);
	rc = result(o->qp);
	if (!rc) {
		qp_made(o, parts.xrcd, qp);
		cap_read(&init.cap, &attr->cap);
		*hw = o->qp->drv;
	}
	rc = uv_object_done(o, rc, &qp->handle);
put:
	parts_put(&parts);
	return rc;
}

int uvk_open_qp(struct uv_file *file, const struct ibv_qp_open_attr *attr, struct ibv_qp *qp)
{
	int rc = 0;
	struct uv_object *xrcd = uv_object_get(file, UV_XRCD, attr->xrcd->handle, &rc);
	struct uv_object *o = rc ? NULL : uv_object_new(file, UV_QP, qp);

	if (!rc && !o)
		rc = -ENOMEM;
	if (rc)
		goto put;
	o->qp = ib_open_qp(xrcd->domain->xrcd, attr->qp_num, uv_object_event, o);
	rc = result(o->qp);
	if (!rc)
		qp_made(o, xrcd, qp);
	rc = uv_object_done(o, rc, &qp->handle);
put:
	uv_object_put(xrcd);
	return rc;
}

int uvk_modify_qp(struct uv_file *file, uint32_t qp, const struct ibv_qp_attr *attr, int mask)
{
	struct ib_qp_attr a;
	int rc = 0;
	struct uv_object *o = uv_object_get(file, UV_QP, qp, &rc);

	if (rc)
		return rc;
	uv_attr_to_ib(attr, &a);
	rc = ib_modify_qp(o->qp, &a, (unsigned)mask);
	uv_object_put(o);
	return rc;
}

int uvk_query_qp(struct uv_file *file, uint32_t qp, struct ibv_qp_attr *attr,
		 struct ibv_qp_cap *cap)
{
	struct ib_qp_attr a;
	int rc = 0;
	struct uv_object *o = uv_object_get(file, UV_QP, qp, &rc);

	if (rc)
		return rc;
	rc = ib_query_qp(o->qp, &a, 0, NULL);
	if (!rc) {
		uv_attr_from_ib(&a, attr);
		*cap = attr->cap;
	}
	uv_object_put(o);
	return rc;
}

static struct group *group_find(struct uv_object *o, const union ib_gid *gid, uint16_t lid)
{
	for (struct drv_list *l = o->groups.next; l != &o->groups; l = l->next) {
		struct group *g = container_of(l, struct group, link);

		if (g->lid == lid && !memcmp(g->gid.raw, gid->raw, sizeof(gid->raw)))
			return g;
	}
	return NULL;
}

static int group_join(struct uv_object *o, const union ib_gid *gid, uint16_t lid)
{
	struct group *g;
	int rc;

	if (group_find(o, gid, lid))
		return 0;
	g = drv_calloc(1, sizeof(*g));
	if (!g)
		return -ENOMEM;
	memcpy(g->gid.raw, gid->raw, sizeof(g->gid.raw));
	g->lid = lid;
	rc = ib_attach_mcast(o->qp, &g->gid, lid);
	if (rc)
		free(g);
	else
		drv_list_add(&o->groups, &g->link);
	return rc;
}

static int group_leave(struct uv_object *o, struct group *g)
{
	int rc = g ? ib_detach_mcast(o->qp, &g->gid, g->lid) : -EINVAL;

	if (rc)
		return rc;
	drv_list_del(&g->link);
	free(g);
	return 0;
}

int uvk_resolve_ah(struct uv_file *file, struct drv_ah_attr *ah)
{
	return ib_resolve_eth_dmac(file->device, ah);
}

int uvk_mcast(struct uv_file *file, uint32_t qp, const union ib_gid *gid, uint16_t lid, bool attach)
{
	int rc = 0;
	struct uv_object *o = uv_object_get(file, UV_QP, qp, &rc);

	if (rc)
		return rc;
	/* The command sleeps while it changes the list of groups, so only one call at a time is
	 * allowed. */
	if (o->users > 1)
		rc = -EBUSY;
	else
		rc = attach ? group_join(o, gid, lid) : group_leave(o, group_find(o, gid, lid));
	uv_object_put(o);
	return rc;
}

/* --- destruction --- */

static int qp_destroy(struct uv_object *o, bool process_ends)
{
	while (process_ends && !drv_list_empty(&o->groups)) {
		struct group *g = container_of(o->groups.next, struct group, link);

		if (!group_leave(o, g))
			continue;
		/* The device no longer answers. The QP must be destroyed anyway. */
		o->qp->usecnt--;
		drv_list_del(&g->link);
		free(g);
	}
	return ib_destroy_qp(o->qp);
}

int uvk_object_destroy(struct uv_object *o, bool process_ends)
{
	int rc = -EINVAL;

	switch (o->kind) {
	case UV_PD:
		rc = ib_dealloc_pd(o->pd);
		break;
	case UV_MR:
		rc = ib_dereg_mr(o->mr);
		break;
	case UV_MW:
		rc = ib_dealloc_mw(o->mw);
		break;
	case UV_CQ:
		rc = ib_destroy_cq(o->cq);
		break;
	case UV_SRQ:
		rc = ib_destroy_srq(o->srq);
		break;
	case UV_QP:
	case UV_XRC_RCV:
		rc = qp_destroy(o, process_ends);
		break;
	case UV_XRCD:
		rc = uvk_xrcd_destroy(o);
		break;
	case UV_ANY:
		break;
	}
	if (rc)
		return rc;
	if (o->channel)
		uv_channel_put(o->channel);
	if (o->xrcd)
		o->xrcd->xrcd_users--;
	return 0;
}
