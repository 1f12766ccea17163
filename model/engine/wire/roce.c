/* SPDX-License-Identifier: Apache-2.0 */
/* See roce.h. */
#include "model/engine/wire/roce.h"

#include "model/engine/base/engine.h"
#include "model/engine/wire/eth_port.h"
#include "model/engine/wire/link_port.h"
#include "model/interface/bth_ops.h"
#include "model/interface/contexts.h"

#include <string.h>

enum { GID_SIZE = 16, GID_IPV4_AT = 12 };

/* --- building --- */

unsigned roce_front_bytes(const struct packet_path *path)
{
	return sizeof(struct eth_hdr) +
	       (path->vlan == VLAN_NONE ? 0u : (unsigned)sizeof(struct vlan_tag)) +
	       roce_l3_bytes(path->roce);
}

enum roce_kind roce_kind_of(const struct eth_port *eth, unsigned sgid_index, unsigned mode)
{
	if (mode == QP_ROCE_V1)
		return ROCE_V1;
	return gid_is_ipv4(eth->gids[sgid_index % ETH_TABLE_SIZE].gid) ? ROCE_V2_IPV4
								       : ROCE_V2_IPV6;
}

static void put_ethernet(const struct eth_port *eth, struct packet *pkt,
			 const struct packet_path *path)
{
	static const uint16_t types[ROCE_KINDS] = {[ROCE_V1] = ETH_TYPE_ROCE,
						   [ROCE_V2_IPV4] = ETH_TYPE_IPV4,
						   [ROCE_V2_IPV6] = ETH_TYPE_IPV6};
	struct eth_hdr *hdr = (struct eth_hdr *)(void *)pkt->wire;

	memcpy(eth_hdr_dmac_ptr(hdr), path->dmac, MAC_BYTES);
	mac_store(eth_hdr_smac_ptr(hdr), eth->macs[path->smac_index % ETH_TABLE_SIZE]);
	if (path->vlan != VLAN_NONE) {
		struct vlan_tag *tag = (struct vlan_tag *)(void *)(pkt->wire + 2 * MAC_BYTES);

		vlan_tag_set_tpid(tag, ETH_TYPE_VLAN);
		vlan_tag_set_tci(tag, path->vlan);
	}
	be16_store(pkt->wire + pkt->l3_off - sizeof(uint16_t), types[path->roce]);
}

static void put_ipv6(uint8_t *l3, const struct packet_path *path, const uint8_t *sgid, unsigned len)
{
	struct grh *grh = (struct grh *)(void *)l3;

	memset(grh, 0, sizeof(*grh));
	grh_set_ip_ver(grh, GRH_IP_VER);
	grh_set_tclass(grh, path->traffic_class);
	grh_set_flow_label(grh, path->flow_label);
	grh_set_pay_len(grh, len);
	grh_set_next_hdr(grh, path->roce == ROCE_V1 ? GRH_NEXT_BTH : IP_PROTOCOL_UDP);
	grh_set_hop_limit(grh, path->hop_limit);
	memcpy(grh_sgid_ptr(grh), sgid, GID_SIZE);
	memcpy(grh_dgid_ptr(grh), path->dgid, GID_SIZE);
}

static void put_ipv4(uint8_t *l3, const struct packet_path *path, const uint8_t *sgid, unsigned len)
{
	struct ipv4_hdr *ip = (struct ipv4_hdr *)(void *)l3;

	memset(ip, 0, sizeof(*ip));
	ipv4_hdr_set_version(ip, IPV4_VERSION);
	ipv4_hdr_set_ihl(ip, IPV4_BYTES / 4);
	ipv4_hdr_set_tos(ip, path->traffic_class);
	ipv4_hdr_set_total_len(ip, IPV4_BYTES + len);
	ipv4_hdr_set_df(ip, 1);
	ipv4_hdr_set_ttl(ip, path->hop_limit);
	ipv4_hdr_set_protocol(ip, IP_PROTOCOL_UDP);
	ipv4_hdr_set_saddr(ip, be32_load(sgid + GID_IPV4_AT));
	ipv4_hdr_set_daddr(ip, be32_load(path->dgid + GID_IPV4_AT));
	ipv4_hdr_set_checksum(ip, ~ip_sum(l3, IPV4_BYTES, 0));
}

/* The checksum is 0. That is legal over IPv6, too, for a tunnel such as RoCE (A17.4.5.2). */
static void put_udp(uint8_t *at, const struct eth_port *eth, const struct packet_path *path,
		    unsigned len)
{
	struct udp_hdr *udp = (struct udp_hdr *)(void *)at;

	udp_hdr_set_sport(udp, path->udp_sport);
	udp_hdr_set_dport(udp, eth->udp_port);
	udp_hdr_set_len(udp, len);
	udp_hdr_set_checksum(udp, 0);
}

void roce_front_put(struct hca *hca, struct packet *pkt, const struct packet_path *path)
{
	const struct eth_port *eth = link_port_config(hca, path->port)->eth;
	const uint8_t *sgid = eth->gids[path->sgid_index % ETH_TABLE_SIZE].gid;
	const unsigned l4 = pkt->icrc_off + (unsigned)ICRC_BYTES - pkt->bth_off;
	uint8_t *l3 = pkt->wire + pkt->l3_off;

	put_ethernet(eth, pkt, path);
	if (path->roce == ROCE_V1) {
		put_ipv6(l3, path, sgid, l4);
		return;
	}
	if (path->roce == ROCE_V2_IPV6)
		put_ipv6(l3, path, sgid, (unsigned)sizeof(struct udp_hdr) + l4);
	else
		put_ipv4(l3, path, sgid, (unsigned)sizeof(struct udp_hdr) + l4);
	put_udp(pkt->wire + pkt->bth_off - sizeof(struct udp_hdr), eth, path,
		(unsigned)sizeof(struct udp_hdr) + l4);
}

/* --- taking apart --- */

const char *roce_locate(struct packet *pkt, const struct eth_port *eth)
{
	struct roce_places at;
	const char *why = roce_find(pkt->wire, pkt->len, pkt->len, eth->udp_port, &at);

	pkt->roce = (uint8_t)at.kind;
	pkt->vlan = at.vlan;
	if (why)
		return why;
	pkt->l3_off = at.l3_off;
	pkt->bth_off = at.bth_off;
	pkt->icrc_off = (uint16_t)(at.end - ICRC_BYTES);
	return NULL;
}

struct roce_places roce_places_of(const struct packet *pkt)
{
	return (struct roce_places){.kind = (enum roce_kind)pkt->roce,
				    .vlan = pkt->vlan,
				    .l3_off = pkt->l3_off,
				    .bth_off = pkt->bth_off,
				    .end = (uint16_t)(pkt->icrc_off + ICRC_BYTES)};
}

void packet_sgid(const struct packet *pkt, uint8_t gid[GID_SIZE])
{
	const struct roce_places at = roce_places_of(pkt);

	roce_sgid(pkt->wire, &at, gid);
}

void packet_dgid(const struct packet *pkt, uint8_t gid[GID_SIZE])
{
	const struct roce_places at = roce_places_of(pkt);

	roce_dgid(pkt->wire, &at, gid);
}

static bool has_vlan(const struct eth_port *eth, unsigned vid)
{
	for (unsigned i = 0; i < ETH_TABLE_SIZE; i++)
		if (eth->vlans[i] >> 31 && (eth->vlans[i] & VLAN_MASK) == vid)
			return true;
	return false;
}

/* A tag with VLAN 0 has a priority only. A VLAN that is not in the table is not the port's
 * (assumption, as SET_PORT's VLAN table is the only place where RoCE's VLANs stand). */
const char *roce_check_address(struct hca *hca, const struct packet *pkt)
{
	const struct eth_port *eth = link_port_config(hca, pkt->port)->eth;
	const uint8_t *dmac = eth_hdr_dmac_cptr((const struct eth_hdr *)(const void *)pkt->wire);
	uint8_t dgid[GID_SIZE];
	bool multicast;

	packet_dgid(pkt, dgid);
	multicast = gid_is_multicast(dgid);
	if (pkt->qpn == 0)
		return "QP0 is not reachable over Ethernet";
	if (multicast != (pkt->qpn == QPN_MULTICAST))
		return "multicast GID and QP belong together";
	if (multicast && !bth_op_is(pkt->op, BTH_DATAGRAM))
		return "multicast is for datagrams";
	if (multicast != mac_is_group(dmac) || (!multicast && !eth_port_has_mac(eth, dmac)))
		return "the MAC is not this port's";
	if (pkt->vlan != VLAN_NONE && pkt->vlan & VLAN_MASK &&
	    !has_vlan(eth, pkt->vlan & VLAN_MASK))
		return "the VLAN is not this port's";
	if (!multicast && !eth_port_gid(eth, dgid, pkt->roce == ROCE_V1 ? 1 : 2))
		return "DGID is not this port's";
	return NULL;
}

/* --- frames whose headers the driver has written --- */

bool packet_build_frame(struct hca *hca, struct packet *pkt, unsigned port, const uint8_t *headers,
			unsigned headers_len, unsigned payload_len)
{
	const unsigned pad = -payload_len & 3, end = headers_len + payload_len + pad + ICRC_BYTES;

	pkt->ethernet = true;
	pkt->port = (uint8_t)port;
	pkt->wire = packet_payload(pkt) - headers_len;
	memcpy(pkt->wire, headers, headers_len);
	memset(packet_payload(pkt) + payload_len, 0, pad);
	pkt->len = (uint16_t)frame_length(end);
	memset(pkt->wire + end, 0, pkt->len - end);
	pkt->payload_off = (uint16_t)headers_len;
	pkt->payload_len = (uint16_t)payload_len;
	if (roce_locate(pkt, link_port_config(hca, port)->eth))
		return false;
	pkt->op = bth_op_find(pkt->wire[pkt->bth_off]);
	pkt->ext_off = pkt->bth_off + BTH_BYTES;
	pkt->vl = vlan_priority(pkt->vlan);
	pkt->qpn = bth_get_dqpn((const struct bth *)(const void *)(pkt->wire + pkt->bth_off));
	pkt->psn = bth_get_psn((const struct bth *)(const void *)(pkt->wire + pkt->bth_off));
	return pkt->icrc_off + (unsigned)ICRC_BYTES == end;
}
