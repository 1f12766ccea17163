/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Event queues: EQEs into host memory, arming, interrupts.
 * from: cqe_write, requester, responder, qp, srq, processor, pci_function; to: interrupt. Time:
 * [hca.event_queue].
 *
 * Indices and arm state live in the EQ's context. An armed EQ interrupts once and waits for the
 * next arm request; the interrupt message follows the EQE into memory. Overflow: status 9,
 * EQ_OVERFLOW event where software has routed it to another EQ, else the device stops (events are
 * lost: mlx4 takes that for unrecoverable).
 */
#ifndef MODEL_ENGINE_EVENT_QUEUE_H
#define MODEL_ENGINE_EVENT_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

struct hca;
struct eqe;

struct event_queue *event_queue_create(struct hca *hca);
void event_queue_destroy(struct event_queue *eq);
void event_queue_reset(struct hca *hca);

/* Routes asynchronous events of a type to an EQ (valid), or to nowhere. */
void event_queue_map(struct hca *hca, uint8_t type, uint32_t eqn, bool valid);
/*
 * Posts an asynchronous event to the EQ its type is mapped to (dropped when to none); the owner bit
 * is set here. Events of one EQ appear in the order of the calls. done (may be NULL) when it is in
 * memory, or at once when it is dropped.
 */
void event_queue_post(struct hca *hca, const struct eqe *eqe, void (*done)(void *arg), void *arg);
/* A completion event of `cqn` on EQ `eqn`. Ordered behind the CQE's write. */
void event_queue_completion(struct hca *hca, uint32_t eqn, uint32_t cqn);
/* Affiliated event of a QP, by event type (EQE 0x01..0x13). */
void event_queue_qp(struct hca *hca, uint8_t type, uint32_t qpn);
/* The EQ doorbell. */
void event_queue_doorbell(struct hca *hca, uint32_t eqn, uint32_t consumer_index, bool arm);
/* Drops what is queued for this EQ and not written yet: HW2SW_EQ. */
void event_queue_forget(struct hca *hca, uint32_t eqn);
/* EQs with something queued or under way. */
unsigned event_queue_pending(const struct hca *hca);
/* Behind a reset: gives memory back. */
void event_queue_trim(struct hca *hca);

#endif
