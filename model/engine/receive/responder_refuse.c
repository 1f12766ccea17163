/* SPDX-License-Identifier: Apache-2.0 */
/* See responder.h. This file: what follows when a check has failed, and when a message of an
 * unreliable service has lost a part. */
#include "model/engine/receive/responder_impl.h"

int resp_abandon(struct resp_run *x, enum cqe_syndrome syndrome)
{
	if (qpc_get_srq(x->qpc) && qpc_get_rx_has_receive(x->qpc) &&
	    resp_complete_error(x, syndrome))
		return -EAGAIN;
	qpc_set_rx_in_message(x->qpc, 0);
	return 0;
}

/* UC and UD never answer: most verdicts drop the message. */
static enum resp_state refuse_unreliable(struct resp_run *x, const struct verdict_row *row)
{
	int err = resp_abandon(x, row->responder_cqe == CQE_SYND_NONE ? CQE_SYND_REM_INV_REQ_ERR
								      : row->responder_cqe);

	if (err)
		return err == -EAGAIN ? RESP_WAIT : RESP_DONE;
	if (!resp_is(x, BTH_DATAGRAM)) {
		qpc_set_next_rcv_psn(x->qpc, psn_add(x->pkt->psn, 1));
		context_changed(x->hca, CONTEXT_RESPONDER, x->qp->qpn);
	}
	x->hca->stats.responder_dropped++;
	return RESP_DONE;
}

static void refuse_reply(struct resp_run *x, const struct verdict_row *row)
{
	uint8_t syndrome;
	uint32_t psn = x->pkt->psn;

	if (row->reply == VERDICT_REPLY_RNR) {
		x->hca->stats.responder_rnr_naks++;
		syndrome = aeth_syndrome(AETH_RNR_NAK, qpc_get_min_rnr_timer(x->qpc));
	} else if (row->reply == VERDICT_REPLY_NAK) {
		x->hca->stats.responder_naks++;
		syndrome = aeth_syndrome(AETH_NAK, row->nak);
		/* A NAK for a gap names the missing packet; any other NAK names the refused one. */
		if (x->r->verdict == VERDICT_PSN_SEQUENCE)
			psn = qpc_get_next_rcv_psn(x->qpc);
	} else {
		return;
	}
	/* Set after a fatal NAK too: the QP's state may change only later, when its context is
	 * there. */
	qpc_set_rx_nak_sent(x->qpc, 1);
	context_changed(x->hca, CONTEXT_RESPONDER, x->qp->qpn);
	responses_acknowledge(x->qp);
	response_queue(x->qp, response_new(x->qp, x->qpc, BTH_RC_ACKNOWLEDGE, psn, 0, syndrome,
					   qpc_get_msn(x->qpc)));
}

enum resp_state resp_refuse_state(struct resp_run *x)
{
	enum verdict verdict = (enum verdict)x->r->verdict;
	const struct verdict_row *row = verdict_find(verdict);
	bool reliable;
	int err;

	HCA_TRACE(x->hca, TP_RESP_STATE, .qpn = x->qp->qpn, .corr = x->pkt->psn, .text = row->name);
	if (verdict == VERDICT_DROP || verdict == VERDICT_DUPLICATE_GONE) {
		x->hca->stats.responder_dropped++;
		return RESP_DONE;
	}
	err = resp_context(x);
	if (err == -EAGAIN)
		return RESP_WAIT;
	if (err) {
		x->hca->stats.responder_dropped++;
		return RESP_DONE;
	}
	reliable = resp_reliable(x->qpc);
	if (!reliable && row->unreliable == VERDICT_UR_DROP)
		return refuse_unreliable(x, row);
	if (row->responder_cqe != CQE_SYND_NONE && qpc_get_rx_has_receive(x->qpc) &&
	    resp_complete_error(x, row->responder_cqe))
		return RESP_WAIT;
	if (reliable)
		refuse_reply(x, row);
	if (row->qp != VERDICT_QP_KEEP)
		qp_error(x->qp, QP_STATE_ERR, (uint8_t)row->event);
	return RESP_DONE;
}
