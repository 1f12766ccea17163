/* SPDX-License-Identifier: Apache-2.0 */
/* See requester.h. */
#include "model/engine/send/requester.h"

#include "model/engine/complete/event_queue.h"
#include "model/engine/base/keep.h"
#include "model/engine/wire/link_port.h"
#include "model/engine/wire/packet.h"
#include "model/engine/send/requester_impl.h"
#include "model/engine/send/retry.h"
#include "model/engine/send/scheduler.h"
#include "model/engine/wire/static_rate.h"
#include "model/engine/fetch/wqe_fetch.h"
#include "model/interface/macros.h"
#include "model/interface/rows.h"
#include "model/sim/params/hca.h"
#include "model/sim/params/hca_link.h"
#include "model/sim/params/hca_requester.h"

#include <stdio.h>
#include <string.h>

/* What the log says of a queue that stops in a state. */
static const char *const state_texts[SEND_STATE_COUNT] = {
#define S(name, text, mover) [SEND_##name] = "state " #name " " text ": " mover,
	SEND_STATES(S)
#undef S
};

static const char *const work_names[SEND_WORK_COUNT] = {
#define S(name, meaning, mover) [SEND_WORK_##name] = #name,
	SEND_WORKS(S)
#undef S
};

static const char *const tail_names[SEND_TAIL_COUNT] = {
#define S(name, meaning, mover) [SEND_TAIL_##name] = #name,
	SEND_TAILS(S)
#undef S
};

static const char *const mode_names[SEND_MODE_COUNT] = {
#define S(name, meaning, mover) [SEND_MODE_##name] = #name,
	SEND_MODES(S)
#undef S
};

void requester_describe(const struct qp *qp, char *text, size_t size)
{
	const struct qp_send *send = &qp->send;

	snprintf(text, size, "send queue: %s; work %s, tail %s, mode %s", state_texts[send->state],
		 work_names[send->work], tail_names[send->tail], mode_names[send->mode]);
}

/* --- cursors and context --- */

static void requester_refresh(struct qp *qp, const struct qpc *qpc)
{
	struct qp_send *send = &qp->send;
	unsigned service = qpc_get_service(qpc);
	uint8_t port = (uint8_t)(qp_path_get_port(qpc_primary_const(qpc)) + 1);

	send->reliable = service == QP_ST_RC || service == QP_ST_XRC;
	send->log_mtu = (uint8_t)(service == QP_ST_UD    ? 7 + IB_MTU_4096
				  : service == QP_ST_MLX ? requester_mlx_log_mtu(qpc)
							 : 7 + qpc_get_mtu(qpc));
	if (send->port != port && send->turn == TURN_RING) {
		scheduler_remove(qp); /* rings are by port */
		send->port = port;
		scheduler_ready(qp, 0);
	}
	send->port = port;
	send->ack_timeout_ps = retry_ack_timeout_ps(qp->hca, qpc);
}

static void requester_load(struct qp *qp, const struct qpc *qpc)
{
	struct qp_send *send = &qp->send;

	requester_refresh(qp, qpc);
	if (send->loaded)
		return;
	send->loaded = true;
	send->send_psn = send->max_psn = send->acked_psn = qpc_get_next_send_psn(qpc);
	send->oldest = send->next = send->cursor = (uint16_t)qpc_get_sq_wqe_counter(qpc);
	send->cursor_packet = 0;
	send->retries = (uint8_t)qpc_get_retry_cnt(qpc);
	send->rnr_retries = (uint8_t)qpc_get_rnr_retry(qpc);
	send->credits = qpc_get_send_limited(qpc);
	send->credit_limit = qpc_get_send_limit(qpc);
}

void requester_save(struct qp *qp, struct qpc *qpc)
{
	const struct qp_send *send = &qp->send;

	qpc_set_next_send_psn(qpc, send->max_psn);
	qpc_set_last_acked_psn(qpc, send->acked_psn - 1);
	qpc_set_sq_wqe_counter(qpc, send->next);
	qpc_set_cur_retry_cnt(qpc, send->retries);
	qpc_set_cur_rnr_retry(qpc, send->rnr_retries);
	qpc_set_send_limited(qpc, send->credits);
	qpc_set_send_limit(qpc, send->credit_limit);
	context_changed(qp->hca, CONTEXT_REQUESTER, qp->qpn);
}

static void requester_waiter_wake(struct waiter *w)
{
	struct qp_send *send = container_of(w, struct qp_send, waiter);

	if (send->state == SEND_WAIT_CONTEXT)
		scheduler_resume(qp_of_send(send));
	else
		scheduler_ready(qp_of_send(send), 0);
}

static void requester_response_waiter_wake(struct waiter *w)
{
	struct qp *qp = qp_of_send(container_of(w, struct qp_send, response_waiter));

	if (qp_is_stopped(qp)) { /* requester_resume() does it */
		waiter_done(w);
		return;
	}
	qp_hold(qp);
	requester_response_run(qp);
	requester_progress(qp, 0);
	if (!w->in)
		waiter_done(w);
	qp_release(qp);
}

static void requester_init(struct qp *qp)
{
	qp->send.waiter.wake = requester_waiter_wake;
	qp->send.response_waiter.wake = requester_response_waiter_wake;
	qp->send.deadline_ps = EVENT_NEVER;
}

static void requester_drop(struct qp *qp)
{
	struct qp_send *send = &qp->send;

	scheduler_remove(qp);
	waiter_cancel(&send->waiter);
	waiter_cancel(&send->response_waiter);
	waiter_done(&send->waiter);
	waiter_done(&send->response_waiter);
	retry_forget(qp);
	wqe_fetch_release(qp);
	packet_queue_free(&send->out);
	packet_queue_free(&send->responses);
	packet_queue_free(&send->writes);
	requester_local_drop(qp);
}

static bool requester_is_quiet(const struct qp *qp)
{
	const struct qp_send *send = &qp->send;

	return !send->dma_pending && !send->out.first && !send->writes.first &&
	       requester_local_is_quiet(qp) && send->turn != TURN_RUNNING &&
	       send->turn != TURN_AGAIN;
}

static bool requester_is_idle(const struct qp *qp)
{
	const struct qp_send *send = &qp->send;

	return send->oldest == send->next && send->work == SEND_WORK_NONE &&
	       send->turn == TURN_NONE && !send->cursor_verdict && !send->oldest_verdict &&
	       !send->waiter.in && !send->responses.first && !send->response_waiter.in &&
	       !send->page_list && requester_is_quiet(qp);
}

static void requester_invalidate(struct qp *qp)
{
	wqe_fetch_drop(qp->hca, qp->qpn);
	requester_drop(qp);
}

/* The ACK timer of packets in flight: starts where there was none, or has run out meanwhile. */
static void requester_timer_resume(struct qp *qp)
{
	struct qp_send *send = &qp->send;
	const bool late = send_mode_end_late(send);

	if (send->oldest == send->next || send->deadline_ps != EVENT_NEVER || !send->reliable ||
	    send->mode == SEND_MODE_FLUSHING)
		return;
	if (late && (send_mode_is_rnr(send) || !send->responses.first))
		requester_timeout_now(qp);
	else if (send->ack_timeout_ps != EVENT_NEVER)
		retry_set_deadline(qp, hca_now(qp->hca) + send->ack_timeout_ps);
}

static void requester_reload(struct qp *qp, const struct qpc *qpc)
{
	if (qp->send.oldest != qp->send.next)
		return;
	qp->send.loaded = false;
	requester_load(qp, qpc);
}

static void requester_resume(struct qp *qp, unsigned state)
{
	struct qp_send *send = &qp->send;

	if (state == QP_STATE_RTS && send->mode == SEND_MODE_FLUSHING)
		send->mode = SEND_MODE_NORMAL;
	requester_response_run(qp);
	if (state == QP_STATE_ERR || state == QP_STATE_SQER) {
		requester_flush(qp, state);
		return;
	}
	requester_progress(qp, 0);
	requester_timer_resume(qp);
	if (send->cursor != send->next || send->work != SEND_WORK_NONE)
		scheduler_ready(qp, 0);
}

const struct qp_half requester_half = {
	.init = requester_init,
	.drop = requester_drop,
	.invalidate = requester_invalidate,
	.flush = requester_flush,
	.reload = requester_reload,
	.resume = requester_resume,
	.path_changed = requester_refresh,
	.is_quiet = requester_is_quiet,
	.is_idle = requester_is_idle,
	.only_looks =
		requester_is_idle, /* It never polls, because a doorbell announces posted WQEs. */
};

/* --- the steps --- */

/* WQE `cursor` cannot be sent. It fails once all WQEs before it have completed. */
static enum send_state requester_wqe_refuse(struct send_step *s, enum verdict verdict)
{
	s->send->cursor_verdict = (uint8_t)verdict;
	s->busy_ps = param_requester_wqe_gap(s->hca->params);
	requester_save(s->qp, s->qpc);
	requester_progress(s->qp, s->at_ps);
	return s->send->cursor_verdict ? SEND_WAIT_COMPLETION : SEND_DONE;
}

/* The context cannot be read. The device forgets what the QP has in flight. */
static enum send_state requester_context_lose(struct send_step *s, int err)
{
	struct qp_send *send = s->send;

	send->work = SEND_WORK_NONE;
	send_tail_end_blueflame(send);
	if (err == -ENOENT)
		return SEND_IDLE;
	send->oldest = send->cursor = send->next;
	send->reads = 0;
	send->cursor_verdict = send->oldest_verdict = 0;
	send_mode_end_rnr(send);
	send->loaded = false;
	retry_set_deadline(s->qp, EVENT_NEVER);
	event_queue_qp(s->hca, EVENT_WQ_CATAS_ERROR, s->qp->qpn);
	return SEND_IDLE;
}

/* The table has no context of this number: at its place may stand that of another QP. */
static void requester_blame_alias(const struct send_step *s)
{
	if (send_work_is_unchecked(s->send))
		guest_error(s->hca, RULE_doorbell_dead_qp, guest_object(GUEST_QP, s->qp->qpn),
			    "send doorbell for qpn %06x: another QP has its place in the table",
			    s->qp->qpn);
}

static enum send_state requester_step_begin(struct send_step *s)
{
	struct qp_send *send = s->send;
	int err;

	if (s->qp->quiescing || s->qp->error_pending)
		return SEND_WAIT_FIRMWARE;
	/* An earlier step may have left the waiter queued for a WQE or a translation. From here on
	 * it waits only for the context. */
	if (__builtin_expect(!!send->waiter.in, 0))
		waiter_cancel(&send->waiter);
	err = qp_context(s->qp, false, &send->waiter, &s->qpc);
	if (err == -ENOENT)
		requester_blame_alias(s);
	if (err)
		return err == -EAGAIN ? SEND_WAIT_CONTEXT : requester_context_lose(s, err);
	s->service = qpc_get_service(s->qpc);
	requester_load(s->qp, s->qpc);
	if (send_work_is_unchecked(send)) {
		if (!scheduler_doorbell_check(s->qp, s->qpc)) {
			wqe_fetch_release(s->qp);
			send_tail_end_blueflame(send);
		}
		requester_announced_end(send);
	}
	switch (qpc_get_state(s->qpc)) {
	case QP_STATE_RTS:
		return SEND_CHOOSE;
	case QP_STATE_SQD:
	case QP_STATE_SQD_BUSY:
		return send->cursor != send->next ? SEND_CHOOSE : SEND_DRAINED;
	case QP_STATE_ERR:
	case QP_STATE_SQER:
		return SEND_FLUSH;
	default:
		send_work_end(send);
		return SEND_IDLE;
	}
}

static enum send_state requester_step_choose(struct send_step *s)
{
	struct qp_send *send = s->send;

	if (send_mode_is_rnr(send))
		return SEND_WAIT_RNR;
	if (send->cursor_verdict || send->oldest_verdict)
		return SEND_WAIT_COMPLETION;
	if (send->dma_pending >= param_requester_inflight(s->hca->params))
		return SEND_WAIT_DMA;
	while (send->cursor != send->next && send_entry(send, send->cursor)->flags & SEND_LOCAL)
		send->cursor++;
	if (send->cursor != send->next)
		return SEND_FETCH;
	if (!send_work_is_begun(send))
		return SEND_IDLE;
	return (uint16_t)(send->next - send->oldest) < SEND_WINDOW ? SEND_FETCH : SEND_WAIT_WINDOW;
}

/* Software stamps the chunks behind the last request. No segment has these bytes. */
static bool requester_is_stamped(const uint8_t *wqe, unsigned len)
{
	for (unsigned at = WQE_CHUNK; at + sizeof(uint32_t) <= len; at += WQE_CHUNK)
		if (be32_load(wqe + at) == UINT32_MAX)
			return true;
	return false;
}

static enum send_state requester_step_fetch(struct send_step *s)
{
	struct qp_send *send = s->send;
	const char *why;
	const uint8_t *wqe;
	unsigned len;
	int err;

	if (s->held)
		return SEND_PACKET;
	s->cursor = send->cursor;
	s->fresh = send->cursor == send->next;
	err = wqe_fetch_send(s->qp, s->qpc, send->cursor, s->fresh ? WQE_NEED_NEXT : WQE_NEED_AGAIN,
			     &send->waiter, &wqe, &len);
	if (err == -EAGAIN)
		return SEND_WAIT_MEMORY;
	if (err == -ENOENT) {
		if (send->tail ==
		    SEND_TAIL_RUNG) /* a doorbell has come since that read began: read again */
			return SEND_FETCH;
		if (s->fresh && send->work == SEND_WORK_BEGUN)
			scheduler_queue_empty(s->hca, s->qp->qpn, send->next);
		send_work_end(send);
		send_tail_end_blueflame(send);
		wqe_fetch_begun(s->qp, send->announced);
		return SEND_IDLE;
	}
	if (err)
		return requester_wqe_refuse(s, VERDICT_SEND_CONTEXT);
	if (send_request_parse(wqe, len, s->service, &s->r, &why)) {
		if (requester_is_stamped(wqe, len))
			why = "a chunk of it begins with the stamp ffffffff: it was stamped after "
			      "it was posted, "
			      "or is longer than what was written";
		guest_error(s->hca, RULE_wqe_malformed, guest_object(GUEST_QP, s->qp->qpn),
			    "qpn %06x wqe %u: %s", s->qp->qpn, send->cursor, why);
		return requester_wqe_refuse(s, VERDICT_SEND_WQE);
	}
	if (s->fresh)
		return SEND_START;
	if (wqe_ctrl_get_opcode(s->r.ctrl) != send_entry(send, send->cursor)->opcode ||
	    s->r.bytes != send_entry(send, send->cursor)->bytes) {
		guest_error(s->hca, RULE_wqe_malformed, guest_object(GUEST_QP, s->qp->qpn),
			    "qpn %06x wqe %u: changed while it is in flight", s->qp->qpn,
			    send->cursor);
		return requester_wqe_refuse(s, VERDICT_SEND_WQE);
	}
	return SEND_PACKET;
}

static uint64_t requester_length_limit(const struct send_step *s)
{
	unsigned log_max = qpc_get_log_msg_max(s->qpc);

	if (s->service == QP_ST_UD || s->service == QP_ST_MLX)
		return ib_mtu_bytes(link_port_config(s->hca, s->send->port)->mtu);
	if (!log_max || log_max > param_hca_log_max_msg(s->hca->params))
		log_max = (unsigned)param_hca_log_max_msg(s->hca->params);
	return UINT64_C(1) << log_max;
}

static unsigned requester_entry_flags(const struct send_step *s)
{
	uint32_t props = s->r.op->props;

	return (wqe_ctrl_get_cqe(s->r.ctrl) == WQE_CQE_ALWAYS ? SEND_SIGNALLED : 0) |
	       (props & WQE_P_READ ? SEND_READ : 0) | (props & WQE_P_FETCH ? SEND_ATOMIC : 0) |
	       (props & (WQE_P_SEND | WQE_P_IMM) ? SEND_RECEIVES : 0) |
	       (props & WQE_P_LOCAL ? SEND_LOCAL : 0);
}

/* Whether the PSN space has room. A READ takes a PSN for each of its responses. */
static bool requester_window_has_room(const struct send_step *s, bool read, uint32_t packets)
{
	uint32_t outstanding = psn_ahead(s->send->send_psn, s->send->acked_psn);

	if (read)
		return outstanding + packets <= PSN_OUTSTANDING_MAX;
	return outstanding < param_requester_window(s->hca->params);
}

static enum send_state requester_step_start(struct send_step *s)
{
	struct qp_send *send = s->send;
	unsigned flags = requester_entry_flags(s);
	uint32_t packets;

	if (s->r.op->props & WQE_P_MPT && wqe_ctrl_get_strong_order(s->r.ctrl) &&
	    send->oldest != send->next)
		return SEND_WAIT_ACK;
	if (wqe_ctrl_get_fence(s->r.ctrl) && send->reads)
		return SEND_WAIT_READS;
	if (flags & SEND_FETCHES && send->reads >= 1u << qpc_get_sra_max(s->qpc))
		return SEND_WAIT_READS;
	if (s->service != QP_ST_MLX && s->r.bytes > requester_length_limit(s))
		return requester_wqe_refuse(s, VERDICT_SEND_LENGTH);
	packets = flags & SEND_ATOMIC ? 1 : psn_packets((uint32_t)s->r.bytes, send->log_mtu);
	if (!requester_window_has_room(s, flags & SEND_READ, packets))
		return SEND_WAIT_ACK;
	if (__builtin_expect(s->service == QP_ST_MLX, 0) && !requester_entries_fit(s))
		return SEND_WAIT_WINDOW;
	if (s->r.op->props & WQE_P_MPT) {
		int err = requester_local_do(s);

		if (err < 0)
			return err == -EAGAIN ? SEND_WAIT_MEMORY : SEND_WAIT_LOCAL;
		if (err)
			return requester_wqe_refuse(s, (enum verdict)err);
	}
	*send_entry(send, send->next) = (struct send_wqe){
		.first_psn = send->send_psn,
		.bytes = (uint32_t)s->r.bytes,
		.opcode = (uint8_t)wqe_ctrl_get_opcode(s->r.ctrl),
		.flags = (uint8_t)flags,
	};
	send->next++;
	wqe_fetch_begun(s->qp, 1);
	send->cursor_packet = 0;
	s->hca->stats.requester_wqes++;
	HCA_TRACE(s->hca, TP_WQE_SEND, .qpn = s->qp->qpn, .corr = send->cursor, .bytes = s->r.wqe,
		  .len = s->r.len);
	requester_announced_end(send);
	if (__builtin_expect(s->service == QP_ST_MLX, 0))
		requester_entries_take(s, s->r.len);
	if (flags & SEND_LOCAL) {
		send->cursor++;
		s->busy_ps = param_requester_wqe_gap(s->hca->params);
		requester_save(s->qp, s->qpc);
		requester_progress(s->qp, s->at_ps);
		return SEND_DONE;
	}
	send->reads += !!(flags & SEND_FETCHES);
	qpc_set_ssn(s->qpc, qpc_get_ssn(s->qpc) + 1);
	/* a message that takes no receive needs no credit */
	if (send->credits && !(flags & SEND_RECEIVES))
		send->credit_limit = (send->credit_limit + 1) & MSN_MASK;
	return SEND_PACKET;
}

/* The SSN of message `cursor`: the SSN of the newest message, less the messages behind `cursor`. */
static uint32_t requester_cursor_ssn(const struct send_step *s)
{
	uint32_t ssn = qpc_get_ssn(s->qpc);

	for (uint16_t i = s->send->cursor + 1; i != s->send->next; i++)
		ssn -= !(send_entry(s->send, i)->flags & SEND_LOCAL);
	return ssn & MSN_MASK;
}

/*
 * End-to-end credits (IBA 9.7.7.2). Beyond the limit, the first packet of one message may be sent,
 * to ask for credits. The rest of that message follows when the first packet has been acknowledged.
 */
static bool requester_has_credit(struct send_step *s)
{
	const struct send_wqe *wqe = send_entry(s->send, s->send->cursor);
	int32_t beyond;

	if (!s->send->credits || !(wqe->flags & SEND_RECEIVES))
		return true;
	beyond = psn_diff(requester_cursor_ssn(s), s->send->credit_limit);
	if (beyond <= 0)
		return true;
	if (s->send->cursor_packet)
		return s->send->acked_psn != wqe->first_psn &&
		       psn_within(s->send->acked_psn, wqe->first_psn,
				  send_entry_packets(s->send, wqe));
	s->probe = true;
	return beyond == 1;
}

/* A path at a static rate queues packets like a port does. It takes no more of them than a port. */
static bool requester_path_has_room(struct send_step *s)
{
	const struct qp_path *path = qpc_primary_const(s->qpc);
	const struct wqe_datagram *av = s->r.datagram;
	unsigned code = av ? wqe_datagram_get_static_rate(av) : qp_path_get_static_rate(path);
	uint64_t window = param_link_tx_window(s->hca->params), backlog;

	if (__builtin_expect(!code, 1))
		return true;
	backlog = static_rate_backlog_ps(
		s->hca, s->send->port,
		(uint16_t)(av ? wqe_datagram_get_rlid(av) : qp_path_get_rlid(path)), code);
	if (backlog <= window)
		return true;
	s->again_ps = hca_now(s->hca) + backlog - window;
	return false;
}

/* How long a new WQE keeps the unit busy. The unit works on it while its lines come in. */
static uint64_t requester_wqe_ps(const struct send_step *s)
{
	const struct hca_params *p = s->hca->params;
	const uint64_t lines = (s->r.len + WQE_CHUNK - 1) / WQE_CHUNK * param_requester_line_gap(p);
	const uint64_t work = param_requester_wqe_gap(p) +
			      (s->send->reliable ? param_requester_reliable_gap(p) : 0);

	return work > lines ? work : lines;
}

static enum send_state requester_step_packet(struct send_step *s)
{
	struct qp_send *send = s->send;
	const struct hca_params *p = s->hca->params;
	int err;

	if (!(send_entry(send, send->cursor)->flags & SEND_READ) &&
	    !requester_window_has_room(s, false, 1))
		return SEND_WAIT_ACK;
	if (!requester_has_credit(s))
		return SEND_WAIT_CREDITS;
	if (!requester_path_has_room(s))
		return SEND_WAIT_RATE;
	err = requester_packet_send(s);
	if (err == -EAGAIN)
		return SEND_WAIT_MEMORY;
	if (err)
		return requester_wqe_refuse(s, (enum verdict)err);
	s->busy_ps = param_requester_packet_gap(p);
	if (s->fresh && requester_wqe_ps(s) > s->busy_ps)
		s->busy_ps = requester_wqe_ps(s);
	if (s->held) /* the step before has saved all other fields */
		qpc_set_next_send_psn(s->qpc, send->max_psn);
	else
		requester_save(s->qp, s->qpc);
	requester_out_run(s->qp);
	return SEND_DONE;
}

/* A switch, not a table: the compiler then goes from one step to the next without a call. */
static inline enum send_state requester_step_state(struct send_step *s, enum send_state state)
{
	switch (state) {
	case SEND_BEGIN:
		return requester_step_begin(s);
	case SEND_CHOOSE:
		return requester_step_choose(s);
	case SEND_FETCH:
		return requester_step_fetch(s);
	case SEND_START:
		return requester_step_start(s);
	case SEND_PACKET:
		return requester_step_packet(s);
	case SEND_FLUSH:
		return requester_step_flush(s);
	default:
		return SEND_STATE_COUNT; /* the queue waits, or a packet has been sent */
	}
}

/* Runs steps from `state` on until the queue waits or has sent a packet. True: it has sent one. */
static bool requester_step_run(struct send_step *s, enum send_state state)
{
	struct qp_send *send = s->send;

	for (enum send_state next; (next = requester_step_state(s, state)) != SEND_STATE_COUNT;)
		state = next;
	if (state != send->state) {
		send->state = (uint8_t)state;
		HCA_TRACE(s->hca, TP_REQ_STATE, .qpn = s->qp->qpn, .corr = send->cursor,
			  .args = {send_state_waits(state)}, .text = state_texts[state]);
	}
	return state == SEND_DONE;
}

/* Whether the next packet of this turn continues a message. Then nothing has changed the context or
 * the WQE since the packet before it. This is not true for unreliable messages: their WQEs complete
 * while packets leave. */
static bool requester_in_message(const struct send_step *s)
{
	return s->qpc && s->send->reliable && s->send->cursor_packet &&
	       s->cursor == s->send->cursor;
}

uint64_t requester_run(struct qp *qp, uint64_t at_ps, unsigned packets, unsigned *units,
		       uint64_t *again_ps)
{
	struct send_step s = {.hca = qp->hca,
			      .qp = qp,
			      .send = &qp->send,
			      .units = units,
			      .again_ps = EVENT_NEVER};
	uint64_t busy_ps = 0;

	for (unsigned i = 0; i < packets && !scheduler_reads_full(qp->hca); i++) {
		s.held = requester_in_message(&s);
		s.fresh = s.probe = false;
		s.at_ps = at_ps + busy_ps;
		s.busy_ps = 0;
		if (!requester_step_run(&s, s.held ? SEND_CHOOSE : SEND_BEGIN))
			break;
		waiter_done(&qp->send.waiter);
		/* a step that takes no time still counts as done */
		busy_ps += s.busy_ps ? s.busy_ps : 1;
	}
	if (qp->send.state != SEND_WAIT_MEMORY && qp->send.state != SEND_WAIT_CONTEXT) {
		waiter_done(&qp->send.waiter);
		if (__builtin_expect(qp->send.wqe_wants & WQE_SENDS, 0))
			wqe_fetch_unwant(qp, WQE_SENDS);
	}
	*again_ps = s.again_ps;
	return busy_ps;
}
