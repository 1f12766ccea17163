// SPDX-License-Identifier: Apache-2.0
/*
 * The responder's packets: READ responses and atomic acknowledgements in the order of their
 * requests, then the acknowledgement of what else has come, or a NAK (IBA 9.7.5.1).
 */
#include "host_driver/rvt/rvt_impl.h"

static struct rvt_headers answer_of(const struct rvt_qp *qp, uint8_t opcode, uint32_t psn)
{
	const struct rvt_port *port = &rvt_dev(qp)->ports[qp->port];

	return (struct rvt_headers){
		.opcode = opcode,
		.ah = &qp->attr.ah_attr,
		.pkey = port->pkeys[qp->attr.pkey_index % RVT_PKEYS],
		.dqpn = qp->attr.dest_qp_num,
		.psn = psn,
	};
}

/* Credits are the receives that are posted; an SRQ's are not this queue pair's. */
static uint8_t ack_syndrome(const struct rvt_qp *qp)
{
	return aeth_syndrome(AETH_ACK, qp->srq ? (uint32_t)AETH_CREDIT_NONE
					       : credit_encode(rvt_rq_count(&qp->rq)));
}

static uint8_t read_opcode(const struct rvt_fetch *f, bool first, bool last)
{
	return first && last ? BTH_RC_READ_RESP_ONLY
	       : first       ? BTH_RC_READ_RESP_FIRST
	       : last        ? BTH_RC_READ_RESP_LAST
			     : BTH_RC_READ_RESP_MIDDLE;
}

/* False: its memory is gone, and a NAK stands in its place. */
static bool read_packet(struct rvt_qp *qp, struct rvt_fetch *f, struct rvt_packet *packet)
{
	const uint32_t offset = (uint32_t)psn_diff(f->next, f->first_psn) * qp->mtu;
	const uint32_t left = f->length - offset, len = left < qp->mtu ? left : qp->mtu;
	const bool first = f->next == f->first_psn, last = left <= qp->mtu;
	struct rvt_headers h = answer_of(qp, read_opcode(f, first, last), f->next);
	uint8_t *payload;

	h.syndrome = ack_syndrome(qp);
	h.msn = f->msn;
	payload = rvt_build(qp, packet, &h, len);
	if (len && rvt_mr_copy(rvt_dev(qp), qp->pd, f->rkey, f->va + offset, payload, len,
			       IBV_ACCESS_REMOTE_READ, RVT_FROM_MEMORY))
		return false;
	rvt_counters(qp)->responder_read_responses++;
	f->next = psn_add(f->next, 1);
	f->due = !last;
	return true;
}

static void atomic_packet(struct rvt_qp *qp, struct rvt_fetch *f, struct rvt_packet *packet)
{
	struct rvt_headers h = answer_of(qp, BTH_RC_ATOMIC_ACKNOWLEDGE, f->psn);

	h.syndrome = ack_syndrome(qp);
	h.msn = f->msn;
	h.original = f->value;
	rvt_build(qp, packet, &h, 0);
	f->due = false;
}

static void ack_packet(struct rvt_qp *qp, struct rvt_packet *packet)
{
	struct rvt_counters *counters = rvt_counters(qp);
	struct rvt_responder *r = &qp->resp;
	struct rvt_headers h =
		answer_of(qp, BTH_RC_ACKNOWLEDGE, r->nak_due ? r->nak_psn : r->ack_psn);

	h.syndrome = r->nak_due ? r->nak_syndrome : ack_syndrome(qp);
	h.msn = r->nak_due ? r->msn : r->ack_msn;
	if (!r->nak_due)
		counters->responder_acks++;
	else if (aeth_syndrome_kind(h.syndrome) == AETH_RNR_NAK)
		counters->responder_rnr_naks++;
	else
		counters->responder_naks++;
	r->ack_due = r->nak_due = false;
	rvt_build(qp, packet, &h, 0);
}

static void fetch_packet(struct rvt_qp *qp, struct rvt_fetch *f, struct rvt_packet *packet)
{
	struct rvt_responder *r = &qp->resp;

	if (f->atomic) {
		atomic_packet(qp, f, packet);
		return;
	}
	if (read_packet(qp, f, packet))
		return;
	r->kept = r->head;
	r->nak_due = true;
	r->nak_psn = f->next;
	r->nak_syndrome = aeth_syndrome(AETH_NAK, NAK_REM_ACCESS);
	ack_packet(qp, packet);
	rvt_qp_event(qp, IBV_EVENT_QP_ACCESS_ERR);
	rvt_qp_error(qp);
}

/* What was executed before the queue pair came into the error state is still acknowledged: its
 * completion has said that it is done. */
bool rvt_reply_next(struct rvt_qp *qp, struct rvt_packet *packet)
{
	const struct rvt_responder *r = &qp->resp;
	struct rvt_fetch *f = rvt_may(qp, RVT_RECEIVE) ? rvt_fetch_due(qp) : NULL;

	/* in the order of the requests */
	if (f && !(r->ack_due && psn_diff(r->ack_psn, f->psn) < 0)) {
		fetch_packet(qp, f, packet);
		return true;
	}
	if (!rvt_may(qp, RVT_RECEIVE) && qp->state != IBV_QPS_ERR)
		return false;
	if (!r->ack_due && !r->nak_due)
		return false;
	ack_packet(qp, packet);
	return true;
}
