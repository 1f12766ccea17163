/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel verbs: completion queues for which the core calls a function of each completed request,
 * and draining. Names, arguments and errors are those of Linux (include/rdma/ib_verbs.h,
 * drivers/infiniband/core/cq.c and verbs.c).
 *
 * On a CQ of ib_alloc_cq() each work request has a wr_cqe. Its done() is called once, in the order
 * of the completions. The CQ's context decides who calls it.
 *
 * DIRECT: the user, by ib_process_cq_direct(). The CQ is never armed.
 *
 * SOFTIRQ: interrupt context, up to IB_POLL_BUDGET_IRQ completions in a turn. CQs of a device that
 * have more take turns; if there is much to do, a thread continues. done() must not sleep.
 *
 * WORKQUEUE: a thread of that CQ, up to IB_POLL_BUDGET_WORKQUEUE completions in a turn. done() may
 * sleep; other CQs continue meanwhile.
 *
 * The CQ is armed again after a turn with fewer completions than the budget. A completion that
 * comes between the last poll and the arming raises an event at once, or the next poll finds it. So
 * no completion is forgotten.
 */
#ifndef RDMA_IB_CQ_H
#define RDMA_IB_CQ_H

#include "host_driver/core/include/rdma/ib_verbs.h"

enum { IB_POLL_BATCH = 16, IB_POLL_BUDGET_IRQ = 256, IB_POLL_BUDGET_WORKQUEUE = 65536 };

/* A CQ with at least nr_cqe entries. `private` becomes cq_context. -EINVAL: nr_cqe is below 1 or
 * above the device's limit, or there is no such vector or context. */
struct ib_cq *ib_alloc_cq(struct ib_device *dev, void *private, int nr_cqe, int comp_vector,
			  enum ib_poll_context poll_ctx);
/* As above; takes the device's vectors in turn. */
struct ib_cq *ib_alloc_cq_any(struct ib_device *dev, void *private, int nr_cqe,
			      enum ib_poll_context poll_ctx);
/* Waits for a done() that is running, so it must not be called from a done() of the same CQ. Does
 * nothing while a queue completes into the CQ (ib_destroy_cq() would return -EBUSY): destroy those
 * queues first. */
void ib_free_cq(struct ib_cq *cq);
/* Calls done() for up to `budget` completions (-1: all). Returns their number. For a CQ of
 * IB_POLL_DIRECT; for another one only while nobody else polls it. */
int ib_process_cq_direct(struct ib_cq *cq, int budget);

/*
 * Draining: moves the queue pair to the error state, and returns when done() has returned for every
 * request that was posted to that queue before. Nobody may post any more. Sleeps, so it must not be
 * called from a done(). The queue's CQ must be of ib_alloc_cq(), may be shared, and must have room
 * for one more completion. If it is DIRECT, nobody else may poll it. If the queue is full, the call
 * waits for room. If draining fails (no way from the state to error, as from RESET, or the device
 * refuses), the call returns at once and the log says so.
 *
 * The same is true, as in Linux, for a device that is dead or dies meanwhile. From then on
 * ib_poll_cq() returns what the queues still hold as IB_WC_WR_FLUSH_ERR, posting returns -EIO, and
 * CQs with such requests get an event. If nobody has noticed that the device died, it is found out
 * within the time of a command.
 */
void ib_drain_sq(struct ib_qp *qp);
/* For a queue pair that receives from an SRQ it does the same as ib_drain_srq(). */
void ib_drain_rq(struct ib_qp *qp);
/* Drains both queues, the send queue first. */
void ib_drain_qp(struct ib_qp *qp);
/*
 * Drains the receives that the queue pair has taken from its SRQ. Receives that are still in the
 * SRQ belong to nobody and stay. Waits for the event "last WQE reached", at most 10 s. That event
 * comes after the last completion (IBA 11.6.3.1). Then waits until done() has been called for what
 * is in the receives' CQ. A dead device makes no such event, and no completions for these receives.
 */
void ib_drain_srq(struct ib_qp *qp);

#endif
