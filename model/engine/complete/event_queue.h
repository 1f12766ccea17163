/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Event queues: EQEs into host memory, arming, interrupts. from: cqe_write, requester, responder,
 * qp, srq, processor, pci_function; to: interrupt. Time: [hca.event_queue].
 *
 * Indices and arm state are in the EQ's context. An armed EQ interrupts once, and then waits for
 * the next arm request. The interrupt message follows the EQE into memory.
 *
 * Overflow sets status 9. If software has routed the event EQ_OVERFLOW to another EQ, that event is
 * posted there. Otherwise the device stops: events are lost, which mlx4 treats as unrecoverable.
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
 * Posts an asynchronous event to the EQ that its type is mapped to, or drops it if there is none.
 * The owner bit is set here. Events of one EQ appear in the order of the calls. done (may be NULL)
 * is called when the event is in memory or has been dropped.
 */
void event_queue_post(struct hca *hca, const struct eqe *eqe, void (*done)(void *arg), void *arg);
/* Posts a completion event of `cqn` to EQ `eqn`, ordered behind the CQE's write. */
void event_queue_completion(struct hca *hca, uint32_t eqn, uint32_t cqn);
/* Posts an affiliated event of a QP. `type`: EQE type 0x01..0x13. */
void event_queue_qp(struct hca *hca, uint8_t type, uint32_t qpn);
/* The EQ doorbell. */
void event_queue_doorbell(struct hca *hca, uint32_t eqn, uint32_t consumer_index, bool arm);
/* HW2SW_EQ: drops the events that are queued for this EQ and have not been written. */
void event_queue_forget(struct hca *hca, uint32_t eqn);
/* EQs with something queued or under way. */
unsigned event_queue_pending(const struct hca *hca);
/* Call it after a reset: gives memory back. */
void event_queue_trim(struct hca *hca);

#endif
