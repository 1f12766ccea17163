/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's functions in the log: a line where one is entered, and one where it is left. */
#ifndef HOST_DRIVER_DRV_TRACE_H
#define HOST_DRIVER_DRV_TRACE_H

#include "host_driver/drv/ops.h"

/* Traces a call. Its arguments are made from fmt. */
void drv_trace(struct drv_device *dev, struct platform_call call, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static inline bool drv_traced(const struct drv_device *dev)
{
	struct platform *p = drv_base_of(dev)->p;

	return p->ops->trace_on(p);
}

#define DRV_CALL(dev, kind_, qpn_, cqn_, ...)                                                      \
	do {                                                                                       \
		if (drv_traced(dev))                                                               \
			drv_trace(dev,                                                             \
				  (struct platform_call){.kind = (kind_),                          \
							 .name = __func__,                         \
							 .qpn = (qpn_),                            \
							 .cqn = (cqn_)},                           \
				  __VA_ARGS__);                                                    \
	} while (0)

#define DRV_ENTER(dev, ...) DRV_CALL(dev, PLATFORM_CALL_ENTER, 0, 0, __VA_ARGS__)

static inline int drv_leave(struct drv_device *dev, const char *name, int rc)
{
	if (drv_traced(dev))
		drv_trace(dev, (struct platform_call){.kind = PLATFORM_CALL_EXIT, .name = name},
			  "%d", rc);
	return rc;
}

#define DRV_LEAVE(dev, rc) drv_leave(dev, __func__, rc)

#endif
