/* What the files of the requester share. */
#ifndef MODEL_ENGINE_REQUESTER_IMPL_H
#define MODEL_ENGINE_REQUESTER_IMPL_H

#include "model/engine/memory/context_cache.h"
#include "model/engine/wire/packet.h"
#include "model/engine/wire/psn.h"
#include "model/engine/qp/qp.h"
#include "model/engine/send/requester.h"
#include "model/engine/send/requester_wqe.h"
#include "model/interface/syndromes.h"

/* S(NAME, "name in traces: what it waits for", who moves it on) */
#define SEND_STATES(S)                                                                             \
	S(IDLE, "idle", "scheduler_doorbell")                                                      \
	S(BEGIN, "begin", "itself")                                                                \
	S(RESUME, "go on", "itself")                                                               \
	S(FETCH, "fetch", "itself")                                                                \
	S(START, "start", "itself")                                                                \
	S(PACKET, "packet", "itself")                                                              \
	S(FLUSH, "flush", "itself")                                                                \
	S(DONE, "a packet", "the processing unit's next turn")                                     \
	S(WAIT_FIRMWARE, "stopped by firmware", "qp_resume")                                       \
	S(WAIT_MEMORY, "waits for a context, WQE or translation", "the waiter")                    \
	S(WAIT_LOCAL, "waits for a page list", "requester_local.c")                                \
	S(WAIT_DMA, "waits for payload", "requester_out_run")                                      \
	S(WAIT_WINDOW, "waits for a place in the window", "requester_progress")                    \
	S(WAIT_ACK, "waits for acknowledges", "requester_progress")                                \
	S(WAIT_READS, "waits for reads and atomics", "requester_progress")                         \
	S(WAIT_CREDITS, "waits for credits", "requester_progress")                                 \
	S(WAIT_RATE, "waits for its path's static rate", "scheduler")                              \
	S(WAIT_RNR, "waits for the receiver", "requester_timeout")                                 \
	S(WAIT_COMPLETION, "waits for earlier work before its error", "requester_progress")        \
	S(DRAINED, "drained", "qp_resume")

enum send_state {
#define S(name, text, mover) SEND_##name,
	SEND_STATES(S)
#undef S
		SEND_STATE_COUNT,
};

/* One step of a send queue, and what the next one of the same turn can use. */
struct send_step {
	struct hca *hca;
	struct qp *qp;
	struct qp_send *send;
	struct qpc *qpc; /* valid until something else is asked of the context cache */
	unsigned service;
	bool fresh;      /* the WQE is started by this step */
	bool probe;      /* a packet beyond the credits: asks for an ACK */
	bool held; /* qpc and r are at hand: the step before it sent a packet of the same WQE */
	uint16_t cursor; /* WQE of r */
	const struct packet *latest; /* of this turn, still waiting for its payload; or NULL */
	uint64_t at_ps, busy_ps;
	uint64_t again_ps; /* the queue is to be looked at again then; EVENT_NEVER: see its state */
	struct send_request r;
};

static inline struct send_wqe *send_entry(struct qp_send *send, uint16_t index)
{
	return &send->window[index % SEND_WINDOW];
}

/* Where all that BlueFlame writes have announced is started, memory need not be asked. */
static inline void requester_announced_end(struct qp_send *send)
{
	if (send->bf_known && (int16_t)(send->bf_end - send->next) <= 0)
		send->started = send->bf_known = false;
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
/* Sends what is ready, in order; the first one is. */
void requester_out_send(struct qp *qp);

/* The same, if it is. */
static inline void requester_out_run(struct qp *qp)
{
	const struct packet *first = qp->send.out_first;

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
enum send_state requester_flush_step(struct send_step *s);

/* requester_response.c */
/* Responses that wait, as far as they can be handled now. */
void requester_response_run(struct qp *qp);

#endif
