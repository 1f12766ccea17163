/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Responses: acknowledges, NAKs, READ and atomic data, in the order of their arrival. See
 * requester.h; IBA 9.7.5, 9.7.7.
 *
 * A response with PSN n says that all requests before n have arrived, whatever it says about n. The
 * data of a READ or atomic comes only in its own responses. So when an acknowledge comes for a PSN
 * behind data that has not come, that data was lost (implied NAK).
 */
#include "model/engine/base/keep.h"
#include "model/engine/wire/link_port.h"
#include "model/engine/wire/packet.h"
#include "model/engine/wire/port_note.h"
#include "model/engine/qp/qp_path.h"
#include "model/engine/send/requester_impl.h"
#include "model/engine/send/retry.h"
#include "model/engine/send/scheduler.h"
#include "model/engine/memory/translate.h"
#include "model/engine/fetch/wqe_fetch.h"
#include "model/interface/bth_ops.h"
#include "model/interface/macros.h"
#include "model/interface/rows.h"

#include <string.h>

enum { RNR_RETRY_INFINITE = 7 };

struct response {
	struct qp *qp;
	struct qp_send *send;
	struct qpc *qpc;
	struct packet *pkt;
	uint32_t psn;
	uint32_t missing; /* PSN of the oldest data that has not come; max_psn when none is
			     outstanding */
	uint16_t index;   /* of the WQE it belongs to */
	bool kept;        /* the packet is being written to memory */
};

/* The oldest READ or atomic whose data is incomplete. */
static void response_find_missing(struct response *r)
{
	struct qp_send *send = r->send;

	r->missing = send->max_psn;
	for (uint16_t i = send->oldest; send->reads && i != send->next; i++) {
		const struct send_wqe *wqe = send_entry(send, i);
		uint32_t into = psn_ahead(send->acked_psn, wqe->first_psn);

		if (!(wqe->flags & SEND_FETCHES))
			continue;
		if (into <= PSN_OUTSTANDING_MAX && into >= send_entry_packets(send, wqe))
			continue;
		r->missing =
			into < send_entry_packets(send, wqe) ? send->acked_psn : wqe->first_psn;
		/* its request may not have been sent yet, or not again: its data is missing too */
		r->index = i;
		return;
	}
}

static bool response_psn_before(const struct response *r, uint32_t a, uint32_t b)
{
	return psn_ahead(a, r->send->acked_psn) < psn_ahead(b, r->send->acked_psn);
}

static void response_fail_oldest(struct response *r, enum verdict verdict)
{
	r->send->oldest_verdict = (uint8_t)verdict;
}

/* Sends again from psn on, if there is a try left. */
static void response_send_again(struct response *r, uint32_t psn, const char *why)
{
	struct qp_send *send = r->send;

	if (!send->retries) {
		response_fail_oldest(r, VERDICT_RETRY_EXCEEDED);
		return;
	}
	send->retries--;
	HCA_TRACE(r->qp->hca, TP_REQ_RETRY, .qpn = r->qp->qpn, .corr = psn, .text = why,
		  .args = {send->retries});
	retry_rewind(r->qp, psn);
	if (!send_mode_is_rnr(send))
		retry_set_deadline(r->qp, EVENT_NEVER);
}

/* Data before this response is missing: ask for it again. Only once until there is progress,
 * because the responses that are under way will say the same. */
static void response_imply_nak(struct response *r)
{
	if (r->send->implied_nak)
		return;
	r->send->implied_nak = true;
	response_send_again(r, r->missing, "response lost");
}

static void response_take_credits(struct response *r, const struct aeth *aeth)
{
	struct qp_send *send = r->send;
	uint32_t syndrome = aeth_get_syndrome(aeth), limit;

	if (aeth_syndrome_kind(syndrome) != AETH_ACK)
		return;
	if (aeth_syndrome_code(syndrome) == AETH_CREDIT_NONE) {
		send->credits = false;
		return;
	}
	limit = (aeth_get_msn(aeth) + credit_decode(aeth_syndrome_code(syndrome))) & MSN_MASK;
	if (send->credits && psn_diff(limit, send->credit_limit) < 0)
		return; /* from before the limit that is known */
	send->credits = true;
	send->credit_limit = limit;
}

/* --- acknowledges --- */

static void response_rnr_nak(struct response *r, unsigned code)
{
	struct qp_send *send = r->send;

	if (send_mode_is_rnr(send))
		return;
	if (!send->rnr_retries && qpc_get_rnr_retry(r->qpc) != RNR_RETRY_INFINITE) {
		response_fail_oldest(r, VERDICT_RNR_EXCEEDED);
		return;
	}
	if (qpc_get_rnr_retry(r->qpc) != RNR_RETRY_INFINITE)
		send->rnr_retries--;
	r->qp->hca->stats.retry_rnr_waits++;
	HCA_TRACE(r->qp->hca, TP_REQ_RETRY, .qpn = r->qp->qpn, .corr = r->psn, .text = "rnr",
		  .args = {send->rnr_retries});
	retry_rewind(r->qp, r->psn);
	retry_set_deadline(r->qp, EVENT_NEVER);
	send_mode_begin_rnr(send);
	retry_set_deadline(r->qp, hca_now(r->qp->hca) + retry_rnr_ps(r->qp->hca, code));
}

static void response_nak(struct response *r, unsigned code)
{
	enum verdict verdict = nak_requester_verdict(code);

	if (verdict != VERDICT_NAK_PSN_SEQUENCE) {
		response_fail_oldest(r, verdict);
		return;
	}
	r->qp->hca->stats.retry_sequence_naks++;
	response_send_again(r, r->psn, "sequence nak");
}

static void response_acknowledge(struct response *r)
{
	const struct aeth *aeth = (const struct aeth *)(r->pkt->wire + r->pkt->bth_off +
							r->pkt->op->at[BTH_EXT_AETH]);
	uint32_t syndrome = aeth_get_syndrome(aeth), upto;
	enum aeth_kind kind = aeth_syndrome_kind(syndrome);

	response_take_credits(r, aeth);
	upto = kind == AETH_ACK ? psn_add(r->psn, 1) : r->psn;
	response_find_missing(r);
	if (response_psn_before(r, r->missing, upto)) {
		uint32_t missing = r->missing;

		requester_acknowledged(r->qp, r->qpc, missing);
		response_imply_nak(r);
		return;
	}
	requester_acknowledged(r->qp, r->qpc, upto);
	if (kind == AETH_RNR_NAK)
		response_rnr_nak(r, aeth_syndrome_code(syndrome));
	else if (kind == AETH_NAK)
		response_nak(r, aeth_syndrome_code(syndrome));
}

/* --- data --- */

static void response_data_written(struct dma *dma)
{
	struct packet *pkt = container_of(dma, struct packet, dma);
	struct qp *qp = pkt->owner;
	struct qp_send *send = &qp->send;

	pkt->owner = NULL;
	/* writes land in the order in which they were made */
	while ((pkt = send->writes.first) && !pkt->owner) {
		packet_queue_pop(&send->writes);
		packet_free(pkt);
	}
	qp_settle(qp);
}

static void response_data_write(struct response *r, uint8_t *bytes, uint32_t n)
{
	struct packet *pkt = r->pkt;

	pkt->owner = r->qp;
	packet_queue_push(&r->send->writes, pkt);
	pkt->dma = (struct dma){.hca = r->qp->hca,
				.done = response_data_written,
				.buf = bytes,
				.frags = pkt->frags,
				.n_frags = pkt->n_frags,
				.len = n,
				.what = "response data",
				.corr = DMA_CORR_PSN | pkt->psn,
				.qpn = r->qp->qpn};
	r->kept = true;
	pcie_write(r->qp->hca, &pkt->dma, pkt->ready_ps);
}

/* The WQE was right when its request was sent, so software has changed it since then. */
static int __attribute__((cold)) response_wqe_changed(const struct response *r, const char *what)
{
	guest_error(r->qp->hca, RULE_wqe_malformed, guest_object(GUEST_QP, r->qp->qpn),
		    "qpn %06x wqe %u: changed while it is in flight: %s", r->qp->qpn, r->index,
		    what);
	return VERDICT_SEND_WQE;
}

/* Finds the memory for n bytes at `offset` of the WQE's data. 0, -EAGAIN, or a verdict. */
static int response_scatter(struct response *r, uint32_t offset, uint32_t n)
{
	struct send_request request;
	struct send_segment segment;
	const char *why;
	const uint8_t *wqe;
	unsigned len, at;
	int err = wqe_fetch_send(r->qp, r->qpc, r->index, WQE_NEED_RESPONSE,
				 &r->send->response_waiter, &wqe, &len);

	if (err)
		return err == -EAGAIN ? err : VERDICT_RESP_PROT;
	if (send_request_parse(wqe, len, qpc_get_service(r->qpc), &request, &why))
		return response_wqe_changed(r, why);
	r->pkt->n_frags = 0;
	for (at = request.data; n && send_segment_next(&request, &at, &segment);) {
		struct access access = {.key = segment.lkey,
					.va = segment.addr + offset,
					.pd = qpc_get_pd(r->qpc),
					.rights = ACCESS_LOCAL_WRITE,
					.qpn = r->qp->qpn};

		if (segment.len <= offset) {
			offset -= segment.len;
			continue;
		}
		if (segment.is_inline)
			return response_wqe_changed(r, "inline data where a response is to go");
		access.len = segment.len - offset < n ? segment.len - offset : n;
		err = translate_access(r->qp->hca, &access, &r->send->response_waiter,
				       r->pkt->frags, &r->pkt->n_frags, PACKET_FRAGS);
		if (err)
			return err == -EAGAIN ? err : VERDICT_RESP_PROT;
		offset = 0;
		n -= access.len;
	}
	return n ? response_wqe_changed(r, "less room than was asked for") : 0;
}

/* Is this the right READ response for `offset`: its kind, its place among the others, its
 * length? */
static bool response_read_fits(const struct response *r, const struct send_wqe *wqe,
			       uint32_t offset)
{
	const struct bth_op *op = r->pkt->op;
	uint32_t left = wqe->bytes - offset, mtu = 1u << r->send->log_mtu;

	if (!(wqe->flags & SEND_READ))
		return false;
	if (bth_op_is(op, BTH_END))
		return r->pkt->payload_len == left && left <= mtu;
	return r->pkt->payload_len == mtu && left > mtu;
}

static int response_read_data(struct response *r, const struct send_wqe *wqe)
{
	uint32_t offset = psn_ahead(r->psn, wqe->first_psn) << r->send->log_mtu;
	int err;

	if (!response_read_fits(r, wqe, offset))
		return VERDICT_BAD_RESPONSE;
	if (!r->pkt->payload_len)
		return 0;
	err = response_scatter(r, offset, r->pkt->payload_len);
	if (!err)
		response_data_write(r, r->pkt->wire + r->pkt->payload_off, r->pkt->payload_len);
	return err;
}

static int response_atomic_data(struct response *r, const struct send_wqe *wqe)
{
	uint8_t *at = r->pkt->wire + r->pkt->bth_off + r->pkt->op->at[BTH_EXT_ATOMICACKETH];
	uint64_t original = atomicacketh_get_original((const struct atomicacketh *)at);
	int err;

	if (!(wqe->flags & SEND_ATOMIC))
		return VERDICT_BAD_RESPONSE;
	err = response_scatter(r, 0, sizeof(original));
	if (err)
		return err;
	/* the host gets the number in its own byte order; the wire and be64_store are big-endian */
	be64_store(at, r->qp->hca->ctrl & FW_CTRL_HOST_BIG_ENDIAN ? original
								  : __builtin_bswap64(original));
	response_data_write(r, at, sizeof(original));
	return 0;
}

static int response_data(struct response *r)
{
	const struct bth_op *op = r->pkt->op;
	const struct send_wqe *wqe;
	uint32_t psn = r->psn;
	int err;

	response_find_missing(r);
	if (response_psn_before(r, psn, r->missing))
		/* before r->missing there are only SENDs and WRITEs, which get no data back: this
		 * response answers no request of ours */
		return 0;
	if (psn != r->missing) {
		requester_acknowledged(r->qp, r->qpc, r->missing);
		response_imply_nak(r);
		return 0;
	}
	if (bth_op_has(op, BTH_EXT_AETH) &&
	    aeth_syndrome_kind(aeth_get_syndrome((
		    const struct aeth *)(r->pkt->wire + r->pkt->bth_off + op->at[BTH_EXT_AETH]))) !=
		    AETH_ACK) {
		requester_acknowledged(r->qp, r->qpc, psn);
		response_fail_oldest(r, VERDICT_BAD_RESPONSE);
		return 0;
	}
	wqe = send_entry(r->send, r->index);
	err = bth_op_is(op, BTH_ATOMIC) ? response_atomic_data(r, wqe) : response_read_data(r, wqe);
	if (err == -EAGAIN)
		return err;
	if (bth_op_has(op, BTH_EXT_AETH))
		response_take_credits(r, (const struct aeth *)(r->pkt->wire + r->pkt->bth_off +
							       op->at[BTH_EXT_AETH]));
	requester_acknowledged(r->qp, r->qpc, err ? psn : psn_add(psn, 1));
	if (err)
		response_fail_oldest(r, (enum verdict)err);
	return 0;
}

/* --- interface --- */

/* IBA 9.6.1.1.3: the P_Key has to be that of the primary path; while migration is armed, it may be
 * that of the alternate path. */
static bool response_pkey_matches(const struct response *r)
{
	struct port_config *port = link_port_config(r->qp->hca, r->pkt->port);
	const struct bth *bth = (const struct bth *)(r->pkt->wire + r->pkt->bth_off);
	const struct qp_path *primary = qpc_primary_const(r->qpc),
			     *alternate = qpc_alternate_const(r->qpc);
	uint32_t pkey = bth_get_pkey(bth);

	if (qp_path_pkeys_meet(pkey, port->pkeys[qp_path_get_pkey_index(primary)]) ||
	    (qpc_get_pm_state(r->qpc) == QP_PM_ARMED && bth_get_mig_req(bth) &&
	     qp_path_pkeys_meet(pkey, port->pkeys[qp_path_get_pkey_index(alternate)])))
		return true;
	port_violation(r->qp->hca, r->pkt, false);
	return false;
}

/* 0 or -EAGAIN. */
static int response_handle(struct response *r)
{
	struct qp_send *send = r->send;
	unsigned state;
	bool moves; /* the path may change, which may take the context away */
	int err = qp_context(r->qp, false, &send->response_waiter, &r->qpc);

	if (err)
		return err == -EAGAIN ? err : 0;
	state = qpc_get_state(r->qpc);
	if (send->mode == SEND_MODE_FLUSHING || send->oldest_verdict || !send->loaded ||
	    !send->reliable)
		return 0;
	if (state != QP_STATE_RTS && state != QP_STATE_SQD && state != QP_STATE_SQD_BUSY)
		return 0;
	if (r->pkt->op->service != qpc_get_service(r->qpc)) {
		r->qp->hca->stats.responder_dropped++;
		return 0;
	}
	moves = qpc_get_pm_state(r->qpc) != QP_PM_MIGRATED;
	if (!response_pkey_matches(r) ||
	    !qp_path_accepts(r->qp, CONTEXT_REQUESTER, r->qpc, r->pkt)) {
		r->qp->hca->stats.responder_dropped++;
		return 0;
	}
	if (moves)
		err = qp_context(r->qp, false, &send->response_waiter, &r->qpc);
	if (err)
		return err == -EAGAIN ? err : 0;
	r->psn = bth_get_psn((const struct bth *)(r->pkt->wire + r->pkt->bth_off));
	if (!psn_within(r->psn, send->acked_psn, psn_ahead(send->max_psn, send->acked_psn))) {
		/* a repeated acknowledge may bring new credits */
		if (bth_op_is(r->pkt->op, BTH_ACK) && psn_add(r->psn, 1) == send->acked_psn)
			response_take_credits(r,
					      (const struct aeth *)(r->pkt->wire + r->pkt->bth_off +
								    r->pkt->op->at[BTH_EXT_AETH]));
		return 0;
	}
	if (bth_op_is(r->pkt->op, BTH_ACK)) {
		response_acknowledge(r);
		return 0;
	}
	return response_data(r);
}

void requester_response_run(struct qp *qp)
{
	struct qp_send *send = &qp->send;

	while (send->responses.first) {
		struct response r = {.qp = qp, .send = send, .pkt = send->responses.first};
		struct packet *next = r.pkt->next;
		uint64_t ready_ps = r.pkt->ready_ps;

		if (response_handle(&r) == -EAGAIN)
			return;
		waiter_done(&send->response_waiter);
		send->responses.first = next; /* r.pkt may stand in `writes` now */
		if (!r.kept)
			packet_free(r.pkt);
		requester_progress(qp, ready_ps);
	}
	if (__builtin_expect(send->wqe_wants & WQE_RESPONSES, 0))
		wqe_fetch_unwant(qp, WQE_RESPONSES);
}

void requester_response(struct qp *qp, struct packet *pkt)
{
	struct qp_send *send = &qp->send;

	packet_queue_push(&send->responses, pkt);
	qp_hold(qp);
	/* While firmware changes the context in memory, reading the context here would bring it
	 * back into the cache. resume() takes the responses that wait. */
	if (send->responses.first == pkt && !qp_is_stopped(qp))
		requester_response_run(qp);
	qp_release(qp);
}
