/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel verbs: completion queues whose completions the core takes to their requests, and draining.
 * Names, arguments and errors are those of Linux (include/rdma/ib_verbs.h,
 * drivers/infiniband/core/cq.c and verbs.c).
 *
 * On a CQ of ib_alloc_cq() each work request has a wr_cqe, and done() of it is called once, in the
 * order of the completions. Who calls:
 *
 * - DIRECT: ib_process_cq_direct() of the user; the CQ is never armed.
 * - SOFTIRQ: interrupt context, up to IB_POLL_BUDGET_IRQ a turn. CQs of a device that have more
 *   take turns, and go on in a thread of their own when there is much to do. done() must not sleep.
 * - WORKQUEUE: a thread of that CQ, up to IB_POLL_BUDGET_WORKQUEUE a turn. done() may sleep; other
 *   CQs go on meanwhile.
 *
 * The CQ is armed again when fewer than a budget have come. What comes between the last poll and
 * the arming raises an event at once, or is seen by the poll that follows: no completion is left
 * lying.
 */
#ifndef RDMA_IB_CQ_H
#define RDMA_IB_CQ_H

#include "host_driver/core/include/rdma/ib_verbs.h"

enum { IB_POLL_BATCH = 16, IB_POLL_BUDGET_IRQ = 256, IB_POLL_BUDGET_WORKQUEUE = 65536 };

/* At least nr_cqe entries. -EINVAL: nr_cqe below 1 or above the device's limit, no such vector or
 * context. `private` is cq_context. */
struct ib_cq *ib_alloc_cq(struct ib_device *dev, void *private, int nr_cqe, int comp_vector,
			  enum ib_poll_context poll_ctx);
/* As above, on the vectors of the device in turn. */
struct ib_cq *ib_alloc_cq_any(struct ib_device *dev, void *private, int nr_cqe,
			      enum ib_poll_context poll_ctx);
/* Waits for a done() that is running, so not from within one of the same CQ. Does nothing while a
 * queue completes into it: destroy those first (the CQ then stays, ib_destroy_cq() would answer
 * -EBUSY). */
void ib_free_cq(struct ib_cq *cq);
/* Takes up to `budget` completions (-1: all there are) to their done(): how many. For a CQ of
 * IB_POLL_DIRECT; of another one only while nobody else polls it. */
int ib_process_cq_direct(struct ib_cq *cq, int budget);

/*
 * Draining: the queue pair goes to the error state, and the call returns when done() of every
 * request that was posted to that queue before has returned. Nobody may post any more. Sleeps; not
 * from within a done(). The queue's CQ must be of ib_alloc_cq(), shared with others or not, with
 * room for one more completion, and not be polled by others when it is DIRECT; a queue that is full
 * is waited for. On failure (the state cannot be left, as from RESET, or the device refuses) it
 * returns at once and the log has it.
 *
 * On a device that is dead, or dies meanwhile, the same holds, as in Linux: from then on
 * ib_poll_cq() gives what the queues still hold as IB_WC_WR_FLUSH_ERR, posting answers -EIO, and
 * CQs with such requests get an event. A death that nobody has noticed is found out within the time
 * of a command.
 */
void ib_drain_sq(struct ib_qp *qp);
/* Of a queue pair that receives from an SRQ: as ib_drain_srq(). */
void ib_drain_rq(struct ib_qp *qp);
/* Both; the send queue first. */
void ib_drain_qp(struct ib_qp *qp);
/*
 * Receives that the queue pair has taken from its SRQ; those still in it are of nobody and stay.
 * Waits for the event "last WQE reached", at most 10 s, which comes behind the last completion (IBA
 * 11.6.3.1), and until what is in the receives' CQ then is done. A dead device has no such event
 * and no completion for them.
 */
void ib_drain_srq(struct ib_qp *qp);

#endif
