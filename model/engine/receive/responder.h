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

#include "model/engine/base/engine.h"
#include "model/engine/base/event_core.h"
#include <stdbool.h>
#include <stdint.h>

struct hca;
struct qp;
struct packet;
struct read_job;
struct receive_copy;
struct record_read;
struct ring_read;

struct packet_queue {
	struct packet *first, *last;
};

/* READs that are not yet cut into packets, in request order. */
struct read_queue {
	struct read_job *first, *last;
};

/* Responder's part of struct qp; responder, atomic_read and srq own it. */
struct qp_receive {
	struct waiter waiter;         /* the state machine's */
	struct waiter out_waiter;     /* the response queue's */
	struct packet *current;       /* the request in the state machine */
	struct packet_queue in;       /* requests behind it, in order of arrival */
	struct packet_queue landing;  /* payload on its way to host memory */
	struct packet_queue out;      /* responses of which the first waits for its payload */
	struct read_queue read_jobs;  /* owed behind them, each with what is owed behind it */
	struct receive_copy *receive; /* receive WQE of a message of several packets */
	struct record_read *record;   /* doorbell record being read */
	struct ring_read *ring;       /* responder resources read for a duplicate */
	struct event timer;           /* coalesced ACK; in ERR: next look at the doorbell record */
	uint64_t flush_poll_ps;       /* the look after that, 0: not yet looked */
	uint64_t flush_seen;          /* event_core.foreign_runs when the record was asked for */
	struct qp *flush_next;        /* of hca.flushed */
	uint32_t flush_cqn;           /* of the receives that are flushed */
	uint32_t record_srqn;         /* whose record was read last: an SRQ, or RECORD_OF_RQ */
	uint8_t state;                /* enum resp_state */
	uint8_t verdict;              /* enum verdict, of the request in the machine */
	bool running : 1, pumping : 1;
	bool flushing : 1;     /* the receive queue is to be flushed */
	bool flushed : 1;      /* stands in hca.flushed */
	bool ack_due : 1;      /* an ACK waits for the context */
	bool broken : 1;       /* no answer leaves any more: the NAK of one that failed was the last
			      packet of this connection, or firmware has taken the QP to ERR */
	bool in_error : 1;     /* the QP is in ERR: it has been flushed */
	bool record_asked : 1; /* the machine waits for the record read last; else it was read ahead
				  of need */
	bool record_fresh : 1, record_failed : 1;
	bool fetching : 1; /* a WQE of an SRQ is being read: slot, and the SRQ's count when it was
			      begun */
	uint16_t fetch_slot, fetch_count;
	uint32_t fetch_srqn;
	uint16_t record_value;
	uint16_t unacked;      /* request packets since the last ACK */
	uint8_t reads;         /* READ response DMAs under way */
	uint8_t read_messages; /* READs they belong to */
	uint16_t atomics;      /* atomics whose memory is not yet read */
	uint16_t resources;    /* READs and atomics not yet answered */
	uint16_t repeats;      /* READs being answered again: they take none of the resources */
};

/* A request packet for this QP; takes it over. */
void responder_request(struct qp *qp, struct packet *pkt);
/* Firmware has changed the context: requests that have waited are executed, answers owed leave. In
 * ERR (`error`) no further answer leaves, and the receive queue is flushed. */
void responder_resume(struct qp *qp, bool error);
/*
 * Receive queue into flush completions: QP in ERR. The receive under way first, then all that is
 * posted; with an SRQ the event "last WQE" instead. A doorbell record makes no noise when software
 * posts to a QP in ERR, so it is read again after responder.flush_poll, doubling up to
 * responder.flush_poll_max, as long as the QP is in ERR; and whenever this is called, or its CQ is
 * armed.
 */
void responder_flush(struct qp *qp);
/* A CQ is being armed: QPs in ERR that complete there look at once, for software often arms when it
 * has posted a receive whose flush it waits for. */
void responder_cq_armed(struct hca *hca, uint32_t cqn);
/* Nothing under way: no packet being executed, no DMA, no lookup. Requests may wait, and answers be
 * owed. */
bool responder_is_quiet(const struct qp *qp);
/* Quiet, nothing waits, and nothing in the private state is worth keeping. */
bool responder_is_idle(const struct qp *qp);
/* Idle, but for the next look at the doorbell record of a QP in ERR. */
bool responder_only_looks(const struct qp *qp);
/* Lets go of everything: the private state ends. DMAs of its packets must be over, or dropped by
 * pcie_reset(). */
void responder_drop(struct qp *qp);
/* The private state is all zero. */
void responder_init(struct qp *qp);

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
