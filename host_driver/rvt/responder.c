// SPDX-License-Identifier: Apache-2.0
/*
 * The responder of RC and UC (IBA 9.7.4, 9.8.2, 9.9.3). A check gives a verdict; the rows of
 * model/interface/syndromes.h say what follows from it.
 */
#include "host_driver/rvt/rvt_impl.h"

#include <errno.h>

void rvt_responder_reset(struct rvt_qp *qp)
{
	memset(&qp->resp, 0, sizeof(qp->resp));
}

/* --- the end of a receive --- */

static enum ibv_wc_status receive_status(enum cqe_syndrome syndrome)
{
	switch (syndrome) {
	case CQE_SYND_LOC_LEN_ERR:
		return IBV_WC_LOC_LEN_ERR;
	case CQE_SYND_LOC_PROT_ERR:
		return IBV_WC_LOC_PROT_ERR;
	case CQE_SYND_LOC_ACCESS_ERR:
		return IBV_WC_LOC_ACCESS_ERR;
	case CQE_SYND_REM_INV_REQ_ERR:
		return IBV_WC_REM_INV_REQ_ERR;
	default:
		return IBV_WC_LOC_QP_OP_ERR;
	}
}

void rvt_receive_end(struct rvt_qp *qp, const struct rvt_in *in, enum ibv_wc_status status,
		     uint32_t byte_len)
{
	struct rvt_responder *r = &qp->resp;
	struct drv_wc wc = {.wr_id = r->rwqe.wr_id,
			    .status = status,
			    .opcode = IBV_WC_RECV,
			    .byte_len = byte_len,
			    .qp_num = qp->qpn};

	r->has_rwqe = false;
	if (status == IBV_WC_SUCCESS) {
		wc.src_qp = qp->attr.dest_qp_num;
		wc.slid = lrh_get_slid(in->lrh);
		wc.sl = lrh_get_sl(in->lrh);
		wc.dlid_path_bits = lrh_get_dlid(in->lrh) & ((1u << in->port->lmc) - 1);
		if (in->grh)
			wc.wc_flags |= IBV_WC_GRH;
		if (bth_op_is(in->op, BTH_WRITE))
			wc.opcode = IBV_WC_RECV_RDMA_WITH_IMM;
		if (in->ext[BTH_EXT_DETH]) {
			wc.src_qp = deth_get_sqpn((const struct deth *)in->ext[BTH_EXT_DETH]);
			wc.pkey_index = in->pkey_index;
		}
		if (bth_op_is(in->op, BTH_IMM)) {
			wc.wc_flags |= IBV_WC_WITH_IMM;
			wc.imm_data = immdt_get_imm((const struct immdt *)in->ext[BTH_EXT_IMMDT]);
		}
	}
	rvt_cq_add(qp->recv_cq, qp, &wc, in && bth_get_solicited(in->bth));
}

/* --- what follows from a verdict --- */

static int event_of(enum event_type type)
{
	switch (type) {
	case EVENT_WQ_INVAL_REQ_ERROR:
		return IBV_EVENT_QP_REQ_ERR;
	case EVENT_WQ_ACCESS_ERROR:
		return IBV_EVENT_QP_ACCESS_ERR;
	case EVENT_WQ_CATAS_ERROR:
		return IBV_EVENT_QP_FATAL;
	default:
		return -ENOENT;
	}
}

static void ack_note(struct rvt_qp *qp, uint32_t psn, uint32_t msn)
{
	qp->resp.ack_due = true;
	qp->resp.ack_psn = psn;
	qp->resp.ack_msn = msn;
	rvt_schedule(qp);
}

static void nak_note(struct rvt_qp *qp, uint32_t psn, uint8_t syndrome)
{
	struct rvt_responder *r = &qp->resp;

	r->nak_due = r->nak_sent = true;
	r->nak_syndrome = syndrome;
	r->nak_psn = psn;
	r->ack_due = false;
	rvt_schedule(qp);
}

/* The message is gone. Its receive waits for the next one; that of an SRQ belongs to nobody else any
 * more, and ends in error. */
static void message_lose(struct rvt_qp *qp, const struct rvt_in *in, enum cqe_syndrome syndrome)
{
	struct rvt_responder *r = &qp->resp;

	r->lost = true;
	r->message = RVT_IN_NONE;
	if (qp->srq && r->has_rwqe)
		rvt_receive_end(qp, in,
				syndrome == CQE_SYND_NONE ? IBV_WC_REM_INV_REQ_ERR
							  : receive_status(syndrome),
				0);
}

static void verdict_apply(struct rvt_qp *qp, const struct rvt_in *in, enum verdict verdict)
{
	const struct verdict_row *row = verdict_find(verdict);
	const bool reliable = qp->type == IBV_QPT_RC;
	const int event = event_of(row->event);

	if (!reliable && row->unreliable == VERDICT_UR_DROP) {
		message_lose(qp, in, row->responder_cqe);
		return;
	}
	if (reliable && row->reply == VERDICT_REPLY_RNR)
		nak_note(qp, qp->resp.psn, aeth_syndrome(AETH_RNR_NAK, qp->attr.min_rnr_timer));
	else if (reliable && row->reply == VERDICT_REPLY_NAK)
		nak_note(qp, qp->resp.psn, aeth_syndrome(AETH_NAK, row->nak));
	if (row->qp == VERDICT_QP_KEEP)
		return;
	if (qp->resp.has_rwqe && row->responder_cqe != CQE_SYND_NONE)
		rvt_receive_end(qp, in, receive_status(row->responder_cqe), 0);
	if (event >= 0)
		rvt_qp_event(qp, (enum ibv_event_type)event);
	rvt_qp_error(qp);
}

/* --- checks --- */

/* The longest message (IBA 9.7.6). */
#define MESSAGE_MAX (UINT32_C(1) << 31)

static unsigned remote_right(const struct rvt_in *in)
{
	return bth_op_is(in->op, BTH_ATOMIC) ? IBV_ACCESS_REMOTE_ATOMIC
	       : bth_op_is(in->op, BTH_READ) ? IBV_ACCESS_REMOTE_READ
					     : IBV_ACCESS_REMOTE_WRITE;
}

/* First, middle and last packets in their order, and of one kind. */
static bool in_order(const struct rvt_qp *qp, const struct rvt_in *in)
{
	const struct rvt_responder *r = &qp->resp;

	if (bth_op_is(in->op, BTH_START))
		return r->message == RVT_IN_NONE;
	return r->message == (bth_op_is(in->op, BTH_SEND) ? RVT_IN_SEND : RVT_IN_WRITE);
}

static bool length_fits(const struct rvt_qp *qp, const struct rvt_in *in)
{
	if (!bth_op_is(in->op, BTH_PAYLOAD))
		return !in->len;
	if (bth_op_is(in->op, BTH_ONLY))
		return in->len <= qp->mtu;
	if (bth_op_is(in->op, BTH_LAST))
		return in->len && in->len <= qp->mtu;
	return in->len == qp->mtu;
}

static enum verdict rights_check(const struct rvt_qp *qp, const struct rvt_in *in, uint64_t va,
				 uint32_t rkey, uint32_t len)
{
	const unsigned right = remote_right(in);

	/* what the queue pair does not offer is an invalid request (IBA 9.7.4.1.2) */
	if (!(qp->attr.qp_access_flags & right))
		return VERDICT_OPCODE_BAD;
	if (len > MESSAGE_MAX)
		return VERDICT_PAYLOAD_LENGTH;
	/* without data there is no memory to check (IBA 9.7.4.1.5) */
	return !len || rvt_mr_find(rvt_dev(qp), qp->pd, rkey, va, len, right) ? VERDICT_OK
									      : VERDICT_REM_ACCESS;
}

/* --- SEND --- */

static enum verdict copy_verdict(int rc)
{
	return rc == -EMSGSIZE ? VERDICT_RECV_LENGTH : rc ? VERDICT_RECV_PROT : VERDICT_OK;
}

static enum verdict send_execute(struct rvt_qp *qp, const struct rvt_in *in)
{
	struct rvt_responder *r = &qp->resp;
	enum verdict v;

	if (bth_op_is(in->op, BTH_START)) {
		/* UC: that of a message that was lost is used again */
		if (!r->has_rwqe && !rvt_rwqe_take(qp))
			return VERDICT_RNR;
		r->offset = 0;
	}
	v = copy_verdict(rvt_sges_copy(rvt_dev(qp), rvt_receive_pd(qp), r->rwqe.sge,
				       r->rwqe.num_sge, r->offset,
				       (uint8_t *)(uintptr_t)in->payload, in->len, RVT_TO_MEMORY));
	if (v != VERDICT_OK)
		return v;
	r->offset += in->len;
	r->message = RVT_IN_SEND;
	return VERDICT_OK;
}

/* --- WRITE --- */

static void write_begin(struct rvt_qp *qp, const struct rvt_in *in)
{
	const struct reth *reth = (const struct reth *)in->ext[BTH_EXT_RETH];
	struct rvt_responder *r = &qp->resp;

	r->va = reth_get_va(reth);
	r->rkey = reth_get_rkey(reth);
	r->length = reth_get_dma_len(reth);
	r->offset = 0;
}

static enum verdict write_execute(struct rvt_qp *qp, const struct rvt_in *in)
{
	struct rvt_responder *r = &qp->resp;
	const bool start = bth_op_is(in->op, BTH_START), end = bth_op_is(in->op, BTH_END);
	enum verdict v = VERDICT_OK;

	if (start)
		write_begin(qp, in);
	/* the last packet has at least a byte, so what comes before it does not fill the length */
	if (end ? r->offset + in->len != r->length : r->offset + in->len >= r->length)
		return VERDICT_PAYLOAD_LENGTH;
	/* the order of the engine: its receive is taken before memory is looked at */
	if (bth_op_is(in->op, BTH_NEEDS_RQ) && !r->has_rwqe && !rvt_rwqe_take(qp))
		return VERDICT_RNR;
	if (start)
		v = rights_check(qp, in, r->va, r->rkey, r->length);
	if (v == VERDICT_OK && in->len &&
	    rvt_mr_copy(rvt_dev(qp), qp->pd, r->rkey, r->va + r->offset,
			(uint8_t *)(uintptr_t)in->payload, in->len, IBV_ACCESS_REMOTE_WRITE,
			RVT_TO_MEMORY))
		v = VERDICT_REM_ACCESS;
	if (v != VERDICT_OK)
		return v;
	r->offset += in->len;
	r->message = RVT_IN_WRITE;
	return VERDICT_OK;
}

/* --- READ and atomics --- */

static unsigned fetches_max(const struct rvt_qp *qp)
{
	return qp->attr.max_dest_rd_atomic < RVT_READS_MAX ? qp->attr.max_dest_rd_atomic
							   : RVT_READS_MAX;
}

static struct rvt_fetch *fetch_slot(struct rvt_responder *r, uint32_t i)
{
	return &r->fetches[i % (RVT_READS_MAX + 1)];
}

struct rvt_fetch *rvt_fetch_due(struct rvt_qp *qp)
{
	struct rvt_responder *r = &qp->resp;

	for (uint32_t i = r->kept; i != r->head; i++)
		if (fetch_slot(r, i)->due)
			return fetch_slot(r, i);
	return NULL;
}

static enum verdict fetch_take(struct rvt_qp *qp, const struct rvt_fetch *fetch)
{
	struct rvt_responder *r = &qp->resp;
	unsigned due = 0;

	for (uint32_t i = r->kept; i != r->head; i++)
		due += fetch_slot(r, i)->due && !fetch_slot(r, i)->again;
	if (due >= fetches_max(qp))
		return VERDICT_TOO_MANY_READS;
	*fetch_slot(r, r->head) = *fetch;
	fetch_slot(r, r->head++)->due = true;
	/* as many stay known as a device has resources for: a power of two */
	if (r->head - r->kept > 1u << drv_log2_up(fetches_max(qp)))
		r->kept = r->head - (1u << drv_log2_up(fetches_max(qp)));
	rvt_schedule(qp);
	return VERDICT_OK;
}

static enum verdict read_execute(struct rvt_qp *qp, const struct rvt_in *in)
{
	const struct reth *reth = (const struct reth *)in->ext[BTH_EXT_RETH];
	struct rvt_responder *r = &qp->resp;
	struct rvt_fetch f = {.opcode = BTH_RC_READ_REQUEST,
			      .psn = in->psn,
			      .first_psn = in->psn,
			      .next = in->psn,
			      .va = reth_get_va(reth),
			      .rkey = reth_get_rkey(reth),
			      .length = reth_get_dma_len(reth),
			      .asked_va = reth_get_va(reth),
			      .asked_rkey = reth_get_rkey(reth),
			      .asked_length = reth_get_dma_len(reth),
			      .msn = psn_add(r->msn, 1)};
	enum verdict v;

	v = rights_check(qp, in, f.va, f.rkey, f.length);
	f.last_psn = psn_add(f.psn, f.length ? (f.length - 1) / qp->mtu : 0);
	if (v == VERDICT_OK)
		v = fetch_take(qp, &f);
	if (v == VERDICT_OK)
		r->psn = f.last_psn;
	return v;
}

static enum verdict atomic_execute(struct rvt_qp *qp, const struct rvt_in *in)
{
	const struct atomiceth *eth = (const struct atomiceth *)in->ext[BTH_EXT_ATOMICETH];
	struct rvt_device *dev = rvt_dev(qp);
	struct rvt_responder *r = &qp->resp;
	const uint32_t rkey = atomiceth_get_rkey(eth);
	struct rvt_fetch f = {.atomic = true,
			      .opcode = (uint8_t)bth_get_opcode(in->bth),
			      .psn = in->psn,
			      .last_psn = in->psn,
			      .next = in->psn,
			      .va = atomiceth_get_va(eth),
			      .msn = psn_add(r->msn, 1)};
	uint64_t value, changed;
	enum verdict v;

	if (f.va % sizeof(value))
		return VERDICT_MISALIGNED;
	v = rights_check(qp, in, f.va, rkey, sizeof(value));
	if (v != VERDICT_OK)
		return v;
	if (rvt_mr_copy(dev, qp->pd, rkey, f.va, &value, sizeof(value), IBV_ACCESS_REMOTE_ATOMIC,
			RVT_FROM_MEMORY))
		return VERDICT_REM_ACCESS;
	f.value = value;
	v = fetch_take(qp, &f);
	if (v != VERDICT_OK)
		return v;
	changed = bth_get_opcode(in->bth) == BTH_RC_FETCH_ADD ? value + atomiceth_get_swap_add(eth)
		  : value == atomiceth_get_compare(eth)       ? atomiceth_get_swap_add(eth)
							      : value;
	rvt_mr_copy(dev, qp->pd, rkey, f.va, &changed, sizeof(changed), IBV_ACCESS_REMOTE_ATOMIC,
		    RVT_TO_MEMORY);
	dev->counters.atomic_read_atomics++;
	return VERDICT_OK;
}

/* --- a request in its turn --- */

static enum verdict execute(struct rvt_qp *qp, const struct rvt_in *in)
{
	if (!in_order(qp, in))
		return VERDICT_OPCODE_ORDER;
	if (bth_op_is(in->op, BTH_INV) || bth_op_is(in->op, BTH_MASKED)) {
		rvt_refuse(qp->dev, "request with invalidate, or masked atomic");
		return VERDICT_OPCODE_BAD;
	}
	if (!length_fits(qp, in))
		return VERDICT_PAYLOAD_LENGTH;
	if (bth_op_is(in->op, BTH_SEND))
		return send_execute(qp, in);
	if (bth_op_is(in->op, BTH_WRITE))
		return write_execute(qp, in);
	return bth_op_is(in->op, BTH_READ) ? read_execute(qp, in) : atomic_execute(qp, in);
}

/* The packet has been executed. A READ has moved resp.psn to its last response already. */
static void executed(struct rvt_qp *qp, const struct rvt_in *in)
{
	struct rvt_responder *r = &qp->resp;

	rvt_counters(qp)->responder_packets++;
	r->psn = psn_add(r->psn, 1);
	r->nak_sent = false;
	if (qp->type == IBV_QPT_RC && bth_get_ack_req(in->bth) && !bth_op_is(in->op, BTH_FETCH))
		ack_note(qp, in->psn, psn_add(r->msn, bth_op_is(in->op, BTH_END)));
	if (bth_op_is(in->op, BTH_END)) {
		r->msn = psn_add(r->msn, 1);
		r->message = RVT_IN_NONE;
		if (bth_op_is(in->op, BTH_COMPLETES))
			rvt_receive_end(qp, in, IBV_WC_SUCCESS,
					bth_op_is(in->op, BTH_WRITE) ? r->length : r->offset);
	}
}

/* --- duplicates (IBA 9.7.1): answered again, not executed again --- */

/* Whether a duplicate asks for what the READ that was executed asked for, or for its end from one of
 * its packets on. */
static bool read_repeats(const struct rvt_qp *qp, const struct rvt_in *in,
			 const struct rvt_fetch *f)
{
	const struct reth *reth = (const struct reth *)in->ext[BTH_EXT_RETH];
	const int32_t packets = psn_diff(in->psn, f->psn);
	const uint64_t skipped = (uint64_t)packets * qp->mtu;

	return !f->atomic && packets >= 0 && psn_diff(in->psn, f->last_psn) <= 0 &&
	       reth_get_rkey(reth) == f->asked_rkey && reth_get_va(reth) == f->asked_va + skipped &&
	       reth_get_dma_len(reth) == f->asked_length - skipped;
}

/* It is answered once more. If its first answer has gone, that may have come, and then the requester counts it no
 * more among those under way. */
static void again(struct rvt_fetch *f)
{
	f->again |= !f->due;
	f->due = true;
}

static void duplicate_read(struct rvt_qp *qp, const struct rvt_in *in)
{
	const struct reth *reth = (const struct reth *)in->ext[BTH_EXT_RETH];
	struct rvt_responder *r = &qp->resp;

	for (uint32_t i = r->kept; i != r->head; i++) {
		struct rvt_fetch *f = fetch_slot(r, i);

		if (!read_repeats(qp, in, f))
			continue;
		if (rights_check(qp, in, reth_get_va(reth), reth_get_rkey(reth),
				 reth_get_dma_len(reth)) != VERDICT_OK) {
			verdict_apply(qp, in, VERDICT_REM_ACCESS);
			return;
		}
		/* the answer begins at the PSN, and at the address, that it names */
		f->first_psn = f->next = in->psn;
		f->va = reth_get_va(reth);
		f->rkey = reth_get_rkey(reth);
		f->length = reth_get_dma_len(reth);
		again(f);
		f->msn = r->msn; /* that of now (IBA 9.7.7.1) */
		rvt_schedule(qp);
		return;
	}
}

static void duplicate_atomic(struct rvt_qp *qp, const struct rvt_in *in)
{
	struct rvt_responder *r = &qp->resp;

	for (uint32_t i = r->kept; i != r->head; i++) {
		struct rvt_fetch *f = fetch_slot(r, i);

		if (f->opcode != bth_get_opcode(in->bth) || f->psn != in->psn)
			continue;
		again(f);
		f->msn = r->msn; /* that of now (IBA 9.7.7.1) */
		rvt_counters(qp)->atomic_read_replays++;
		rvt_schedule(qp);
		return;
	}
}

static void duplicate(struct rvt_qp *qp, const struct rvt_in *in)
{
	struct rvt_responder *r = &qp->resp;

	if (!in->op->name) {
		rvt_counters(qp)->responder_dropped++; /* a reserved opcode was never executed */
		return;
	}
	rvt_counters(qp)->responder_duplicates++;
	if (!bth_op_is(in->op, BTH_FETCH)) {
		/* an ACK of all that has come */
		ack_note(qp, (r->psn - 1) & PSN_MASK, r->msn);
		return;
	}
	if (bth_op_is(in->op, BTH_READ))
		duplicate_read(qp, in);
	else
		duplicate_atomic(qp, in);
}

/* --- RC and UC --- */

/* The packet is the one that is expected next. */
static void take_next(struct rvt_qp *qp, const struct rvt_in *in)
{
	const enum verdict v = execute(qp, in);

	if (v == VERDICT_OK)
		executed(qp, in);
	else
		verdict_apply(qp, in, v);
}

static void reliable(struct rvt_qp *qp, const struct rvt_in *in)
{
	struct rvt_responder *r = &qp->resp;
	const int32_t ahead = psn_diff(in->psn, r->psn);

	if (ahead < 0) {
		duplicate(qp, in);
		return;
	}
	if (ahead > 0) {
		rvt_counters(qp)->responder_out_of_sequence++;
		/* once, until the expected packet comes */
		if (!r->nak_sent)
			verdict_apply(qp, in, VERDICT_PSN_SEQUENCE);
		return;
	}
	take_next(qp, in);
}

/* A packet that is missing takes its message with it; the next one begins anew (IBA 9.8.2.2). */
static void unreliable(struct rvt_qp *qp, const struct rvt_in *in)
{
	struct rvt_responder *r = &qp->resp;
	const bool start = bth_op_is(in->op, BTH_START);

	if (in->psn != r->psn || (start && r->message != RVT_IN_NONE)) {
		r->psn = in->psn;
		message_lose(qp, in, CQE_SYND_NONE);
	}
	if (start)
		r->lost = false;
	if (r->lost) {
		rvt_counters(qp)->responder_dropped++;
		r->psn = psn_add(in->psn, 1);
		return;
	}
	take_next(qp, in);
	r->psn = psn_add(in->psn, 1);
}

void rvt_request_came(struct rvt_qp *qp, const struct rvt_in *in)
{
	if (!rvt_may(qp, RVT_RECEIVE))
		return;
	if (qp->type == IBV_QPT_RC)
		reliable(qp, in);
	else
		unreliable(qp, in);
}
