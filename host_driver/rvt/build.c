// SPDX-License-Identifier: Apache-2.0
/* The headers of a packet, from the LRH to the extended headers, and its pad. */
#include "host_driver/rvt/rvt_impl.h"

enum { IP_VERSION = 6 };

static void lrh_fill(const struct rvt_qp *qp, struct rvt_packet *packet,
		     const struct rvt_headers *h)
{
	const struct rvt_port *port = &rvt_dev(qp)->ports[qp->port];
	struct lrh *lrh = (struct lrh *)packet->bytes;
	const bool directed = packet->vl15 && h->ah->dlid == LID_PERMISSIVE;

	lrh_set_vl(lrh, packet->vl15 ? VL_MANAGEMENT : 0);
	lrh_set_sl(lrh, packet->vl15 ? 0 : h->ah->sl);
	lrh_set_lnh(lrh, h->ah->is_global ? LNH_IBA_GLOBAL : LNH_IBA_LOCAL);
	lrh_set_dlid(lrh, h->ah->dlid);
	lrh_set_slid(lrh, directed && !port->lid ? LID_PERMISSIVE : rvt_path_lid(port, h->ah));
	lrh_set_pkt_len(lrh, (packet->len + ICRC_BYTES) / 4);
}

static void grh_fill(const struct rvt_qp *qp, struct rvt_packet *packet,
		     const struct rvt_headers *h)
{
	const struct rvt_port *port = &rvt_dev(qp)->ports[qp->port];
	struct grh *grh = (struct grh *)(packet->bytes + LRH_BYTES);

	grh_set_ip_ver(grh, IP_VERSION);
	grh_set_tclass(grh, h->ah->traffic_class);
	grh_set_flow_label(grh, h->ah->flow_label);
	grh_set_pay_len(grh, packet->len - LRH_BYTES - GRH_BYTES + ICRC_BYTES);
	grh_set_next_hdr(grh, GRH_NEXT_BTH);
	grh_set_hop_limit(grh, h->ah->hop_limit);
	memcpy(grh_sgid_ptr(grh), port->gids[h->ah->sgid_index % RVT_GIDS], DRV_GID_BYTES);
	memcpy(grh_dgid_ptr(grh), h->ah->dgid, DRV_GID_BYTES);
}

static void bth_fill(const struct rvt_qp *qp, uint8_t *at, const struct rvt_headers *h,
		     uint32_t pad)
{
	struct bth *bth = (struct bth *)at;

	bth_set_opcode(bth, h->opcode);
	bth_set_solicited(bth, h->solicited);
	bth_set_mig_req(bth, qp->attr.path_mig_state == IBV_MIG_MIGRATED);
	bth_set_pad(bth, pad);
	bth_set_pkey(bth, h->pkey);
	bth_set_dqpn(bth, h->dqpn);
	bth_set_ack_req(bth, h->ack_req);
	bth_set_psn(bth, h->psn);
}

static void reth_fill(uint8_t *at, const struct rvt_headers *h)
{
	struct reth *reth = (struct reth *)at;

	reth_set_va(reth, h->va);
	reth_set_rkey(reth, h->rkey);
	reth_set_dma_len(reth, h->dma_len);
}

static void atomic_fill(uint8_t *at, const struct rvt_headers *h)
{
	struct atomiceth *eth = (struct atomiceth *)at;

	atomiceth_set_va(eth, h->va);
	atomiceth_set_rkey(eth, h->rkey);
	atomiceth_set_swap_add(eth, h->swap_add);
	atomiceth_set_compare(eth, h->compare);
}

static void ext_fill(uint8_t *bth, const struct bth_op *op, const struct rvt_headers *h)
{
	if (op->at[BTH_EXT_DETH]) {
		deth_set_qkey((struct deth *)(bth + op->at[BTH_EXT_DETH]), h->qkey);
		deth_set_sqpn((struct deth *)(bth + op->at[BTH_EXT_DETH]), h->sqpn);
	}
	if (op->at[BTH_EXT_RETH])
		reth_fill(bth + op->at[BTH_EXT_RETH], h);
	if (op->at[BTH_EXT_ATOMICETH])
		atomic_fill(bth + op->at[BTH_EXT_ATOMICETH], h);
	if (op->at[BTH_EXT_AETH]) {
		aeth_set_syndrome((struct aeth *)(bth + op->at[BTH_EXT_AETH]), h->syndrome);
		aeth_set_msn((struct aeth *)(bth + op->at[BTH_EXT_AETH]), h->msn);
	}
	if (op->at[BTH_EXT_ATOMICACKETH])
		atomicacketh_set_original(
			(struct atomicacketh *)(bth + op->at[BTH_EXT_ATOMICACKETH]), h->original);
	if (op->at[BTH_EXT_IMMDT])
		immdt_set_imm((struct immdt *)(bth + op->at[BTH_EXT_IMMDT]), h->imm);
}

uint8_t *rvt_build(const struct rvt_qp *qp, struct rvt_packet *packet, const struct rvt_headers *h,
		   uint32_t payload)
{
	const struct bth_op *op = bth_op_find(h->opcode);
	const uint32_t headers = bth_op_header_bytes(op, h->ah->is_global);
	const uint32_t pad = -payload & 3;
	uint8_t *bth = packet->bytes + headers - op->ext_bytes - BTH_BYTES;

	memset(packet->bytes, 0, headers);
	memset(packet->bytes + headers + payload, 0, pad);
	packet->len = headers + payload + pad;
	packet->qpn = qp->qpn;
	lrh_fill(qp, packet, h);
	if (h->ah->is_global)
		grh_fill(qp, packet, h);
	bth_fill(qp, bth, h, pad);
	ext_fill(bth, op, h);
	return packet->bytes + headers;
}
