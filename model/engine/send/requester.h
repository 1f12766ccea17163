/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sending half of a QP: WQEs into request packets, responses into completions.
 * from: scheduler (requester_run), packet_receive (requester_response), retry; to: wqe_fetch,
 * translate, packet, link_port, cqe_write. Time: [hca.requester].
 *
 * requester.c: the steps that lead from a WQE to its next packet. requester_wqe.c: the parts of a
 * WQE. requester_packet.c: payload and headers of a packet, and the packets that wait to leave.
 * requester_local.c: work requests on keys, which send no packet. requester_response.c: responses.
 * requester_complete.c: completions, errors, flushes. The states of a queue: qp_send_states.h.
 */
#ifndef MODEL_ENGINE_REQUESTER_H
#define MODEL_ENGINE_REQUESTER_H

#include <stddef.h>
#include <stdint.h>

struct qp;
struct qp_half;
struct packet;

/*
 * A turn of the QP's send queue on a processing unit from `at_ps` (now) on: up to so many packets,
 * or until scheduler_reads_full(). Returns how long the unit is busy in ps. 0: nothing was done;
 * then the next turn is due at *again_ps, or, where that is EVENT_NEVER, whoever moves the queue on
 * calls scheduler_ready(). *units, unless NULL, grows by what was sent, as vl_units() counts.
 */
uint64_t requester_run(struct qp *qp, uint64_t at_ps, unsigned packets, unsigned *units,
		       uint64_t *again_ps);
/* A response packet (ACK, NAK, READ response, atomic ACK) for this QP; takes it over. */
void requester_response(struct qp *qp, struct packet *pkt);
/* The QP's ACK or RNR timer has run out. */
void requester_timeout(struct qp *qp);
/* For a message: the names of the four states that the send queue is in (qp_send_states.h), and
 * what the first of them waits for. */
void requester_describe(const struct qp *qp, char *text, size_t size);
/* The sending half of a QP. */
extern const struct qp_half requester_half;

#endif
