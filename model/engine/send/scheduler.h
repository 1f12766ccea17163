/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which QP's send queue is served next, by which processing unit: round robin over ready QPs, one QP on
 * one unit at a time. Where QPs of a port have several virtual lanes, vl_arbiter chooses the lane first,
 * and the QP that has waited longest there goes. A unit stands still while the context of its QP is
 * read. from: doorbell, requester, retry; to: requester_run(). Time: [hca.scheduler], units' busy-until;
 * holds back while a port has link.tx_window of data to send, or while that much waits for credits on
 * the QP's virtual lane, and while requester.inflight payload reads a unit are under way.
 */
#ifndef MODEL_ENGINE_SCHEDULER_H
#define MODEL_ENGINE_SCHEDULER_H

#include <stdbool.h>
#include <stdint.h>

struct hca;
struct qp;
struct qpc;

struct scheduler *scheduler_create(struct hca *hca);
void scheduler_destroy(struct scheduler *scheduler);
void scheduler_reset(struct hca *hca);

/* SEND doorbell for qpn (uar: UAR page it came through). Guest errors: doorbell_dead_qp,
 * doorbell_wrong_uar. */
void scheduler_doorbell(struct hca *hca, uint32_t qpn, uint32_t uar);
/* BlueFlame: the WQE's bytes (whole 64-byte lines), the index and QPN annotated in them. Falls back
 * to a doorbell when it cannot be executed. */
void scheduler_blueflame(struct hca *hca, uint32_t qpn, uint16_t index, const uint8_t *wqe,
			 unsigned len, uint32_t uar);
/*
 * Compares the doorbell with the context, in the first step after it. False: the doorbell does not
 * count.
 */
bool scheduler_doorbell_check(struct qp *qp, const struct qpc *qpc);
/*
 * The QP's queue is empty up to `next` WQEs since RESET, and every doorbell has been looked at. Guest
 * error: doorbell_without_wqe.
 */
void scheduler_queue_empty(struct hca *hca, uint32_t qpn, uint16_t next);
/* A QP leaves RESET: no doorbell has come. */
void scheduler_queue_new(struct hca *hca, uint32_t qpn);
/* The QP has something to send from `earliest_ps` on: puts it into the ring (once). */
void scheduler_ready(struct qp *qp, uint64_t earliest_ps);
/* The context that its unit stands still for (SEND_WAIT_CONTEXT) is there, or will not come. */
void scheduler_resume(struct qp *qp);
void scheduler_remove(struct qp *qp);
/* A READ response goes out on the port. One request may follow it, however much waits at the port:
 * otherwise READs of the peer could keep this device from sending requests. */
void scheduler_response(struct hca *hca, unsigned port);
/* One more payload read is under way (+1), or one less (-1). */
void scheduler_dma(struct hca *hca, int change);
/* No further payload read may be made now. */
bool scheduler_reads_full(const struct hca *hca);

#endif
