/* SPDX-License-Identifier: Apache-2.0 */
/* One request packet: payload gathered by DMA into its buffer, headers, and the queue of packets on
 * their way out. See requester.h. */
#include "model/engine/wire/gather.h"
#include "model/engine/wire/eth_port.h"
#include "model/engine/wire/frame.h"
#include "model/engine/wire/link_port.h"
#include "model/engine/wire/packet.h"
#include "model/engine/wire/roce.h"
#include "model/engine/send/requester_impl.h"
#include "model/engine/send/retry.h"
#include "model/engine/send/scheduler.h"
#include "model/engine/memory/translate.h"
#include "model/interface/bth_ops.h"
#include "model/interface/macros.h"
#include "model/interface/rows.h"
#include "model/sim/params/hca_context_cache.h"
#include "model/sim/params/hca_link.h"
#include "model/sim/params/hca_requester.h"
#include "model/sim/params/hca_scheduler.h"
#include "model/sim/params/hca_translate.h"
#include "model/sim/params/hca_wqe_fetch.h"

#include <string.h>

enum {
	IMM_OFFSET = 12,      /* wqe_ctrl.imm: copied as the bytes it is */
	MLX_PATH_BITS = 0x7f, /* LRH.SLID as the driver writes it */
};

/*
 * The part [offset, offset + n) of a message: the payload of one packet. One DMA fetches all bytes
 * that the WQE points to, to the start of the payload. Bytes that stand in the WQE itself (inline)
 * are copied behind them. Where a part has both, the end of frags[] notes for each inline piece its
 * place in the payload and its length; when the DMA is done, part_insert_inline() puts them there.
 */
struct message_part {
	struct send_step *s;
	struct packet *pkt;
	uint32_t offset, n;
	uint32_t by_pointer; /* bytes */
	unsigned pieces;
};

static void part_count(struct message_part *part)
{
	struct send_segment segment;
	uint32_t skip = part->offset, left = part->n;
	unsigned at = part->s->r.data;

	part->by_pointer = 0;
	while (left && send_segment_next(&part->s->r, &at, &segment)) {
		uint32_t take;

		if (segment.len <= skip) {
			skip -= segment.len;
			continue;
		}
		take = segment.len - skip < left ? segment.len - skip : left;
		skip = 0;
		left -= take;
		if (!segment.is_inline)
			part->by_pointer += take;
	}
}

static int part_add_pointer(struct message_part *part, const struct send_segment *segment,
			    uint32_t skip, uint32_t take)
{
	struct access access = {
		.key = segment->lkey,
		.va = segment->addr + skip,
		.len = take,
		.pd = qpc_get_pd(part->s->qpc),
		.rights = ACCESS_LOCAL_READ,
		.qpn = part->s->qp->qpn,
	};
	int err = translate_access(part->s->hca, &access, &part->s->send->waiter, part->pkt->frags,
				   &part->pkt->n_frags, PACKET_FRAGS - part->pieces);

	return err && err != -EAGAIN ? VERDICT_SEND_PROT : err;
}

/* 0, -EAGAIN or a verdict. */
static int part_gather(struct message_part *part)
{
	struct send_segment segment;
	uint32_t skip = part->offset, done = 0, in_line = 0;
	unsigned at = part->s->r.data;

	/* most often the whole part lies in one segment */
	if (part->n && send_segment_next(&part->s->r, &at, &segment) && !segment.is_inline &&
	    skip + (uint64_t)part->n <= segment.len) {
		part->by_pointer = part->n;
		return part_add_pointer(part, &segment, skip, part->n);
	}
	at = part->s->r.data;
	part_count(part);
	while (done < part->n && send_segment_next(&part->s->r, &at, &segment)) {
		uint32_t take;
		int err;

		if (segment.len <= skip) {
			skip -= segment.len;
			continue;
		}
		take = segment.len - skip < part->n - done ? segment.len - skip : part->n - done;
		if (segment.is_inline) {
			memcpy(packet_payload(part->pkt) + part->by_pointer + in_line,
			       segment.bytes + skip, take);
			in_line += take;
			if (part->by_pointer)
				part->pkt->frags[PACKET_FRAGS - ++part->pieces] =
					(struct dma_frag){done, take};
		} else {
			err = part_add_pointer(part, &segment, skip, take);
			if (err)
				return err;
		}
		skip = 0;
		done += take;
	}
	return 0;
}

/* Puts the inline pieces between the bytes that came by DMA. */
static void part_insert_inline(struct packet *pkt)
{
	uint8_t whole[PACKET_FRAME];
	const uint8_t *by_pointer = packet_payload(pkt), *in_line = by_pointer + pkt->dma.len;
	uint32_t done = 0;

	for (unsigned i = pkt->dma.n_frags; i < pkt->n_frags; i++) {
		const struct dma_frag *piece =
			&pkt->frags[PACKET_FRAGS - 1 - (i - pkt->dma.n_frags)];
		uint32_t before = (uint32_t)piece->bus - done;

		memcpy(whole + done, by_pointer, before);
		by_pointer += before;
		memcpy(whole + piece->bus, in_line, piece->len);
		in_line += piece->len;
		done = (uint32_t)piece->bus + piece->len;
	}
	memcpy(whole + done, by_pointer, pkt->payload_len - done);
	memcpy(packet_payload(pkt), whole, pkt->payload_len);
}

/* --- headers --- */

static void request_atomic_headers(const struct send_step *s, struct packet_headers *h)
{
	const struct wqe_atomic *atomic = (const struct wqe_atomic *)s->r.atomic;
	const struct wqe_masked_cas *cas = (const struct wqe_masked_cas *)s->r.atomic;
	bool masked = s->r.op->props & WQE_P_MASKED,
	     compare = wqe_ctrl_get_opcode(s->r.ctrl) == WQE_ATOMIC_CS;

	h->atomic.va = wqe_raddr_get_va(s->r.raddr);
	h->atomic.rkey = wqe_raddr_get_rkey(s->r.raddr);
	if (s->r.op->props & WQE_P_ATOMIC32) {
		h->opcode = BTH_RC_MASKED_COMPARE_SWAP;
		h->atomic.swap_add = wqe_masked_cas_get_swap(cas);
		h->atomic.compare = wqe_masked_cas_get_compare(cas);
		h->atomic.swap_mask = wqe_masked_cas_get_swap_mask(cas);
		h->atomic.compare_mask = wqe_masked_cas_get_compare_mask(cas);
		return;
	}
	h->opcode = masked ? BTH_RC_MASKED_FETCH_ADD
			   : bth_service_opcode(s->service,
						compare ? BTH_RC_COMPARE_SWAP : BTH_RC_FETCH_ADD);
	h->atomic.swap_add = wqe_atomic_get_swap_add(atomic);
	h->atomic.compare = wqe_atomic_get_compare(atomic);
	h->atomic.compare_mask = wqe_atomic_get_boundary(atomic);
}

static void request_message_headers(const struct send_step *s, struct packet_headers *h, bool first,
				    bool last)
{
	uint32_t props = s->r.op->props;
	enum bth_suffix suffix = props & WQE_P_IMM   ? BTH_SUFFIX_IMM
				 : props & WQE_P_INV ? BTH_SUFFIX_INV
						     : BTH_SUFFIX_NONE;

	h->opcode = bth_message_opcode(s->service, props & WQE_P_WRITE, first, last, suffix);
	h->solicited =
		last && wqe_ctrl_get_solicited(s->r.ctrl) && props & (WQE_P_SEND | WQE_P_IMM);
	memcpy(h->imm, s->r.wqe + IMM_OFFSET, sizeof(h->imm));
	if (props & WQE_P_WRITE && first) {
		h->reth.va = wqe_raddr_get_va(s->r.raddr);
		h->reth.rkey = wqe_raddr_get_rkey(s->r.raddr);
		h->reth.length = (uint32_t)s->r.bytes;
	}
}

static bool request_asks_ack(struct send_step *s, bool last)
{
	struct qp_send *send = s->send;
	const struct hca_params *p = s->hca->params;
	uint64_t interval = UINT64_C(1) << qpc_get_ack_req_freq(s->qpc);

	if (interval > param_requester_ack_interval(p))
		interval = param_requester_ack_interval(p);
	if (!last && !s->probe && ++send->unasked < interval &&
	    psn_ahead(send->send_psn, send->acked_psn) + 1 < param_requester_window(p))
		return false;
	send->unasked = 0;
	return true;
}

/* The same on an Ethernet port. The version of RoCE is that of the entry in the GID table. */
static void __attribute__((noinline))
datagram_frame_path(const struct send_step *s, struct packet_path *path)
{
	const struct wqe_datagram *av = s->r.datagram;
	const struct eth_port *eth = link_port_config(s->hca, path->port)->eth;
	const unsigned version = eth->gids[path->sgid_index % ETH_TABLE_SIZE].version;

	path->smac_index = (uint8_t)wqe_datagram_get_smac_index(av);
	memcpy(path->dmac, wqe_datagram_dmac_cptr(av), sizeof(path->dmac));
	path->vlan = wqe_datagram_get_vlan(av) ? (uint16_t)wqe_datagram_get_tci(av) : VLAN_NONE;
	path->roce = roce_kind_of(eth, path->sgid_index, version == 2 ? QP_ROCE_V2 : QP_ROCE_V1);
	path->udp_sport = roce_source_port(s->qp->qpn, wqe_datagram_get_dqpn(av));
	path->force_loopback = wqe_datagram_get_loopback(av);
}

/* Address vector of a datagram. */
static int request_datagram_path(const struct send_step *s, struct packet_path *path,
				 struct packet_headers *h)
{
	const struct wqe_datagram *av = s->r.datagram;
	uint32_t qkey = wqe_datagram_get_qkey(av);

	if (s->hca->ctrl & FW_CTRL_UD_AV_PORT && (wqe_datagram_get_port(av) != s->send->port ||
						  wqe_datagram_get_pd(av) != qpc_get_pd(s->qpc))) {
		guest_error(s->hca, RULE_wqe_malformed, guest_object(GUEST_QP, s->qp->qpn),
			    "qpn %06x wqe %u: address vector of port %u and pd %x", s->qp->qpn,
			    s->send->cursor, wqe_datagram_get_port(av), wqe_datagram_get_pd(av));
		return VERDICT_SEND_WQE;
	}
	path->port = s->send->port;
	path->sl = (uint8_t)wqe_datagram_get_sl(av);
	path->static_rate = (uint8_t)wqe_datagram_get_static_rate(av);
	path->path_bits = (uint8_t)wqe_datagram_get_path_bits(av);
	path->dlid = (uint16_t)wqe_datagram_get_rlid(av);
	path->grh = wqe_datagram_get_grh(av);
	path->sgid_index = (uint8_t)wqe_datagram_get_mgid_index(av);
	path->hop_limit = (uint8_t)wqe_datagram_get_hop_limit(av);
	path->traffic_class = (uint8_t)wqe_datagram_get_tclass(av);
	path->flow_label = wqe_datagram_get_flow_label(av);
	memcpy(path->dgid, wqe_datagram_dgid_cptr(av), sizeof(path->dgid));
	if (__builtin_expect(link_port_config(s->hca, path->port)->eth != NULL, 0))
		datagram_frame_path(s, path);
	h->dest_qpn = wqe_datagram_get_dqpn(av);
	h->deth.qkey = qkey >> 31 ? qpc_get_qkey(s->qpc) : qkey;
	h->deth.src_qpn = s->qp->qpn;
	return 0;
}

/* 0 or a verdict. `n` is the payload of this packet. */
static int request_build(struct send_step *s, struct packet *pkt, uint32_t offset, uint32_t n)
{
	const struct qp_path *primary = qpc_primary_const(s->qpc);
	const struct port_config *port = link_port_config(s->hca, s->send->port);
	struct packet_headers h = {0};
	struct packet_path path;
	bool last = (uint64_t)offset + n == s->r.bytes;
	int err;

	h.psn = s->send->send_psn;
	h.pkey = port->pkeys[qp_path_get_pkey_index(primary) % PORT_MAX_PKEYS];
	h.mig_req = qpc_get_pm_state(s->qpc) == QP_PM_MIGRATED;
	h.dest_qpn = qpc_get_remote_qpn(s->qpc);
	if (s->service == QP_ST_XRC)
		h.xrc_srqn = wqe_ctrl_get_xrc_srqn(s->r.ctrl);
	if (s->r.op->props & WQE_P_FETCH) {
		request_atomic_headers(s, &h);
	} else if (s->r.op->props & WQE_P_READ) {
		h.opcode = bth_service_opcode(s->service, BTH_RC_READ_REQUEST);
		h.reth.va = wqe_raddr_get_va(s->r.raddr) + offset;
		h.reth.rkey = wqe_raddr_get_rkey(s->r.raddr);
		h.reth.length = (uint32_t)s->r.bytes - offset;
	} else {
		request_message_headers(s, &h, !offset, last);
		h.ack_req = s->send->reliable && request_asks_ack(s, last);
	}
	if (s->r.datagram) {
		err = request_datagram_path(s, &path, &h);
		if (err)
			return err;
	} else {
		qp_packet_path(s->hca, s->qpc, &path);
	}
	packet_build(s->hca, pkt, &path, &h, n);
	return 0;
}

/* As request_build(). A middle packet behind another one of the same message and turn takes over
 * its headers. */
static int request_build_next(struct send_step *s, struct packet *pkt, uint32_t offset, uint32_t n)
{
	const struct packet *latest = s->held ? s->latest : NULL;

	if (!latest || latest->op->props & (BTH_START | BTH_END) ||
	    (uint64_t)offset + n == s->r.bytes)
		return request_build(s, pkt, offset, n);
	packet_build_like(pkt, latest, s->send->send_psn, request_asks_ack(s, false));
	return 0;
}

static int mlx_malformed(const struct send_step *s, const char *why)
{
	guest_error(s->hca, RULE_wqe_malformed, guest_object(GUEST_QP, s->qp->qpn),
		    "qpn %06x wqe %u: %s", s->qp->qpn, s->send->cursor, why);
	return VERDICT_SEND_WQE;
}

/* The peer answers the queue pair that the datagram says. Source: IBA 9.6.4, 13.5.1: QP0 and QP1; Linux
 * mlx4 build_mlx_header: source_qpn is that of the verbs, 0 or 1 */
static void mlx_source_check(const struct send_step *s, const uint8_t *headers, size_t n)
{
	const size_t global = lrh_get_lnh((const struct lrh *)headers) == LNH_IBA_GLOBAL ? GRH_BYTES
											 : 0,
		     bth = LRH_BYTES + global, deth = bth + BTH_BYTES;
	const uint32_t special = (s->qp->qpn - s->hca->special_qp) / HCA_MAX_PORTS;
	uint32_t says;

	if (!s->hca->special_qp || special > QPN_GSI || n < deth + sizeof(struct deth) ||
	    bth_get_opcode((const struct bth *)(headers + bth)) != BTH_UD_SEND_ONLY)
		return;
	says = deth_get_sqpn((const struct deth *)(headers + deth));
	if (says != special)
		guest_error(s->hca, RULE_mad_differs, guest_object(GUEST_QP, s->qp->qpn),
			    "a datagram of QP%u says that queue pair 0x%x sends it", special, says);
}

static void mlx_length_differs(const struct send_step *s, const char *field, uint32_t says,
			       uint32_t has)
{
	if (says != has)
		guest_error(s->hca, RULE_header_differs, guest_object(GUEST_QP, s->qp->qpn),
			    "qpn %06x wqe %u: %s is %u, and of this packet it is %u", s->qp->qpn,
			    s->send->cursor, field, says, has);
}

/* The device writes these fields itself. Whether others do is not known, so a driver must write them. Source:
 * Linux ib_ud_header_init */
static void mlx_lengths_check(const struct send_step *s, const uint8_t *headers, size_t n,
			      const struct packet *pkt)
{
	const struct lrh *says = (const struct lrh *)headers, *has = (const struct lrh *)pkt->wire;

	if (n < (size_t)(pkt->bth_off + BTH_BYTES))
		return;
	mlx_length_differs(s, "PktLen of the LRH", lrh_get_pkt_len(says), lrh_get_pkt_len(has));
	if (lrh_get_lnh(says) == LNH_IBA_GLOBAL)
		mlx_length_differs(s, "PayLen of the GRH",
				   grh_get_pay_len((const struct grh *)(headers + pkt->l3_off)),
				   grh_get_pay_len((const struct grh *)(pkt->wire + pkt->l3_off)));
	mlx_length_differs(s, "PadCnt of the BTH",
			   bth_get_pad((const struct bth *)(headers + pkt->bth_off)),
			   bth_get_pad((const struct bth *)(pkt->wire + pkt->bth_off)));
}

/* A WQE of a QP with frames holds the whole frame. */
static int request_build_frame(struct send_step *s, struct packet *pkt, struct message_part *part)
{
	int err;

	part->n = (uint32_t)s->r.bytes;
	err = requester_frame_build(s, pkt, part->n);
	return err ? err : part_gather(part);
}

/* The driver's own headers around the payload. 0, -EAGAIN or a verdict. */
static int request_build_mlx(struct send_step *s, struct packet *pkt, struct message_part *part)
{
	const struct wqe_mlx_ctrl *ctrl = (const struct wqe_mlx_ctrl *)s->r.ctrl;
	uint8_t headers[MLX_HEADERS_MAX];
	const char *why;
	int err, len;

	if (qpc_has_frames(s->qpc))
		return request_build_frame(s, pkt, part);
	len = send_request_mlx_headers(&s->r, headers, &why);
	if (len < 0)
		return mlx_malformed(s, why);
	if (s->r.bytes > PACKET_PAYLOAD)
		return VERDICT_SEND_LENGTH;
	part->n = (uint32_t)s->r.bytes;
	err = part_gather(part);
	if (err)
		return err;
	if (link_port_config(s->hca, s->send->port)->eth)
		return packet_build_frame(s->hca, pkt, s->send->port, headers, (unsigned)len,
					  part->n)
			       ? 0
			       : mlx_malformed(s, "the headers are not those of a RoCE packet");
	mlx_source_check(s, headers, (size_t)len);
	packet_build_raw(s->hca, pkt, s->send->port, headers, (unsigned)len, part->n,
			 wqe_mlx_ctrl_get_vl15(ctrl), wqe_mlx_ctrl_get_slr(ctrl),
			 (uint8_t)(lrh_get_slid((const struct lrh *)headers) & MLX_PATH_BITS));
	mlx_lengths_check(s, headers, (size_t)len, pkt);
	if (!wqe_mlx_ctrl_get_vl15(ctrl)) /* IBA 9.11: of data virtual lanes */
		pkt->static_rate = (uint8_t)wqe_mlx_ctrl_get_static_rate(ctrl);
	return 0;
}

/* --- on their way out --- */

static void payload_arrived(struct dma *dma)
{
	struct packet *pkt = container_of(dma, struct packet, dma);
	struct qp *qp = pkt->owner;
	const struct hca_params *p = qp->hca->params;
	const uint64_t soon = hca_now(qp->hca) + param_link_tx_window(p);

	/* The payload comes late, by a slow PCIe link. Handed over now, the packet would hold the
	 * port, and packets of other QPs would wait behind it. */
	if (__builtin_expect(dma->ready_ps > soon, 0) && !dma->status) {
		pcie_done_later(dma, dma->ready_ps - param_link_tx_window(p));
		return;
	}
	pkt->owner = NULL;
	pkt->ready_ps = dma->ready_ps;
	qp_hold(qp);
	qp->send.dma_pending--;
	scheduler_dma(qp->hca, -1);
	requester_out_run(qp);
	if (qp->send.state == SEND_WAIT_DMA &&
	    qp->send.dma_pending + param_scheduler_burst(p) <= param_requester_inflight(p))
		scheduler_ready(qp, 0);
	else if (qp->send.state == SEND_WAIT_DMA && !qp->send.dma_pending)
		scheduler_ready(qp, 0);
	qp_release(qp);
}

/* Time from a step to its packet's first payload request: the pipeline in front of the DMA. */
static uint64_t request_pipeline_ps(const struct hca_params *p)
{
	return param_context_cache_hit_latency(p) + param_wqe_fetch_latency(p) +
	       param_translate_hit_latency(p) + param_requester_latency(p);
}

static void request_issue(struct send_step *s, struct packet *pkt, const struct message_part *part)
{
	uint64_t from = s->at_ps + request_pipeline_ps(s->hca->params);

	pkt->ready_ps = from;
	pkt->corr = s->send->cursor;
	pkt->src_qpn = s->qp->qpn;
	packet_queue_push(&s->send->out, pkt);
	s->latest = part->by_pointer ? pkt : NULL;
	if (!part->by_pointer)
		return;
	pkt->owner = s->qp;
	pkt->dma.hca = s->hca;
	pkt->dma.done = payload_arrived;
	pkt->dma.buf = packet_payload(pkt);
	pkt->dma.frags = pkt->frags;
	pkt->dma.n_frags = pkt->n_frags;
	pkt->dma.len = part->by_pointer;
	pkt->dma.what = "payload";
	pkt->dma.qpn = s->qp->qpn;
	pkt->dma.corr = DMA_CORR_WQE | pkt->corr;
	pkt->n_frags += part->pieces;
	s->send->dma_pending++;
	scheduler_dma(s->hca, 1);
	gather_read(s->hca, &pkt->dma, from);
}

int requester_packet_send(struct send_step *s)
{
	struct qp_send *send = s->send;
	const struct send_wqe *wqe = send_entry(send, send->cursor);
	uint32_t packets = send_entry_packets(send, wqe),
		 offset = send->cursor_packet << send->log_mtu, psns = 1;
	struct packet *pkt = packet_alloc(s->hca);
	struct message_part part = {.s = s, .pkt = pkt, .offset = offset};
	bool resent = psn_ahead(send->send_psn, send->acked_psn) <
		      psn_ahead(send->max_psn, send->acked_psn);
	int err = 0;

	if (wqe->flags & SEND_FETCHES) {
		psns = packets - send->cursor_packet;
		err = request_build(s, pkt, offset, 0);
	} else if (s->service == QP_ST_MLX) {
		err = request_build_mlx(s, pkt, &part);
	} else {
		part.n = send->cursor_packet + 1 < packets ? 1u << send->log_mtu
							   : wqe->bytes - offset;
		err = part_gather(&part);
		if (!err)
			err = request_build_next(s, pkt, offset, part.n);
	}
	if (err) {
		packet_free(pkt);
		return err;
	}
	pkt->resent = resent;
	send->lane = (uint8_t)(pkt->vl + 1);
	if (__builtin_expect(s->units != NULL, 0))
		*s->units += vl_units(pkt->len);
	s->hca->stats.requester_packets++;
	s->hca->stats.retry_retransmitted += resent;
	request_issue(s, pkt, &part);
	send->send_psn = psn_add(send->send_psn, psns);
	if (psn_ahead(send->send_psn, send->acked_psn) > psn_ahead(send->max_psn, send->acked_psn))
		send->max_psn = send->send_psn;
	send->cursor_packet += psns;
	if (send->cursor_packet >= packets) {
		send->cursor++;
		send->cursor_packet = 0;
	}
	return 0;
}

/* The payload could not be read. Its WQE fails; packets that were built after it are not sent. */
static void payload_lost(struct qp *qp, struct packet *pkt)
{
	struct qp_send *send = &qp->send;
	uint16_t index = (uint16_t)pkt->corr;

	/* if it was built to be sent again, its first copy may have been acknowledged meanwhile */
	if ((uint16_t)(index - send->oldest) < (uint16_t)(send->next - send->oldest)) {
		send->discard_last = packet_queue_last(&send->out);
		retry_rewind(qp, send->reliable ? pkt->psn : send->acked_psn);
		send->cursor_verdict = VERDICT_SEND_PROT;
	}
	packet_free(pkt);
}

static void requester_out_packet(struct qp *qp, struct packet *pkt)
{
	struct qp_send *send = &qp->send;
	uint64_t left_ps;

	if (pkt->n_frags > pkt->dma.n_frags)
		part_insert_inline(pkt);
	pkt->n_frags = 0;
	if (__builtin_expect(packet_is_frame(pkt), 0))
		frame_finish(pkt);
	packet_seal(qp->hca, pkt);
	left_ps = link_port_send(qp->hca, pkt);
	if (!send->reliable)
		send->acked_psn = psn_add(send->acked_psn, 1);
	else if (send->deadline_ps == EVENT_NEVER && !send_mode_is_rnr(send) &&
		 send->ack_timeout_ps != EVENT_NEVER)
		retry_set_deadline(qp, left_ps + send->ack_timeout_ps);
}

void requester_out_send(struct qp *qp)
{
	struct qp_send *send = &qp->send;
	struct packet *pkt;
	bool news = false;

	while ((pkt = send->out.first) && !pkt->owner) {
		bool discard = send->discard_last != NULL;

		packet_queue_pop(&send->out);
		if (pkt == send->discard_last)
			send->discard_last = NULL;
		if (discard) {
			packet_free(pkt);
			continue;
		}
		if (pkt->dma.len && pkt->dma.status) {
			payload_lost(qp, pkt);
			news = true;
			continue;
		}
		news |= !send->reliable;
		requester_out_packet(qp, pkt);
	}
	if (news)
		requester_progress(qp, 0);
}
