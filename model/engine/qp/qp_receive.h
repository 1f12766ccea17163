/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an active QP remembers of its receiving half. It is a part of struct qp, so its layout
 * stands here, below the stages that own it: responder, atomic_read and srq.
 */
#ifndef MODEL_ENGINE_QP_RECEIVE_H
#define MODEL_ENGINE_QP_RECEIVE_H

#include "model/engine/base/engine.h"
#include "model/engine/base/event_core.h"

#include <stdbool.h>
#include <stdint.h>

struct packet;
struct qp;
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
	struct packet_queue out;      /* responses; the first one waits for its payload */
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

#endif
