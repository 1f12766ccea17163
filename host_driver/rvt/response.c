// SPDX-License-Identifier: Apache-2.0
/* What ACKs, NAKs and responses do to the requester (IBA 9.7.5.2, 9.9.2). */
#include "host_driver/rvt/rvt_impl.h"
#include "model/interface/macros.h"

enum { RNR_FOREVER = 7 };

/* A packet was acknowledged: the timer and the retries begin anew. */
static void progress(struct rvt_qp *qp, uint32_t una_psn)
{
	struct rvt_requester *r = &qp->req;
	struct rvt_device *dev = rvt_dev(qp);
	bool outstanding;

	r->una_psn = una_psn;
	r->retries = qp->attr.retry_cnt;
	r->rnr_retries = qp->attr.rnr_retry;
	r->asked_again = false;
	if (r->tail == r->head)
		r->rnr_until_ps = RVT_NEVER; /* what was to wait has arrived */
	/* while the RNR timer runs no packet is on its way */
	outstanding = psn_diff(r->sent_psn, una_psn) > 0 && r->rnr_until_ps == RVT_NEVER;
	r->timeout_at_ps = outstanding && qp->attr.timeout
				   ? rvt_now(dev) + ack_timeout_ps(qp->attr.timeout)
				   : RVT_NEVER;
	rvt_timer_changed(qp);
	/* what was to be sent again, but has been acknowledged meanwhile */
	if (psn_diff(una_psn, r->psn) > 0 && psn_diff(una_psn, r->next_psn) < 0)
		rvt_restart(qp, una_psn);
}

/* The next response of a READ or atomic is lost: it is asked for again, once until there is progress,
 * because the answers that are under way will say the same. It takes a retry (IBA 9.7.5.1.1, implied
 * NAK). */
static void response_lost(struct rvt_qp *qp, const struct rvt_swqe *w)
{
	struct rvt_requester *r = &qp->req;

	if (psn_diff(w->response_psn, r->una_psn) > 0)
		progress(qp, w->response_psn);
	if (r->asked_again)
		return;
	if (!rvt_retry_take(qp))
		return;
	r->asked_again = true;
	r->timeout_at_ps = RVT_NEVER; /* it begins anew with the packet that goes again */
	rvt_restart(qp, w->response_psn);
}

/* Ends the requests whose last packet is at most `psn`. False: a READ or atomic before it has no
 * response, which is lost (IBA 9.7.5.1.1). */
static bool acknowledge(struct rvt_qp *qp, uint32_t psn)
{
	struct rvt_requester *r = &qp->req;

	while (r->tail != r->head) {
		const struct rvt_swqe *w = rvt_swqe_at(qp, r->tail);

		if (!w->begun || psn_diff(w->first_psn, psn) > 0)
			break;
		if (rvt_is_fetch(w)) {
			if (psn_diff(w->response_psn, psn) > 0)
				break;
			response_lost(qp, w);
			return false;
		}
		if (psn_diff(w->last_psn, psn) > 0)
			break;
		if (r->cur == r->tail)
			r->cur++;
		rvt_request_end(qp, IBV_WC_SUCCESS, 0);
	}
	if (psn_diff(psn, r->una_psn) >= 0)
		progress(qp, psn_add(psn, 1));
	return true;
}

static uint32_t syndrome_of(const struct rvt_in *in)
{
	return aeth_get_syndrome((const struct aeth *)in->ext[BTH_EXT_AETH]);
}

static void credits_take(struct rvt_qp *qp, const struct rvt_in *in)
{
	struct rvt_requester *r = &qp->req;
	const uint32_t code = aeth_syndrome_code(syndrome_of(in));
	const uint32_t msn = aeth_get_msn((const struct aeth *)in->ext[BTH_EXT_AETH]);
	const uint32_t limit = psn_add(msn, credit_decode(code));

	if (aeth_syndrome_kind(syndrome_of(in)) != AETH_ACK)
		return;
	if (code == AETH_CREDIT_NONE)
		r->no_credits = true;
	else if (psn_diff(limit, r->limit_ssn) > 0)
		r->limit_ssn = limit;
}

static void rnr_nak(struct rvt_qp *qp, uint32_t psn, uint32_t code)
{
	struct rvt_requester *r = &qp->req;

	if (!acknowledge(qp, (psn - 1) & PSN_MASK))
		return;
	if (r->rnr_until_ps != RVT_NEVER)
		return; /* a copy: nothing was sent since */
	r->timeout_at_ps = RVT_NEVER;
	if (!r->rnr_retries) {
		rvt_request_fail(qp, IBV_WC_RNR_RETRY_EXC_ERR);
		return;
	}
	if (qp->attr.rnr_retry != RNR_FOREVER)
		r->rnr_retries--;
	rvt_counters(qp)->retry_rnr_waits++;
	r->rnr_until_ps = rvt_now(rvt_dev(qp)) + rnr_timer_ps(code);
	rvt_timer_changed(qp);
	rvt_restart(qp, psn);
}

static enum ibv_wc_status nak_status(uint32_t code)
{
	switch (code) {
	case NAK_INVALID_REQ:
	case NAK_INVALID_RD:
		return IBV_WC_REM_INV_REQ_ERR;
	case NAK_REM_ACCESS:
		return IBV_WC_REM_ACCESS_ERR;
	case NAK_REM_OP:
		return IBV_WC_REM_OP_ERR;
	default:
		return IBV_WC_BAD_RESP_ERR;
	}
}

static void nak(struct rvt_qp *qp, uint32_t psn, uint32_t code)
{
	struct rvt_requester *r = &qp->req;

	/* it acknowledges everything before its PSN */
	if (!acknowledge(qp, (psn - 1) & PSN_MASK))
		return;
	if (code != NAK_PSN_SEQUENCE) {
		rvt_request_fail(qp, nak_status(code));
		return;
	}
	rvt_counters(qp)->retry_sequence_naks++;
	if (!rvt_retry_take(qp))
		return;
	r->timeout_at_ps = RVT_NEVER; /* it begins anew with the packet that goes again */
	rvt_restart(qp, psn);
}

static void ack_came(struct rvt_qp *qp, const struct rvt_in *in)
{
	const uint32_t syndrome = syndrome_of(in), code = aeth_syndrome_code(syndrome);

	switch (aeth_syndrome_kind(syndrome)) {
	case AETH_ACK:
		credits_take(qp, in);
		acknowledge(qp, in->psn);
		break;
	case AETH_RNR_NAK:
		rnr_nak(qp, in->psn, code);
		break;
	case AETH_NAK:
		nak(qp, in->psn, code);
		break;
	case AETH_RESERVED: /* says nothing of its own packet */
		acknowledge(qp, (in->psn - 1) & PSN_MASK);
		break;
	}
}

/* --- responses with data --- */

/* The oldest READ or atomic without its whole answer; NULL: there is none. */
static struct rvt_swqe *fetch_oldest(struct rvt_qp *qp)
{
	for (uint32_t i = qp->req.tail; i != qp->req.head; i++) {
		struct rvt_swqe *w = rvt_swqe_at(qp, i);

		if (!w->begun)
			break;
		if (rvt_is_fetch(w))
			return w;
	}
	return NULL;
}

/* The READ or atomic that waits for this PSN; what stands before it is acknowledged by it. NULL:
 * the response is old or answers no such request, or one before it is lost. */
static struct rvt_swqe *fetch_of(struct rvt_qp *qp, uint32_t psn)
{
	struct rvt_swqe *w = fetch_oldest(qp);

	if (!w || psn_diff(psn, w->response_psn) < 0)
		return NULL;
	acknowledge(qp, (w->first_psn - 1) & PSN_MASK);
	if (psn == w->response_psn)
		return w;
	response_lost(qp, w);
	return NULL;
}

static void fetch_end(struct rvt_qp *qp, const struct rvt_swqe *w)
{
	const uint32_t psn = w->last_psn;
	const uint32_t bytes = w->opcode == IBV_WR_RDMA_READ ? w->length : 8;

	if (qp->req.cur == qp->req.tail)
		qp->req.cur++;
	rvt_request_end(qp, IBV_WC_SUCCESS, bytes);
	progress(qp, psn_add(psn, 1));
}

static void read_came(struct rvt_qp *qp, struct rvt_swqe *w, const struct rvt_in *in)
{
	const bool end = bth_op_is(in->op, BTH_END);
	uint32_t offset, left;

	offset = (uint32_t)psn_diff(in->psn, w->first_psn) * qp->mtu;
	left = w->length - offset;
	if (w->opcode != IBV_WR_RDMA_READ || end != (in->psn == w->last_psn) ||
	    in->len != (left < qp->mtu ? left : qp->mtu)) {
		rvt_request_fail(qp, IBV_WC_BAD_RESP_ERR);
		return;
	}
	if (rvt_sges_copy(rvt_dev(qp), qp->pd, w->sge, w->num_sge, offset,
			  (uint8_t *)(uintptr_t)in->payload, in->len, RVT_TO_MEMORY)) {
		rvt_request_fail(qp, IBV_WC_LOC_PROT_ERR);
		return;
	}
	w->response_psn = psn_add(in->psn, 1);
	if (end)
		fetch_end(qp, w);
	else
		progress(qp, w->response_psn);
}

static void atomic_came(struct rvt_qp *qp, struct rvt_swqe *w, const struct rvt_in *in)
{
	uint64_t value;

	if (w->opcode == IBV_WR_RDMA_READ) {
		rvt_request_fail(qp, IBV_WC_BAD_RESP_ERR);
		return;
	}
	value = atomicacketh_get_original(
		(const struct atomicacketh *)in->ext[BTH_EXT_ATOMICACKETH]);
	if (rvt_sges_copy(rvt_dev(qp), qp->pd, w->sge, w->num_sge, 0, &value, sizeof(value),
			  RVT_TO_MEMORY)) {
		rvt_request_fail(qp, IBV_WC_LOC_PROT_ERR);
		return;
	}
	fetch_end(qp, w);
}

static void data_came(struct rvt_qp *qp, const struct rvt_in *in)
{
	struct rvt_swqe *w = fetch_of(qp, in->psn);

	if (!w)
		return;
	if (in->ext[BTH_EXT_AETH] && aeth_syndrome_kind(syndrome_of(in)) != AETH_ACK) {
		rvt_request_fail(qp, IBV_WC_BAD_RESP_ERR);
		return;
	}
	if (in->ext[BTH_EXT_AETH])
		credits_take(qp, in);
	if (bth_op_is(in->op, BTH_ATOMIC))
		atomic_came(qp, w, in);
	else
		read_came(qp, w, in);
}

void rvt_response_came(struct rvt_qp *qp, const struct rvt_in *in)
{
	struct rvt_requester *r = &qp->req;

	if (!rvt_may(qp, RVT_SEND) || r->tail == r->head)
		return;
	/* of a packet that was never sent */
	if (psn_diff(in->psn, r->sent_psn) >= 0)
		return;
	if (psn_diff(in->psn, r->una_psn) < 0) {
		if (bth_op_is(in->op, BTH_ACK) && psn_add(in->psn, 1) == r->una_psn)
			credits_take(qp, in); /* a repeated acknowledgement may bring new ones */
	} else if (bth_op_is(in->op, BTH_ACK)) {
		ack_came(qp, in);
	} else {
		data_came(qp, in);
	}
	rvt_schedule(qp);
}
