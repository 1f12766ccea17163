// SPDX-License-Identifier: Apache-2.0
/* Posting: room in the queues, owner bits, stamps, doorbell and BlueFlame. */
#include "host_driver/mlx4/post.h"

#include <errno.h>
#include <string.h>

void *drv_sq_slot(const struct drv_qp *qp, uint32_t index)
{
	return drv_buf_at(&qp->buf, qp->sq.offset + ((size_t)(index & (qp->sq.entries - 1))
						     << qp->sq.log_stride));
}

/* Marks the first dword of every 64-byte chunk of a slot, except the first chunk, so that a device
 * that reads ahead does not take old contents for a WQE. */
static void sq_stamp(const struct drv_qp *qp, uint32_t index)
{
	uint8_t *wqe = drv_sq_slot(qp, index);

	for (size_t i = WQE_CHUNK; i < (size_t)1 << qp->sq.log_stride; i += WQE_CHUNK)
		be32_store(wqe + i, UINT32_MAX);
}

void drv_sq_init(struct drv_qp *qp)
{
	for (uint32_t i = 0; i < qp->sq.entries; i++) {
		struct wqe_ctrl *ctrl = drv_sq_slot(qp, i);

		memset(ctrl, 0, sizeof(*ctrl));
		wqe_ctrl_set_owner(ctrl, 1);
		wqe_ctrl_set_ds(ctrl, 1u << (qp->sq.log_stride - 4));
		sq_stamp(qp, i);
	}
}

bool drv_sq_full(const struct drv_qp *qp)
{
	return qp->sq.head - qp->sq.tail >= qp->sq.max_post;
}

void drv_sq_commit(struct drv_qp *qp, uint64_t wr_id)
{
	struct drv_wq *sq = &qp->sq;
	struct wqe_ctrl *ctrl = drv_sq_slot(qp, sq->head);

	sq->wr_id[sq->head & (sq->entries - 1)] = wr_id;
	drv_wqe_body_before_owner();
	wqe_ctrl_set_owner(ctrl, !!(sq->head & sq->entries));
	sq_stamp(qp, sq->head + qp->spare);
	sq->head++;
}

void drv_sq_doorbell(struct drv_qp *qp)
{
	struct send_db db = {0};

	send_db_set_qpn(&db, qp->qpn);
	drv_wqe_before_doorbell();
	qp->dev->p->ops->mmio_write(qp->dev->p, HCA_BAR_UAR,
				    (uint64_t)qp->uar->page * UAR_PAGE_SIZE + UAR_SEND_DB, db.b,
				    sizeof(db.b));
}

/* Writes the last WQE to the device through BlueFlame. Its index and QPN are stored in the WQE, in
 * memory, too. The two buffers are used in turn, by one thread at a time. */
static void sq_blueflame(struct drv_qp *qp, unsigned ds)
{
	struct drv_device *dev = qp->dev;
	const size_t bytes = ((size_t)ds * WQE_UNIT + BF_UNIT - 1) & ~(size_t)(BF_UNIT - 1);
	const uint32_t index = qp->sq.head - 1;
	struct drv_uar *uar = qp->uar;
	const uint64_t at = dev->uar_bytes + (uint64_t)uar->page * UAR_PAGE_SIZE + uar->bf_offset;
	uint8_t *wqe = drv_sq_slot(qp, index);
	struct wqe_ctrl *ctrl = (struct wqe_ctrl *)(void *)wqe;

	uar->bf_busy = true;
	uar->bf_offset ^= dev->bf_buf_bytes;
	wqe_ctrl_set_bf_index(ctrl, index);
	wqe_ctrl_set_bf_qpn(ctrl, qp->qpn);
	drv_wqe_before_doorbell();
	for (size_t i = 0; i < bytes; i += BF_UNIT)
		dev->p->ops->mmio_copy64(dev->p, HCA_BAR_UAR, at + i, wqe + i);
	uar->bf_busy = false;
}

static bool blueflame_fits(const struct drv_qp *qp, const struct drv_send_wr *wr, unsigned ds)
{
	const struct drv_device *dev = qp->dev;
	const size_t bytes = ((size_t)ds * WQE_UNIT + BF_UNIT - 1) & ~(size_t)(BF_UNIT - 1);

	return dev->bf_buf_bytes && !qp->uar->bf_busy && ds > 1 && bytes <= dev->bf_buf_bytes &&
	       bytes <= (size_t)1 << qp->sq.log_stride &&
	       (wr->send_flags & IBV_SEND_INLINE || !wr->num_sge || dev->options.prefer_blueflame);
}

/* Whether the queue pair is in a state in which it accepts sends. */
static bool sends(const struct drv_qp *qp)
{
	return qp->state != IBV_QPS_RESET && qp->state != IBV_QPS_INIT &&
	       qp->state != IBV_QPS_RTR && !qp->xrc_target;
}

static int post_send(struct drv_qp *qp, const struct drv_send_wr *wr,
		     const struct drv_send_wr **bad)
{
	const struct drv_send_wr *last = NULL;
	unsigned n = 0;
	int rc = 0, ds = 0;

	for (; wr; wr = wr->next) {
		if (!sends(qp))
			rc = -EINVAL;
		else if (drv_sq_full(qp))
			rc = -ENOMEM;
		else
			rc = drv_wqe_build(qp, wr, drv_sq_slot(qp, qp->sq.head), qp->sq.head);
		if (rc < 0)
			break;
		ds = rc;
		rc = 0;
		drv_sq_commit(qp, wr->wr_id);
		last = wr;
		n++;
	}
	if (rc && bad)
		*bad = wr;
	if (!n)
		return rc;
	qp->dev->p->ops->cpu_ps(qp->dev->p, n * qp->dev->options.post_cost_ps);
	if (n == 1 && blueflame_fits(qp, last, (unsigned)ds))
		sq_blueflame(qp, (unsigned)ds);
	else
		drv_sq_doorbell(qp);
	return rc;
}

int mlx4_post_check(const struct drv_qp *qp, const struct drv_send_wr *wr)
{
	const unsigned room = qp->sq.max_post - (qp->sq.head - qp->sq.tail);
	unsigned n = 0;

	if (!sends(qp))
		return -EINVAL;
	for (; wr; wr = wr->next, n++) {
		const int rc = drv_wqe_check(qp, wr);

		if (rc)
			return rc;
	}
	return n > room ? -ENOMEM : 0;
}

int mlx4_post_send(struct drv_qp *qp, const struct drv_send_wr *wr, const struct drv_send_wr **bad)
{
	DRV_CALL(qp->dev, PLATFORM_CALL_POST, qp->qpn, 0, "qpn %06x, opcode %d", qp->qpn,
		 wr->opcode);
	return DRV_LEAVE(qp->dev, post_send(qp, wr, bad));
}

static int post_recv(struct drv_qp *qp, const struct drv_recv_wr *wr,
		     const struct drv_recv_wr **bad)
{
	struct drv_wq *rq = &qp->rq;
	unsigned n = 0;
	int rc = 0;

	for (; wr; wr = wr->next, n++) {
		const size_t at =
			rq->offset + ((size_t)(rq->head & (rq->entries - 1)) << rq->log_stride);

		if (!qp->has_rq || qp->state == IBV_QPS_RESET || wr->num_sge > rq->max_sge)
			rc = -EINVAL;
		else if (rq->head - rq->tail >= rq->entries)
			rc = -ENOMEM;
		if (rc)
			break;
		drv_recv_sges(drv_buf_at(&qp->buf, at), (size_t)1 << rq->log_stride, wr);
		rq->wr_id[rq->head & (rq->entries - 1)] = wr->wr_id;
		rq->head++;
	}
	if (rc && bad)
		*bad = wr;
	if (!n)
		return rc;
	qp->dev->p->ops->cpu_ps(qp->dev->p, n * qp->dev->options.receive_cost_ps);
	drv_recv_before_record();
	rq_dbrec_set_counter(qp->db.record, rq->head);
	return rc;
}

int mlx4_post_recv(struct drv_qp *qp, const struct drv_recv_wr *wr, const struct drv_recv_wr **bad)
{
	DRV_ENTER(qp->dev, "qpn %06x", qp->qpn);
	return DRV_LEAVE(qp->dev, post_recv(qp, wr, bad));
}
