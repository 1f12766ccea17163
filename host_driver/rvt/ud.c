// SPDX-License-Identifier: Apache-2.0
/* Datagrams: UD, and the queues of QP0 and QP1 (IBA 9.8.3, 10.2.5, 13.5). */
#include "host_driver/rvt/rvt_impl.h"

#include <errno.h>

enum { QKEY_OWN = UINT32_C(1) << 31 }; /* in a request: the queue pair's own Q_Key */

bool rvt_datagram_next(struct rvt_qp *qp, struct rvt_packet *packet)
{
	struct rvt_requester *r = &qp->req;
	const struct rvt_port *port = &rvt_dev(qp)->ports[qp->port];
	struct rvt_swqe *w;
	struct rvt_headers h;
	uint8_t *payload;
	int rc;

	if (!rvt_may(qp, RVT_SEND) || !rvt_may(qp, RVT_BEGIN) || r->cur == r->head)
		return false;
	w = rvt_swqe_at(qp, r->cur);
	w->begun = true;
	h = (struct rvt_headers){
		.opcode =
			w->opcode == IBV_WR_SEND_WITH_IMM ? BTH_UD_SEND_ONLY_IMM : BTH_UD_SEND_ONLY,
		.ah = &w->ah,
		.pkey = port->pkeys[qp->attr.pkey_index % RVT_PKEYS],
		.dqpn = w->ah.dlid >= LID_MCAST_FIRST && w->ah.dlid != LID_PERMISSIVE
				? RVT_QPN_MULTICAST
				: w->remote_qpn,
		.psn = r->psn,
		.solicited = w->flags & IBV_SEND_SOLICITED,
		.imm = w->imm,
		.qkey = w->remote_qkey & QKEY_OWN ? qp->attr.qkey : w->remote_qkey,
		.sqpn = qp->qpn,
	};
	rc = w->length > port->mtu ? -EMSGSIZE : 0;
	if (!rc) {
		payload = rvt_build(qp, packet, &h, w->length);
		if (w->flags & IBV_SEND_INLINE)
			memcpy(payload, w->in_line, w->length);
		else
			rc = rvt_sges_copy(rvt_dev(qp), qp->pd, w->sge, w->num_sge, 0, payload,
					   w->length, RVT_FROM_MEMORY);
	}
	if (rc) {
		while (r->tail != r->cur)
			rvt_request_end(qp, IBV_WC_SUCCESS, 0);
		rvt_request_fail(qp, rc == -EMSGSIZE ? IBV_WC_LOC_LEN_ERR : IBV_WC_LOC_PROT_ERR);
		return false;
	}
	r->psn = psn_add(r->psn, 1);
	r->cur++;
	packet->last = true;
	return true;
}

/* --- receiving --- */

static bool qkey_passes(struct rvt_qp *qp, const struct rvt_in *in)
{
	const uint32_t qkey = deth_get_qkey((const struct deth *)in->ext[BTH_EXT_DETH]);

	if (qp->special && !qp->qpn)
		return lrh_get_vl(in->lrh) == VL_MANAGEMENT;
	if (qkey == qp->attr.qkey)
		return true;
	rvt_dev(qp)->ports[qp->port].bad_qkeys++;
	return false;
}

/* The first 40 bytes of a receive are the GRH's, whether there is one or not. */
static int store(struct rvt_qp *qp, const struct rvt_in *in)
{
	struct rvt_device *dev = rvt_dev(qp);
	struct rvt_rwqe *w = &qp->resp.rwqe;
	int rc;

	if (rvt_sges_bytes(w->sge, w->num_sge) < (uint64_t)GRH_BYTES + in->len)
		return -EMSGSIZE;
	rc = rvt_sges_copy(dev, rvt_receive_pd(qp), w->sge, w->num_sge, GRH_BYTES,
			   (uint8_t *)(uintptr_t)in->payload, in->len, RVT_TO_MEMORY);
	if (!rc && in->grh)
		rc = rvt_sges_copy(dev, rvt_receive_pd(qp), w->sge, w->num_sge, 0,
				   (uint8_t *)(uintptr_t)in->grh, GRH_BYTES, RVT_TO_MEMORY);
	return rc;
}

void rvt_datagram_came(struct rvt_qp *qp, const struct rvt_in *in)
{
	int rc;

	if (!rvt_may(qp, RVT_RECEIVE) || !bth_op_is(in->op, BTH_DATAGRAM) || !qkey_passes(qp, in) ||
	    (!qp->resp.has_rwqe && !rvt_rwqe_take(qp))) {
		rvt_counters(qp)->responder_dropped++;
		return;
	}
	rc = store(qp, in);
	if (rc == -EMSGSIZE) {
		/* dropped; the receive waits for the next one. That of an SRQ ends. */
		if (qp->srq)
			rvt_receive_end(qp, in, IBV_WC_LOC_LEN_ERR, 0);
		return;
	}
	rvt_counters(qp)->responder_packets += !qp->special;
	rvt_receive_end(qp, in, rc ? IBV_WC_LOC_PROT_ERR : IBV_WC_SUCCESS, GRH_BYTES + in->len);
	if (rc)
		rvt_qp_error(qp);
}

/* --- QP0 and QP1 --- */

int rvt_special_send(struct drv_qp *handle, const struct drv_special_send *s)
{
	struct rvt_qp *qp = rvt_qp_of(handle);
	const struct drv_ah_attr ah = {
		.dlid = s->dlid, .sl = s->sl, .src_path_bits = s->path_bits, .port_num = qp->port};
	const struct drv_sge sge = {.addr = s->addr, .length = s->length, .lkey = s->lkey};
	const struct drv_send_wr wr = {.wr_id = s->wr_id,
				       .opcode = IBV_WR_SEND,
				       .send_flags = IBV_SEND_SIGNALED,
				       .sg_list = &sge,
				       .num_sge = 1,
				       .ah = &ah,
				       .remote_qpn = s->dqpn,
				       .remote_qkey = s->qkey & ~QKEY_OWN ? s->qkey : 0};

	if (qp->state != IBV_QPS_RTS)
		return -EINVAL;
	return rvt_post_send(handle, &wr, NULL);
}
