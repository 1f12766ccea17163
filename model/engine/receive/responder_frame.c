/* SPDX-License-Identifier: Apache-2.0 */
/* Frames for a network interface: see responder.h. A QP either takes them itself, or spreads them
 * over several other QPs by a hash of their flow (RSS). */
#include "model/engine/receive/responder_impl.h"

#include "model/engine/base/engine.h"
#include "model/engine/base/keep.h"
#include "model/interface/queues.h"

/* The QP that gets the frame. */
static uint32_t spread_qpn(const struct rss_context *rss, struct packet *pkt)
{
	pkt->flow_hash = frame_hash(pkt->wire, pkt->payload_len, rss);
	if (!pkt->flow_hash)
		return rss_context_get_default_qpn(rss);
	/* udp_qpn is not used: its bytes are also those of the retry counts, which firmware resets.
	 * So the device does not announce RSS by UDP ports. */
	return rss_context_get_base_qpn(rss) +
	       (pkt->flow_hash & ((1u << (rss_context_get_log_size(rss) & 0xf)) - 1));
}

/* Gives the frame to another QP. This run's QP is through with it. */
static enum resp_state pass_on(struct resp_run *x, uint32_t qpn)
{
	struct packet *pkt = x->pkt;
	struct qp *to = qpn == x->qp->qpn ? NULL : qp_make(x->hca, qpn);

	/* once only: contexts that name each other would pass it on for ever */
	if (!to || pkt->spread)
		return resp_refuse(x, VERDICT_DROP);
	context_lease_end(x->qpc);
	x->qpc = NULL;
	x->pkt = x->r->current = NULL;
	waiter_done(&x->r->waiter);
	pkt->spread = true;
	pkt->qpn = qpn;
	responder_request(to, pkt);
	return RESP_NEXT;
}

enum resp_state resp_frame(struct resp_run *x)
{
	struct packet *pkt = x->pkt;

	if (!qpc_has_frames(x->qpc))
		return resp_refuse(x, VERDICT_DROP);
	if (qpc_get_rss(x->qpc))
		return pass_on(x, spread_qpn(qpc_rss_context(x->qpc), pkt));
	if (pkt->vlan != VLAN_NONE && !qpc_get_vlan_keep(x->qpc))
		frame_vlan_strip(pkt);
	return RESP_RECEIVE;
}

void resp_frame_cqe(const struct packet *pkt, struct cqe *cqe)
{
	uint16_t checksum;

	if (pkt->vlan != VLAN_NONE) {
		cqe_set_vlan(cqe, CQE_CVLAN);
		cqe_set_priority(cqe, pkt->vlan >> VLAN_PRIORITY_SHIFT);
		cqe_set_vid(cqe, pkt->vlan);
	}
	cqe_set_rss_hash(cqe, pkt->flow_hash);
	cqe_set_csum_status(cqe, frame_checksums_look(pkt->wire, pkt->payload_len, &checksum));
	cqe_set_checksum(cqe, checksum);
}
