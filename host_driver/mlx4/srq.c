// SPDX-License-Identifier: Apache-2.0
/* Shared receive queues: a list of slots that are linked by index. Free slots are appended at its
 * tail. */
#include "host_driver/mlx4/mlx4_internal.h"
#include "model/interface/commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SRQ_STRIDE_MIN_LOG = 5, SRQ_SGE_BYTES = sizeof(struct wqe_data) };

static struct srq_next *srq_slot(const struct drv_srq *srq, uint32_t slot)
{
	return drv_buf_at(&srq->buf, (size_t)slot << srq->log_stride);
}

void drv_srq_free_slot(struct drv_srq *srq, uint32_t slot)
{
	srq_next_set_next_wqe_index(srq_slot(srq, srq->tail), slot);
	srq->tail = slot;
}

int mlx4_post_srq_recv(struct drv_srq *srq, const struct drv_recv_wr *wr,
		       const struct drv_recv_wr **bad)
{
	struct drv_device *dev = srq->dev;
	unsigned n = 0;
	int rc = 0;

	DRV_ENTER(dev, "srqn %06x", srq->srqn);
	for (; wr; wr = wr->next, n++) {
		struct srq_next *slot = srq_slot(srq, srq->head);

		if (wr->num_sge > srq->max_sge)
			rc = -EINVAL;
		else if (srq->head == srq->tail)
			rc = -ENOMEM;
		if (rc)
			break;
		srq->wr_id[srq->head] = wr->wr_id;
		drv_recv_sges(slot->b + sizeof(*slot),
			      ((size_t)1 << srq->log_stride) - sizeof(*slot), wr);
		/* masked, because a defective device may have overwritten the link */
		srq->head = srq_next_get_next_wqe_index(slot) & (srq->entries - 1);
	}
	if (rc && bad)
		*bad = wr;
	if (n) {
		dev->p->ops->cpu_ps(dev->p, n * dev->options.receive_cost_ps);
		srq->counter = (uint16_t)(srq->counter + n);
		drv_recv_before_record();
		rq_dbrec_set_counter(srq->db.record, srq->counter);
	}
	return DRV_LEAVE(dev, rc);
}

static int srq_number(struct drv_srq *srq)
{
	struct drv_device *dev = srq->dev;
	int rc = drv_bitmap_alloc(&dev->srqs, &srq->srqn);

	if (rc)
		return rc;
	rc = drv_table_get(&dev->tables[DRV_T_SRQC], srq->srqn);
	if (rc)
		goto free_number;
	rc = drv_table_get(&dev->tables[DRV_T_CMPT_SRQ], srq->srqn);
	if (rc)
		goto put_srqc;
	return 0;

put_srqc:
	drv_table_put(&dev->tables[DRV_T_SRQC], srq->srqn);
free_number:
	drv_bitmap_free(&dev->srqs, srq->srqn);
	return rc;
}

static void srq_number_free(struct drv_srq *srq)
{
	drv_table_put(&srq->dev->tables[DRV_T_CMPT_SRQ], srq->srqn);
	drv_table_put(&srq->dev->tables[DRV_T_SRQC], srq->srqn);
	drv_bitmap_free(&srq->dev->srqs, srq->srqn);
}

static int srq_to_hw(struct drv_srq *srq)
{
	struct srqc ctx = {0};

	srqc_set_log_size(&ctx, drv_log2_up(srq->entries));
	srqc_set_srqn(&ctx, srq->srqn);
	srqc_set_log_stride(&ctx, srq->log_stride - 4);
	srqc_set_xrcd(&ctx, srq->xrcd ? srq->xrcd->xrcdn : 0);
	srqc_set_cqn(&ctx, srq->cq ? srq->cq->cqn : 0);
	srqc_set_mtt_addr(&ctx, drv_mtt_addr(&srq->buf.mtt));
	srqc_set_pd(&ctx, srq->pd->pdn);
	srqc_set_db_rec_addr(&ctx, srq->db.bus);
	return drv_cmd_in(srq->dev, HCR_SW2HW_SRQ, srq->srqn, 0, &ctx, sizeof(ctx));
}

static int srq_buffer(struct drv_srq *srq)
{
	struct drv_device *dev = srq->dev;
	int rc = drv_db_alloc(dev, &srq->db);

	if (rc)
		return rc;
	rc = drv_buf_alloc(dev, (size_t)srq->entries << srq->log_stride, &srq->buf);
	if (rc)
		goto free_db;
	for (uint32_t i = 0; i < srq->entries; i++)
		srq_next_set_next_wqe_index(srq_slot(srq, i), (i + 1) & (srq->entries - 1));
	srq->tail = srq->entries - 1;
	return 0;

free_db:
	drv_db_free(dev, &srq->db);
	return rc;
}

static void srq_users(struct drv_srq *srq, int n)
{
	srq->pd->users += (unsigned)n;
	if (srq->xrcd)
		srq->xrcd->users += (unsigned)n;
	if (srq->cq)
		srq->cq->users += (unsigned)n;
}

static int srq_create(struct drv_pd *pd, const struct drv_srq_init *init, struct drv_srq **out)
{
	struct drv_device *dev = pd->dev;
	struct drv_srq *srq;
	int rc = -ENOMEM;

	if (!init->max_wr || init->max_wr >= 1u << dev_cap_get_log_max_srq_wqes(&dev->cap) ||
	    init->max_sge >= dev_cap_get_max_rq_sge(&dev->cap) || !init->xrcd != !init->cq)
		return -EINVAL;
	srq = drv_calloc(1, sizeof(*srq));
	if (!srq)
		return -ENOMEM;
	*srq = (struct drv_srq){.dev = dev, .pd = pd, .xrcd = init->xrcd, .cq = init->cq};
	srq->entries = UINT32_C(1) << drv_log2_up((uint64_t)init->max_wr + 1);
	srq->log_stride =
		drv_log2_up(sizeof(struct srq_next) + (uint64_t)init->max_sge * SRQ_SGE_BYTES);
	if (srq->log_stride < SRQ_STRIDE_MIN_LOG)
		srq->log_stride = SRQ_STRIDE_MIN_LOG;
	srq->max_sge = (unsigned)((((size_t)1 << srq->log_stride) - sizeof(struct srq_next)) /
				  SRQ_SGE_BYTES);
	srq->wr_id = drv_calloc(srq->entries, sizeof(*srq->wr_id));
	if (!srq->wr_id)
		goto free_srq;
	rc = srq_buffer(srq);
	if (rc)
		goto free_srq;
	rc = srq_number(srq);
	if (rc)
		goto free_buffer;
	rc = srq_to_hw(srq);
	if (rc)
		goto free_number;
	dev->srq_table[srq->srqn & drv_table_mask(dev, DRV_T_SRQC)] = srq;
	drv_list_add(&dev->srq_list, &srq->link);
	srq_users(srq, 1);
	*out = srq;
	return 0;

free_number:
	srq_number_free(srq);
free_buffer:
	drv_buf_free(dev, &srq->buf);
	drv_db_free(dev, &srq->db);
free_srq:
	free(srq->wr_id);
	free(srq);
	return rc;
}

int mlx4_srq_create(struct drv_pd *pd, const struct drv_srq_init *init, struct drv_srq **srq)
{
	DRV_ENTER(pd->dev, "%u receives, %u sges", init->max_wr, init->max_sge);
	return DRV_LEAVE(pd->dev, srq_create(pd, init, srq));
}

int mlx4_srq_destroy(struct drv_srq *srq)
{
	struct drv_device *dev = srq->dev;
	int rc;

	if (srq->users)
		return -EBUSY;
	DRV_ENTER(dev, "srqn %06x", srq->srqn);
	rc = drv_cmd_plain(dev, HCR_HW2SW_SRQ, srq->srqn, HCR_OM_NO_OUTBOX);
	dev->srq_table[srq->srqn & drv_table_mask(dev, DRV_T_SRQC)] = NULL;
	srq_number_free(srq);
	drv_buf_free(dev, &srq->buf);
	drv_db_free(dev, &srq->db);
	srq_users(srq, -1);
	drv_list_del(&srq->link);
	free(srq->wr_id);
	free(srq);
	return DRV_LEAVE(dev, rc);
}

int mlx4_srq_arm(struct drv_srq *srq, unsigned limit)
{
	DRV_ENTER(srq->dev, "srqn %06x, limit %u", srq->srqn, limit);
	return DRV_LEAVE(srq->dev, limit >= srq->entries ? -EINVAL
							 : drv_cmd_imm(srq->dev, HCR_ARM_SRQ,
								       srq->srqn, limit, NULL));
}

int mlx4_srq_query(struct drv_srq *srq, unsigned *max_wr, unsigned *limit)
{
	struct srqc ctx;
	int rc;

	DRV_ENTER(srq->dev, "srqn %06x", srq->srqn);
	rc = drv_cmd_out(srq->dev, HCR_QUERY_SRQ, srq->srqn, 0, &ctx, sizeof(ctx));
	if (!rc) {
		*max_wr = srq->entries - 1;
		*limit = srqc_get_limit(&ctx);
	}
	return DRV_LEAVE(srq->dev, rc);
}

void mlx4_srq_size(const struct drv_srq *srq, uint32_t *max_wr, uint32_t *max_sge)
{
	*max_wr = srq->entries - 1;
	*max_sge = srq->max_sge;
}

void mlx4_srq_set_owner(struct drv_srq *srq, void *owner)
{
	srq->owner = owner;
}

void *mlx4_srq_owner(const struct drv_srq *srq)
{
	return srq->owner;
}

uint32_t mlx4_srq_num(const struct drv_srq *srq)
{
	return srq->srqn;
}

int drv_srqs_init(struct drv_device *dev)
{
	const uint32_t srqs = dev->tables[DRV_T_SRQC].entries;
	int rc = drv_bitmap_init(&dev->srqs, srqs, srqs - 1,
				 1u << dev_cap_get_log_rsvd_srqs(&dev->cap), 0);

	if (rc)
		return rc;
	dev->srq_table = drv_calloc(srqs, sizeof(*dev->srq_table));
	if (!dev->srq_table) {
		drv_bitmap_cleanup(&dev->srqs);
		return -ENOMEM;
	}
	return 0;
}

void drv_srqs_cleanup(struct drv_device *dev)
{
	free(dev->srq_table);
	dev->srq_table = NULL;
	drv_bitmap_cleanup(&dev->srqs);
}
