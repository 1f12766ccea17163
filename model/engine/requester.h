/*
 * The sending half of a QP: WQEs into request packets, responses into completions.
 * from: scheduler (requester_step), packet_receive (requester_response), retry; to: wqe_fetch, translate, packet, link_port, cqe_write.
 * Time: [hca.requester].
 */
#ifndef MODEL_ENGINE_REQUESTER_H
#define MODEL_ENGINE_REQUESTER_H

#include "model/engine/event_core.h"
#include "model/engine/engine.h"
#include <stdbool.h>
#include <stdint.h>

struct qp;
struct packet;

enum { SEND_WINDOW = 32 }; /* most WQEs in flight on one QP; parameter requester.inflight is at most this */

/* A WQE that has been started and not completed. */
struct send_wqe {
	uint32_t first_psn;
	uint32_t packets; /* request packets; for a READ the number of response packets */
	uint32_t bytes;
	uint8_t opcode; /* WQE opcode */
	uint8_t flags;  /* signalled, fence, ... : requester.c */
	uint16_t reserved;
};

/* Requester's part of struct qp: cursors, nothing that the context holds. Requester, retry and scheduler own it. */
struct qp_send {
	struct waiter waiter;
	struct event timer;	 /* pacing: earliest next step */
	struct qp *ring_next;	 /* scheduler's */
	bool in_ring, started, flushing;
	uint8_t state;		 /* enum in requester.c, its name is traced */
	uint16_t oldest, next;	 /* WQE indices: [oldest, next) are in flight */
	uint16_t cursor;	 /* WQE being sent (behind next while retrying) */
	uint32_t cursor_packet;	 /* its next packet */
	uint32_t send_psn;	 /* PSN of the next request packet */
	uint32_t acked_psn;	 /* next PSN to be acknowledged */
	uint32_t read_bytes;	 /* of the oldest READ: what has arrived */
	uint8_t reads;		 /* READs and atomics outstanding */
	uint8_t retries, rnr_retries; /* left */
	uint8_t rnr_code;
	bool rnr_wait;
	uint16_t dma_pending;	 /* payload reads under way */
	uint32_t credits;	 /* end to end: MSN + credit limit, when used */
	uint32_t unacked;	 /* packets since the last AckReq */
	uint64_t deadline_ps;	 /* ACK or RNR timer, EVENT_NEVER: off */
	uint32_t heap_slot;	 /* retry's */
	struct packet *out_first, *out_last; /* built packets that wait for their payload, in order */
	struct send_wqe window[SEND_WINDOW];
};

/* One step of the QP's send queue on a processing unit; returns how long the unit is busy in ps (0: nothing was done, not ready). */
uint64_t requester_step(struct qp *qp);
/* A response packet (ACK, NAK, READ response, atomic ACK) for this QP; takes it over. */
void requester_response(struct qp *qp, struct packet *pkt);
/* All WQEs from oldest on complete in error: status of the first, then flushes. */
void requester_flush(struct qp *qp);
bool requester_is_idle(const struct qp *qp);
void requester_drop(struct qp *qp); /* forgets everything, frees packets */
void requester_init(struct qp *qp); /* cursors from the context, when there is private state again */

#endif
