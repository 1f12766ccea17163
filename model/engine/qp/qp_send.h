/* SPDX-License-Identifier: Apache-2.0 */
/* What an active QP remembers for its sending half. The stages that own it are requester, retry,
 * wqe_fetch and scheduler; its layout is here because it is embedded in struct qp. */
#ifndef MODEL_ENGINE_QP_SEND_H
#define MODEL_ENGINE_QP_SEND_H

#include "model/engine/base/engine.h"
#include "model/engine/base/event_core.h"
#include "model/engine/wire/packet_queue.h"

#include <stdbool.h>
#include <stdint.h>

struct packet;
struct page_list;
struct qp;
struct wqe_line;
struct wqe_read;

/* What a send WQE is needed for. A QP has one read under way for each of them. */
enum wqe_need {
	WQE_NEED_NEXT,     /* to start it: the owner bit says whether it is posted */
	WQE_NEED_AGAIN,    /* to send it again: it has been taken before */
	WQE_NEED_RESPONSE, /* to place the data of a response: it has been taken before */
	WQE_NEEDS,
};

enum { SEND_WINDOW = 32 }; /* most WQEs in flight on one QP */

enum send_wqe_flag {
	SEND_SIGNALLED = 1 << 0,
	SEND_READ = 1 << 1,   /* uses one PSN for each response packet */
	SEND_ATOMIC = 1 << 2, /* 8 bytes come back in one response */
	SEND_RECEIVES =
		1 << 3, /* consumes a receive at the responder, so it needs an end-to-end credit */
	SEND_LOCAL = 1 << 4, /* no packet, no PSN */
	SEND_REST = 1 << 5,  /* with SEND_LOCAL: belongs to the WQE before, which takes several
			       entries */
	SEND_FETCHES = SEND_READ | SEND_ATOMIC,
};

/* A WQE that has been started and not completed. */
struct send_wqe {
	uint32_t first_psn;
	uint32_t bytes;
	uint8_t opcode; /* WQE opcode */
	uint8_t flags;  /* enum send_wqe_flag */
	uint16_t reserved;
};

/* Where a QP stands with the scheduler. */
enum send_turn { TURN_NONE, TURN_TIMED, TURN_RING, TURN_RUNNING, TURN_AGAIN };

/*
 * Requester's part of struct qp: its cursors in the send queue, and its work under way.
 *
 * PSNs: acked_psn <= send_psn <= max_psn modulo 2^24. The packets [acked_psn, max_psn) have been
 * sent and not been answered; of these, [send_psn, max_psn) are to be sent again.
 */
struct qp_send {
	struct waiter waiter;          /* of the steps */
	struct waiter response_waiter; /* of responses and completions */
	struct event timer;            /* scheduler's: earliest time of the next turn */
	struct qp *ring_next;          /* scheduler's */
	struct wqe_line *wqe_lines;    /* wqe_fetch's */
	struct wqe_read *wqe_reads[WQE_NEEDS];
	struct packet_queue out;       /* built packets that wait for their payload, in order */
	struct packet *discard_last;   /* packets of `out` up to this one are freed, not sent */
	struct packet_queue responses; /* not yet looked at */
	struct packet_queue writes;    /* response data that is being written to memory */
	struct page_list *page_list;   /* being copied */
	uint64_t deadline_ps;          /* ACK or RNR timer, EVENT_NEVER: off */
	uint64_t ack_timeout_ps;       /* of the context, as of the last step */
	uint32_t heap_slot;            /* retry's */
	uint32_t send_psn, max_psn, acked_psn;
	uint32_t cursor_packet; /* next packet of WQE `cursor` */
	uint32_t credit_limit;  /* SSN of the last message the responder has a receive for */
	uint32_t unasked;       /* packets since the last AckReq */
	uint32_t uar;           /* UAR page of a doorbell not yet checked */
	uint16_t oldest, next;  /* WQE indices: [oldest, next) are in flight */
	uint16_t cursor;        /* WQE being sent (behind next while retrying) */
	uint16_t bf_index;      /* of the BlueFlame write, in SEND_WORK_RUNG_BLUEFLAME */
	uint16_t announced;     /* WQEs that BlueFlame brought and that are not started */
	uint16_t bf_end; /* one past the last WQE that BlueFlame announced; valid as `tail` says */
	uint16_t ahead_end; /* one past the last WQE that the latest read ahead found */
	int8_t wqe_status
		[WQE_NEEDS];  /* why a read brought no WQE; for NEXT it is about WQE `ahead_end` */
	uint16_t dma_pending; /* payload reads under way */
	uint8_t turn;         /* enum send_turn */
	uint8_t port;         /* as of the last step; 0: not known, port 1 is assumed */
	uint8_t state;        /* enum send_state, its name is traced */
	uint8_t work;         /* enum send_work */
	uint8_t tail;         /* enum send_tail */
	uint8_t mode;         /* enum send_mode */
	uint8_t log_mtu;
	uint8_t found;                /* WQEs that reads ahead have found lately */
	uint8_t ahead_count;          /* WQEs of the last read ahead if all were posted; else 0 */
	uint8_t reads;                /* READs and atomics outstanding */
	uint8_t retries, rnr_retries; /* left */
	uint8_t cursor_verdict;       /* enum verdict: why WQE `cursor` cannot be sent; 0: it can */
	uint8_t oldest_verdict;       /* enum verdict: why the oldest WQE fails; 0: it does not */
	uint8_t lane;      /* 1 + the VL of the last packet that was built; 0: there was none */
	uint8_t wqe_wants; /* a set of enum wqe_user: the users for whom a fetched line is held */
	/* These flags are independent of the states above. */
	bool loaded;   /* the cursors have been loaded from the context */
	bool reliable; /* the context says RC or XRC */
	bool credits;  /* the responder gives credits: the context or its last response says so */
	bool implied_nak; /* already resent because response data was lost; not again until there is
			     progress */
	struct send_wqe window[SEND_WINDOW];
};

#endif
