// SPDX-License-Identifier: Apache-2.0
/* All objects of the RDMA core except queue pairs. An object counts as a user of the objects that
 * it needs. An object that has users cannot be destroyed. */
#include "host_driver/core/core.h"
#include "model/interface/macros.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SL_MAX = 15 };

static const unsigned access_known = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
				     IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC |
				     IB_ACCESS_MW_BIND;

/* --- regions and windows --- */

bool core_access_ok(unsigned access)
{
	return !(access & ~access_known) &&
	       (!(access & (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC)) ||
		access & IB_ACCESS_LOCAL_WRITE);
}

struct ib_mr *core_mr_new(struct ib_pd *pd, enum ib_mr_type type)
{
	struct ib_mr *mr = drv_calloc(1, sizeof(*mr));

	if (!mr)
		return NULL;
	mr->device = pd->device;
	mr->pd = pd;
	mr->type = type;
	mr->page_size = PLATFORM_PAGE_SIZE;
	drv_list_init(&mr->pool_entry);
	return mr;
}

struct ib_mr *core_mr_made(struct ib_mr *mr, int rc)
{
	if (rc) {
		free(mr);
		return ERR_PTR(rc);
	}
	mr->lkey = drv_mr_lkey(mr->drv);
	mr->rkey = drv_mr_rkey(mr->drv);
	mr->pd->usecnt++;
	mr->device->mrs++;
	return mr;
}

struct ib_mr *ib_reg_user_mr(struct ib_pd *pd, void *start, uint64_t length, uint64_t virt_addr,
			     unsigned access)
{
	struct ib_mr *mr;

	if (!length || access & ~access_known || virt_addr + length < virt_addr)
		return ERR_PTR(-EINVAL);
	mr = core_mr_new(pd, IB_MR_TYPE_USER);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->iova = virt_addr;
	mr->length = length;
	return core_mr_made(mr,
			    drv_mr_reg_iova(pd->drv, start, length, virt_addr, access, &mr->drv));
}

struct ib_mr *ib_get_dma_mr(struct ib_pd *pd, unsigned access)
{
	struct ib_mr *mr;

	if (!core_access_ok(access))
		return ERR_PTR(-EINVAL);
	mr = core_mr_new(pd, IB_MR_TYPE_DMA);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->length = UINT64_MAX;
	return core_mr_made(mr, drv_mr_reg_dma(pd->drv, access, &mr->drv));
}

int ib_dereg_mr(struct ib_mr *mr)
{
	int rc;

	if (mr->usecnt)
		return -EBUSY;
	rc = drv_mr_dereg(mr->drv);
	if (rc == -EBUSY)
		return rc;
	mr->pd->usecnt--;
	mr->device->mrs--;
	free(mr);
	return 0;
}

struct ib_mw *ib_alloc_mw(struct ib_pd *pd, enum ib_mw_type type)
{
	struct ib_mw *mw;
	int rc;

	if (type != IB_MW_TYPE_1 && type != IB_MW_TYPE_2)
		return ERR_PTR(-EINVAL);
	mw = drv_calloc(1, sizeof(*mw));
	if (!mw)
		return ERR_PTR(-ENOMEM);
	rc = drv_mw_alloc(pd->drv, (enum ibv_mw_type)type, &mw->drv);
	if (rc) {
		free(mw);
		return ERR_PTR(rc);
	}
	mw->device = pd->device;
	mw->pd = pd;
	mw->type = type;
	mw->rkey = drv_mw_rkey(mw->drv);
	pd->usecnt++;
	pd->device->mws++;
	return mw;
}

int ib_dealloc_mw(struct ib_mw *mw)
{
	drv_mw_free(mw->drv);
	mw->pd->usecnt--;
	mw->device->mws--;
	free(mw);
	return 0;
}

/* --- protection domains --- */

struct ib_pd *ib_alloc_user_pd(struct ib_device *device)
{
	struct ib_pd *pd = drv_calloc(1, sizeof(*pd));
	int rc;

	if (!pd)
		return ERR_PTR(-ENOMEM);
	rc = drv_pd_alloc(device->drv, &pd->drv);
	if (rc) {
		free(pd);
		return ERR_PTR(rc);
	}
	pd->device = device;
	device->pds++;
	return pd;
}

/* A device without a reserved L_Key gets a region over all memory instead. With
 * IB_PD_UNSAFE_GLOBAL_RKEY the caller also gets that region's R_Key for its peers. */
struct ib_pd *ib_alloc_pd(struct ib_device *device, unsigned flags)
{
	const bool reserved = device->attrs.bmme_flags & cap_bit(BMME_RESERVED_LKEY);
	const bool global = flags & IB_PD_UNSAFE_GLOBAL_RKEY;
	struct ib_pd *pd;
	struct ib_mr *mr;

	if (flags & ~(unsigned)IB_PD_UNSAFE_GLOBAL_RKEY)
		return ERR_PTR(-EINVAL);
	pd = ib_alloc_user_pd(device);
	if (IS_ERR(pd))
		return pd;
	if (reserved)
		pd->local_dma_lkey = device->attrs.reserved_lkey;
	if (reserved && !global)
		return pd;
	mr = ib_get_dma_mr(pd,
			   IB_ACCESS_LOCAL_WRITE |
				   (global ? IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE : 0u));
	if (IS_ERR(mr)) {
		ib_dealloc_pd(pd);
		return ERR_PTR(PTR_ERR(mr));
	}
	/* The region belongs to the PD, so it does not count as a user of it. */
	pd->usecnt--;
	pd->__internal_mr = mr;
	if (!reserved)
		pd->local_dma_lkey = mr->lkey;
	if (global)
		pd->unsafe_global_rkey = mr->rkey;
	return pd;
}

int ib_dealloc_pd(struct ib_pd *pd)
{
	int rc;

	if (pd->usecnt)
		return -EBUSY;
	if (pd->__internal_mr) {
		pd->usecnt++;
		ib_dereg_mr(pd->__internal_mr);
		pd->__internal_mr = NULL;
	}
	rc = drv_pd_free(pd->drv);
	if (rc)
		return rc;
	pd->device->pds--;
	free(pd);
	return 0;
}

/* --- completion queues --- */

static void completion(void *arg, struct drv_cq *drv)
{
	struct ib_cq *cq = arg;

	if (cq->comp_handler)
		cq->comp_handler(cq, cq->cq_context);
}

struct ib_cq *ib_create_cq(struct ib_device *device, ib_comp_handler comp_handler,
			   void (*event_handler)(struct ib_event *event, void *cq_context),
			   void *cq_context, const struct ib_cq_init_attr *attr)
{
	struct ib_cq *cq;
	int rc;

	if (!attr->cqe || attr->cqe > device->attrs.max_cqe ||
	    attr->flags & ~(uint32_t)IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION ||
	    attr->comp_vector >= device->num_comp_vectors)
		return ERR_PTR(-EINVAL);
	cq = drv_calloc(1, sizeof(*cq));
	if (!cq)
		return ERR_PTR(-ENOMEM);
	rc = (attr->flags ? drv_cq_create_stamped : drv_cq_create_on)(
		device->drv, attr->uar, attr->cqe, (int)attr->comp_vector, &cq->drv);
	if (rc) {
		free(cq);
		return ERR_PTR(rc);
	}
	cq->device = device;
	cq->comp_handler = comp_handler;
	cq->event_handler = event_handler;
	cq->cq_context = cq_context;
	cq->cqe = (int)drv_cq_entries(cq->drv);
	drv_cq_set_owner(cq->drv, cq);
	drv_cq_set_callback(cq->drv, completion, cq);
	device->cqs++;
	return cq;
}

int ib_resize_cq(struct ib_cq *cq, int cqe)
{
	int rc;

	if (cqe < 1 || (unsigned)cqe > cq->device->attrs.max_cqe ||
	    (unsigned)cqe < drv_cq_outstanding(cq->drv))
		return -EINVAL;
	rc = drv_cq_resize(cq->drv, (unsigned)cqe);
	if (!rc)
		cq->cqe = (int)drv_cq_entries(cq->drv);
	return rc;
}

int ib_modify_cq(struct ib_cq *cq, uint16_t count, uint16_t period)
{
	return drv_cq_moderate(cq->drv, count, period);
}

int ib_destroy_cq(struct ib_cq *cq)
{
	if (cq->usecnt)
		return -EBUSY;
	drv_cq_set_callback(cq->drv, NULL, NULL);
	cq->dying = true;
	drv_cq_destroy(cq->drv);
	cq->device->cqs--;
	free(cq);
	return 0;
}

/* --- XRC domains --- */

struct ib_xrcd *ib_alloc_xrcd(struct ib_device *device)
{
	struct ib_xrcd *xrcd = drv_calloc(1, sizeof(*xrcd));
	int rc;

	if (!xrcd)
		return ERR_PTR(-ENOMEM);
	rc = drv_pd_alloc(device->drv, &xrcd->pd);
	if (rc)
		goto free_xrcd;
	rc = drv_xrcd_alloc(device->drv, &xrcd->drv);
	if (rc)
		goto free_pd;
	xrcd->device = device;
	drv_list_init(&xrcd->tgt_qps);
	drv_list_add(&device->xrcds, &xrcd->link);
	return xrcd;

free_pd:
	drv_pd_free(xrcd->pd);
free_xrcd:
	free(xrcd);
	return ERR_PTR(rc);
}

int ib_dealloc_xrcd(struct ib_xrcd *xrcd)
{
	if (xrcd->usecnt)
		return -EBUSY;
	while (!drv_list_empty(&xrcd->tgt_qps))
		core_qp_free(container_of(xrcd->tgt_qps.next, struct ib_qp, xrcd_list));
	drv_list_del(&xrcd->link);
	drv_xrcd_free(xrcd->drv);
	drv_pd_free(xrcd->pd);
	free(xrcd);
	return 0;
}

/* --- shared receive queues --- */

static void srq_count(struct ib_srq *srq, int n)
{
	srq->device->srqs += (unsigned)n;
	srq->pd->usecnt += (unsigned)n;
	if (srq->srq_type == IB_SRQT_XRC) {
		srq->ext.cq->usecnt += (unsigned)n;
		srq->ext.xrc.xrcd->usecnt += (unsigned)n;
	}
}

struct ib_srq *ib_create_srq(struct ib_pd *pd, struct ib_srq_init_attr *attr)
{
	const bool xrc = attr->srq_type == IB_SRQT_XRC;
	struct drv_srq_init init = {.max_wr = attr->attr.max_wr, .max_sge = attr->attr.max_sge};
	struct ib_srq *srq;
	int rc;

	if ((!xrc && attr->srq_type != IB_SRQT_BASIC) ||
	    (xrc && (!attr->ext.cq || !attr->ext.xrc.xrcd)))
		return ERR_PTR(-EINVAL);
	srq = drv_calloc(1, sizeof(*srq));
	if (!srq)
		return ERR_PTR(-ENOMEM);
	if (xrc) {
		init.cq = attr->ext.cq->drv;
		init.xrcd = attr->ext.xrc.xrcd->drv;
	}
	rc = drv_srq_create(pd->drv, &init, &srq->drv);
	if (rc) {
		free(srq);
		return ERR_PTR(rc);
	}
	srq->device = pd->device;
	srq->pd = pd;
	srq->event_handler = attr->event_handler;
	srq->srq_context = attr->srq_context;
	srq->srq_type = attr->srq_type;
	if (xrc) {
		srq->ext.cq = attr->ext.cq;
		srq->ext.xrc.xrcd = attr->ext.xrc.xrcd;
		srq->ext.xrc.srq_num = drv_srq_num(srq->drv);
	}
	drv_srq_size(srq->drv, &attr->attr.max_wr, &attr->attr.max_sge);
	drv_srq_set_owner(srq->drv, srq);
	srq_count(srq, 1);
	return srq;
}

int ib_modify_srq(struct ib_srq *srq, const struct ib_srq_attr *attr, unsigned mask)
{
	if (mask & ~(unsigned)IB_SRQ_LIMIT)
		return -EINVAL;
	return mask ? drv_srq_arm(srq->drv, attr->srq_limit) : 0;
}

int ib_query_srq(struct ib_srq *srq, struct ib_srq_attr *attr)
{
	unsigned max_wr, limit;
	int rc = drv_srq_query(srq->drv, &max_wr, &limit);

	if (rc)
		return rc;
	drv_srq_size(srq->drv, &attr->max_wr, &attr->max_sge);
	attr->srq_limit = limit;
	return 0;
}

int ib_destroy_srq(struct ib_srq *srq)
{
	if (srq->usecnt)
		return -EBUSY;
	srq->dying = true;
	drv_srq_destroy(srq->drv);
	srq_count(srq, -1);
	free(srq);
	return 0;
}

/* --- address handles --- */

int ib_ah_to_drv(const struct ib_device *device, const struct rdma_ah_attr *attr,
		 struct drv_ah_attr *drv)
{
	const bool global = attr->ah_flags & IB_AH_GRH;

	if (!attr->port_num || attr->port_num > device->phys_port_cnt || attr->sl > SL_MAX ||
	    (global && attr->grh.sgid_index >= device->attrs.gids[attr->port_num]))
		return -EINVAL;
	*drv = (struct drv_ah_attr){.dlid = attr->dlid,
				    .sl = attr->sl,
				    .src_path_bits = attr->src_path_bits,
				    .static_rate = attr->static_rate,
				    .port_num = attr->port_num,
				    .is_global = global};
	memcpy(drv->dmac, attr->roce.dmac, sizeof(drv->dmac));
	if (global) {
		memcpy(drv->dgid, attr->grh.dgid.raw, sizeof(drv->dgid));
		drv->sgid_index = attr->grh.sgid_index;
		drv->hop_limit = attr->grh.hop_limit;
		drv->traffic_class = attr->grh.traffic_class;
		drv->flow_label = attr->grh.flow_label;
	}
	return 0;
}

struct ib_ah *rdma_create_ah(struct ib_pd *pd, const struct rdma_ah_attr *attr, uint32_t flags)
{
	struct drv_ah_attr drv;
	struct ib_ah *ah;
	int rc = ib_ah_to_drv(pd->device, attr, &drv);

	if (!rc)
		rc = ib_resolve_eth_dmac(pd->device, &drv);
	if (rc)
		return ERR_PTR(rc);
	ah = drv_calloc(1, sizeof(*ah));
	if (!ah)
		return ERR_PTR(-ENOMEM);
	ah->device = pd->device;
	ah->pd = pd;
	ah->drv = drv;
	core_gid_hold(ah->device, &ah->gid, &drv);
	pd->usecnt++;
	pd->device->ahs++;
	return ah;
}

int rdma_destroy_ah(struct ib_ah *ah, uint32_t flags)
{
	core_gid_hold(ah->device, &ah->gid, NULL);
	ah->pd->usecnt--;
	ah->device->ahs--;
	free(ah);
	return 0;
}
