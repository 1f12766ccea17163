/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the requester only. */
#ifndef MODEL_ENGINE_REQUESTER_IMPL_H
#define MODEL_ENGINE_REQUESTER_IMPL_H

#include "model/engine/memory/context_cache.h"
#include "model/engine/wire/packet.h"
#include "model/engine/wire/psn.h"
#include "model/engine/qp/qp_send_states.h"
#include "model/engine/qp/qp.h"
#include "model/engine/send/requester.h"
#include "model/engine/send/requester_wqe.h"
#include "model/interface/syndromes.h"

/* One step of a send queue, and what it leaves to the next step of the same turn. */
struct send_step {
	struct hca *hca;
	struct qp *qp;
	struct qp_send *send;
	struct qpc *qpc; /* valid until the next call into the context cache */
	unsigned service;
	bool fresh; /* this step starts the WQE */
	bool probe; /* a packet beyond the credits: asks for an ACK */
	/* qpc and r are still valid, because the step before sent a packet of the same WQE */
	bool held;
	uint16_t cursor;             /* the WQE that r describes */
	const struct packet *latest; /* packet of this turn that waits for payload; or NULL */
	unsigned *units; /* what the packets of this turn count for VL arbitration; NULL: nothing */
	uint64_t at_ps, busy_ps;
	/* time of the next turn; EVENT_NEVER: its state says what it waits for */
	uint64_t again_ps;
	struct send_request r;
};

static inline struct send_wqe *send_entry(struct qp_send *send, uint16_t index)
{
	return &send->window[index % SEND_WINDOW];
}

/* When all WQEs that BlueFlame writes have announced are begun, the queue is empty. Memory need not
 * be read to find that out. */
static inline void requester_announced_end(struct qp_send *send)
{
	if (send_tail_is_blueflame(send) && (int16_t)(send->bf_end - send->next) <= 0) {
		send_work_end(send);
		send_tail_end_blueflame(send);
	}
}

/* Number of PSNs that a WQE uses. */
static inline uint32_t send_entry_packets(const struct qp_send *send, const struct send_wqe *wqe)
{
	if (wqe->flags & SEND_LOCAL)
		return 0;
	return wqe->flags & SEND_ATOMIC ? 1 : psn_packets(wqe->bytes, send->log_mtu);
}

/* requester.c */
void requester_save(struct qp *qp, struct qpc *qpc);

/* requester_packet.c */
/* Sends the next packet of WQE `cursor`, and moves the cursor. 0; -EAGAIN: nothing has changed; or
 * a verdict > 0. */
int requester_packet_send(struct send_step *s);
/* Sends the packets that are ready, in order. The first one is ready. */
void requester_out_send(struct qp *qp);

/* The same, where the first one may not be ready. */
static inline void requester_out_run(struct qp *qp)
{
	const struct packet *first = qp->send.out.first;

	if (first && !first->owner)
		requester_out_send(qp);
}

/* requester_local.c */
/* Executes WQE `next`, which changes a key. 0; -EAGAIN: the waiter is queued; -EINPROGRESS: the
 * queue becomes ready by itself; or a verdict > 0. */
int requester_local_do(struct send_step *s);
/* A page list that has been copied only in part is not needed any more. Frees it, now or when its
 * DMA has completed. */
void requester_local_forget(struct qp *qp);
/* Frees the page list now. */
void requester_local_drop(struct qp *qp);
/* Whether no DMA of a page list is under way. */
bool requester_local_is_quiet(const struct qp *qp);

/* requester_frame.c */
/* QPs of service MLX: frames, and the packets of QP0 and QP1. */
unsigned requester_mlx_log_mtu(const struct qpc *qpc);
/* Whether the window has room for all entries of the queue that the new WQE takes. */
bool requester_entries_fit(const struct send_step *s);
/* The WQE before `next`, of so many bytes, has been begun: takes its further entries. */
void requester_entries_take(struct send_step *s, unsigned bytes);
/* For a packet whose payload, the whole frame, is under way or there: its path and offloads. 0 or a
 * verdict. */
int requester_frame_build(const struct send_step *s, struct packet *pkt, uint32_t bytes);

/* requester_complete.c */
/*
 * Call it after something has been acknowledged or has failed. Makes completions (not before
 * earliest_ps), handles an error of the oldest WQE, sets the ACK timer, and starts the next step.
 */
void requester_progress(struct qp *qp, uint64_t earliest_ps);
/* The ACK or RNR timer has run out, and firmware does not have the context. */
void requester_timeout_now(struct qp *qp);
/* Everything before `psn`, which is within [acked, max], has been acknowledged. */
void requester_acknowledged(struct qp *qp, const struct qpc *qpc, uint32_t psn);
/* The QP has gone to ERR or SQER. Forgets what has been sent. All WQEs from the oldest on complete
 * as flushed. */
void requester_flush(struct qp *qp, unsigned state);
/* A step of a queue in ERR or SQER: one WQE completes as flushed. */
enum send_state requester_step_flush(struct send_step *s);

/* requester_response.c */
/* Handles responses in order, until none is left or one has to wait. */
void requester_response_run(struct qp *qp);

#endif
