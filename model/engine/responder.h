/*
 * The receiving half of a QP: request packets into memory, completions and responses, in the order of their PSNs.
 * from: packet_receive; to: translate, wqe_fetch, srq, atomic_read, pcie, cqe_write, link_port. Time: [hca.responder].
 */
#ifndef MODEL_ENGINE_RESPONDER_H
#define MODEL_ENGINE_RESPONDER_H

#include "model/engine/engine.h"
#include "model/engine/event_core.h"
#include <stdbool.h>
#include <stdint.h>

struct qp;
struct packet;

/* Responder's part of struct qp; responder, atomic_read and srq own it. */
struct qp_receive {
	struct waiter waiter;
	struct packet *in_first, *in_last; /* requests not yet looked at, in order of arrival */
	struct packet *out_first, *out_last; /* responses that wait for payload or for those before them */
	uint8_t state; /* enum in responder.c, its name is traced */
	bool flushing, nak_sent, in_message;
	uint8_t message_op;
	uint16_t writes_pending, reads_pending;
	uint16_t unacked;      /* packets since the last ACK */
	struct event ack_timer;
	/* The message being received. */
	uint64_t va;
	uint32_t rkey, left, received;
	uint32_t srqn;
	uint16_t wqe_index;
	bool has_wqe;
	uint8_t reserved[64];
};

/* A request packet for this QP; takes it over. */
void responder_request(struct qp *qp, struct packet *pkt);
/* Receive queue into flush completions: QP in ERR. */
void responder_flush(struct qp *qp);
bool responder_is_idle(const struct qp *qp);
void responder_drop(struct qp *qp);
void responder_init(struct qp *qp);

#endif
