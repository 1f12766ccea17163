// SPDX-License-Identifier: Apache-2.0
/* Completion queues: arming, and their events. */
#include "host_driver/mlx4/mlx4_internal.h"

#include <errno.h>
#include <string.h>

int mlx4_cq_arm(struct drv_cq *cq, bool solicited_only)
{
	const enum cq_arm_cmd cmd = solicited_only ? CQ_ARM_SOLICITED : CQ_ARM_NEXT;
	struct cq_dbrec *rec = cq->db.record;
	struct cq_arm_db db = {0};
	struct cq_dbrec arm = {0};

	if (cq->vector == DRV_CQ_POLLED)
		return -EINVAL;
	DRV_ENTER(cq->dev, "cqn %06x, ci %x", cq->cqn, cq->ci);
	cq_dbrec_set_arm_sn(&arm, cq->arm_sn);
	cq_dbrec_set_arm_cmd(&arm, cmd);
	cq_dbrec_set_arm_ci(&arm, cq->ci);
	memcpy(rec->b + 4, arm.b + 4, 4);
	drv_record_before_arm();
	cq_arm_db_set_sn(&db, cq->arm_sn);
	cq_arm_db_set_cmd(&db, cmd);
	cq_arm_db_set_cqn(&db, cq->cqn);
	cq_arm_db_set_ci(&db, cq->ci);
	cq->dev->p->ops->mmio_write(cq->dev->p, HCA_BAR_UAR,
				    (uint64_t)cq->uar->page * UAR_PAGE_SIZE + UAR_CQ_ARM, db.b,
				    sizeof(db.b));
	return DRV_LEAVE(cq->dev, 0);
}

void drv_cq_event(struct drv_device *dev, uint32_t cqn)
{
	struct drv_cq *cq =
		dev->cq_table ? dev->cq_table[cqn & drv_table_mask(dev, DRV_T_CQC)] : NULL;

	if (!cq)
		return;
	DRV_ENTER(dev, "cqn %06x", cqn);
	cq->arm_sn++;
	cq->events++;
	dev->p->ops->waitq_wake_all(dev->p, cq->waitq);
	if (cq->fn)
		cq->fn(cq->arg, cq);
	DRV_LEAVE(dev, 0);
}

int mlx4_cq_wait_event(struct drv_cq *cq, uint64_t deadline_ps)
{
	struct platform *p = cq->dev->p;

	for (;;) {
		drv_settle(cq->dev);
		if (cq->events != cq->events_seen)
			break;
		if (p->ops->now_ps(p) >= deadline_ps)
			return -ETIMEDOUT;
		p->ops->waitq_wait(p, cq->waitq, deadline_ps);
	}
	cq->events_seen++;
	return 0;
}

void mlx4_cq_set_callback(struct drv_cq *cq, void (*fn)(void *arg, struct drv_cq *cq), void *arg)
{
	cq->fn = fn;
	cq->arg = arg;
}

unsigned mlx4_cq_events(const struct drv_cq *cq)
{
	return cq->events;
}

void mlx4_cq_wake(struct drv_cq *cq)
{
	cq->events++;
	cq->dev->p->ops->waitq_wake_all(cq->dev->p, cq->waitq);
}
