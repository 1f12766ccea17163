/* SPDX-License-Identifier: Apache-2.0 */
/* See ethernet.h. */
#include "model/interface/ethernet.h"

#include "model/interface/wire.h"

#include <string.h>

enum {
	GID_SIZE = 16,
	GID_IPV4_AT = 12,
	GID_MULTICAST_BYTE = 0xff,
	IPV4_GROUP = 0xe, /* first nibble of a group's address */
	EUI64_LOCAL = 2,  /* this bit of a MAC's first byte is inverted in an EUI-64 */
};

unsigned roce_l3_bytes(enum roce_kind kind)
{
	static const uint8_t bytes[ROCE_KINDS] = {
		[ROCE_V1] = GRH_BYTES,
		[ROCE_V2_IPV4] = IPV4_BYTES + sizeof(struct udp_hdr),
		[ROCE_V2_IPV6] = GRH_BYTES + sizeof(struct udp_hdr),
	};

	return bytes[kind];
}

/* What can be read of a frame, from the header behind Ethernet and VLAN on. */
struct l3_bytes {
	const uint8_t *at;
	size_t kept; /* bytes that are there */
	size_t room; /* bytes that the frame had, without FCS */
};

static const char *find_grh(const struct l3_bytes *l3, struct roce_places *at)
{
	const struct grh *grh = (const struct grh *)(const void *)l3->at;

	if (l3->kept < GRH_BYTES)
		return "too short for a GRH";
	if (grh_get_ip_ver(grh) != GRH_IP_VER)
		return "GRH IPVer";
	if (grh_get_next_hdr(grh) != GRH_NEXT_BTH)
		return "GRH NxtHdr";
	if (grh_get_pay_len(grh) + (size_t)GRH_BYTES > l3->room)
		return "GRH PayLen";
	at->end = (uint16_t)(at->l3_off + GRH_BYTES + grh_get_pay_len(grh));
	return NULL;
}

/* The UDP header stands `before` bytes behind the beginning, and `len` bytes are from there on, as the
 * IP header says. */
static const char *find_udp(const struct l3_bytes *l3, size_t before, size_t len, unsigned udp_port,
			    enum roce_kind kind, struct roce_places *at)
{
	const struct udp_hdr *udp = (const struct udp_hdr *)(const void *)(l3->at + before);

	if (before + len > l3->room)
		return "IP length";
	if (len < sizeof(*udp) || l3->kept < before + sizeof(*udp))
		return "too short for a UDP header";
	if (!udp_port || udp_hdr_get_dport(udp) != udp_port)
		return "another UDP port";
	at->kind = kind;
	at->end = (uint16_t)(at->l3_off + before + len);
	return udp_hdr_get_len(udp) == len ? NULL : "UDP length";
}

/* RoCE has no options and no fragments (A17.4.5.1). */
static const char *find_ipv4(const struct l3_bytes *l3, unsigned udp_port, struct roce_places *at)
{
	const struct ipv4_hdr *ip = (const struct ipv4_hdr *)(const void *)l3->at;

	if (l3->kept < IPV4_BYTES || ipv4_hdr_get_version(ip) != IPV4_VERSION ||
	    ipv4_hdr_get_total_len(ip) < IPV4_BYTES)
		return "no IPv4 header";
	if (ipv4_hdr_get_protocol(ip) != IP_PROTOCOL_UDP || ipv4_hdr_get_fragment(ip) ||
	    ipv4_hdr_get_ihl(ip) * 4u != IPV4_BYTES)
		return "no plain UDP";
	return find_udp(l3, IPV4_BYTES, ipv4_hdr_get_total_len(ip) - (size_t)IPV4_BYTES, udp_port,
			ROCE_V2_IPV4, at);
}

static const char *find_ipv6(const struct l3_bytes *l3, unsigned udp_port, struct roce_places *at)
{
	const struct grh *ip = (const struct grh *)(const void *)l3->at;

	if (l3->kept < GRH_BYTES || grh_get_ip_ver(ip) != GRH_IP_VER)
		return "no IPv6 header";
	if (grh_get_next_hdr(ip) != IP_PROTOCOL_UDP)
		return "no plain UDP";
	return find_udp(l3, GRH_BYTES, grh_get_pay_len(ip), udp_port, ROCE_V2_IPV6, at);
}

static const char *find_l3(const struct l3_bytes *l3, unsigned type, unsigned udp_port,
			   struct roce_places *at)
{
	switch (type) {
	case ETH_TYPE_ROCE:
		at->kind = ROCE_V1;
		return find_grh(l3, at);
	case ETH_TYPE_IPV4:
		return find_ipv4(l3, udp_port, at);
	case ETH_TYPE_IPV6:
		return find_ipv6(l3, udp_port, at);
	default:
		return "another type of frame";
	}
}

const char *roce_find(const uint8_t *frame, size_t kept, size_t len, unsigned udp_port,
		      struct roce_places *at)
{
	const struct eth_hdr *eth = (const struct eth_hdr *)(const void *)frame;
	struct l3_bytes l3;
	unsigned type;
	const char *why;

	*at = (struct roce_places){.vlan = VLAN_NONE, .l3_off = sizeof(*eth)};
	if (kept < sizeof(*eth) + sizeof(struct vlan_tag) ||
	    len < sizeof(*eth) + sizeof(struct vlan_tag) + FCS_BYTES)
		return "short";
	type = eth_hdr_get_type(eth);
	if (type == ETH_TYPE_VLAN) {
		const struct vlan_tag *tag =
			(const struct vlan_tag *)(const void *)(frame + 2 * MAC_BYTES);

		at->vlan = (uint16_t)vlan_tag_get_tci(tag);
		at->l3_off += sizeof(*tag);
		type = be16_load(frame + at->l3_off - sizeof(uint16_t));
	}
	l3 = (struct l3_bytes){frame + at->l3_off, kept - at->l3_off, len - FCS_BYTES - at->l3_off};
	why = find_l3(&l3, type, udp_port, at);
	if (why)
		return why;
	at->bth_off = (uint16_t)(at->l3_off + roce_l3_bytes(at->kind));
	return at->end < at->bth_off + BTH_BYTES + ICRC_BYTES ||
			       kept < at->bth_off + (size_t)BTH_BYTES
		       ? "too short for a BTH"
		       : NULL;
}

static void gid_get(const uint8_t *frame, const struct roce_places *at, bool source,
		    uint8_t gid[GID_SIZE])
{
	const uint8_t *l3 = frame + at->l3_off;

	if (at->kind != ROCE_V2_IPV4) {
		memcpy(gid, l3 + (source ? 8 : 24), GID_SIZE);
		return;
	}
	memset(gid, 0, GID_SIZE);
	gid[10] = gid[11] = 0xff;
	memcpy(gid + GID_IPV4_AT, l3 + (source ? 12 : 16), 4);
}

void roce_sgid(const uint8_t *frame, const struct roce_places *at, uint8_t gid[GID_SIZE])
{
	gid_get(frame, at, true, gid);
}

void roce_dgid(const uint8_t *frame, const struct roce_places *at, uint8_t gid[GID_SIZE])
{
	gid_get(frame, at, false, gid);
}

bool gid_is_ipv4(const uint8_t gid[GID_SIZE])
{
	return !be64_load(gid) && be32_load(gid + 8) == 0xffff;
}

bool gid_is_multicast(const uint8_t gid[GID_SIZE])
{
	return gid[0] == GID_MULTICAST_BYTE ||
	       (gid_is_ipv4(gid) && gid[GID_IPV4_AT] >> 4 == IPV4_GROUP);
}

void gid_multicast_mac(const uint8_t gid[GID_SIZE], uint8_t mac[MAC_BYTES])
{
	if (gid_is_ipv4(gid)) {
		mac_store(mac,
			  UINT64_C(0x01005e000000) | (be32_load(gid + GID_IPV4_AT) & 0x7fffff));
		return;
	}
	mac_store(mac, UINT64_C(0x333300000000) | be32_load(gid + GID_IPV4_AT));
}

void gid_from_mac(const uint8_t mac[MAC_BYTES], uint16_t vlan, uint8_t gid[GID_SIZE])
{
	be64_store(gid, UINT64_C(0xfe80000000000000));
	memcpy(gid + 8, mac, 3);
	memcpy(gid + 13, mac + 3, 3);
	if (vlan == VLAN_NONE) {
		gid[11] = 0xff;
		gid[12] = 0xfe;
	} else {
		be16_store(gid + 11, vlan);
	}
	gid[8] ^= EUI64_LOCAL;
}

void gid_to_mac(const uint8_t gid[GID_SIZE], uint8_t mac[MAC_BYTES])
{
	memcpy(mac, gid + 8, 3);
	memcpy(mac + 3, gid + 13, 3);
	mac[0] ^= EUI64_LOCAL;
}

bool gid_is_link_local(const uint8_t gid[GID_SIZE])
{
	return be64_load(gid) == UINT64_C(0xfe80000000000000);
}
