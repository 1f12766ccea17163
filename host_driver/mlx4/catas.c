// SPDX-License-Identifier: Apache-2.0
/* Reads the error buffer and the clock, and gives raw access to registers. */
#include "host_driver/mlx4/mlx4_internal.h"
#include "model/interface/macros.h"

#include <errno.h>

uint32_t mlx4_raw_mmio_read32(struct drv_device *dev, unsigned bar, uint64_t offset)
{
	uint8_t b[4];

	dev->p->ops->mmio_read(dev->p, bar, offset, b, sizeof(b));
	return be32_load(b);
}

void mlx4_raw_mmio_write32(struct drv_device *dev, unsigned bar, uint64_t offset, uint32_t value)
{
	uint8_t b[4];

	be32_store(b, value);
	dev->p->ops->mmio_write(dev->p, bar, offset, b, sizeof(b));
}

void mlx4_raw_mmio_write(struct drv_device *dev, unsigned bar, uint64_t offset, const void *bytes,
			 unsigned size)
{
	dev->p->ops->mmio_write(dev->p, bar, offset, bytes, size);
}

uint64_t mlx4_clock_read(struct drv_device *dev)
{
	const unsigned bar = query_fw_get_clock_bar(&dev->fw) * 2;
	const uint64_t at = query_fw_get_clock(&dev->fw);
	uint32_t low, high = mlx4_raw_mmio_read32(dev, bar, at), before;

	do {
		before = high;
		low = mlx4_raw_mmio_read32(dev, bar, at + 4);
		high = mlx4_raw_mmio_read32(dev, bar, at);
	} while (high != before);
	return (uint64_t)high << 32 | low;
}

int mlx4_catas_check(struct drv_device *dev, uint32_t words[16])
{
	const unsigned bar = query_fw_get_err_buf_bar(&dev->fw) * 2;
	const uint64_t at = query_fw_get_err_buf(&dev->fw);
	const uint32_t n = query_fw_get_err_buf_size(&dev->fw);
	const uint32_t cause = mlx4_raw_mmio_read32(dev, bar, at);

	if (!cause)
		return 0;
	DRV_ENTER(dev, "cause %08x", cause);
	for (uint32_t i = 0; words && i < 16; i++)
		words[i] = i < n ? mlx4_raw_mmio_read32(dev, bar, at + 4 * i) : 0;
	return DRV_LEAVE(dev, -EIO);
}

/* --- dead devices --- */

void mlx4_declare_dead(struct drv_device *dev)
{
	dev->dead = true;
	if (dev->cmd.waitq)
		dev->p->ops->waitq_wake_all(dev->p, dev->cmd.waitq);
}

bool mlx4_is_dead(const struct drv_device *dev)
{
	return dev->dead;
}

void mlx4_fatal(struct drv_device *dev)
{
	const struct drv_event event = {.type = IBV_EVENT_DEVICE_FATAL};

	mlx4_declare_dead(dev);
	if (!dev->catas.waitq || dev->catas.told || dev->closing)
		return;
	dev->catas.told = true;
	DRV_ENTER(dev, "%s", "device fatal");
	if (dev->event_fn)
		dev->event_fn(dev->event_arg, &event);
	DRV_LEAVE(dev, 0);
}

/* --- completions that its queues still held --- */

static int wq_flush(struct drv_qp *qp, struct drv_wq *wq, bool is_send, int n, struct drv_wc *wc)
{
	int done = 0;

	for (; done < n && wq->tail != wq->head; wq->tail++)
		wc[done++] = (struct drv_wc){.wr_id = wq->wr_id[wq->tail & (wq->entries - 1)],
					     .status = IBV_WC_WR_FLUSH_ERR,
					     .vendor_err = CQE_SYND_WR_FLUSH_ERR,
					     .qp_num = qp->qpn,
					     .is_send = is_send};
	return done;
}

int mlx4_cq_flush(struct drv_cq *cq, int n, struct drv_wc *wc)
{
	struct drv_list *list = &cq->dev->qp_list;
	int done = 0;

	for (struct drv_list *l = list->next; l != list; l = l->next) {
		struct drv_qp *qp = container_of(l, struct drv_qp, link);

		if (qp->send_cq == cq && !qp->user)
			done += wq_flush(qp, &qp->sq, true, n - done, wc + done);
		if (qp->recv_cq == cq && qp->has_rq && !qp->user)
			done += wq_flush(qp, &qp->rq, false, n - done, wc + done);
	}
	return done;
}

bool mlx4_cq_flushable(const struct drv_cq *cq)
{
	const struct drv_list *list = &cq->dev->qp_list;

	for (const struct drv_list *l = list->next; l != list; l = l->next) {
		const struct drv_qp *qp = container_of(l, const struct drv_qp, link);

		if (!qp->user && ((qp->send_cq == cq && qp->sq.tail != qp->sq.head) ||
				  (qp->recv_cq == cq && qp->has_rq && qp->rq.tail != qp->rq.head)))
			return true;
	}
	return false;
}

/* --- the thread that reads the error buffer --- */

static void watch(void *arg)
{
	struct drv_device *dev = arg;
	struct platform *p = dev->p;

	while (!dev->catas.stop) {
		p->ops->waitq_wait(p, dev->catas.waitq, p->ops->now_ps(p) + dev->catas.period_ps);
		if (!dev->catas.stop && !dev->dead && mlx4_catas_check(dev, NULL))
			mlx4_fatal(dev);
	}
	dev->catas.stop = false;
	p->ops->waitq_wake_all(p, dev->catas.waitq);
}

int mlx4_catas_watch(struct drv_device *dev, uint64_t period_ps)
{
	if (dev->catas.waitq)
		return 0;
	dev->catas.waitq = dev->p->ops->waitq_create(dev->p);
	if (!dev->catas.waitq)
		return -ENOMEM;
	dev->catas.period_ps = period_ps;
	dev->p->ops->thread_start(dev->p, "catas", watch, dev);
	return 0;
}

void drv_catas_unwatch(struct drv_device *dev)
{
	if (!dev->catas.waitq)
		return;
	dev->catas.stop = true;
	dev->p->ops->waitq_wake_all(dev->p, dev->catas.waitq);
	while (dev->catas.stop)
		dev->p->ops->waitq_wait(dev->p, dev->catas.waitq, UINT64_MAX);
	dev->p->ops->waitq_destroy(dev->p, dev->catas.waitq);
	dev->catas.waitq = NULL;
}
