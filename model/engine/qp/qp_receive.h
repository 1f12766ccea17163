/* SPDX-License-Identifier: Apache-2.0 */
/* What an active QP remembers for its receiving half. The stages that own it are responder,
 * atomic_read and srq; its layout is here because it is embedded in struct qp. */
#ifndef MODEL_ENGINE_QP_RECEIVE_H
#define MODEL_ENGINE_QP_RECEIVE_H

#include "model/engine/base/engine.h"
#include "model/engine/base/event_core.h"
#include "model/engine/wire/packet_queue.h"

#include <stdbool.h>
#include <stdint.h>

struct packet;
struct qp;
struct read_job;
struct receive_copy;
struct record_read;
struct ring_read;

/* READs that are not yet split into response packets, in request order. */
struct read_queue {
	struct read_job *first, *last;
};

/* Responder's part of struct qp; responder, atomic_read and srq own it. */
struct qp_receive {
	struct waiter waiter;         /* the state machine's */
	struct waiter out_waiter;     /* the response queue's */
	struct packet *current;       /* request that the state machine works on */
	struct packet_queue in;       /* later requests, in order of arrival */
	struct packet_queue landing;  /* requests whose payload is being written to host memory */
	struct packet_queue out;      /* responses to send; the first may wait for its payload */
	struct read_queue read_jobs;  /* READs after those, each with the responses due after it */
	struct receive_copy *receive; /* receive WQE of a message of several packets */
	struct record_read *record;   /* doorbell record being read */
	struct ring_read *ring;       /* responder resources read for a duplicate */
	struct event timer;           /* coalesced ACK; in ERR: next poll of the doorbell record */
	uint64_t flush_poll_ps;       /* delay until the poll after that; 0: not yet polled */
	uint64_t flush_seen;          /* event_core.foreign_runs when the record was requested */
	struct qp *flush_next;        /* in the list of flushed QPs */
	uint32_t flush_cqn;           /* CQ of the flushed receives */
	uint32_t record_srqn;         /* whose record was read last: an SRQ, or RECORD_OF_RQ */
	uint8_t state;                /* enum resp_state */
	uint8_t verdict;              /* enum verdict, of the request in the machine */
	bool running : 1, pumping : 1;
	bool flushing : 1; /* the receive queue is to be flushed */
	bool flushed : 1;  /* is in the list of flushed QPs */
	bool ack_due : 1;  /* an ACK waits for the context */
	bool broken : 1; /* no further response is sent: the NAK that replaced a failed response was
			    the last packet, or firmware has moved the QP to ERR */
	bool in_error : 1;     /* the QP is in ERR: it has been flushed */
	bool record_asked : 1; /* the machine waits for the latest record read; else that was a
				  prefetch */
	bool record_fresh : 1, record_failed : 1;
	bool fetching : 1; /* an SRQ's WQE is being read: its slot, and the SRQ's count at the
			      start */
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
