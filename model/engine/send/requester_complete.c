/* SPDX-License-Identifier: Apache-2.0 */
/* Completions of the send queue, errors and flushes. See requester.h. */
#include "model/engine/complete/cqe_write.h"
#include "model/engine/complete/event_queue.h"
#include "model/engine/wire/packet.h"
#include "model/engine/qp/qp_path.h"
#include "model/engine/send/requester_impl.h"
#include "model/engine/send/retry.h"
#include "model/engine/send/scheduler.h"
#include "model/engine/fetch/wqe_fetch.h"
#include "model/sim/params/hca_requester.h"

/* --- CQEs --- */

static void requester_cqe_post(struct qp *qp, uint32_t cqn, uint16_t index,
			       const struct send_wqe *wqe, uint64_t earliest_ps)
{
	struct cqe cqe = {0};

	cqe_set_my_qpn(&cqe, qp->qpn);
	cqe_set_byte_cnt(&cqe, wqe->bytes);
	cqe_set_wqe_index(&cqe, index);
	cqe_set_is_send(&cqe, 1);
	cqe_set_opcode(&cqe, wqe->opcode);
	cqe_write_post(qp->hca, cqn, &cqe, false, earliest_ps);
}

static void requester_cqe_post_error(struct qp *qp, uint32_t cqn, uint16_t index,
				     enum cqe_syndrome syndrome, uint64_t earliest_ps)
{
	struct cqe cqe = {0};
	struct cqe_err *err = cqe_as_err(&cqe);

	cqe_err_set_my_qpn(err, qp->qpn);
	cqe_err_set_wqe_index(err, index);
	cqe_err_set_syndrome(err, syndrome);
	cqe_err_set_is_send(err, 1);
	cqe_err_set_opcode(err, CQE_OP_ERROR);
	cqe_write_post(qp->hca, cqn, &cqe, true, earliest_ps);
}

/* --- acknowledged --- */

void requester_acknowledged(struct qp *qp, const struct qpc *qpc, uint32_t psn)
{
	struct qp_send *send = &qp->send;
	uint32_t by = psn_ahead(psn, send->acked_psn);
	bool overtaken = psn_ahead(send->send_psn, send->acked_psn) < by;

	if (!by)
		return;
	send->acked_psn = psn;
	send->implied_nak = false;
	send->retries = (uint8_t)qpc_get_retry_cnt(qpc);
	send->rnr_retries = (uint8_t)qpc_get_rnr_retry(qpc);
	/* these packets were to be sent again, but have arrived: go on behind them */
	if (overtaken)
		retry_rewind(qp, psn);
	if (send_mode_is_rnr(send))
		return;
	if (send->acked_psn == send->send_psn || send->ack_timeout_ps == EVENT_NEVER)
		retry_set_deadline(qp, EVENT_NEVER);
	else
		retry_set_deadline(qp, hca_now(qp->hca) + send->ack_timeout_ps);
}

/* Number of WQEs, from the oldest on, that are done. */
static uint16_t requester_done_count(const struct qp_send *send)
{
	uint32_t acked = send->acked_psn;
	uint16_t i = send->oldest;

	for (; i != send->next; i++) {
		const struct send_wqe *wqe = &send->window[i % SEND_WINDOW];
		uint32_t packets = send_entry_packets(send, wqe);

		if (psn_ahead(acked, wqe->first_psn) < packets ||
		    psn_ahead(acked, wqe->first_psn) > PSN_OUTSTANDING_MAX)
			break;
	}
	return (uint16_t)(i - send->oldest);
}

/* The oldest WQE has failed. */
static void requester_oldest_fail(struct qp *qp, struct qpc *qpc, uint64_t earliest_ps)
{
	struct qp_send *send = &qp->send;
	const struct verdict_row *row = verdict_find(send->oldest_verdict);
	uint32_t cqn = qpc_get_cqn_send(qpc);
	unsigned service = qpc_get_service(qpc);
	uint16_t index = send->oldest;
	bool datagram_or_uc = service == QP_ST_UC || service == QP_ST_UD || service == QP_ST_MLX;

	if (send->oldest == send->next)
		send->next++;
	send->oldest++;
	send->cursor = send->next;
	send->cursor_packet = 0;
	send->oldest_verdict = send->cursor_verdict = 0;
	requester_save(qp, qpc);
	qp->hca->stats.requester_errors++;
	if (row->requester_cqe != CQE_SYND_NONE)
		requester_cqe_post_error(qp, cqn, index, row->requester_cqe, earliest_ps);
	if (row->qp != VERDICT_QP_KEEP)
		qp_error(qp,
			 row->qp == VERDICT_QP_SQ && datagram_or_uc ? QP_STATE_SQER : QP_STATE_ERR,
			 (uint8_t)row->event);
}

/* Retries are used up. If there is an alternate path, all packets that are not acknowledged are
 * sent again there, with all retries (IBA 17.2.8). */
static bool requester_path_migrate(struct qp *qp, struct qpc *qpc)
{
	struct qp_send *send = &qp->send;

	if (send->oldest_verdict != VERDICT_RETRY_EXCEEDED)
		return false;
	send->retries = (uint8_t)qpc_get_retry_cnt(qpc);
	if (!qp_path_migrate(qp, CONTEXT_REQUESTER, qpc))
		return false;
	send->oldest_verdict = 0;
	send->implied_nak = false;
	send_mode_end_rnr(send);
	send->discard_last = packet_queue_last(&send->out);
	retry_rewind(qp, send->acked_psn);
	retry_set_deadline(qp, EVENT_NEVER);
	scheduler_ready(qp, 0);
	return true;
}

/* IBA 10.3.1, SQD: the queue is drained when all WQEs that were begun have completed. */
static void requester_queue_drain(struct qp *qp)
{
	struct qp_send *send = &qp->send;
	struct qpc *qpc;
	bool event;

	if (send->oldest != send->next || send->cursor_verdict || send->oldest_verdict ||
	    send->mode == SEND_MODE_FLUSHING ||
	    qp_context(qp, false, &send->response_waiter, &qpc) ||
	    qpc_get_state(qpc) != QP_STATE_SQD_BUSY)
		return;
	event = qpc_get_sqd_event(qpc);
	qpc_set_state(qpc, QP_STATE_SQD);
	qpc_set_sqd_event(qpc, 0);
	context_changed(qp->hca, CONTEXT_REQUESTER, qp->qpn);
	HCA_TRACE(qp->hca, TP_QP_STATE, .qpn = qp->qpn, .text = "send queue drained");
	if (event)
		event_queue_qp(qp->hca, EVENT_SQ_DRAINED, qp->qpn);
}

void requester_progress(struct qp *qp, uint64_t earliest_ps)
{
	struct qp_send *send = &qp->send;
	uint32_t cqn;
	uint16_t done, first;
	struct qpc *qpc;

	if (send->mode == SEND_MODE_FLUSHING || !send->loaded ||
	    qp_context(qp, false, &send->response_waiter, &qpc))
		return;
	cqn = qpc_get_cqn_send(qpc);
	done = requester_done_count(send);
	first = send->oldest;
	send->oldest += done;
	for (uint16_t i = first; i != send->oldest; i++)
		send->reads -= !!(send_entry(send, i)->flags & SEND_FETCHES);
	if (send->cursor_verdict && send->oldest == send->cursor)
		send->oldest_verdict = send->cursor_verdict;
	requester_save(qp, qpc);
	qp->hca->stats.requester_completed += done;
	for (uint16_t i = first; i != send->oldest; i++) {
		wqe_fetch_done(qp, i);
		if (send_entry(send, i)->flags & SEND_SIGNALLED)
			requester_cqe_post(qp, cqn, i, send_entry(send, i), earliest_ps);
	}
	if (send->oldest_verdict) {
		if (qp_context(qp, false, &send->response_waiter, &qpc) ||
		    requester_path_migrate(qp, qpc))
			return;
		if (!qp_context(qp, false, &send->response_waiter, &qpc))
			requester_oldest_fail(qp, qpc, earliest_ps);
		return;
	}
	requester_queue_drain(qp);
	if (send_work_is_begun(send) || send->cursor != send->next)
		scheduler_ready(qp, 0);
}

/* --- errors --- */

void requester_timeout(struct qp *qp)
{
	struct qp_send *send = &qp->send;

	if (send->mode == SEND_MODE_FLUSHING)
		return;
	if (qp_is_stopped(qp)) {
		send_mode_begin_late(send);
		return;
	}
	qp_hold(qp);
	requester_timeout_now(qp);
	qp_release(qp);
}

void requester_timeout_now(struct qp *qp)
{
	struct qp_send *send = &qp->send;

	if (send_mode_is_rnr(send)) {
		send_mode_end_rnr(send);
		scheduler_ready(qp, 0);
		return;
	}
	if (send->acked_psn == send->max_psn)
		return;
	if (send->out.first && send->out.first->psn == send->acked_psn) {
		/* its payload is still on the way from memory */
		retry_set_deadline(qp, hca_now(qp->hca) + send->ack_timeout_ps);
		return;
	}
	qp->hca->stats.retry_ack_timeouts++;
	send->implied_nak = false;
	if (!send->retries) {
		send->oldest_verdict = VERDICT_RETRY_EXCEEDED;
		requester_progress(qp, 0);
		return;
	}
	send->retries--;
	HCA_TRACE(qp->hca, TP_REQ_RETRY, .qpn = qp->qpn, .corr = send->acked_psn,
		  .text = "ack timeout", .args = {send->retries});
	retry_rewind(qp, send->acked_psn);
	scheduler_ready(qp, 0);
}

void requester_flush(struct qp *qp, unsigned state)
{
	struct qp_send *send = &qp->send;

	if (send->mode != SEND_MODE_FLUSHING) {
		send->mode = SEND_MODE_FLUSHING;
		send->discard_last = packet_queue_last(&send->out);
		send->implied_nak = false;
		send_tail_end_blueflame(send);
		send->cursor_verdict = send->oldest_verdict = 0;
		send->reads = 0;
		send->acked_psn = send->send_psn = send->max_psn;
		send->cursor = send->next;
		send->cursor_packet = 0;
		retry_set_deadline(qp, EVENT_NEVER);
		packet_queue_free(&send->responses);
		requester_local_forget(qp);
		requester_out_run(qp);
	}
	if (send->oldest != send->next || send->work != SEND_WORK_NONE)
		scheduler_ready(qp, 0);
}

enum send_state requester_step_flush(struct send_step *s)
{
	struct qp_send *send = s->send;
	uint32_t cqn = qpc_get_cqn_send(s->qpc);
	const uint8_t *wqe;
	uint16_t index;
	unsigned len;
	int err;

	if (send->oldest == send->next) {
		err = send_work_is_begun(send)
			      ? wqe_fetch_send(s->qp, s->qpc, send->next, WQE_NEED_NEXT,
					       &send->waiter, &wqe, &len)
			      : -ENOENT;
		if (err == -EAGAIN)
			return SEND_WAIT_MEMORY;
		if (err == -ENOENT && send_work_is_begun(send) && send->tail == SEND_TAIL_RUNG)
			return SEND_FLUSH;
		if (err) {
			send_work_end(send);
			return SEND_IDLE;
		}
		send_entry(send, send->next)->flags = 0;
		send->next++;
		if (s->service == QP_ST_MLX)
			requester_entries_take(s, len);
		requester_announced_end(send);
	}
	send->cursor = send->next;
	s->busy_ps = param_requester_wqe_gap(s->hca->params);
	index = send->oldest++;
	requester_save(s->qp, s->qpc);
	if (!(send_entry(send, index)->flags & SEND_REST))
		requester_cqe_post_error(s->qp, cqn, index,
					 verdict_find(VERDICT_FLUSHED)->requester_cqe, s->at_ps);
	return SEND_DONE;
}
