// SPDX-License-Identifier: Apache-2.0
/* Locks whose holders may sleep. */
#include "host_driver/mlx4/mlx4_internal.h"

#include <errno.h>

void drv_settle(struct drv_device *dev)
{
	dev->p->ops->sleep_ps(dev->p, 0);
}

int drv_mutex_init(struct drv_device *dev, struct drv_mutex *m)
{
	m->held = false;
	m->q = dev->p->ops->waitq_create(dev->p);
	return m->q ? 0 : -ENOMEM;
}

void drv_mutex_cleanup(struct drv_device *dev, struct drv_mutex *m)
{
	if (m->q)
		dev->p->ops->waitq_destroy(dev->p, m->q);
	m->q = NULL;
}

void drv_lock(struct drv_device *dev, struct drv_mutex *m)
{
	while (m->held) {
		drv_settle(dev);
		if (m->held)
			dev->p->ops->waitq_wait(dev->p, m->q, UINT64_MAX);
	}
	m->held = true;
}

void drv_unlock(struct drv_device *dev, struct drv_mutex *m)
{
	m->held = false;
	dev->p->ops->waitq_wake_all(dev->p, m->q);
}
