/* SPDX-License-Identifier: Apache-2.0 */
/* See responder.h. This file: acknowledgements, and the queue in which every response of a QP
 * leaves in the order of the requests. */
#include "model/engine/receive/responder_impl.h"

#include "model/engine/base/keep.h"
#include "model/engine/wire/link_port.h"
#include "model/engine/send/scheduler.h"
#include "model/interface/macros.h"
#include "model/sim/params/hca_responder.h"

/* Whether payload of the packet with that PSN, or of an earlier one, is still being written to
 * memory. Payload lands in order, so only the first packet is examined. */
static bool data_flies(const struct qp_receive *r, uint32_t psn)
{
	const struct packet *first = r->landing.first;

	return first && psn_diff(first->psn, psn) <= 0;
}

static void ready_landed(const struct qp_receive *r, const struct packet_queue *q)
{
	for (struct packet *pkt = q->first; pkt; pkt = pkt->next)
		if (pkt->mark & MARK_BEHIND && !data_flies(r, pkt->psn))
			pkt->mark |= MARK_READY;
}

void responses_landed(struct qp *qp)
{
	const struct qp_receive *r = &qp->receive;

	ready_landed(r, &r->out);
	for (const struct read_job *read = r->read_jobs.first; read; read = read->next)
		ready_landed(r, &read->behind);
	responses_pump(qp);
}

struct packet *response_new(struct qp *qp, const struct qpc *qpc, enum bth_opcode opcode,
			    uint32_t psn, unsigned payload_len, uint8_t syndrome, uint32_t msn)
{
	struct hca *hca = qp->hca;
	struct packet *pkt = packet_alloc(hca);
	struct packet_path path;
	struct packet_headers h;

	/* Responses use the primary path. */
	qp_packet_path(hca, qpc, &path);
	memset(&h, 0, sizeof(h));
	h.opcode = bth_service_opcode((enum qp_service)qpc_get_service(qpc), opcode);
	h.mig_req = qpc_get_pm_state(qpc) == QP_PM_MIGRATED;
	h.pkey = link_port_config(hca, path.port)
			 ->pkeys[qp_path_get_pkey_index(qpc_primary_const(qpc))];
	h.dest_qpn = qpc_get_remote_qpn(qpc);
	h.psn = psn;
	h.aeth.syndrome = syndrome;
	h.aeth.msn = msn;
	packet_build(hca, pkt, &path, &h, payload_len);
	pkt->src_qpn = qp->qpn;
	pkt->corr = psn;
	pkt->owner = qp;
	pkt->mark = MARK_READY;
	if (qp->receive.current)
		pkt->ready_ps = qp->receive.current->ready_ps;
	if (opcode != BTH_RC_ACKNOWLEDGE)
		return pkt;
	pkt->ready_ps += param_responder_ack_latency(hca->params);
	if (param_responder_ack_landed(hca->params) && data_flies(&qp->receive, psn))
		pkt->mark = MARK_BEHIND;
	return pkt;
}

uint8_t response_credits(struct qp *qp, struct qpc *qpc)
{
	unsigned count;

	if (srq_receive_count(qp, qpc, &count))
		return aeth_syndrome(AETH_ACK, AETH_CREDIT_NONE);
	return aeth_syndrome(AETH_ACK, credit_encode(count));
}

void responses_acknowledge(struct qp *qp)
{
	struct qp_receive *r = &qp->receive;

	r->unacked = 0;
	r->ack_due = false;
	event_cancel(qp->hca->core, &r->timer);
}

static void response_send(struct qp *qp, struct packet *pkt)
{
	if (pkt->mark & MARK_LAST && pkt->mark & MARK_AGAIN)
		qp->receive.repeats--;
	else if (pkt->mark & MARK_LAST)
		qp->receive.resources--;
	pkt->owner = NULL;
	packet_seal(qp->hca, pkt);
	if (pkt->payload_len)
		scheduler_response(qp->hca, pkt->port);
	link_port_send(qp->hca, pkt);
}

/* Sends the NAK of its verdict in place of a failed response. Later responses are dropped. False:
 * waits for the context. */
static bool response_fail(struct qp *qp, struct packet *pkt)
{
	struct qp_receive *r = &qp->receive;
	const struct verdict_row *row = verdict_find((enum verdict)pkt->verdict);
	struct qpc *qpc;
	struct packet *nak;
	int err = qp_context(qp, true, &r->out_waiter, &qpc);

	if (err == -EAGAIN)
		return false;
	qp->hca->stats.responder_naks++;
	nak = err ? NULL
		  : response_new(qp, qpc, BTH_RC_ACKNOWLEDGE, pkt->psn, 0,
				 aeth_syndrome(AETH_NAK, row->nak), qpc_get_msn(qpc));
	packet_queue_remove(&r->out, pkt);
	packet_free(pkt);
	r->broken = true;
	if (nak)
		response_send(qp, nak);
	if (!err)
		qp_error(qp, QP_STATE_ERR, (uint8_t)row->event);
	return true;
}

/* Sends the responses at the head of the queue that are ready. False: waits for the context. */
static bool out_send(struct qp *qp)
{
	struct qp_receive *r = &qp->receive;
	struct packet *pkt;

	while ((pkt = r->out.first) && (pkt->mark & MARK_READY)) {
		if (r->broken) {
			packet_free(packet_queue_pop(&r->out));
		} else if (pkt->mark & MARK_FAILED) {
			if (!response_fail(qp, pkt))
				return false;
		} else {
			response_send(qp, packet_queue_pop(&r->out));
		}
	}
	return true;
}

static bool ack_if_due(struct qp *qp)
{
	struct qp_receive *r = &qp->receive;
	struct qpc *qpc;
	uint32_t psn;
	uint8_t syndrome;
	int err;

	if (!r->ack_due)
		return true;
	err = qp_context(qp, true, &r->out_waiter, &qpc);
	if (err == -EAGAIN)
		return false;
	responses_acknowledge(qp);
	if (err)
		return true;
	qp->hca->stats.responder_acks++;
	psn = psn_add(qpc_get_next_rcv_psn(qpc), PSN_MASK);
	syndrome = response_credits(qp, qpc);
	response_append(
		r, response_new(qp, qpc, BTH_RC_ACKNOWLEDGE, psn, 0, syndrome, qpc_get_msn(qpc)));
	return true;
}

/* Builds one more response of the first READ, or abandons the READ. False: it waits. */
static bool reads_go_on(struct qp *qp)
{
	struct read_job *read = qp->receive.read_jobs.first;

	if (!read)
		return false;
	if (qp->receive.broken) {
		read_job_end(qp, read);
		return true;
	}
	return read_job_has_room(qp, read) && read_job_step(qp, read);
}

/*
 * Makes all progress that is possible: sends the responses that are ready at the head of the queue,
 * then splits READs into responses, one packet at a time, as far as responder.read_dma allows.
 */
void responses_pump(struct qp *qp)
{
	struct qp_receive *r = &qp->receive;

	if (r->pumping)
		return;
	r->pumping = true;
	if (qp->quiescing) {
		out_send(qp);
	} else if (ack_if_due(qp)) {
		while (out_send(qp) && reads_go_on(qp))
			waiter_done(&r->out_waiter);
	}
	if (!r->out_waiter.in)
		waiter_done(&r->out_waiter);
	r->pumping = false;
}

void response_append(struct qp_receive *r, struct packet *pkt)
{
	packet_queue_push(r->read_jobs.first ? &r->read_jobs.last->behind : &r->out, pkt);
}

void response_queue(struct qp *qp, struct packet *pkt)
{
	struct qp_receive *r = &qp->receive;

	if (!r->read_jobs.first && !r->out.first && pkt->mark == MARK_READY && !r->broken) {
		response_send(qp, pkt);
		return;
	}
	response_append(r, pkt);
	responses_pump(qp);
}

/*
 * Acknowledges the request now if it asks for that, or if enough requests are unacknowledged.
 * Otherwise a later ACK covers it, or the timer sends one: the last packet of a burst must not stay
 * without an ACK (IBA 9.7.5.1).
 */
enum resp_state resp_ack(struct resp_run *x)
{
	struct qp_receive *r = x->r;
	const struct hca_params *p = x->hca->params;
	uint32_t psn;
	uint8_t syndrome;
	int err = resp_context(x);

	if (err)
		return err == -EAGAIN ? RESP_WAIT : RESP_DONE;
	if (!resp_reliable(x->qpc))
		return RESP_DONE;
	if (!bth_get_ack_req(resp_bth(x->pkt)) &&
	    r->unacked + 1u < param_responder_ack_coalesce(p)) {
		r->unacked++;
		if (!event_is_set(&r->timer))
			event_set(x->hca->core, &r->timer,
				  x->pkt->ready_ps + param_responder_ack_delay(p));
		return RESP_DONE;
	}
	responses_acknowledge(x->qp);
	x->hca->stats.responder_acks++;
	psn = psn_add(qpc_get_next_rcv_psn(x->qpc), PSN_MASK);
	syndrome = response_credits(x->qp, x->qpc);
	response_queue(x->qp, response_new(x->qp, x->qpc, BTH_RC_ACKNOWLEDGE, psn, 0, syndrome,
					   qpc_get_msn(x->qpc)));
	return RESP_DONE;
}

void responder_timer(struct event *ev)
{
	struct qp *qp = container_of(ev, struct qp, receive.timer);
	struct qp_receive *r = &qp->receive;

	if (r->flush_poll_ps) {
		/* qp_resume() flushes again. */
		if (qp->quiescing)
			return;
		r->flushing = true;
		responder_kick(qp);
		return;
	}
	r->ack_due = r->unacked > 0;
	responses_pump(qp);
	responder_settle(qp);
}
