/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_ENGINE_QP_SEND_STATES_H
#define MODEL_ENGINE_QP_SEND_STATES_H

#include "model/engine/qp/qp_send.h"

/*
 * The states of a send queue. Each list is one state machine, each row one state: S(NAME, "what it
 * means or waits for", "who moves the queue on").
 *
 * Four flags in struct qp_send are independent of these states: each may be on or off in any of
 * them.
 */

/* Step: what requester_run() does for the queue, or why it does nothing. The log shows it. The rows
 * WAIT_* stand together. */
#define SEND_STATES(S)                                                                             \
	S(IDLE, "has nothing to send", "scheduler_doorbell")                                       \
	S(BEGIN, "looks at the context and the doorbell", "itself")                                \
	S(CHOOSE, "chooses a WQE", "itself")                                                       \
	S(FETCH, "takes the WQE apart", "itself")                                                  \
	S(START, "takes a new WQE into the window", "itself")                                      \
	S(PACKET, "builds a packet", "itself")                                                     \
	S(FLUSH, "completes a WQE as flushed", "itself")                                           \
	S(DONE, "has made a step", "scheduler")                                                    \
	S(WAIT_FIRMWARE, "is stopped by firmware", "qp_resume")                                    \
	S(WAIT_CONTEXT, "waits for its context", "context_cache")                                  \
	S(WAIT_MEMORY, "waits for a WQE or a translation", "wqe_fetch, translate")                 \
	S(WAIT_LOCAL, "waits for a page list", "requester_local")                                  \
	S(WAIT_DMA, "waits for payload", "requester_out_run")                                      \
	S(WAIT_WINDOW, "waits for a place in the window", "requester_progress")                    \
	S(WAIT_ACK, "waits for acknowledges", "requester_progress")                                \
	S(WAIT_READS, "waits for reads and atomics", "requester_progress")                         \
	S(WAIT_CREDITS, "waits for credits", "requester_progress")                                 \
	S(WAIT_RATE, "waits for its path's static rate", "scheduler")                              \
	S(WAIT_RNR, "waits for the receiver", "requester_timeout")                                 \
	S(WAIT_COMPLETION, "waits for earlier work before its error", "requester_progress")        \
	S(DRAINED, "is drained", "qp_resume")

/*
 * Work: whether doorbells have announced WQEs. A doorbell counts only once it has been compared
 * with the context, which may not be at hand when it comes.
 */
#define SEND_WORKS(S)                                                                              \
	S(NONE, "no doorbell", "scheduler_doorbell, scheduler_blueflame")                          \
	S(RUNG, "a doorbell that is not checked", "scheduler_doorbell_check")                      \
	S(RUNG_BLUEFLAME, "a BlueFlame write of WQE bf_index that is not checked",                 \
	  "scheduler_doorbell_check")                                                              \
	S(BEGUN, "WQEs are taken until the queue is found empty", "requester_run")                 \
	S(BEGUN_RUNG, "the same, and one more doorbell that is not checked",                       \
	  "scheduler_doorbell_check")

/* Tail: what the device knows about where the posted WQEs end. */
#define SEND_TAILS(S)                                                                              \
	S(UNREAD, "nothing: the queue is read to find out", "wqe_fetch_send")                      \
	S(RUNG, "nothing: a doorbell has come since the last read began", "wqe_fetch_send")        \
	S(SEEN, "WQE ahead_end was not posted when it was read", "scheduler_doorbell")             \
	S(BLUEFLAME, "BlueFlame writes have announced, in order, all WQEs before bf_end",          \
	  "requester_announced_end")                                                               \
	S(BLUEFLAME_SHORT, "the same, but WQE ahead_end was not posted when it was read",          \
	  "requester_run")

/*
 * Mode: what becomes of packets that have been sent. The ACK timer of NORMAL and the RNR timer of
 * RNR end at deadline_ps.
 */
#define SEND_MODES(S)                                                                              \
	S(NORMAL, "they are acknowledged, or sent again after a NAK or the ACK timer",             \
	  "response_rnr_nak, requester_timeout, requester_flush")                                  \
	S(RNR, "they are sent again when the RNR timer has run out", "requester_timeout")          \
	S(LATE, "the ACK timer has run out while firmware had the context", "qp_resume")           \
	S(RNR_LATE, "the RNR timer has run out while firmware had the context", "qp_resume")       \
	S(FLUSHING, "they are forgotten: the QP is in ERR or SQER", "qp_resume")

enum send_state {
#define S(name, text, mover) SEND_##name,
	SEND_STATES(S)
#undef S
		SEND_STATE_COUNT,
};

enum send_work {
#define S(name, meaning, mover) SEND_WORK_##name,
	SEND_WORKS(S)
#undef S
		SEND_WORK_COUNT,
};

enum send_tail {
#define S(name, meaning, mover) SEND_TAIL_##name,
	SEND_TAILS(S)
#undef S
		SEND_TAIL_COUNT,
};

enum send_mode {
#define S(name, meaning, mover) SEND_MODE_##name,
	SEND_MODES(S)
#undef S
		SEND_MODE_COUNT,
};

/* The queue waits for somebody else: the rows that are named so. */
static inline bool send_state_waits(enum send_state state)
{
	return state >= SEND_WAIT_FIRMWARE && state <= SEND_WAIT_COMPLETION;
}

/* --- work --- */

static inline bool send_work_is_begun(const struct qp_send *send)
{
	return send->work == SEND_WORK_BEGUN || send->work == SEND_WORK_BEGUN_RUNG;
}

static inline bool send_work_is_unchecked(const struct qp_send *send)
{
	return send->work != SEND_WORK_NONE && send->work != SEND_WORK_BEGUN;
}

/* A doorbell has come. */
static inline void send_work_ring(struct qp_send *send)
{
	if (send->work == SEND_WORK_NONE)
		send->work = SEND_WORK_RUNG;
	else if (send->work == SEND_WORK_BEGUN)
		send->work = SEND_WORK_BEGUN_RUNG;
}

/* The doorbell has been checked and is ignored. */
static inline void send_work_refuse(struct qp_send *send)
{
	send->work = send_work_is_begun(send) ? SEND_WORK_BEGUN : SEND_WORK_NONE;
}

/* The queue is empty. A doorbell that is not checked may still announce something. */
static inline void send_work_end(struct qp_send *send)
{
	if (send->work == SEND_WORK_BEGUN)
		send->work = SEND_WORK_NONE;
	else if (send->work == SEND_WORK_BEGUN_RUNG)
		send->work = SEND_WORK_RUNG;
}

/* --- tail --- */

static inline bool send_tail_is_blueflame(const struct qp_send *send)
{
	return send->tail == SEND_TAIL_BLUEFLAME || send->tail == SEND_TAIL_BLUEFLAME_SHORT;
}

/* WQE ahead_end was not posted when it was read, and no doorbell has come since. */
static inline bool send_tail_is_seen(const struct qp_send *send)
{
	return send->tail == SEND_TAIL_SEEN || send->tail == SEND_TAIL_BLUEFLAME_SHORT;
}

/* A read begins: it will see what the doorbells until now have announced. */
static inline void send_tail_begin_read(struct qp_send *send)
{
	if (send->tail == SEND_TAIL_RUNG)
		send->tail = SEND_TAIL_UNREAD;
}

/* Whether the last read has found the end of the queue. Where a doorbell has come since that read
 * began, the queue is read once more whatever it found. */
static inline void send_tail_set_seen(struct qp_send *send, bool seen)
{
	if (send_tail_is_blueflame(send))
		send->tail = seen ? SEND_TAIL_BLUEFLAME_SHORT : SEND_TAIL_BLUEFLAME;
	else if (send->tail != SEND_TAIL_RUNG)
		send->tail = seen ? SEND_TAIL_SEEN : SEND_TAIL_UNREAD;
}

/* The WQEs that BlueFlame announced have been used, or the announcement is no longer valid. */
static inline void send_tail_end_blueflame(struct qp_send *send)
{
	if (send_tail_is_blueflame(send))
		send->tail = send_tail_is_seen(send) ? SEND_TAIL_SEEN : SEND_TAIL_UNREAD;
}

/* --- mode --- */

static inline bool send_mode_is_rnr(const struct qp_send *send)
{
	return send->mode == SEND_MODE_RNR || send->mode == SEND_MODE_RNR_LATE;
}

/* The receiver is not ready. */
static inline void send_mode_begin_rnr(struct qp_send *send)
{
	if (send->mode == SEND_MODE_NORMAL)
		send->mode = SEND_MODE_RNR;
	else if (send->mode == SEND_MODE_LATE)
		send->mode = SEND_MODE_RNR_LATE;
}

static inline void send_mode_end_rnr(struct qp_send *send)
{
	if (send->mode == SEND_MODE_RNR)
		send->mode = SEND_MODE_NORMAL;
	else if (send->mode == SEND_MODE_RNR_LATE)
		send->mode = SEND_MODE_LATE;
}

/* The timer has run out, but firmware has the context. */
static inline void send_mode_begin_late(struct qp_send *send)
{
	if (send->mode == SEND_MODE_NORMAL)
		send->mode = SEND_MODE_LATE;
	else if (send->mode == SEND_MODE_RNR)
		send->mode = SEND_MODE_RNR_LATE;
}

/* Firmware has given the context back. Returns whether the timer ran out meanwhile. */
static inline bool send_mode_end_late(struct qp_send *send)
{
	if (send->mode == SEND_MODE_LATE)
		send->mode = SEND_MODE_NORMAL;
	else if (send->mode == SEND_MODE_RNR_LATE)
		send->mode = SEND_MODE_RNR;
	else
		return false;
	return true;
}

#endif
