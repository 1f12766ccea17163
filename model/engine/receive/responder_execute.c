/* SPDX-License-Identifier: Apache-2.0 */
/* See responder.h. This file: receives, payload into memory, receive completions, flush. */
#include "model/engine/receive/responder_impl.h"

#include "model/engine/complete/cqe_write.h"
#include "model/engine/complete/event_queue.h"
#include "model/engine/fetch/wqe_fetch.h"
#include "model/engine/wire/link_port.h"
#include "model/engine/memory/memory_key.h"
#include "model/engine/memory/translate.h"
#include "model/interface/macros.h"
#include "model/sim/params/hca_responder.h"
#include "model/sim/params/hca_srq.h"

/* A receive WQE, kept from one packet of a message to the next. */
struct receive_copy {
	struct receive_wqe wqe;
	_Alignas(8) uint8_t segments[WQE_MAX_BYTES];
};

void receive_pool_init(struct pool *pool, struct hca *hca)
{
	pool_init(pool, hca, sizeof(struct receive_copy), "receives of messages under way");
}

void receive_forget(struct qp *qp)
{
	if (qp->receive.receive)
		pool_give(&qp->hca->responder->receives, qp->receive.receive);
	qp->receive.receive = NULL;
}

/* Copies the receive WQE, because the fetched one is not valid after this event. */
static void receive_keep(struct resp_run *x)
{
	struct receive_copy *copy;

	if (x->r->receive || !x->wqe.segments)
		return;
	copy = x->r->receive = pool_take(&x->hca->responder->receives);
	copy->wqe = x->wqe;
	memcpy(copy->segments, x->wqe.segments, x->wqe.n_bytes);
	copy->wqe.segments = copy->segments;
	x->wqe = copy->wqe;
}

static enum verdict receive_verdict(int err)
{
	switch (err) {
	case -ENOENT:
		return VERDICT_RNR;
	case -ENXIO:
		return VERDICT_XRC_SRQ;
	case -EIO:
		return VERDICT_RECV_SRQ;
	default:
		return VERDICT_RECV_WQE;
	}
}

/* Takes a receive, unless one is left over from a message that was dropped. */
enum resp_state resp_receive(struct resp_run *x)
{
	uint32_t srqn;
	bool own;
	int err = resp_context(x);

	if (err)
		return resp_no_context(x, err);
	if (qpc_get_rx_has_receive(x->qpc))
		return resp_is(x, BTH_DATAGRAM) ? RESP_SEND : RESP_ACCESS;
	own = qpc_has_rq(x->qpc);
	srqn = own ? 0 : resp_srqn(x);
	err = srq_receive_get(x->qp, x->qpc, srqn, false, &x->r->waiter, &x->wqe);
	if (err == -EAGAIN)
		return RESP_WAIT;
	if (err) {
		x->wqe.segments = NULL;
		return resp_refuse(x, receive_verdict(err));
	}
	/* srq_receive_get() has recorded in the context that the receive is taken, so nothing from
	 * here on may wait. */
	if (!own)
		x->pkt->ready_ps += param_srq_latency(x->hca->params);
	HCA_TRACE(x->hca, TP_WQE_RECV, .qpn = x->qp->qpn, .corr = x->wqe.index,
		  .bytes = x->wqe.segments, .len = x->wqe.n_bytes, .args = {srqn});
	return resp_is(x, BTH_DATAGRAM) ? RESP_SEND : RESP_ACCESS;
}

/* Gets the segments of the message's receive: those of this run, a copy, or a new fetch. */
static int receive_again(struct resp_run *x)
{
	int err;

	if (x->wqe.segments)
		return 0;
	if (x->r->receive) {
		x->wqe = x->r->receive->wqe;
		return 0;
	}
	err = srq_receive_get(x->qp, x->qpc, qpc_get_rx_srqn(x->qpc), true, &x->r->waiter, &x->wqe);
	if (err)
		x->wqe.segments = NULL;
	return err;
}

int receive_scatter(const uint8_t *segments, unsigned n_bytes, uint32_t offset, uint32_t len,
		    struct receive_piece pieces[RECEIVE_PIECES])
{
	int n = 0;

	for (unsigned at = 0; at + WQE_UNIT <= n_bytes && (len || offset) && n < RECEIVE_PIECES;
	     at += WQE_UNIT) {
		const struct wqe_data *data = (const void *)(segments + at);
		uint32_t room = wqe_data_get_byte_count(data), lkey = wqe_data_get_lkey(data);
		uint32_t skip = offset < room ? offset : room, part;

		if (room == 0 && lkey == LKEY_INVALID)
			break;
		offset -= skip;
		part = room - skip < len ? room - skip : len;
		if (!part)
			continue;
		pieces[n++] = (struct receive_piece){
			.va = wqe_data_get_addr(data) + skip, .len = part, .lkey = lkey};
		len -= part;
	}
	return len || offset ? -EMSGSIZE : n;
}

/* The packet's payload has landed. The state machine may still hold the packet to complete it. */
static void payload_landed(struct dma *dma)
{
	struct packet *pkt = container_of(dma, struct packet, dma);
	struct qp *qp = pkt->owner;

	packet_queue_remove(&qp->receive.landing, pkt);
	pkt->mark &= (uint8_t)~MARK_LANDING;
	if (pkt != qp->receive.current)
		packet_free(pkt);
	if (param_responder_ack_landed(qp->hca->params))
		responses_landed(qp);
	responder_settle(qp);
}

static void payload_write(struct resp_run *x, uint8_t *buf, uint32_t len)
{
	struct packet *pkt = x->pkt;

	pkt->dma.buf = buf;
	pkt->dma.len = len;
	pkt->dma.frags = pkt->frags;
	pkt->dma.n_frags = pkt->n_frags;
	pkt->dma.done = payload_landed;
	pkt->dma.what = "payload";
	pkt->dma.qpn = x->qp->qpn;
	pkt->dma.corr = DMA_CORR_PSN | pkt->psn;
	pkt->mark |= MARK_LANDING;
	packet_queue_push(&x->r->landing, pkt);
	pcie_write(x->hca, &pkt->dma, pkt->ready_ps);
}

/* The packet has been executed: records that in the context. */
static void advance(struct resp_run *x)
{
	bool end = resp_is(x, BTH_END);

	x->hca->stats.responder_packets++;
	if (!resp_is(x, BTH_DATAGRAM)) {
		qpc_set_next_rcv_psn(x->qpc, psn_add(x->pkt->psn, 1));
		qpc_set_rx_in_message(x->qpc, !end);
		qpc_set_rx_opcode(x->qpc, bth_get_opcode(resp_bth(x->pkt)));
		qpc_set_rx_nak_sent(x->qpc, 0);
		if (end)
			qpc_set_msn(x->qpc, (qpc_get_msn(x->qpc) + 1) & MSN_MASK);
	}
	context_changed(x->hca, CONTEXT_RESPONDER, x->qp->qpn);
}

static enum resp_state executed(struct resp_run *x)
{
	advance(x);
	if (resp_is(x, BTH_COMPLETES))
		return RESP_COMPLETE;
	return RESP_ACK;
}

enum resp_state resp_write(struct resp_run *x)
{
	struct access access = {.rights = ACCESS_REMOTE_WRITE, .qpn = x->qp->qpn};
	uint32_t left, bytes = 0;
	int err = resp_context(x);

	if (err)
		return resp_no_context(x, err);
	/* Earlier atomics must have read memory first (IBA 10.8.3.3). */
	if (x->r->atomics)
		return RESP_WAIT;
	err = resp_rdma_pd(x, &access.pd);
	if (err)
		return err < 0 ? resp_no_context(x, err) : resp_refuse(x, (enum verdict)err);
	if (resp_is(x, BTH_START)) {
		const struct reth *reth = resp_ext(x->pkt, BTH_EXT_RETH);

		access.va = reth_get_va(reth);
		access.key = reth_get_rkey(reth);
		left = reth_get_dma_len(reth);
	} else {
		access.va = qpc_get_rx_va(x->qpc);
		access.key = qpc_get_rx_rkey(x->qpc);
		left = qpc_get_rx_left(x->qpc);
		bytes = qpc_get_rx_bytes(x->qpc);
	}
	access.len = x->pkt->payload_len;
	if (access.len) {
		x->pkt->n_frags = 0;
		err = translate_access(x->hca, &access, &x->r->waiter, x->pkt->frags,
				       &x->pkt->n_frags, PACKET_FRAGS);
		if (err == -EAGAIN)
			return RESP_WAIT;
		if (err)
			return resp_refuse(x, resp_access_verdict(err, VERDICT_REM_ACCESS));
		payload_write(x, x->pkt->wire + x->pkt->payload_off, access.len);
	}
	qpc_set_rx_va(x->qpc, access.va + access.len);
	qpc_set_rx_rkey(x->qpc, access.key);
	qpc_set_rx_left(x->qpc, left - access.len);
	qpc_set_rx_bytes(x->qpc, bytes + access.len);
	return executed(x);
}

/*
 * The bytes that go into the receive buffer, and their offset there. On a datagram QP the payload
 * follows 40 bytes for the GRH; a packet without a GRH leaves these bytes of the receive buffer
 * unchanged (their content is undefined). Otherwise datagram_write() later moves the GRH in the
 * packet to just before the payload, over headers that are no longer needed.
 */
static uint8_t *send_bytes(struct resp_run *x, uint32_t *offset, uint32_t *len)
{
	struct packet *pkt = x->pkt;
	uint8_t *payload = pkt->wire + pkt->payload_off;

	*len = pkt->payload_len;
	if (!resp_is(x, BTH_DATAGRAM)) {
		*offset = resp_is(x, BTH_START) ? 0 : qpc_get_rx_bytes(x->qpc);
		return payload;
	}
	*offset = packet_is_frame(pkt) ? 0 : UD_GRH_AREA;
	if (!pkt->l3_off)
		return payload;
	*offset = 0;
	*len += UD_GRH_AREA;
	return payload - UD_GRH_AREA;
}

/* Sets the packet's frags and returns 0, or returns -EAGAIN or a verdict. */
static int scatter_translate(struct resp_run *x, uint32_t offset, uint32_t len)
{
	struct receive_piece pieces[RECEIVE_PIECES];
	int n = receive_scatter(x->wqe.segments, x->wqe.n_bytes, offset, len, pieces);

	if (n < 0)
		return VERDICT_RECV_LENGTH;
	x->pkt->n_frags = 0;
	for (int i = 0; i < n; i++) {
		struct access access = {.key = pieces[i].lkey,
					.va = pieces[i].va,
					.len = pieces[i].len,
					.pd = x->wqe.pd,
					.rights = ACCESS_LOCAL_WRITE,
					.qpn = x->qp->qpn};
		int err = translate_access(x->hca, &access, &x->r->waiter, x->pkt->frags,
					   &x->pkt->n_frags, PACKET_FRAGS);

		if (err == -EAGAIN)
			return err;
		if (err == -ENOSPC)
			return VERDICT_RECV_WQE;
		if (err)
			return (int)resp_access_verdict(err, VERDICT_RECV_PROT);
	}
	return 0;
}

enum resp_state resp_send(struct resp_run *x)
{
	uint32_t offset, len;
	int err = resp_context(x);

	if (err)
		return resp_no_context(x, err);
	if (x->r->atomics) {
		receive_keep(x);
		return RESP_WAIT;
	}
	err = receive_again(x);
	if (err)
		return err == -EAGAIN ? RESP_WAIT : resp_refuse(x, receive_verdict(err));
	send_bytes(x, &offset, &len);
	err = scatter_translate(x, offset, len);
	if (err || !resp_is(x, BTH_END))
		receive_keep(x);
	if (err)
		return err < 0 ? RESP_WAIT : resp_refuse(x, (enum verdict)err);
	qpc_set_rx_bytes(x->qpc, offset + len);
	/* A datagram is written later: its completion still needs the headers that its GRH will
	 * overwrite. */
	if (len && !resp_is(x, BTH_DATAGRAM))
		payload_write(x, x->pkt->wire + x->pkt->payload_off, len);
	return executed(x);
}

static unsigned pkey_index(struct hca *hca, const struct packet *pkt)
{
	const struct port_config *port = link_port_config(hca, pkt->port);
	uint32_t pkey = bth_get_pkey(resp_bth(pkt)) & ~(uint32_t)PKEY_FULL_MEMBER;

	for (unsigned i = 0; i < PORT_MAX_PKEYS; i++)
		if (pkey && (port->pkeys[i] & ~(uint32_t)PKEY_FULL_MEMBER) == pkey)
			return i;
	return 0;
}

/* Where the datagram came from: the CQE has a MAC and a VLAN in the place of LID and path bits. */
static void cqe_frame(const struct packet *pkt, struct cqe *cqe)
{
	const uint64_t smac = mac_load(eth_hdr_smac_cptr((const void *)pkt->wire));

	if (pkt->vlan != VLAN_NONE) {
		cqe_set_vlan(cqe, CQE_CVLAN);
		cqe_set_priority(cqe, pkt->vlan >> VLAN_PRIORITY_SHIFT);
		cqe_set_vid(cqe, pkt->vlan);
	}
	cqe_set_smac_hi(cqe, (uint32_t)(smac >> 32));
	cqe_set_smac_lo(cqe, (uint32_t)smac);
}

static void cqe_datagram(struct resp_run *x, struct cqe *cqe)
{
	const struct packet *pkt = x->pkt;
	const struct lrh *lrh = (const void *)pkt->wire;
	uint32_t lmc = link_port_config(x->hca, pkt->port)->lmc;

	if (!resp_is(x, BTH_IMM))
		cqe_set_pkey_index(cqe, pkey_index(x->hca, pkt));
	cqe_set_rqpn(cqe, deth_get_sqpn(resp_ext(pkt, BTH_EXT_DETH)));
	cqe_set_grh(cqe, pkt->l3_off != 0);
	if (pkt->ethernet) {
		cqe_frame(pkt, cqe);
		return;
	}
	cqe_set_path_bits(cqe, lrh_get_dlid(lrh) & ((1u << lmc) - 1));
	cqe_set_sl(cqe, lrh_get_sl(lrh));
	cqe_set_slid(cqe, lrh_get_slid(lrh));
}

static void cqe_fill(struct resp_run *x, struct cqe *cqe)
{
	const struct packet *pkt = x->pkt;
	enum cqe_recv_opcode opcode = CQE_RECV_SEND;

	memset(cqe, 0, sizeof(*cqe));
	cqe_set_my_qpn(cqe, x->qp->qpn);
	cqe_set_byte_cnt(cqe, qpc_get_rx_bytes(x->qpc));
	cqe_set_wqe_index(cqe, qpc_get_rx_receive(x->qpc));
	if (qpc_get_service(x->qpc) == QP_ST_XRC)
		cqe_set_rqpn(cqe, qpc_get_rx_srqn(x->qpc));
	if (packet_is_frame(pkt))
		resp_frame_cqe(pkt, cqe);
	else if (resp_is(x, BTH_DATAGRAM))
		cqe_datagram(x, cqe);
	if (resp_is(x, BTH_IMM)) {
		cqe_set_imm(cqe, immdt_get_imm(resp_ext(pkt, BTH_EXT_IMMDT)));
		opcode = resp_is(x, BTH_WRITE) ? CQE_RECV_WRITE_IMM : CQE_RECV_SEND_IMM;
	} else if (resp_is(x, BTH_INV)) {
		cqe_set_imm(cqe, ieth_get_rkey(resp_ext(pkt, BTH_EXT_IETH)));
		opcode = CQE_RECV_SEND_INV;
	}
	cqe_set_opcode(cqe, opcode);
}

/* The CQ of the receive that has been taken. 0, -EAGAIN, other -errno. */
static int receive_cqn(struct resp_run *x, uint32_t *cqn)
{
	uint32_t pd, srqn;

	if (qpc_get_service(x->qpc) != QP_ST_XRC) {
		*cqn = qpc_get_cqn_recv(x->qpc);
		return 0;
	}
	srqn = qpc_get_rx_srqn(x->qpc);
	return srq_get_xrc(x->qp, qpc_get_xrcd(x->qpc), srqn, &x->r->waiter, &pd, cqn);
}

/* The QP no longer holds the receive: the CQE that follows gives it back to software. */
static void receive_release(struct resp_run *x)
{
	qpc_set_rx_has_receive(x->qpc, 0);
	context_changed(x->hca, CONTEXT_RESPONDER, x->qp->qpn);
	receive_forget(x->qp);
	x->wqe.segments = NULL;
}

static void datagram_write(struct resp_run *x)
{
	struct packet *pkt = x->pkt;
	uint32_t offset, len;
	uint8_t *bytes = send_bytes(x, &offset, &len);

	if (pkt->l3_off && pkt->roce != ROCE_V2_IPV4) {
		memmove(bytes, pkt->wire + pkt->l3_off, UD_GRH_AREA);
	} else if (pkt->l3_off) { /* the IPv4 header stands at the end of the area */
		memmove(bytes + UD_GRH_AREA - IPV4_BYTES, pkt->wire + pkt->l3_off, IPV4_BYTES);
		memset(bytes, 0, UD_GRH_AREA - IPV4_BYTES);
	}
	if (len)
		payload_write(x, bytes, len);
}

enum resp_state resp_complete(struct resp_run *x)
{
	struct key_user user = {.qpn = x->qp->qpn};
	struct cqe cqe;
	uint32_t cqn;
	bool solicited;
	int err = resp_context(x);

	if (!err)
		err = receive_cqn(x, &cqn);
	if (!err && resp_is(x, BTH_INV)) {
		err = resp_rdma_pd(x, &user.pd);
		if (!err)
			err = memory_key_invalidate(x->hca, &user,
						    ieth_get_rkey(resp_ext(x->pkt, BTH_EXT_IETH)),
						    &x->r->waiter);
		if (err != -EAGAIN)
			err = 0; /* the key has been invalidated otherwise since the check */
	}
	if (err)
		return resp_no_context(x, err);
	cqe_fill(x, &cqe);
	solicited = !packet_is_frame(x->pkt) && bth_get_solicited(resp_bth(x->pkt));
	if (resp_is(x, BTH_DATAGRAM))
		datagram_write(x);
	receive_release(x);
	cqe_write_post(x->hca, cqn, &cqe, solicited, x->pkt->ready_ps);
	return resp_is(x, BTH_DATAGRAM) ? RESP_DONE : RESP_ACK;
}

static void post_error(struct resp_run *x, uint32_t cqn, uint32_t index, uint32_t srqn,
		       enum cqe_syndrome syndrome)
{
	struct cqe cqe = {0};
	struct cqe_err *err = cqe_as_err(&cqe);

	cqe_err_set_my_qpn(err, x->qp->qpn);
	cqe_err_set_srqn(err, srqn);
	cqe_err_set_wqe_index(err, index);
	cqe_err_set_syndrome(err, syndrome);
	cqe_err_set_opcode(err, CQE_OP_ERROR);
	cqe_write_post(x->hca, cqn, &cqe, true, x->pkt ? x->pkt->ready_ps : 0);
}

int resp_complete_error(struct resp_run *x, enum cqe_syndrome syndrome)
{
	uint32_t cqn, index, srqn;
	int err = receive_cqn(x, &cqn);

	if (err == -EAGAIN)
		return err;
	index = qpc_get_rx_receive(x->qpc);
	srqn = qpc_get_service(x->qpc) == QP_ST_XRC ? qpc_get_rx_srqn(x->qpc) : 0;
	receive_release(x);
	if (!err)
		post_error(x, cqn, index, srqn, syndrome);
	return 0;
}

static void flushed_add(struct qp *qp, uint32_t cqn)
{
	struct qp_receive *r = &qp->receive;

	r->flush_cqn = cqn;
	if (r->flushed)
		return;
	r->flushed = true;
	r->flush_next = qp->hca->responder->flushed;
	qp->hca->responder->flushed = qp;
}

void flushed_remove(struct qp *qp)
{
	struct qp **at = &qp->hca->responder->flushed;

	if (!qp->receive.flushed)
		return;
	while (*at != qp)
		at = &(*at)->receive.flush_next;
	*at = qp->receive.flush_next;
	qp->receive.flushed = false;
}

void responder_cq_armed(struct hca *hca, uint32_t cqn)
{
	for (struct qp *qp = hca->responder->flushed; qp; qp = qp->receive.flush_next) {
		struct qp_receive *r = &qp->receive;

		if (r->flush_cqn != cqn || r->flushing)
			continue;
		r->flush_poll_ps = param_responder_flush_poll(hca->params);
		event_set(hca->core, &r->timer, hca_now(hca));
	}
}

/* Flushes every posted receive of the QP's own queue, then schedules the next poll of its doorbell
 * record. */
static void flush_queue(struct resp_run *x)
{
	struct qp_receive *r = x->r;
	const struct hca_params *p = x->hca->params;
	uint32_t cqn = qpc_get_cqn_recv(x->qpc);
	uint16_t index = (uint16_t)qpc_get_rq_wqe_counter(x->qpc), end;
	uint64_t next = 2 * r->flush_poll_ps;

	record_merge(x->qp, x->qpc);
	end = (uint16_t)qpc_get_rx_rq_posted(x->qpc);
	qpc_set_rq_wqe_counter(x->qpc, end);
	context_changed(x->hca, CONTEXT_RESPONDER, x->qp->qpn);
	flushed_add(x->qp, cqn);
	if (next > param_responder_flush_poll_max(p))
		next = param_responder_flush_poll_max(p);
	if (index != end || next < param_responder_flush_poll(p))
		next = param_responder_flush_poll(p);
	for (; index != end; index++)
		post_error(x, cqn, index, 0, CQE_SYND_WR_FLUSH_ERR);
	r->flush_poll_ps = next;
	if (next < param_responder_flush_poll_max(p))
		event_set(x->hca->core, &r->timer, hca_now(x->hca) + next);
	else
		event_set_after_foreign(x->hca->core, &r->timer, next, r->flush_seen);
}

enum resp_state resp_flush(struct resp_run *x)
{
	struct qp_receive *r = x->r;
	int err = resp_context(x);

	if (err == -EAGAIN)
		return RESP_WAIT;
	if (err || qpc_get_state(x->qpc) != QP_STATE_ERR)
		goto done;
	responses_acknowledge(x->qp);
	if (qpc_get_rx_has_receive(x->qpc)) {
		if (resp_complete_error(x, CQE_SYND_WR_FLUSH_ERR))
			return RESP_WAIT;
		return RESP_FLUSH;
	}
	if (qpc_get_srq(x->qpc) && !qpc_get_rx_last_wqe(x->qpc)) {
		qpc_set_rx_last_wqe(x->qpc, 1);
		context_changed(x->hca, CONTEXT_RESPONDER, x->qp->qpn);
		cqe_write_last_wqe(x->hca, qpc_get_cqn_recv(x->qpc), x->qp->qpn);
	}
	if (qpc_has_rq(x->qpc)) {
		if (!record_is_asked(x->qp, RECORD_OF_RQ) && !r->record_failed) {
			r->flush_seen = x->hca->core->foreign_runs;
			record_read(x->qp, qpc_get_db_rec_addr(x->qpc), RECORD_OF_RQ, true);
			return RESP_WAIT;
		}
		if (!r->record_failed)
			flush_queue(x);
		r->record_failed = false;
	}
done:
	r->flushing = false;
	return RESP_NEXT;
}
