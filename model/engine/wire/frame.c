/* SPDX-License-Identifier: Apache-2.0 */
/* See frame.h. */
#include "model/engine/wire/frame.h"

#include "model/interface/bth_ops.h"

#include <string.h>

const struct bth_op frame_op = {
	.name = "frame",
	.service = QP_ST_MLX,
	.props = BTH_P_SEND | BTH_P_ONLY | BTH_NEEDS_RQ | BTH_COMPLETES | BTH_DATAGRAM,
};

enum {
	MACS = 2 * MAC_BYTES,
	TCP_CHECKSUM_AT = 16,
	UDP_CHECKSUM_AT = 6,
	TCP_BYTES = 20,
	IPV4_ADDRESSES_AT = 12,
	IPV6_ADDRESSES_AT = 8,
	IPV6_ADDRESS = 16,
	IPV6_NEXT_AT = 6,
	EXTENSION_UNIT = 8,
	HASHED_MAX = 2 * IPV6_ADDRESS + 4, /* two addresses, two ports */
};

/* --- finding the parts --- */

static void find_l4(const uint8_t *frame, unsigned at, unsigned end, struct frame_parts *parts)
{
	const unsigned least = parts->protocol == IP_PROTOCOL_TCP
				       ? (unsigned)TCP_BYTES
				       : (unsigned)sizeof(struct udp_hdr);

	if ((parts->protocol != IP_PROTOCOL_TCP && parts->protocol != IP_PROTOCOL_UDP) ||
	    parts->fragment || at + least > end)
		return;
	parts->l4 = at;
	parts->l4_len = end - at;
}

static void find_ipv4(const uint8_t *frame, unsigned at, unsigned len, struct frame_parts *parts)
{
	const struct ipv4_hdr *ip = (const void *)(frame + at);
	unsigned header, total;

	if (at + IPV4_BYTES > len || ipv4_hdr_get_version(ip) != IPV4_VERSION)
		return;
	header = ipv4_hdr_get_ihl(ip) * 4;
	total = ipv4_hdr_get_total_len(ip);
	if (header < IPV4_BYTES || total < header || at + total > len)
		return;
	parts->l3 = at;
	parts->ip_version = IPV4_VERSION;
	parts->options = header > IPV4_BYTES;
	parts->protocol = (uint8_t)ipv4_hdr_get_protocol(ip);
	parts->fragment = ipv4_hdr_get_fragment(ip) != 0;
	find_l4(frame, at + header, at + total, parts);
}

/* Whether this header of IPv6 has another one behind it, whose place depends on its length. */
static bool is_extension(uint8_t next)
{
	enum { HOP_BY_HOP = 0, ROUTING = 43, DESTINATION = 60 };

	return next == HOP_BY_HOP || next == ROUTING || next == DESTINATION;
}

static void find_ipv6(const uint8_t *frame, unsigned at, unsigned len, struct frame_parts *parts)
{
	enum { FRAGMENT = 44, PAY_LEN_AT = 4 };
	unsigned next = at + IPV6_BYTES, end;

	if (next > len || frame[at] >> 4 != IPV6_VERSION)
		return;
	end = next + be16_load(frame + at + PAY_LEN_AT);
	if (end > len)
		return;
	parts->l3 = at;
	parts->ip_version = IPV6_VERSION;
	parts->protocol = frame[at + IPV6_NEXT_AT];
	while (is_extension(parts->protocol) && next + EXTENSION_UNIT <= end) {
		parts->protocol = frame[next];
		next += (frame[next + 1] + 1u) * EXTENSION_UNIT;
	}
	parts->fragment = parts->protocol == FRAGMENT;
	if (next <= end)
		find_l4(frame, next, end, parts);
}

static bool is_vlan(unsigned type)
{
	return type == ETH_TYPE_VLAN || type == ETH_TYPE_SERVICE_VLAN;
}

void frame_find(const uint8_t *frame, unsigned len, struct frame_parts *parts)
{
	unsigned at = MACS;

	memset(parts, 0, sizeof(*parts));
	while (at + sizeof(struct vlan_tag) + 2 <= len && is_vlan(be16_load(frame + at)))
		at += (unsigned)sizeof(struct vlan_tag);
	if (at + 2 > len)
		return;
	if (be16_load(frame + at) == ETH_TYPE_IPV4)
		find_ipv4(frame, at + 2, len, parts);
	else if (be16_load(frame + at) == ETH_TYPE_IPV6)
		find_ipv6(frame, at + 2, len, parts);
}

/* --- checksums --- */

/* TCP and UDP add up the addresses, the protocol and the length, too. */
static uint32_t l4_sum(const uint8_t *frame, const struct frame_parts *parts)
{
	const bool v4 = parts->ip_version == IPV4_VERSION;
	uint32_t sum = parts->protocol + parts->l4_len;

	sum = ip_sum(frame + parts->l3 + (v4 ? IPV4_ADDRESSES_AT : IPV6_ADDRESSES_AT),
		     v4 ? 2 * sizeof(uint32_t) : 2 * (size_t)IPV6_ADDRESS, sum);
	return ip_sum(frame + parts->l4, parts->l4_len, sum);
}

static uint8_t *l4_checksum(uint8_t *frame, const struct frame_parts *parts)
{
	return frame + parts->l4 +
	       (parts->protocol == IP_PROTOCOL_TCP ? TCP_CHECKSUM_AT : UDP_CHECKSUM_AT);
}

void frame_checksums_put(uint8_t *frame, unsigned len, unsigned offloads)
{
	struct frame_parts parts;

	frame_find(frame, len, &parts);
	if (offloads & FRAME_IP_CHECKSUM && parts.ip_version == IPV4_VERSION) {
		struct ipv4_hdr *ip = (void *)(frame + parts.l3);

		ipv4_hdr_set_checksum(ip, 0);
		ipv4_hdr_set_checksum(ip, ~ip_sum(frame + parts.l3, ipv4_hdr_get_ihl(ip) * 4u, 0));
	}
	if (offloads & FRAME_L4_CHECKSUM && parts.l4) {
		uint8_t *at = l4_checksum(frame, &parts);
		uint16_t checksum;

		be16_store(at, 0);
		checksum = (uint16_t)~l4_sum(frame, &parts);
		be16_store(at, checksum || parts.protocol == IP_PROTOCOL_TCP ? checksum : 0xffff);
	}
}

unsigned frame_checksums_look(const uint8_t *frame, unsigned len, uint16_t *checksum)
{
	struct frame_parts parts;
	unsigned status = 0;
	bool none;

	*checksum = 0;
	frame_find(frame, len, &parts);
	if (parts.ip_version == IPV4_VERSION) {
		const unsigned ihl = ipv4_hdr_get_ihl((const void *)(frame + parts.l3));

		status = parts.options ? CQE_CSUM_IPV4_OPTIONS : CQE_CSUM_IPV4;
		status |= parts.fragment ? CQE_CSUM_IPV4_FRAGMENT : 0;
		if (ip_sum(frame + parts.l3, ihl * 4u, 0) == 0xffff)
			status |= CQE_CSUM_IP_OK;
	} else if (parts.ip_version == IPV6_VERSION) {
		status = CQE_CSUM_IPV6 | CQE_CSUM_IP_OK;
	}
	if (!parts.l4)
		return status;
	none = parts.protocol == IP_PROTOCOL_UDP && !be16_load(frame + parts.l4 + UDP_CHECKSUM_AT);
	if (none) /* a sender of UDP may leave it out; then nothing is known */
		return status;
	status |= parts.protocol == IP_PROTOCOL_TCP ? CQE_CSUM_TCP : CQE_CSUM_UDP;
	*checksum = (uint16_t)l4_sum(frame, &parts);
	return status;
}

/* --- VLAN tags --- */

uint16_t frame_vlan(const uint8_t *frame, unsigned len)
{
	if (len < MACS + sizeof(struct vlan_tag) + 2 || be16_load(frame + MACS) != ETH_TYPE_VLAN)
		return VLAN_NONE;
	return (uint16_t)vlan_tag_get_tci((const void *)(frame + MACS));
}

void frame_finish(struct packet *pkt)
{
	uint8_t *frame = packet_payload(pkt);
	unsigned len = pkt->payload_len;

	if (pkt->mark)
		frame_checksums_put(frame, len, pkt->mark);
	if (pkt->vlan != VLAN_NONE) {
		struct vlan_tag *tag;

		memmove(frame - sizeof(*tag), frame, MACS);
		frame -= sizeof(*tag);
		len += (unsigned)sizeof(*tag);
		tag = (void *)(frame + MACS);
		vlan_tag_set_tpid(tag, ETH_TYPE_VLAN);
		vlan_tag_set_tci(tag, pkt->vlan);
	}
	for (; len < ETHERNET_MIN - FCS_BYTES; len++)
		frame[len] = 0;
	pkt->wire = frame;
	pkt->len = (uint16_t)(len + FCS_BYTES);
}

void frame_vlan_strip(struct packet *pkt)
{
	memmove(pkt->wire + sizeof(struct vlan_tag), pkt->wire, MACS);
	pkt->wire += sizeof(struct vlan_tag);
	pkt->payload_len -= (uint16_t)sizeof(struct vlan_tag);
}

/* --- the hash --- */

/* The bytes that are hashed: source and destination address, then the ports. Returns how many. */
static unsigned hashed_bytes(const uint8_t *frame, const struct frame_parts *parts, unsigned kinds,
			     uint8_t bytes[HASHED_MAX])
{
	const bool v4 = parts->ip_version == IPV4_VERSION;
	const bool tcp = parts->l4 && parts->protocol == IP_PROTOCOL_TCP;
	const bool udp = parts->l4 && parts->protocol == IP_PROTOCOL_UDP;
	const unsigned n = v4 ? 2 * (unsigned)sizeof(uint32_t) : 2 * (unsigned)IPV6_ADDRESS;
	const bool ports = (tcp && kinds & (v4 ? RSS_TCP_IPV4 : RSS_TCP_IPV6)) ||
			   (udp && kinds & (v4 ? RSS_UDP_IPV4 : RSS_UDP_IPV6));

	if (!parts->ip_version || (!ports && !(kinds & (v4 ? RSS_IPV4 : RSS_IPV6))))
		return 0;
	memcpy(bytes, frame + parts->l3 + (v4 ? IPV4_ADDRESSES_AT : IPV6_ADDRESSES_AT), n);
	if (!ports)
		return n;
	memcpy(bytes + n, frame + parts->l4, 2 * sizeof(uint16_t));
	return n + 2 * (unsigned)sizeof(uint16_t);
}

/* For each bit of the input that is set, the 32 bits of the key that begin there. */
static uint32_t toeplitz(const uint8_t *bytes, unsigned n, const uint8_t *key)
{
	uint64_t window = be64_load(key);
	uint32_t hash = 0;

	for (unsigned i = 0; i < n; i++) {
		for (unsigned bit = 0; bit < 8; bit++, window <<= 1)
			if (bytes[i] & 0x80 >> bit)
				hash ^= (uint32_t)(window >> 32);
		window |= key[(i + 8) % rss_context_key_size];
	}
	return hash;
}

static uint32_t xor_of(const uint8_t *bytes, unsigned n)
{
	uint8_t hash = 0;

	for (unsigned i = 0; i < n; i++)
		hash ^= bytes[i];
	return hash;
}

uint32_t frame_hash(const uint8_t *frame, unsigned len, const struct rss_context *rss)
{
	uint8_t bytes[HASHED_MAX];
	struct frame_parts parts;
	unsigned n;

	frame_find(frame, len, &parts);
	n = hashed_bytes(frame, &parts, rss_context_get_kinds(rss), bytes);
	if (rss_context_get_function(rss) == RSS_TOEPLITZ)
		return toeplitz(bytes, n, rss_context_key_cptr(rss));
	return xor_of(bytes, n);
}
