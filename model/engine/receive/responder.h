/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The receiving half of a QP: request packets into memory, completions and responses, in the order
 * of their PSNs. from: packet_receive; to: translate, wqe_fetch, srq, atomic_read, pcie, cqe_write,
 * link_port. Time: [hca.responder].
 *
 * All that the protocol must remember between two packets stands in the QP's context (fields rx_*,
 * next_rcv_psn, msn, rq_wqe_counter), so an idle QP needs no private state and QUERY_QP tells the
 * truth. RST2INIT must clear 0xb0..0xb7 and 0xd0..0xf7 of the context.
 *
 * responder.c: the checks of IBA 9.7 as a state machine; responder_refuse.c: what follows when one
 * fails; responder_execute.c: payload and completions; responder_ack.c: responses;
 * responder_life.c: what is held, from its beginning to its end.
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
 * The receiving half of a QP. Its flush is that of the receive queue of a QP in ERR: the receive
 * under way first, then all that is posted; with an SRQ the event "last WQE" instead. A doorbell
 * record makes no noise when software posts to a QP in ERR, so it is read again after
 * responder.flush_poll, doubling up to responder.flush_poll_max, as long as the QP is in ERR; and
 * whenever flush() is called, or its CQ is armed. Once resumed in ERR no further answer leaves.
 */
extern const struct qp_half responder_half;
/* A CQ is being armed: QPs in ERR that complete there look at once, for software often arms when it
 * has posted a receive whose flush it waits for. */
void responder_cq_armed(struct hca *hca, uint32_t cqn);
/* QPs in ERR that have nothing under way but looks at what software posts. */
unsigned responder_looking(const struct hca *hca);

/* What the responder holds for the QPs of a device. */
struct responder *responder_create(struct hca *hca);
void responder_destroy(struct responder *responder);
/* Drops what belongs to no QP. After pcie_reset(), and after all QPs have been dropped. */
void responder_reset(struct hca *hca);
/* Gives memory back where none is in use. */
void responder_trim(struct hca *hca);
/* Comparisons of an SRQ's limit that are under way: they belong to no QP. */
unsigned responder_limit_checks(const struct hca *hca);
size_t responder_footprint(const struct hca *hca);

#endif
