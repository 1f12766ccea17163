/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the requester share. */
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
	struct qpc *qpc; /* valid until something else is asked of the context cache */
	unsigned service;
	bool fresh; /* the WQE is started by this step */
	bool probe; /* a packet beyond the credits: asks for an ACK */
	bool held;  /* qpc and r are still right: the step before sent a packet of the same WQE */
	uint16_t cursor;             /* WQE of r */
	const struct packet *latest; /* packet of this turn that waits for payload; or NULL */
	uint64_t at_ps, busy_ps;
	uint64_t again_ps; /* the queue is to be looked at again then; EVENT_NEVER: see its state */
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

/* PSNs that a WQE takes. */
static inline uint32_t send_entry_packets(const struct qp_send *send, const struct send_wqe *wqe)
{
	if (wqe->flags & SEND_LOCAL)
		return 0;
	return wqe->flags & SEND_ATOMIC ? 1 : psn_packets(wqe->bytes, send->log_mtu);
}

/* requester.c */
void requester_save(struct qp *qp, struct qpc *qpc);

/* requester_packet.c */
/* The next packet of WQE `cursor`, which then moves on. 0, -EAGAIN (nothing has changed), or a
 * verdict > 0. */
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
/* WQE `next`, which changes a key, is done. 0, -EAGAIN (the waiter is queued), -EINPROGRESS
 * (becomes ready by itself), or a verdict > 0. */
int requester_local_do(struct send_step *s);
/* A page list that has been read in part is of no use any more: it goes now, or when its DMA is
 * over. */
void requester_local_forget(struct qp *qp);
/* Goes now. */
void requester_local_drop(struct qp *qp);
/* No DMA of a page list is under way. */
bool requester_local_is_quiet(const struct qp *qp);

/* requester_complete.c */
/*
 * After something has been acknowledged or has gone wrong: completions (not before earliest_ps),
 * the error of the oldest WQE, the ACK timer, the next step.
 */
void requester_progress(struct qp *qp, uint64_t earliest_ps);
/* The ACK or RNR timer has run out, and the context is the device's. */
void requester_timeout_now(struct qp *qp);
/* Everything before `psn`, which is within [acked, max], has been acknowledged. */
void requester_acknowledged(struct qp *qp, const struct qpc *qpc, uint32_t psn);
/* The QP went to ERR or SQER: what was sent is forgotten, all WQEs from the oldest on complete as
 * flushed. */
void requester_flush(struct qp *qp, unsigned state);
/* A step of a queue in ERR or SQER: one WQE completes as flushed. */
enum send_state requester_step_flush(struct send_step *s);

/* requester_response.c */
/* Handles responses in order, until there is none or one has to wait. */
void requester_response_run(struct qp *qp);

#endif
