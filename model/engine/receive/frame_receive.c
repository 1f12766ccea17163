/* SPDX-License-Identifier: Apache-2.0 */
/* See frame_receive.h. */
#include "model/engine/receive/frame_receive.h"

#include "model/engine/base/engine.h"
#include "model/engine/receive/receive_unit.h"
#include "model/engine/wire/eth_port.h"
#include "model/engine/wire/frame.h"
#include "model/engine/wire/link_port.h"
#include "model/interface/contexts.h"

static bool vlan_passes(const struct eth_port *eth, uint16_t tci)
{
	const unsigned vid = tci & VLAN_MASK;

	/* a tag with VLAN 0 has a priority only */
	return tci == VLAN_NONE || !vid || eth->vlan_filter[vid / 32] >> vid % 32 & 1;
}

/* A list that has run over lets all groups pass. */
static bool group_passes(const struct eth_port *eth, uint64_t mac)
{
	const unsigned mode = eth->multicast >> FW_ETH_MCAST_SHIFT;

	if (mode == FW_ETH_MCAST_NONE)
		return false;
	if (mode != FW_ETH_MCAST_LIST || eth->n_groups > ETH_TABLE_SIZE)
		return true;
	for (unsigned i = 0; i < eth->n_groups; i++)
		if (eth->groups[i] == mac)
			return true;
	return false;
}

/* The QP that gets a frame to this address; 0: none. */
static uint32_t qpn_of(const struct eth_port *eth, const uint8_t dmac[MAC_BYTES])
{
	if (mac_is_group(dmac) && group_passes(eth, mac_load(dmac)))
		return eth->multicast & QPN_MASK;
	if (!mac_is_group(dmac) && eth_port_has_mac(eth, dmac))
		return eth->rx_qpn;
	return eth->promisc & FW_ETH_PROMISC_ON ? eth->promisc & QPN_MASK : 0;
}

void frame_receive(struct hca *hca, struct packet *pkt)
{
	struct eth_port *eth = link_port_config(hca, pkt->port)->eth;

	pkt->op = &frame_op;
	pkt->payload_off = pkt->l3_off = pkt->bth_off = 0;
	pkt->payload_len = pkt->len - FCS_BYTES;
	pkt->vlan = frame_vlan(pkt->wire, pkt->payload_len);
	pkt->flow_hash = 0;
	pkt->spread = false;
	pkt->qpn = vlan_passes(eth, pkt->vlan) ? qpn_of(eth, pkt->wire) : 0;
	if (!pkt->qpn) {
		eth->counters[FW_EC_RX_FILTERED]++;
		packet_drop(hca, pkt, "a filter of the port keeps the frame out");
		return;
	}
	receive_unit_take(hca, pkt);
}
