// SPDX-License-Identifier: Apache-2.0
/*
 * The requester of RC and UC: which packet is next, and what it waits for. After a loss it goes back
 * to the oldest packet that is not acknowledged (IBA 9.7.5, 9.9.2).
 */
#include "host_driver/rvt/rvt_impl.h"

#include <errno.h>

void rvt_requester_reset(struct rvt_qp *qp)
{
	struct rvt_requester *r = &qp->req;

	r->head = r->cur = r->tail = r->polled = 0;
	r->next_psn = r->psn = r->sent_psn = r->una_psn = 0;
	r->ssn = r->limit_ssn = 0;
	r->no_credits = r->asked_again = r->draining = false;
	r->fetches = 0;
	r->retries = r->rnr_retries = 0;
	r->timeout_at_ps = r->rnr_until_ps = RVT_NEVER;
	r->wait = RVT_WAIT_NOTHING;
}

static bool takes_receive(const struct rvt_swqe *w)
{
	return w->opcode == IBV_WR_SEND || w->opcode == IBV_WR_SEND_WITH_IMM ||
	       w->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

/* How many requests that take a receive stand between this one and the responder's credits, with this
 * one; 0: it has a credit. */
static int32_t beyond_credits(const struct rvt_qp *qp, const struct rvt_swqe *w)
{
	const struct rvt_requester *r = &qp->req;
	const uint32_t ssn = w->begun ? w->ssn : (r->ssn + 1) & PSN_MASK;
	const int32_t beyond = psn_diff(ssn, r->limit_ssn);

	return qp->type == IBV_QPT_RC && takes_receive(w) && !r->no_credits && beyond > 0 ? beyond
											  : 0;
}

/* Without a credit one packet may go, so that its ACK brings news (IBA 9.7.7.2.5). */
static enum rvt_wait packet_waits(const struct rvt_qp *qp, const struct rvt_swqe *w)
{
	const struct rvt_requester *r = &qp->req;

	return beyond_credits(qp, w) && r->psn != w->first_psn &&
			       psn_diff(r->una_psn, w->first_psn) <= 0
		       ? RVT_WAIT_CREDIT
		       : RVT_WAIT_NOTHING;
}

static enum rvt_wait begin_waits(const struct rvt_qp *qp, const struct rvt_swqe *w)
{
	const struct rvt_requester *r = &qp->req;

	if (!rvt_may(qp, RVT_BEGIN))
		return RVT_WAIT_STATE;
	if (qp->type == IBV_QPT_UC)
		return RVT_WAIT_NOTHING;
	if (w->flags & IBV_SEND_FENCE && r->fetches)
		return RVT_WAIT_FENCE;
	if (rvt_is_fetch(w) && r->fetches >= qp->attr.max_rd_atomic)
		return RVT_WAIT_FETCHES;
	return beyond_credits(qp, w) > 1 ? RVT_WAIT_CREDIT : RVT_WAIT_NOTHING;
}

static uint32_t packets_of(const struct rvt_qp *qp, const struct rvt_swqe *w)
{
	const uint32_t bytes = rvt_is_fetch(w) && w->opcode != IBV_WR_RDMA_READ ? 8 : w->length;

	return bytes ? (bytes - 1) / qp->mtu + 1 : 1;
}

static void request_begin(struct rvt_qp *qp, struct rvt_swqe *w)
{
	struct rvt_requester *r = &qp->req;

	w->begun = true;
	w->first_psn = r->next_psn;
	w->response_psn = r->next_psn;
	w->last_psn = psn_add(w->first_psn, packets_of(qp, w) - 1);
	r->next_psn = psn_add(w->last_psn, 1);
	r->psn = w->first_psn;
	r->ssn = (r->ssn + 1) & PSN_MASK;
	w->ssn = r->ssn;
	/* a message that takes no receive needs no credit */
	if (!takes_receive(w))
		r->limit_ssn = psn_add(r->limit_ssn, 1);
	if (rvt_is_fetch(w))
		r->fetches++;
}

/* --- packets --- */

static struct rvt_headers headers_of(const struct rvt_qp *qp, const struct rvt_swqe *w)
{
	const struct rvt_port *port = &rvt_dev(qp)->ports[qp->port];

	return (struct rvt_headers){
		.ah = &qp->attr.ah_attr,
		.pkey = port->pkeys[qp->attr.pkey_index % RVT_PKEYS],
		.dqpn = qp->attr.dest_qp_num,
		.psn = qp->req.psn,
		.va = w->remote_addr,
		.rkey = w->rkey,
		.dma_len = w->length,
		.imm = w->imm,
	};
}

static int payload_fetch(const struct rvt_qp *qp, const struct rvt_swqe *w, uint32_t offset,
			 uint8_t *to, uint32_t len)
{
	if (w->flags & IBV_SEND_INLINE) {
		memcpy(to, w->in_line + offset, len);
		return 0;
	}
	return rvt_sges_copy(rvt_dev(qp), qp->pd, w->sge, w->num_sge, offset, to, len,
			     RVT_FROM_MEMORY);
}

/* SEND or WRITE. False: its memory cannot be read, the request has failed. */
static bool message_packet(struct rvt_qp *qp, struct rvt_swqe *w, struct rvt_packet *packet)
{
	const uint32_t index = (uint32_t)psn_diff(qp->req.psn, w->first_psn);
	const uint32_t offset = index * qp->mtu;
	const uint32_t len = w->length - offset < qp->mtu ? w->length - offset : qp->mtu;
	const bool first = !index, last = qp->req.psn == w->last_psn;
	const bool imm =
		w->opcode == IBV_WR_SEND_WITH_IMM || w->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	const bool write =
		w->opcode == IBV_WR_RDMA_WRITE || w->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	struct rvt_headers h = headers_of(qp, w);
	uint8_t *payload;

	h.opcode = bth_message_opcode(rvt_service(qp), write, first, last,
				      imm ? BTH_SUFFIX_IMM : BTH_SUFFIX_NONE);
	h.solicited = last && w->flags & IBV_SEND_SOLICITED && (!write || imm);
	h.ack_req = qp->type == IBV_QPT_RC &&
		    (last || index % RVT_ACK_EVERY == RVT_ACK_EVERY - 1 || beyond_credits(qp, w));
	payload = rvt_build(qp, packet, &h, len);
	return !payload_fetch(qp, w, offset, payload, len);
}

/* The request of a READ, or of the rest of one. */
static void read_packet(struct rvt_qp *qp, struct rvt_swqe *w, struct rvt_packet *packet)
{
	const uint32_t offset = (uint32_t)psn_diff(qp->req.psn, w->first_psn) * qp->mtu;
	struct rvt_headers h = headers_of(qp, w);

	h.opcode = BTH_RC_READ_REQUEST;
	h.va += offset;
	h.dma_len -= offset;
	rvt_build(qp, packet, &h, 0);
}

static void atomic_packet(struct rvt_qp *qp, struct rvt_swqe *w, struct rvt_packet *packet)
{
	const bool swap = w->opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
	struct rvt_headers h = headers_of(qp, w);

	h.opcode = swap ? BTH_RC_COMPARE_SWAP : BTH_RC_FETCH_ADD;
	h.swap_add = swap ? w->swap : w->compare_add;
	h.compare = swap ? w->compare_add : 0;
	rvt_build(qp, packet, &h, 0);
}

/* Advances behind the packet that was made. */
static void advance(struct rvt_qp *qp, const struct rvt_swqe *w, struct rvt_packet *packet)
{
	struct rvt_requester *r = &qp->req;
	const uint32_t psn = rvt_is_fetch(w) ? w->last_psn : r->psn;
	struct rvt_counters *counters = rvt_counters(qp);

	counters->requester_packets++;
	counters->retry_retransmitted += psn_diff(r->psn, r->sent_psn) < 0;
	r->psn = psn_add(psn, 1);
	if (psn_diff(r->psn, r->sent_psn) > 0)
		r->sent_psn = r->psn;
	if (psn == w->last_psn) {
		r->cur++;
		packet->last = qp->type == IBV_QPT_UC;
		if (r->cur != r->head && rvt_swqe_at(qp, r->cur)->begun)
			r->psn = rvt_swqe_at(qp, r->cur)->first_psn;
	}
	if (qp->type == IBV_QPT_RC && qp->attr.timeout && r->timeout_at_ps == RVT_NEVER) {
		r->timeout_at_ps = rvt_now(rvt_dev(qp)) + ack_timeout_ps(qp->attr.timeout);
		rvt_timer_changed(qp);
	}
}

static void wait_note(struct rvt_qp *qp, enum rvt_wait wait)
{
	static const char *const names[] = {
#define RVT_WAIT_NAME(name, why) #name,
		RVT_WAITS(RVT_WAIT_NAME)
#undef RVT_WAIT_NAME
	};

	if (qp->req.wait == wait)
		return;
	qp->req.wait = wait;
	DRV_CALL(qp->dev, PLATFORM_CALL_ENTER, qp->qpn, 0, "qpn %06x, waits %s", qp->qpn,
		 names[wait]);
	DRV_LEAVE(qp->dev, 0);
}

/* The memory of the request cannot be read. RC: it fails when those before it have ended, which an
 * answer brings about; until then it is tried again. The packets that did not leave have no PSN. */
static void local_error(struct rvt_qp *qp)
{
	while (qp->req.tail != qp->req.cur && qp->type == IBV_QPT_UC)
		rvt_request_end(qp, IBV_WC_SUCCESS, 0);
	if (qp->req.tail != qp->req.cur) {
		wait_note(qp, RVT_WAIT_EARLIER);
		return;
	}
	qp->req.next_psn = qp->req.psn;
	rvt_request_fail(qp, IBV_WC_LOC_PROT_ERR);
}

bool rvt_requester_next(struct rvt_qp *qp, struct rvt_packet *packet)
{
	struct rvt_requester *r = &qp->req;
	enum rvt_wait wait;
	struct rvt_swqe *w;

	if (!rvt_may(qp, RVT_SEND) || r->cur == r->head)
		return false;
	if (r->rnr_until_ps != RVT_NEVER) {
		wait_note(qp, RVT_WAIT_RNR);
		return false;
	}
	w = rvt_swqe_at(qp, r->cur);
	wait = w->begun ? packet_waits(qp, w) : begin_waits(qp, w);
	wait_note(qp, wait);
	if (wait != RVT_WAIT_NOTHING)
		return false;
	if (!w->begun)
		request_begin(qp, w);
	if (w->opcode == IBV_WR_RDMA_READ) {
		read_packet(qp, w, packet);
	} else if (rvt_is_fetch(w)) {
		atomic_packet(qp, w, packet);
	} else if (!message_packet(qp, w, packet)) {
		local_error(qp);
		return false;
	}
	advance(qp, w, packet);
	return true;
}

/* --- going back --- */

void rvt_restart(struct rvt_qp *qp, uint32_t psn)
{
	struct rvt_requester *r = &qp->req;

	for (uint32_t i = r->tail; i != r->head; i++) {
		const struct rvt_swqe *w = rvt_swqe_at(qp, i);

		if (!w->begun || psn_diff(psn, w->last_psn) > 0)
			continue;
		r->cur = i;
		r->psn = psn_diff(psn, w->first_psn) > 0 ? psn : w->first_psn;
		break;
	}
	rvt_schedule(qp);
}

bool rvt_retry_take(struct rvt_qp *qp)
{
	struct rvt_requester *r = &qp->req;

	if (!r->retries && rvt_path_migrate(qp)) {
		r->retries = qp->attr.retry_cnt;
		return true;
	}
	if (!r->retries) {
		rvt_request_fail(qp, IBV_WC_RETRY_EXC_ERR);
		return false;
	}
	r->retries--;
	return true;
}

void rvt_timeout(struct rvt_qp *qp)
{
	struct rvt_requester *r = &qp->req;
	const struct rvt_swqe *w = rvt_swqe_at(qp, r->tail);

	if (r->tail == r->head || !w->begun || !rvt_may(qp, RVT_SEND))
		return;
	rvt_counters(qp)->retry_ack_timeouts++;
	if (!rvt_retry_take(qp))
		return;
	r->asked_again = false;
	rvt_restart(qp, r->una_psn);
}

/* --- UC: a message ends when its last packet has left --- */

void rvt_unreliable_sent(struct rvt_qp *qp, enum rvt_sent how)
{
	if (qp->req.tail != qp->req.cur && rvt_may(qp, RVT_SEND))
		rvt_request_end(qp, IBV_WC_SUCCESS, 0);
}

/* SQD: all that has begun is done. */
void rvt_drained_check(struct rvt_qp *qp)
{
	const struct rvt_requester *r = &qp->req;

	if (!r->draining || (r->tail != r->head && rvt_swqe_at(qp, r->tail)->begun))
		return;
	qp->req.draining = false;
	rvt_qp_event(qp, IBV_EVENT_SQ_DRAINED);
}
