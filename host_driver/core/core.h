/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the kernel's object layer: what its files share. Callers use rdma/ib_verbs.h. */
#ifndef HOST_DRIVER_CORE_CORE_H
#define HOST_DRIVER_CORE_CORE_H

#include "host_driver/core/include/rdma/ib_verbs.h"

/* A function of this layer in the log and timeline, with its result. */
#define CORE_ENTER(device, ...)                                                                    \
	do {                                                                                       \
		if ((device)->platform->ops->trace_on((device)->platform))                         \
			core_trace(device, true, __func__, __VA_ARGS__);                           \
	} while (0)
#define CORE_LEAVE(device, rc) core_leave(device, __func__, rc)

void core_trace(struct ib_device *device, bool enter, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static inline int core_leave(struct ib_device *device, const char *name, int rc)
{
	if (device->platform->ops->trace_on(device->platform))
		core_trace(device, false, name, "%d", rc);
	return rc;
}

/* An event of a QP: to the QP's handler and to those of all its handles. Interrupt context. */
void core_qp_event(struct ib_qp *qp, enum ib_event_type type);
/* The last handle of a target QP is gone, or its domain goes. */
void core_qp_free(struct ib_qp *real);

#endif
