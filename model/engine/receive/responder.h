/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The receiving half of a QP: executes request packets in the order of their PSNs, writes their
 * payload to memory, and makes completions and responses.
 * from: packet_receive; to: translate, wqe_fetch, srq, atomic_read, pcie, cqe_write, link_port.
 * Time: [hca.responder].
 *
 * All that the protocol must remember between two packets stands in the QP's context (fields rx_*,
 * next_rcv_psn, msn, rq_wqe_counter), so an idle QP needs no private state and QUERY_QP tells the
 * truth. RST2INIT must clear 0xb0..0xb7 and 0xd0..0xf7 of the context.
 *
 * responder.c: the checks of IBA 9.7 as a state machine; responder_refuse.c: what follows when one
 * fails; responder_execute.c: payload and completions; responder_ack.c: responses;
 * responder_life.c: creation, reset and release of what the responder holds.
 */
#ifndef MODEL_ENGINE_RESPONDER_H
#define MODEL_ENGINE_RESPONDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hca;
struct packet;
struct qp;
struct qp_half;

/* A request packet for this QP; takes it over. */
void responder_request(struct qp *qp, struct packet *pkt);
/*
 * The receiving half of a QP. Its flush() flushes the receive queue of a QP in ERR: first the
 * receive under way, then all posted receives; with an SRQ it posts the event "last WQE" instead.
 * The device is not notified when software posts to a QP in ERR, because that only changes the
 * doorbell record. So while the QP is in ERR the record is read again after responder.flush_poll, a
 * delay that doubles up to responder.flush_poll_max; and also whenever flush() is called or the CQ
 * is armed. After resume() in ERR the QP sends no further response.
 */
extern const struct qp_half responder_half;
/* A CQ is being armed: QPs in ERR that complete there poll at once, because software often arms the
 * CQ after it has posted a receive and then waits for its flush. */
void responder_cq_armed(struct hca *hca, uint32_t cqn);
/* Number of QPs in ERR that only poll for receives that software posts. */
unsigned responder_looking(const struct hca *hca);

/* State that the responder keeps for each device. */
struct responder *responder_create(struct hca *hca);
void responder_destroy(struct responder *responder);
/* Drops work that belongs to no QP. Called after pcie_reset() and after all QPs are dropped. */
void responder_reset(struct hca *hca);
/* Frees the memory of pools of which no object is in use. */
void responder_trim(struct hca *hca);
/* Number of SRQ limit comparisons under way; they belong to no QP. */
unsigned responder_limit_checks(const struct hca *hca);
size_t responder_footprint(const struct hca *hca);

#endif
