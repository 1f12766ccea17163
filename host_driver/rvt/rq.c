// SPDX-License-Identifier: Apache-2.0
/* Receive queues, of a queue pair or shared. */
#include "host_driver/rvt/rvt_impl.h"

#include <errno.h>
#include <stdlib.h>

int rvt_rq_init(struct rvt_rq *rq, unsigned max_wr, unsigned max_sge)
{
	memset(rq, 0, sizeof(*rq));
	rq->max_sge = max_sge ? max_sge : 1;
	rq->max_post = max_wr;
	rq->entries = UINT32_C(1) << drv_log2_up(max_wr ? max_wr : 1);
	rq->ring = drv_calloc(rq->entries, sizeof(*rq->ring));
	rq->sges = drv_calloc((size_t)rq->entries * rq->max_sge, sizeof(*rq->sges));
	if (!rq->ring || !rq->sges) {
		rvt_rq_cleanup(rq);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < rq->entries; i++)
		rq->ring[i].sge = &rq->sges[(size_t)i * rq->max_sge];
	return 0;
}

void rvt_rq_cleanup(struct rvt_rq *rq)
{
	free(rq->ring);
	free(rq->sges);
	rq->ring = NULL;
	rq->sges = NULL;
}

int rvt_rq_post(struct rvt_rq *rq, const struct drv_recv_wr *wr)
{
	struct rvt_rwqe *w = &rq->ring[rq->head & (rq->entries - 1)];

	if (wr->num_sge > rq->max_sge)
		return -EINVAL;
	if (rq->head - rq->polled >= rq->max_post)
		return -ENOMEM;
	w->wr_id = wr->wr_id;
	w->num_sge = wr->num_sge;
	if (wr->num_sge)
		memcpy(w->sge, wr->sg_list, wr->num_sge * sizeof(*w->sge));
	rq->head++;
	return 0;
}

/* An SRQ tells once that it has fewer than `limit` receives left. */
static void limit_check(struct rvt_srq *srq)
{
	const struct drv_event event = {.type = IBV_EVENT_SRQ_LIMIT_REACHED,
					.srq = drv_srq_handle(srq)};

	if (!srq->limit || rvt_rq_count(&srq->rq) >= srq->limit)
		return;
	srq->limit = 0;
	rvt_counters(srq)->srq_limits++;
	rvt_event(rvt_dev(srq), &event);
}

bool rvt_rwqe_take(struct rvt_qp *qp)
{
	struct rvt_rq *rq = qp->srq ? &qp->srq->rq : &qp->rq;
	const struct rvt_rwqe *w = &rq->ring[rq->tail & (rq->entries - 1)];
	struct rvt_responder *r = &qp->resp;

	if (rq->tail == rq->head)
		return false;
	r->rwqe = *w;
	r->rwqe.sge = r->rwqe_sges;
	memcpy(r->rwqe_sges, w->sge, w->num_sge * sizeof(*w->sge));
	r->has_rwqe = true;
	rq->tail++;
	if (qp->srq) {
		rvt_counters(qp)->srq_taken++;
		limit_check(qp->srq);
	}
	return true;
}

/* --- SRQs --- */

static int srq_create(struct rvt_pd *pd, const struct drv_srq_init *init, struct drv_srq **out)
{
	struct rvt_device *dev = rvt_dev(pd);
	struct rvt_srq *srq;
	int rc;

	if (init->xrcd || init->cq)
		return rvt_refuse(pd->dev, "srq_create of an XRC SRQ");
	if (!init->max_wr || init->max_wr > dev->limits.attr.max_srq_wr || init->max_sge > RVT_SGES)
		return -EINVAL;
	srq = drv_calloc(1, sizeof(*srq));
	if (!srq)
		return -ENOMEM;
	rc = rvt_rq_init(&srq->rq, init->max_wr, init->max_sge);
	if (rc) {
		free(srq);
		return rc;
	}
	srq->dev = pd->dev;
	srq->pd = pd;
	srq->srqn = ++dev->srqn_last;
	pd->users++;
	drv_list_add(&dev->srq_list, &srq->link);
	*out = drv_srq_handle(srq);
	return 0;
}

int rvt_srq_create(struct drv_pd *pd, const struct drv_srq_init *init, struct drv_srq **srq)
{
	struct drv_device *dev = drv_device_of(pd);

	DRV_ENTER(dev, "%u receives, %u sges", init->max_wr, init->max_sge);
	return DRV_LEAVE(dev, srq_create(rvt_pd_of(pd), init, srq));
}

int rvt_srq_arm(struct drv_srq *handle, unsigned limit)
{
	struct rvt_srq *srq = rvt_srq_of(handle);

	if (limit > srq->rq.max_post)
		return -EINVAL;
	srq->limit = limit;
	limit_check(srq);
	return 0;
}

int rvt_srq_query(struct drv_srq *handle, unsigned *max_wr, unsigned *limit)
{
	*max_wr = rvt_srq_of(handle)->rq.max_post;
	*limit = rvt_srq_of(handle)->limit;
	return 0;
}

void rvt_srq_size(const struct drv_srq *handle, uint32_t *max_wr, uint32_t *max_sge)
{
	*max_wr = rvt_srq_of(handle)->rq.max_post;
	*max_sge = rvt_srq_of(handle)->rq.max_sge;
}

int rvt_srq_destroy(struct drv_srq *handle)
{
	struct rvt_srq *srq = rvt_srq_of(handle);

	if (srq->users)
		return -EBUSY;
	srq->pd->users--;
	drv_list_del(&srq->link);
	rvt_rq_cleanup(&srq->rq);
	free(srq);
	return 0;
}

int rvt_post_srq_recv(struct drv_srq *handle, const struct drv_recv_wr *wr,
		      const struct drv_recv_wr **bad)
{
	struct rvt_srq *srq = rvt_srq_of(handle);
	int rc = 0;

	for (; wr && !rc; wr = rc ? wr : wr->next)
		rc = rvt_rq_post(&srq->rq, wr);
	if (rc && bad)
		*bad = wr;
	return rc;
}

uint32_t rvt_srq_num(const struct drv_srq *srq)
{
	return rvt_srq_of(srq)->srqn;
}

void rvt_srq_set_owner(struct drv_srq *srq, void *owner)
{
	rvt_srq_of(srq)->owner = owner;
}

void *rvt_srq_owner(const struct drv_srq *srq)
{
	return rvt_srq_of(srq)->owner;
}
