/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the kernel's object layer, shared by its files. Callers use rdma/ib_verbs.h. */
#ifndef HOST_DRIVER_CORE_CORE_H
#define HOST_DRIVER_CORE_CORE_H

#include "host_driver/core/include/rdma/ib_verbs.h"

/* Traces the call of a function of this layer, and its result. */
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

/* Makes a region that the driver does not know yet. NULL: no memory. */
struct ib_mr *core_mr_new(struct ib_pd *pd, enum ib_mr_type type);
/* Ends the creation of a region with the driver's result rc. 0: sets its keys, holds its PD and
 * returns it. -errno: frees it and returns rc as ERR_PTR. */
struct ib_mr *core_mr_made(struct ib_mr *mr, int rc);
/* Whether all flags are known and allowed together (C10-56). */
bool core_access_ok(unsigned access);
/* Writes the first n pages of the list in the device's format. */
void core_page_list_write(struct ib_fast_reg_page_list *list, unsigned n);

/* Holds the entry of the GID table that an address uses, in place of the one held before. NULL: none. */
void core_gid_hold(const struct ib_device *device, struct ib_gid_hold *hold,
		   const struct drv_ah_attr *ah);

/* How a CQ of ib_alloc_cq() is polled. */
struct core_poll {
	struct ib_cq *cq;
	struct drv_list link;         /* SOFTIRQ: in the list of CQs that want a turn */
	struct platform_waitq *waitq; /* WORKQUEUE: its thread waits here */
	bool scheduled, busy;         /* scheduled: wants a turn; busy: a turn is under way */
	bool stop, ended;
	unsigned passes; /* turns that emptied the CQ */
};

/* Waits until done() has been called for all completions that are in the CQ now. Must not be called
 * from a done(). */
void core_cq_flush(struct ib_cq *cq);

/* Acts as an event of the CQ would. Must not be called in interrupt context. */
void core_cq_completion(struct ib_cq *cq);

/* core_wake() wakes all threads that wait in core_wait(). core_wait() sleeps until then, or until
 * the deadline. */
static inline void core_wake(struct ib_device *device)
{
	device->platform->ops->waitq_wake_all(device->platform, device->waitq);
}

static inline bool core_wait(struct ib_device *device, uint64_t deadline_ps)
{
	return device->platform->ops->waitq_wait(device->platform, device->waitq, deadline_ps);
}

/* Passes an event of a QP to the QP's handler and to those of all its handles. Interrupt
 * context. */
void core_qp_event(struct ib_qp *qp, enum ib_event_type type);
/* Frees a target QP when its last handle is gone, or when its domain is destroyed. */
void core_qp_free(struct ib_qp *real);

#endif
