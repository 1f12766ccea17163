// SPDX-License-Identifier: Apache-2.0
/* The library: protection domains, memory, completion queues with their channels, shared receive
 * queues, address handles. */
#include "host_driver/uverbs/lib.h"
#include "model/interface/macros.h"

/* --- protection domains --- */

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct ibv_pd *pd = uv_new(context, sizeof(*pd));
	int rc;

	if (!pd)
		return NULL;
	rc = UV_CALL(context, uvk_alloc_pd(file, &pd->handle));
	if (rc)
		return uv_fail(pd, rc);
	pd->context = context;
	return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	int rc = UV_CALL(pd->context, uvk_destroy(file, UV_PD, pd->handle, NULL));

	if (!rc)
		uv_heap_free(pd);
	return -rc;
}

/* --- regions --- */

struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t hca_va,
			       int access)
{
	struct uv_mr *m = uv_new(pd->context, sizeof(*m));
	struct ibv_mr *mr;
	int rc;

	if (!m)
		return NULL;
	mr = &m->ibv;
	rc = UV_CALL(pd->context, uvk_reg_mr(file, pd->handle, addr, length, hca_va,
					     (unsigned)access, mr, &m->hw));
	if (rc)
		return uv_fail(m, rc);
	mr->context = pd->context;
	mr->pd = pd;
	mr->addr = addr;
	mr->length = length;
	return mr;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	return ibv_reg_mr_iova(pd, addr, length, (uintptr_t)addr, access);
}

int ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		 int access)
{
	const int known = IBV_REREG_MR_CHANGE_TRANSLATION | IBV_REREG_MR_CHANGE_PD |
			  IBV_REREG_MR_CHANGE_ACCESS;
	int rc;

	if (!flags || flags & ~known) {
		errno = EINVAL;
		return IBV_REREG_MR_ERR_INPUT;
	}
	rc = flags == IBV_REREG_MR_CHANGE_ACCESS
		     ? UV_CALL(mr->context, uvk_rereg_mr(file, mr->handle, (unsigned)access))
		     : -EOPNOTSUPP;
	if (!rc)
		return 0;
	errno = -rc;
	return IBV_REREG_MR_ERR_CMD;
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	int rc = UV_CALL(mr->context, uvk_destroy(file, UV_MR, mr->handle, NULL));

	if (!rc)
		uv_heap_free(container_of(mr, struct uv_mr, ibv));
	return -rc;
}

/* --- windows --- */

struct ibv_mw *ibv_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct uv_mw *mw = uv_new(pd->context, sizeof(*mw));
	int rc;

	if (!mw)
		return NULL;
	mw->ibv.context = pd->context;
	mw->ibv.pd = pd;
	mw->ibv.type = type;
	rc = UV_CALL(pd->context, uvk_alloc_mw(file, pd->handle, &mw->ibv, &mw->hw));
	return rc ? uv_fail(mw, rc) : &mw->ibv;
}

int ibv_dealloc_mw(struct ibv_mw *mw)
{
	int rc = UV_CALL(mw->context, uvk_destroy(file, UV_MW, mw->handle, NULL));

	if (!rc)
		uv_heap_free(container_of(mw, struct uv_mw, ibv));
	return -rc;
}

int ibv_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	const struct ibv_mw_bind_info *info = &bind->bind_info;
	struct ibv_send_wr wr = {
		.wr_id = bind->wr_id, .opcode = IBV_WR_BIND_MW, .send_flags = bind->send_flags};
	struct ibv_send_wr *bad;
	int rc;

	if (mw->type != IBV_MW_TYPE_1 || (!info->mr && (info->addr || info->length)) ||
	    info->mw_access_flags & IBV_ACCESS_ZERO_BASED)
		return EINVAL;
	if (info->mr && (mw->pd != info->mr->pd || mw->pd != qp->pd))
		return EPERM;
	wr.bind_mw.mw = mw;
	wr.bind_mw.bind_info = *info;
	rc = ibv_post_send(qp, &wr, &bad);
	if (!rc)
		mw->rkey = drv_mw_rkey(container_of(mw, struct uv_mw, ibv)->hw);
	return rc;
}

/* --- channels --- */

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct uv_lib_channel *c = uv_new(context, sizeof(*c));
	int rc;

	if (!c)
		return NULL;
	rc = UV_CALL(context, uvk_create_channel(file, &c->channel));
	if (rc)
		return uv_fail(c, rc);
	c->ibv.context = context;
	c->ibv.fd = c->channel->fd;
	return &c->ibv;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	struct uv_lib_channel *c = container_of(channel, struct uv_lib_channel, ibv);
	int rc;

	if (channel->refcnt)
		return EBUSY;
	rc = UV_CALL(channel->context, uvk_destroy_channel(file, c->channel));
	if (!rc)
		uv_heap_free(c);
	return -rc;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context)
{
	struct uv_lib_channel *c = container_of(channel, struct uv_lib_channel, ibv);
	struct uv_event e;

	if (uv_event_wait(uv_process_of(channel->context), c->channel, &e))
		return -1;
	*cq = e.element;
	*cq_context = (*cq)->cq_context;
	return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int nevents)
{
	uv_acknowledge(cq->context, &cq->comp_events_completed, nevents);
}

/* --- completion queues --- */

struct uv_cq *uv_cq_create(struct ibv_context *context, int cqe, void *cq_context,
			   struct ibv_comp_channel *channel, int comp_vector, bool stamped)
{
	struct uv_lib_channel *c =
		channel ? container_of(channel, struct uv_lib_channel, ibv) : NULL;
	struct uv_cq *cq = uv_new(context, sizeof(*cq));
	int rc;

	if (!cq)
		return NULL;
	cq->ibv.context = context;
	cq->ibv.channel = channel;
	cq->ibv.cq_context = cq_context;
	rc = UV_CALL(context, uvk_create_cq(file, cqe, c ? c->channel : NULL, comp_vector, stamped,
					    &cq->ibv, &cq->hw));
	if (rc)
		return uv_fail(cq, rc);
	if (channel)
		channel->refcnt++;
	return cq;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
			     struct ibv_comp_channel *channel, int comp_vector)
{
	struct uv_cq *cq = uv_cq_create(context, cqe, cq_context, channel, comp_vector, false);

	return cq ? &cq->ibv : NULL;
}

int ibv_resize_cq(struct ibv_cq *cq, int cqe)
{
	return -UV_CALL(cq->context, uvk_resize_cq(file, cq->handle, cqe, &cq->cqe));
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	struct uv_reported reported;
	int rc = UV_CALL(cq->context, uvk_destroy(file, UV_CQ, cq->handle, &reported));

	if (rc)
		return -rc;
	uv_wait_acknowledged(cq->context, &cq->comp_events_completed, reported.comp);
	uv_wait_acknowledged(cq->context, &cq->async_events_completed, reported.async);
	if (cq->channel)
		cq->channel->refcnt--;
	uv_heap_free(container_of(cq, struct uv_cq, ibv));
	return 0;
}

/* --- shared receive queues --- */

static struct ibv_srq *srq_create(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
	struct uv_srq *srq = uv_new(context, sizeof(*srq));
	int rc;

	if (!srq)
		return NULL;
	srq->type = attr->srq_type;
	srq->ibv.context = context;
	srq->ibv.srq_context = attr->srq_context;
	srq->ibv.pd = attr->pd;
	rc = UV_CALL(context, uvk_create_srq(file, attr, &srq->ibv, &srq->hw));
	return rc ? uv_fail(srq, rc) : &srq->ibv;
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	struct ibv_srq_init_attr_ex ex = {.srq_context = attr->srq_context,
					  .attr = attr->attr,
					  .srq_type = IBV_SRQT_BASIC,
					  .pd = pd};
	struct ibv_srq *srq = srq_create(pd->context, &ex);

	if (srq)
		attr->attr = ex.attr;
	return srq;
}

struct ibv_srq *ibv_create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
	const unsigned xrc = IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
	struct ibv_srq_init_attr_ex ex = *attr;
	struct ibv_srq *srq;

	if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE))
		ex.srq_type = IBV_SRQT_BASIC;
	if (attr->comp_mask >= IBV_SRQ_INIT_ATTR_RESERVED || attr->comp_mask & IBV_SRQ_INIT_ATTR_TM)
		return uv_fail(NULL, -EOPNOTSUPP);
	if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_PD) || !attr->pd ||
	    (ex.srq_type != IBV_SRQT_BASIC && ex.srq_type != IBV_SRQT_XRC) ||
	    (ex.srq_type == IBV_SRQT_XRC &&
	     ((attr->comp_mask & xrc) != xrc || !attr->xrcd || !attr->cq)))
		return uv_fail(NULL, -EINVAL);
	srq = srq_create(context, &ex);
	if (srq)
		attr->attr = ex.attr;
	return srq;
}

int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask)
{
	return -UV_CALL(srq->context, uvk_modify_srq(file, srq->handle, attr, mask));
}

int ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
	return -UV_CALL(srq->context, uvk_query_srq(file, srq->handle, attr));
}

int ibv_get_srq_num(struct ibv_srq *srq, uint32_t *srq_num)
{
	struct uv_srq *s = container_of(srq, struct uv_srq, ibv);

	if (s->type != IBV_SRQT_XRC)
		return EOPNOTSUPP;
	*srq_num = drv_srq_num(s->hw);
	return 0;
}

int ibv_destroy_srq(struct ibv_srq *srq)
{
	struct uv_reported reported;
	int rc = UV_CALL(srq->context, uvk_destroy(file, UV_SRQ, srq->handle, &reported));

	if (rc)
		return -rc;
	uv_wait_acknowledged(srq->context, &srq->events_completed, reported.async);
	uv_heap_free(container_of(srq, struct uv_srq, ibv));
	return 0;
}

/* --- address handles: of the process alone; the kernel finds the MAC on an Ethernet port --- */

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	const struct ib_device *device = UV_CONTEXT(pd->context)->file->device;
	struct rdma_ah_attr ib;
	struct uv_ah *ah;
	int rc = 0;

	uv_ah_to_ib(attr, &ib);
	ah = uv_new(pd->context, sizeof(*ah));
	if (!ah)
		return NULL;
	if (ib_ah_to_drv(device, &ib, &ah->hw))
		return uv_fail(ah, -EINVAL);
	if (rdma_protocol_roce(device, attr->port_num))
		rc = UV_CALL(pd->context, uvk_resolve_ah(file, &ah->hw));
	if (rc)
		return uv_fail(ah, rc);
	ah->ibv.context = pd->context;
	ah->ibv.pd = pd;
	return &ah->ibv;
}

int ibv_destroy_ah(struct ibv_ah *ah)
{
	uv_heap_free(container_of(ah, struct uv_ah, ibv));
	return 0;
}
