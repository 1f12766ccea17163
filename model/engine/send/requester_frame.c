/* SPDX-License-Identifier: Apache-2.0 */
/* Work requests of QPs with frames: how many entries of the queue they take, and what the card adds
 * to the frame. See requester.h. */
#include "model/engine/send/requester_impl.h"

#include "model/engine/fetch/wqe_fetch.h"
#include "model/engine/wire/eth_port.h"
#include "model/engine/wire/frame.h"
#include "model/engine/wire/link_port.h"

enum { LOG_FRAME_MAX = 14, LOG_IB_MTU_MIN = 7 };

unsigned requester_mlx_log_mtu(const struct qpc *qpc)
{
	return qpc_has_frames(qpc) ? (unsigned)LOG_FRAME_MAX
				   : (unsigned)LOG_IB_MTU_MIN + (unsigned)IB_MTU_4096;
}

static unsigned entries_of(const struct send_step *s, unsigned bytes)
{
	return qpc_has_frames(s->qpc)
		       ? wqe_entries(bytes, (unsigned)WQE_UNIT << qpc_get_log_sq_stride(s->qpc))
		       : 1;
}

bool requester_entries_fit(const struct send_step *s)
{
	return (uint16_t)(s->send->next - s->send->oldest) + entries_of(s, s->r.len) <= SEND_WINDOW;
}

void requester_entries_take(struct send_step *s, unsigned bytes)
{
	for (unsigned n = entries_of(s, bytes); n > 1; n--)
		*send_entry(s->send, s->send->next++) = (struct send_wqe){
			.first_psn = s->send->send_psn, .flags = SEND_LOCAL | SEND_REST};
}

/* The device sends a frame back to its own host only when the work request has a copy of its
 * address (Linux mlx4_en sets it for that purpose alone). */
static void loopback_choose(const struct send_step *s, const struct eth_port *eth,
			    struct packet *pkt)
{
	uint8_t dmac[MAC_BYTES];

	mac_store(dmac, (uint64_t)wqe_ctrl_get_dmac_hi(s->r.ctrl) << 32 |
				wqe_ctrl_get_dmac_lo(s->r.ctrl));
	pkt->loopback = wqe_ctrl_get_loopback(s->r.ctrl) || eth_port_has_mac(eth, dmac);
	pkt->cable_only = !pkt->loopback && !mac_is_group(dmac);
}

int requester_frame_build(const struct send_step *s, struct packet *pkt, uint32_t bytes)
{
	const struct eth_port *eth = link_port_config(s->hca, s->send->port)->eth;
	const unsigned priority = qp_path_get_feup(qpc_primary_const(s->qpc))
					  ? qp_path_get_priority(qpc_primary_const(s->qpc))
					  : 0;

	if (!eth)
		return VERDICT_SEND_WQE;
	if (bytes < sizeof(struct eth_hdr) || bytes > ETHERNET_MAX - FCS_BYTES)
		return VERDICT_SEND_LENGTH;
	pkt->ethernet = true;
	pkt->op = &frame_op;
	pkt->port = s->send->port;
	pkt->vlan = wqe_ctrl_get_insert_vlan(s->r.ctrl) ? (uint16_t)wqe_ctrl_get_vlan(s->r.ctrl)
							: VLAN_NONE;
	pkt->vl = pkt->vlan == VLAN_NONE ? (uint8_t)priority : vlan_priority(pkt->vlan);
	pkt->mark = (wqe_ctrl_get_ip_csum(s->r.ctrl) ? FRAME_IP_CHECKSUM : 0) |
		    (wqe_ctrl_get_tcp_udp_csum(s->r.ctrl) ? FRAME_L4_CHECKSUM : 0);
	loopback_choose(s, eth, pkt);
	pkt->psn = s->send->send_psn;
	pkt->wire = packet_payload(pkt);
	pkt->payload_len = (uint16_t)bytes;
	pkt->len = (uint16_t)(bytes + FCS_BYTES);
	return 0;
}
