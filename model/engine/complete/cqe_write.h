/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completion queues: CQEs into host memory, overrun, arming, moderation, completion events.
 * from: requester, responder, doorbell; to: event_queue. Time: [hca.cqe_write].
 *
 * Indices and arm state live in the CQ's context, nowhere else. The consumer index is read from the
 * doorbell record only when the ring looks full. An event is made when the CQ is armed and a CQE is
 * written (with moderation: max_count of them, or period after the first); it follows the CQE into
 * memory.
 */
#ifndef MODEL_ENGINE_CQE_WRITE_H
#define MODEL_ENGINE_CQE_WRITE_H

#include <stdbool.h>
#include <stdint.h>

struct hca;
struct cqe;

struct cqe_write *cqe_write_create(struct hca *hca);
void cqe_write_destroy(struct cqe_write *cq);
void cqe_write_reset(struct hca *hca);

/*
 * Queues a CQE (owner bit is set here) that is sent not before `earliest_ps`. CQEs of one CQ appear
 * in the order of the calls, each behind all DMA writes issued before the call. `solicited` wakes a
 * CQ that is armed for solicited completions; error CQEs always do. If the CQ is not valid: guest
 * error object_dead, and the CQE is dropped. If the CQ is in error (overrun, not writable): the CQE
 * is dropped, and the QP goes to ERR with a catastrophic error of its work queue.
 */
void cqe_write_post(struct hca *hca, uint32_t cqn, const struct cqe *cqe, bool solicited,
		    uint64_t earliest_ps);
/* Posts a QP's event "last WQE reached" behind all CQEs queued before. The event says that the last
 * receive's CQE is there (IBA 11.6.3.1). */
void cqe_write_last_wqe(struct hca *hca, uint32_t cqn, uint32_t qpn);
/*
 * The arm doorbell, which came through UAR page `uar`. cmd 1: next solicited, 2: next of any kind.
 * A completion that came since the last event and has not been polled makes an event at once. sn is
 * not used: its purpose is that one completion does not make two events, and here the index of the
 * last event does that.
 */
void cqe_write_arm(struct hca *hca, uint32_t cqn, unsigned sn, unsigned cmd,
		   uint32_t consumer_index, uint32_t uar);
/*
 * For firmware's object commands. Calls idle(arg) when everything that was queued before the call
 * is in memory. Jobs queued later wait until idle() has returned. If idle() holds the context
 * (context_hold), they wait until it is released.
 */
void cqe_write_drain(struct hca *hca, uint32_t cqn, void (*idle)(void *arg), void *arg);
/*
 * Writes a RESIZE CQE at the producer index of the old buffer (context as cached or in ICM). Calls
 * idle(arg) when it has landed; firmware then changes the context in ICM. idle() must hold the
 * context: later CQEs then wait as above, and none of them gets into the old buffer.
 */
void cqe_write_resize(struct hca *hca, uint32_t cqn, void (*idle)(void *arg), void *arg);
/* Drops CQEs of a QP that are queued and not yet written: 2RST_QP. */
void cqe_write_purge_qp(struct hca *hca, uint32_t qpn);
/* CQs with something queued, under way or being moderated. */
unsigned cqe_write_pending(const struct hca *hca);
/* Call it after a reset: gives memory back. */
void cqe_write_trim(struct hca *hca);

#endif
