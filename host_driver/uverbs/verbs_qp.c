// SPDX-License-Identifier: Apache-2.0
/* The library: queue pairs, XRC domains and receive QPs by number. */
#include "host_driver/uverbs/lib.h"
#include "model/interface/macros.h"

/* --- queue pairs --- */

static uint64_t send_ops(const struct ibv_qp_init_attr_ex *attr)
{
	return attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS ? attr->send_ops_flags : 0;
}

static struct ibv_qp *qp_create(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	struct uv_qp *qp = uv_new(context, sizeof(*qp));
	int rc;

	if (!qp)
		return NULL;
	qp->sq_sig_all = attr->sq_sig_all;
	qp->ibv = (struct ibv_qp){.context = context,
				  .qp_context = attr->qp_context,
				  .pd = attr->pd,
				  .send_cq = attr->send_cq,
				  .recv_cq = attr->recv_cq,
				  .srq = attr->srq,
				  .state = IBV_QPS_RESET,
				  .qp_type = attr->qp_type};
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) {
		rc = uv_batch_create(qp, attr->send_ops_flags);
		if (rc)
			return uv_fail(qp, rc);
	}
	rc = UV_CALL(context, uvk_create_qp(file, attr, &qp->ibv, &qp->hw));
	if (!rc)
		return &qp->ibv;
	uv_batch_free(qp);
	return uv_fail(qp, rc);
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex ex = {.qp_context = attr->qp_context,
					 .send_cq = attr->send_cq,
					 .recv_cq = attr->recv_cq,
					 .srq = attr->srq,
					 .cap = attr->cap,
					 .qp_type = attr->qp_type,
					 .sq_sig_all = attr->sq_sig_all,
					 .pd = pd};
	struct ibv_qp *qp;

	/* a target QP needs an XRC domain, which this call cannot name */
	if (attr->qp_type == IBV_QPT_XRC_RECV)
		return uv_fail(NULL, -EINVAL);
	qp = qp_create(pd->context, &ex);
	if (qp)
		attr->cap = ex.cap;
	return qp;
}

struct ibv_qp *ibv_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	const unsigned needs =
		attr->qp_type == IBV_QPT_XRC_RECV ? IBV_QP_INIT_ATTR_XRCD : IBV_QP_INIT_ATTR_PD;
	struct ibv_qp_init_attr_ex ex = *attr;
	struct ibv_qp *qp;

	if (attr->comp_mask &
		    ~(unsigned)(IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD |
				IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) ||
	    !uv_batch_possible(attr->qp_type, send_ops(attr)))
		return uv_fail(NULL, -EOPNOTSUPP);
	if (!(attr->comp_mask & needs) ||
	    (attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS && attr->create_flags))
		return uv_fail(NULL, -EINVAL);
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD))
		ex.pd = NULL;
	if (attr->qp_type == IBV_QPT_XRC_RECV) {
		ex.send_cq = ex.recv_cq = NULL;
		ex.srq = NULL;
	}
	if (attr->qp_type == IBV_QPT_XRC_RECV ? !ex.xrcd : !ex.pd)
		return uv_fail(NULL, -EINVAL);
	qp = qp_create(context, &ex);
	if (qp)
		attr->cap = ex.cap;
	return qp;
}

struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	struct uv_qp *q = container_of(qp, struct uv_qp, ibv);

	return q->batch ? &q->ex : NULL;
}

struct ibv_qp *ibv_open_qp(struct ibv_context *context, struct ibv_qp_open_attr *attr)
{
	const unsigned needs = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE;
	struct uv_qp *qp;
	int rc;

	if (attr->comp_mask >= IBV_QP_OPEN_ATTR_RESERVED)
		return uv_fail(NULL, -EOPNOTSUPP);
	if ((attr->comp_mask & needs) != needs || !attr->xrcd || attr->qp_type != IBV_QPT_XRC_RECV)
		return uv_fail(NULL, -EINVAL);
	qp = uv_new(context, sizeof(*qp));
	if (!qp)
		return NULL;
	qp->ibv = (struct ibv_qp){
		.context = context,
		.qp_context = attr->comp_mask & IBV_QP_OPEN_ATTR_CONTEXT ? attr->qp_context : NULL,
		.state = IBV_QPS_UNKNOWN,
		.qp_type = attr->qp_type};
	rc = UV_CALL(context, uvk_open_qp(file, attr, &qp->ibv));
	return rc ? uv_fail(qp, rc) : &qp->ibv;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	int rc = UV_CALL(qp->context, uvk_modify_qp(file, qp->handle, attr, mask));

	if (!rc && mask & IBV_QP_STATE)
		qp->state = attr->qp_state;
	return -rc;
}

int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		 struct ibv_qp_init_attr *init)
{
	struct ibv_qp_cap cap;
	int rc = UV_CALL(qp->context, uvk_query_qp(file, qp->handle, attr, &cap));

	if (rc)
		return -rc;
	*init = (struct ibv_qp_init_attr){.qp_context = qp->qp_context,
					  .send_cq = qp->send_cq,
					  .recv_cq = qp->recv_cq,
					  .srq = qp->srq,
					  .cap = cap,
					  .qp_type = qp->qp_type,
					  .sq_sig_all =
						  container_of(qp, struct uv_qp, ibv)->sq_sig_all};
	qp->state = attr->qp_state;
	return 0;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	struct uv_reported reported;
	int rc = UV_CALL(qp->context, uvk_destroy(file, UV_QP, qp->handle, &reported));

	if (rc)
		return -rc;
	uv_wait_acknowledged(qp->context, &qp->events_completed, reported.async);
	uv_batch_free(container_of(qp, struct uv_qp, ibv));
	uv_heap_free(container_of(qp, struct uv_qp, ibv));
	return 0;
}

int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	union ib_gid g;

	memcpy(g.raw, gid->raw, sizeof(g.raw));
	return -UV_CALL(qp->context, uvk_mcast(file, qp->handle, &g, lid, true));
}

int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	union ib_gid g;

	memcpy(g.raw, gid->raw, sizeof(g.raw));
	return -UV_CALL(qp->context, uvk_mcast(file, qp->handle, &g, lid, false));
}

/* --- XRC domains --- */

struct ibv_xrcd *ibv_open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr)
{
	const unsigned needs = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
	struct ibv_xrcd *xrcd;
	int rc;

	if (attr->comp_mask >= IBV_XRCD_INIT_ATTR_RESERVED)
		return uv_fail(NULL, -EOPNOTSUPP);
	if ((attr->comp_mask & needs) != needs)
		return uv_fail(NULL, -EINVAL);
	xrcd = uv_new(context, sizeof(*xrcd));
	if (!xrcd)
		return NULL;
	rc = UV_CALL(context, uvk_open_xrcd(file, attr->fd, attr->oflags, &xrcd->handle));
	if (rc)
		return uv_fail(xrcd, rc);
	xrcd->context = context;
	return xrcd;
}

int ibv_close_xrcd(struct ibv_xrcd *xrcd)
{
	int rc = UV_CALL(xrcd->context, uvk_destroy(file, UV_XRCD, xrcd->handle, NULL));

	if (!rc)
		uv_heap_free(xrcd);
	return -rc;
}

/* --- what came before: domains and receive QPs of OFED --- */

/* Both structures have the context and the handle at the same offsets. */
_Static_assert(offsetof(struct ibv_xrcd, handle) == offsetof(struct ibv_xrc_domain, handle) &&
		       sizeof(struct ibv_xrcd) == sizeof(struct ibv_xrc_domain),
	       "one object with two names");

struct ibv_xrc_domain *ibv_open_xrc_domain(struct ibv_context *context, int fd, int oflag)
{
	struct ibv_xrcd_init_attr attr = {.comp_mask =
						  IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
					  .fd = fd,
					  .oflags = oflag};

	return (struct ibv_xrc_domain *)ibv_open_xrcd(context, &attr);
}

int ibv_close_xrc_domain(struct ibv_xrc_domain *domain)
{
	return ibv_close_xrcd((struct ibv_xrcd *)domain);
}

struct ibv_srq *ibv_create_xrc_srq(struct ibv_pd *pd, struct ibv_xrc_domain *domain,
				   struct ibv_cq *xrc_cq, struct ibv_srq_init_attr *attr)
{
	struct ibv_srq_init_attr_ex ex = {
		.srq_context = attr->srq_context,
		.attr = attr->attr,
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC,
		.pd = pd,
		.xrcd = (struct ibv_xrcd *)domain,
		.cq = xrc_cq,
	};
	struct ibv_srq *srq = ibv_create_srq_ex(pd->context, &ex);

	if (srq)
		attr->attr = ex.attr;
	return srq;
}

int ibv_alloc_xrc_rcv_qp(struct ibv_pd *pd, struct ibv_xrc_domain *domain, struct ibv_qp_attr *attr,
			 int mask, uint32_t *xrc_rcv_qpn)
{
	if (!pd || !domain || pd->context != domain->context)
		return EINVAL;
	return -UV_CALL(pd->context, uvk_alloc_rcv_qp(file, pd->handle, domain->handle, attr, mask,
						      xrc_rcv_qpn));
}

int ibv_create_xrc_rcv_qp(struct ibv_qp_init_attr *attr, uint32_t *xrc_rcv_qpn)
{
	struct ibv_xrc_domain *domain = attr->xrc_domain;

	if (!domain)
		return EINVAL;
	return -UV_CALL(domain->context, uvk_create_rcv_qp(file, domain->handle, xrc_rcv_qpn));
}

int ibv_modify_xrc_rcv_qp(struct ibv_xrc_domain *domain, uint32_t xrc_qp_num,
			  struct ibv_qp_attr *attr, int mask)
{
	return -UV_CALL(domain->context,
			uvk_modify_rcv_qp(file, domain->handle, xrc_qp_num, attr, mask));
}

int ibv_query_xrc_rcv_qp(struct ibv_xrc_domain *domain, uint32_t xrc_qp_num,
			 struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init)
{
	struct ibv_qp_cap cap;
	int rc = UV_CALL(domain->context,
			 uvk_query_rcv_qp(file, domain->handle, xrc_qp_num, attr, &cap));

	if (rc)
		return -rc;
	if (init)
		*init = (struct ibv_qp_init_attr){
			.cap = cap, .qp_type = IBV_QPT_XRC_RECV, .xrc_domain = domain};
	return 0;
}

int ibv_reg_xrc_rcv_qp(struct ibv_xrc_domain *domain, uint32_t xrc_qp_num)
{
	return -UV_CALL(domain->context, uvk_reg_rcv_qp(file, domain->handle, xrc_qp_num));
}

int ibv_unreg_xrc_rcv_qp(struct ibv_xrc_domain *domain, uint32_t xrc_qp_num)
{
	return -UV_CALL(domain->context, uvk_unreg_rcv_qp(file, domain->handle, xrc_qp_num));
}
