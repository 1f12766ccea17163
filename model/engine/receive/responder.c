/* SPDX-License-Identifier: Apache-2.0 */
/* See responder.h. This file: the checks of IBA 9.7.4, one state each. */
#include "model/engine/receive/responder_impl.h"

#include "model/engine/complete/cqe_write.h"
#include "model/engine/complete/event_queue.h"
#include "model/engine/base/keep.h"
#include "model/engine/wire/link_port.h"
#include "model/engine/memory/memory_key.h"
#include "model/engine/wire/port_note.h"
#include "model/engine/qp/qp_path.h"
#include "model/engine/memory/translate.h"
#include "model/interface/macros.h"
#include "model/sim/params/hca_responder.h"

/* What the log says when the state machine waits. */
static const char *const resp_waits[RESP_STATE_COUNT] = {
#define S(name, waits) "state " #name " waits for " waits,
	RESP_STATES(S)
#undef S
};

uint32_t resp_srqn(const struct resp_run *x)
{
	if (bth_op_has(x->pkt->op, BTH_EXT_XRCETH))
		return xrceth_get_srqn(resp_ext(x->pkt, BTH_EXT_XRCETH));
	return qpc_get_srqn(x->qpc);
}

int resp_xrc_pd(struct resp_run *x, uint32_t *pd)
{
	uint32_t cqn;
	int err;

	err = srq_get_xrc(x->qp, qpc_get_xrcd(x->qpc), resp_srqn(x), &x->r->waiter, pd, &cqn);
	if (!err || err == -EAGAIN)
		return err;
	return err == -EFAULT ? VERDICT_CONTEXT : VERDICT_XRC_SRQ;
}

enum verdict resp_access_verdict(int err, enum verdict refused)
{
	return err == -EFAULT || err == TRANSLATE_NO_PAGE ? VERDICT_CONTEXT : refused;
}

static void __attribute__((noinline)) trace_work(const struct resp_run *x)
{
	HCA_TRACE_AT(x->hca, TP_RESP_RUN,
		     x->pkt->ready_ps - param_responder_latency(x->hca->params), .qpn = x->qp->qpn,
		     .corr = x->pkt->psn, .text = x->pkt->op->name,
		     .args = {x->pkt->ready_ps, x->pkt->src_qpn, packet_traits(x->pkt)});
}

/* Takes the next packet; ready_ps becomes the time at which its DMA or response may leave. */
static enum resp_state resp_next(struct resp_run *x)
{
	struct qp_receive *r = x->r;
	uint64_t start;

	if (r->flushing)
		return RESP_FLUSH;
	if (x->qp->quiescing) /* received packets wait for resume() */
		return RESP_WAIT;
	x->pkt = packet_queue_pop(&r->in);
	if (!x->pkt)
		return RESP_WAIT;
	r->current = x->pkt;
	start = x->pkt->ready_ps; /* parsed and checked */
	if (start < hca_now(x->hca))
		start = hca_now(x->hca);
	x->pkt->ready_ps = start + param_responder_latency(x->hca->params);
	x->pkt->owner = x->qp;
	x->pkt->mark = 0;
	r->verdict = VERDICT_OK;
	if (hca_traces(x->hca, TP_RESP_RUN))
		trace_work(x);
	return RESP_QP;
}

/* An XRC initiator has no responder, so requests to it never match (IBA A14). */
static bool service_matches(const struct resp_run *x)
{
	enum qp_service service = (enum qp_service)qpc_get_service(x->qpc);
	const struct bth_op *op = x->pkt->op;

	if (service == QP_ST_XRC && !(x->qp->qpn & QPN_XRC_TARGET))
		return false;
	if (__builtin_expect(!op->props, 0)) /* unknown, of RC or XRC */
		return service == (bth_get_opcode(resp_bth(x->pkt)) < BTH_XRC_SEND_FIRST
					   ? QP_ST_RC
					   : QP_ST_XRC);
	if (service == QP_ST_MLX)
		return op->service == QP_ST_UD && !qpc_has_frames(x->qpc);
	return op->service == service;
}

/* 0 for a port's QP0, 1 for its QP1, by the base number that CONF_SPECIAL_QP gave; -1 for an
 * ordinary QP. */
static int special_number(const struct resp_run *x)
{
	uint32_t base = x->hca->special_qp;

	if (!base || x->qp->qpn < base || x->qp->qpn >= base + 2 * HCA_MAX_PORTS)
		return -1;
	return (int)((x->qp->qpn - base) / HCA_MAX_PORTS);
}

/* QP0 accepts every P_Key, QP1 those in its port's table, another QP the one of its primary path
 * (IBA 9.6.1.1.3, 10.9.4). */
static bool pkey_matches(const struct resp_run *x)
{
	struct port_config *port = link_port_config(x->hca, x->pkt->port);
	uint32_t pkey = bth_get_pkey(resp_bth(x->pkt));
	int special = special_number(x);

	if (special == QPN_SMI ||
	    (special < 0 &&
	     qp_path_pkeys_meet(pkey,
				port->pkeys[qp_path_get_pkey_index(qpc_primary_const(x->qpc))])))
		return true;
	for (unsigned i = 0; special == QPN_GSI && i < PORT_MAX_PKEYS; i++)
		if (qp_path_pkeys_meet(pkey, port->pkeys[i]))
			return true;
	port_violation(x->hca, x->pkt, false);
	return false;
}

/* The Q_Key is checked on every datagram QP except QP0 (IBA 10.2.5). */
static bool qkey_matches(const struct resp_run *x)
{
	const struct deth *deth = resp_ext(x->pkt, BTH_EXT_DETH);

	if (special_number(x) == QPN_SMI || deth_get_qkey(deth) == qpc_get_qkey(x->qpc))
		return true;
	port_violation(x->hca, x->pkt, true);
	return false;
}

static enum resp_state resp_qp(struct resp_run *x)
{
	int err = resp_context(x);
	uint32_t state;

	if (err)
		return resp_no_context(x, err);
	state = qpc_get_state(x->qpc);
	if (state == QP_STATE_RST || state == QP_STATE_INIT || state == QP_STATE_ERR)
		return resp_refuse(x, VERDICT_DROP);
	if (!service_matches(x))
		return packet_is_frame(x->pkt) ? resp_frame(x) : resp_refuse(x, VERDICT_DROP);
	if (!qp_path_accepts(x->qp, CONTEXT_RESPONDER, x->qpc, x->pkt))
		return resp_refuse(x, VERDICT_DROP);
	if (!pkey_matches(x))
		return resp_refuse(x, VERDICT_DROP);
	if (state == QP_STATE_RTR && !qpc_get_rx_established(x->qpc) && !resp_is(x, BTH_DATAGRAM)) {
		qpc_set_rx_established(x->qpc, 1);
		context_changed(x->hca, CONTEXT_RESPONDER, x->qp->qpn);
		event_queue_qp(x->hca, EVENT_COMM_EST, x->qp->qpn);
	}
	return RESP_PSN;
}

/* IBA 9.7.4.1.2: the 2^23 PSNs before the expected one are the duplicate region. */
static enum resp_state resp_psn(struct resp_run *x)
{
	int err = resp_context(x);
	int32_t ahead;

	if (err)
		return resp_no_context(x, err);
	if (resp_is(x, BTH_DATAGRAM))
		return qkey_matches(x) ? RESP_RECEIVE : resp_refuse(x, VERDICT_DROP);
	ahead = psn_diff(x->pkt->psn, qpc_get_next_rcv_psn(x->qpc));
	if (!resp_reliable(x->qpc)) {
		/* UC: a gap ends the message that was under way (IBA 9.8.2); its rest fails the
		 * next check. */
		err = ahead ? resp_abandon(x, CQE_SYND_REM_INV_REQ_ERR) : 0;
		if (err)
			return resp_no_context(x, err);
		return RESP_SEQUENCE;
	}
	if (ahead < 0)
		return x->pkt->op->props ? RESP_DUPLICATE : resp_refuse(x, VERDICT_DROP);
	if (ahead > 0) {
		x->hca->stats.responder_out_of_sequence++;
		/* Only one NAK until the expected PSN comes (IBA 9.7.5), not one for every packet
		 * that follows the gap. */
		return resp_refuse(x, qpc_get_rx_nak_sent(x->qpc) ? VERDICT_DROP
								  : VERDICT_PSN_SEQUENCE);
	}
	qpc_set_rx_nak_sent(x->qpc, 0);
	return RESP_SEQUENCE;
}

/* IBA 9.7.4.1.3, table of valid opcode sequences. */
static enum resp_state resp_sequence(struct resp_run *x)
{
	int err = resp_context(x);
	const uint32_t kinds = BTH_SEND | BTH_WRITE;
	bool inside;

	if (err)
		return resp_no_context(x, err);
	if (!resp_is(x, BTH_REQUEST))
		return resp_refuse(x, VERDICT_OPCODE_BAD);
	inside = qpc_get_rx_in_message(x->qpc);
	if (resp_is(x, BTH_START)) {
		if (!inside)
			return RESP_OPERATION;
		if (resp_reliable(x->qpc))
			return resp_refuse(x, VERDICT_OPCODE_ORDER);
		/* UC: the message under way has lost its end. */
		err = resp_abandon(x, CQE_SYND_REM_INV_REQ_ERR);
		return err ? resp_no_context(x, err) : RESP_OPERATION;
	}
	if (!inside || (x->pkt->op->props & kinds) !=
			       (bth_op_find((uint8_t)qpc_get_rx_opcode(x->qpc))->props & kinds))
		return resp_refuse(x, VERDICT_OPCODE_ORDER);
	return RESP_OPERATION;
}

static enum resp_state resp_operation(struct resp_run *x)
{
	int err = resp_context(x);

	if (err)
		return resp_no_context(x, err);
	if ((resp_is(x, BTH_WRITE) && !qpc_get_rwe(x->qpc)) ||
	    (resp_is(x, BTH_READ) && !qpc_get_rre(x->qpc)) ||
	    (resp_is(x, BTH_ATOMIC) && !qpc_get_rae(x->qpc)))
		return resp_refuse(x, VERDICT_OPCODE_BAD);
	return RESP_LENGTH;
}

/* IBA 9.7.4.1.6. */
static bool length_is_right(const struct resp_run *x)
{
	const struct packet *pkt = x->pkt;
	uint32_t mtu = ib_mtu_bytes((enum ib_mtu)qpc_get_mtu(x->qpc)), len = pkt->payload_len;
	uint32_t left;

	if (!resp_is(x, BTH_PAYLOAD))
		return len == 0 &&
		       (!resp_is(x, BTH_READ) ||
			reth_get_dma_len(resp_ext(pkt, BTH_EXT_RETH)) <= 1u << RDMA_MAX_BYTES_LOG);
	if (resp_is(x, BTH_END) ? len > mtu || (len == 0 && !resp_is(x, BTH_START)) : len != mtu)
		return false;
	if (!resp_is(x, BTH_WRITE))
		return true;
	left = resp_is(x, BTH_START) ? reth_get_dma_len(resp_ext(pkt, BTH_EXT_RETH))
				     : qpc_get_rx_left(x->qpc);
	if (left > 1u << RDMA_MAX_BYTES_LOG)
		return false;
	return resp_is(x, BTH_END) ? len == left : len < left;
}

static enum resp_state resp_length(struct resp_run *x)
{
	int err = resp_context(x);

	if (err)
		return resp_no_context(x, err);
	if (!length_is_right(x))
		return resp_refuse(x, VERDICT_PAYLOAD_LENGTH);
	if (resp_is(x, BTH_FETCH))
		return RESP_FETCH;
	return resp_is(x, BTH_NEEDS_RQ) ? RESP_RECEIVE : RESP_ACCESS;
}

/* For a WRITE of several packets: the whole range must be allowed before the first byte is written
 * (IBA 9.7.4.1.5). A WRITE of one packet is checked when it is translated. */
static int check_write(struct resp_run *x, uint32_t pd)
{
	const struct reth *reth = resp_ext(x->pkt, BTH_EXT_RETH);
	struct access access = {.key = reth_get_rkey(reth),
				.va = reth_get_va(reth),
				.len = reth_get_dma_len(reth),
				.pd = pd,
				.rights = ACCESS_REMOTE_WRITE,
				.qpn = x->qp->qpn};

	return translate_check(x->hca, &access, &x->r->waiter);
}

static enum resp_state resp_access(struct resp_run *x)
{
	int err = resp_context(x);
	bool write = resp_is(x, BTH_WRITE);
	uint32_t pd;

	if (err)
		return resp_no_context(x, err);
	if (!write && !resp_is(x, BTH_INV))
		return RESP_SEND;
	err = resp_rdma_pd(x, &pd);
	if (err)
		return err < 0 ? resp_no_context(x, err) : resp_refuse(x, (enum verdict)err);
	if (write && resp_is(x, BTH_START) && !resp_is(x, BTH_END))
		err = check_write(x, pd);
	else if (resp_is(x, BTH_INV))
		err = memory_key_invalidate_check(x->hca, &(struct key_user){x->qp->qpn, pd},
						  ieth_get_rkey(resp_ext(x->pkt, BTH_EXT_IETH)),
						  &x->r->waiter);
	if (err == -EAGAIN)
		return RESP_WAIT;
	if (err)
		return resp_refuse(x, resp_access_verdict(err, write ? VERDICT_REM_ACCESS
								     : VERDICT_REM_INVALIDATE));
	return write ? RESP_WRITE : RESP_SEND;
}

static enum resp_state resp_duplicate(struct resp_run *x)
{
	int err = resp_context(x);

	if (err)
		return resp_no_context(x, err);
	if (resp_is(x, BTH_FETCH))
		return resp_fetch_again(x);
	x->hca->stats.responder_duplicates++;
	return RESP_ACK;
}

static enum resp_state resp_done(struct resp_run *x)
{
	x->r->current = NULL;
	waiter_done(&x->r->waiter);
	if (!(x->pkt->mark & MARK_LANDING))
		packet_free(x->pkt);
	x->pkt = NULL;
	x->wqe.segments = NULL;
	return RESP_NEXT;
}

/* A switch, so that the compiler can jump directly from a step to the next one. */
static inline enum resp_state resp_step(struct resp_run *x, enum resp_state state)
{
	switch (state) {
	case RESP_NEXT:
		return resp_next(x);
	case RESP_QP:
		return resp_qp(x);
	case RESP_PSN:
		return resp_psn(x);
	case RESP_SEQUENCE:
		return resp_sequence(x);
	case RESP_OPERATION:
		return resp_operation(x);
	case RESP_LENGTH:
		return resp_length(x);
	case RESP_RECEIVE:
		return resp_receive(x);
	case RESP_ACCESS:
		return resp_access(x);
	case RESP_WRITE:
		return resp_write(x);
	case RESP_SEND:
		return resp_send(x);
	case RESP_FETCH:
		return resp_fetch(x);
	case RESP_COMPLETE:
		return resp_complete(x);
	case RESP_ACK:
		return resp_ack(x);
	case RESP_DUPLICATE:
		return resp_duplicate(x);
	case RESP_REFUSE:
		return resp_refuse_state(x);
	case RESP_DONE:
		return resp_done(x);
	case RESP_FLUSH:
		return resp_flush(x);
	default:
		return RESP_WAIT;
	}
}

static void __attribute__((noinline)) trace_waiting(const struct resp_run *x)
{
	HCA_TRACE(x->hca, TP_RESP_STATE, .qpn = x->qp->qpn, .corr = x->pkt ? x->pkt->psn : 0,
		  .args = {true}, .text = resp_waits[x->r->state]);
}

/* Runs the state machine until it waits. A nested call, from a function it calls, does nothing. */
static void responder_run(struct qp *qp)
{
	struct qp_receive *r = &qp->receive;
	struct resp_run x = {.qp = qp, .hca = qp->hca, .r = r, .pkt = r->current};
	enum resp_state next;

	if (r->running)
		return;
	r->running = true;
	next = r->state;
	while ((next = resp_step(&x, next)) != RESP_WAIT)
		r->state = (uint8_t)next;
	if (x.qpc)
		context_lease_end(x.qpc);
	if (hca_traces(qp->hca, TP_RESP_STATE) && r->state != RESP_NEXT)
		trace_waiting(&x);
	r->running = false;
	if (r->state == RESP_NEXT)
		waiter_done(&r->waiter);
}

void responder_settle(struct qp *qp)
{
	if (qp->quiescing ? responder_is_quiet(qp) : responder_is_idle(qp))
		qp_settle(qp);
}

void responder_kick(struct qp *qp)
{
	responder_run(qp);
	responder_settle(qp);
}

static void responder_wake(struct waiter *w)
{
	responder_kick(container_of(w, struct qp, receive.waiter));
}

static void responses_wake(struct waiter *w)
{
	struct qp *qp = container_of(w, struct qp, receive.out_waiter);

	responses_pump(qp);
	responder_settle(qp);
}

void responder_request(struct qp *qp, struct packet *pkt)
{
	struct qp_receive *r = &qp->receive;

	packet_queue_push(&r->in, pkt);
	if (r->state == RESP_NEXT && !r->running)
		responder_kick(qp);
}

void responder_flush(struct qp *qp, unsigned state)
{
	struct qp_receive *r = &qp->receive;

	if (state != QP_STATE_ERR) /* SQER concerns the send queue only */
		return;
	r->flushing = r->in_error = true;
	r->flush_poll_ps = 0;
	if (r->state == RESP_NEXT && !r->running)
		responder_kick(qp);
}

void responder_resume(struct qp *qp, unsigned state)
{
	const bool error = state == QP_STATE_ERR;

	/* A QP that the device itself moved to ERR must still send the NAK that reports the error.
	 * */
	if (error && !qp->receive.in_error)
		qp->receive.broken = true;
	responses_pump(qp);
	if (error)
		responder_flush(qp, state);
	else
		responder_kick(qp);
}

void responder_init(struct qp *qp)
{
	struct qp_receive *r = &qp->receive;

	r->waiter.wake = responder_wake;
	r->out_waiter.wake = responses_wake;
	r->timer.job = responder_timer;
}
