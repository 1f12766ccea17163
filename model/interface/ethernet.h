/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ethernet frames, and the InfiniBand transport in them (RoCE).
 *
 *   RoCE v1:        Ethernet [VLAN] GRH  BTH [extended headers] payload pad ICRC FCS
 *   RoCE v2, IPv4:  Ethernet [VLAN] IPv4 UDP BTH [extended headers] payload pad ICRC FCS
 *   RoCE v2, IPv6:  Ethernet [VLAN] IPv6 UDP BTH [extended headers] payload pad ICRC FCS
 *
 * The IPv6 header has the layout of the GRH. A frame has at least 64 bytes with its FCS; zeros fill
 * it behind the ICRC. Sources: InfiniBand Architecture Specification vol. 1, annexes A16 (RoCE) and
 * A17 (RoCEv2); IEEE 802.3 and 802.1Q; RFC 791, 768, 8200.
 */
#ifndef MODEL_INTERFACE_ETHERNET_H
#define MODEL_INTERFACE_ETHERNET_H

#include "model/interface/field.h"

/* clang-format off */

#define ETH_HDR_FIELDS(F, A, B, U, E) \
	B(eth_hdr,     dmac, 0, 6,       "destination MAC") \
	B(eth_hdr,     smac, 6, 6,       "source MAC") \
	F(eth_hdr, 16, type, 12, 15, 0,  "what follows, enum eth_type")

/* Between the MACs and the type of what follows. */
#define VLAN_TAG_FIELDS(F, A, B, U, E) \
	F(vlan_tag, 16, tpid, 0, 15,  0, "0x8100") \
	F(vlan_tag, 16, pcp,  2, 15, 13, "priority") \
	F(vlan_tag, 16, dei,  2, 12, 12, "drop eligible") \
	F(vlan_tag, 16, vid,  2, 11,  0, "VLAN; 0: the tag has only a priority") \
	U(vlan_tag, 16, tci,  2, 15,  0, "priority and VLAN in one word")

#define IPV4_HDR_FIELDS(F, A, B, U, E) \
	F(ipv4_hdr,  8, version,   0,  7,  4, "4") \
	F(ipv4_hdr,  8, ihl,       0,  3,  0, "4-byte words of this header") \
	F(ipv4_hdr,  8, tos,       1,  7,  0, "type of service") \
	F(ipv4_hdr, 16, total_len, 2, 15,  0, "bytes from this header to the end of the ICRC") \
	F(ipv4_hdr, 16, id,        4, 15,  0, "identification") \
	F(ipv4_hdr, 16, df,        6, 14, 14, "do not fragment") \
	F(ipv4_hdr, 16, fragment,  6, 13,  0, "more fragments, offset") \
	F(ipv4_hdr,  8, ttl,       8,  7,  0, "hop limit") \
	F(ipv4_hdr,  8, protocol,  9,  7,  0, "17: UDP") \
	F(ipv4_hdr, 16, checksum, 10, 15,  0, "of this header") \
	F(ipv4_hdr, 32, saddr,    12, 31,  0, "source address") \
	F(ipv4_hdr, 32, daddr,    16, 31,  0, "destination address")

#define UDP_HDR_FIELDS(F, A, B, U, E) \
	F(udp_hdr, 16, sport,    0, 15, 0, "source port") \
	F(udp_hdr, 16, dport,    2, 15, 0, "destination port, 4791 for RoCE") \
	F(udp_hdr, 16, len,      4, 15, 0, "bytes from this header to the end of the ICRC") \
	F(udp_hdr, 16, checksum, 6, 15, 0, "0: none")

/* ARP for IPv4 over Ethernet, RFC 826. */
#define ARP_FIELDS(F, A, B, U, E) \
	F(arp, 16, hardware,  0, 15, 0, "1: Ethernet") \
	F(arp, 16, protocol,  2, 15, 0, "0x0800: IPv4") \
	F(arp,  8, mac_bytes, 4,  7, 0, "6") \
	F(arp,  8, ip_bytes,  5,  7, 0, "4") \
	F(arp, 16, op,        6, 15, 0, "enum arp_op") \
	B(arp,     sender_mac,  8, 6,   "MAC of the sender") \
	B(arp,     sender_ip,  14, 4,   "its address") \
	B(arp,     target_mac, 18, 6,   "0 in a request") \
	B(arp,     target_ip,  24, 4,   "address that is asked for, or that of the receiver")

/* Neighbour solicitation and advertisement behind an IPv6 header, with one option; RFC 4861, 4.3 and
 * 4.4. */
#define NEIGHBOUR_FIELDS(F, A, B, U, E) \
	F(neighbour,  8, type,      0,  7,  0, "enum icmpv6_type") \
	F(neighbour,  8, code,      1,  7,  0, "0") \
	F(neighbour, 16, checksum,  2, 15,  0, "with the pseudo header of IPv6") \
	F(neighbour,  8, solicited, 4,  6,  6, "advertisement: it answers a question") \
	F(neighbour,  8, override,  4,  5,  5, "advertisement: it replaces what is known") \
	B(neighbour,     target,    8, 16,     "address that is asked for, or told about") \
	F(neighbour,  8, option,   24,  7,  0, "enum neighbour_option") \
	F(neighbour,  8, option_units, 25, 7, 0, "its length in units of 8 bytes: 1") \
	B(neighbour,     mac,      26,  6,     "MAC of the sender")

/* MAC control, IEEE 802.3 annex 31B (pause) and 31D (priority flow control). */
#define ETH_PAUSE_FIELDS(F, A, B, U, E) \
	F(eth_pause, 16, opcode,  0, 15, 0, "enum eth_control") \
	F(eth_pause, 16, quanta,  2, 15, 0, "PAUSE: time to be silent, in units of 512 bit times") \
	U(eth_pause, 16, enabled, 2, 15, 0, "PFC: bit for each priority whose time counts") \
	B(eth_pause,     times,   4, 16,    "PFC: 8 times, 16 bits each")

#define ETHERNET_LAYOUTS(L) \
	L(eth_hdr,   14, ETH_HDR_FIELDS,   "Ethernet header") \
	L(vlan_tag,   4, VLAN_TAG_FIELDS,  "VLAN tag") \
	L(ipv4_hdr,  20, IPV4_HDR_FIELDS,  "IPv4 header") \
	L(udp_hdr,    8, UDP_HDR_FIELDS,   "UDP header") \
	L(arp,       28, ARP_FIELDS,       "ARP packet") \
	L(neighbour, 32, NEIGHBOUR_FIELDS, "neighbour discovery of IPv6") \
	L(eth_pause, 20, ETH_PAUSE_FIELDS, "MAC control frame")

#define ETH_TYPES(K) \
	K(ETH_TYPE, IPV4,    0x0800, "IPv4") \
	K(ETH_TYPE, ARP,     0x0806, "ARP") \
	K(ETH_TYPE, VLAN,    0x8100, "VLAN tag") \
	K(ETH_TYPE, IPV6,    0x86dd, "IPv6") \
	K(ETH_TYPE, SERVICE_VLAN, 0x88a8, "VLAN tag of a provider, 802.1ad") \
	K(ETH_TYPE, CONTROL, 0x8808, "MAC control") \
	K(ETH_TYPE, ROCE,    0x8915, "RoCE v1")

#define ETH_CONTROLS(K) \
	K(ETH_CONTROL, PAUSE, 0x0001, "pause") \
	K(ETH_CONTROL, PFC,   0x0101, "priority flow control")

#define ARP_OPS(K) \
	K(ARP_OP, REQUEST, 1, "who has the address") \
	K(ARP_OP, REPLY,   2, "the sender has its address")

#define ICMPV6_TYPES(K) \
	K(ICMPV6, SOLICITATION,  135, "who has the address") \
	K(ICMPV6, ADVERTISEMENT, 136, "the sender has the address")

#define NEIGHBOUR_OPTIONS(K) \
	K(NEIGHBOUR, SOURCE_MAC, 1, "in a solicitation") \
	K(NEIGHBOUR, TARGET_MAC, 2, "in an advertisement")

#define ETHERNET_CODES(T) \
	T(arp_op,      ARP_OPS) \
	T(icmpv6_type, ICMPV6_TYPES) \
	T(neighbour_option, NEIGHBOUR_OPTIONS) \
	T(eth_type,    ETH_TYPES) \
	T(eth_control, ETH_CONTROLS)

/* clang-format on */

ETHERNET_LAYOUTS(LAYOUT_DEFINE)
ETHERNET_CODES(CODES_DEFINE)

enum ethernet_facts {
	MAC_BYTES = 6,
	FCS_BYTES = 4,
	ETHERNET_MIN = 64, /* with FCS */
	/* Most bytes behind the Ethernet header, as ConnectX-3's firmware offers it (QUERY_PORT). */
	ETHERNET_PAYLOAD = 9600,
	ETHERNET_MAX = 9618, /* longest frame, with FCS but without VLAN tags */
	ETH_PREAMBLE = 8,    /* with the start delimiter */
	ETH_GAP = 12,        /* least idle bytes between frames */
	ETH_PRIORITIES = 8,
	ETH_QUANTUM_BITS = 512,
	IPV4_BYTES = 20,
	IPV4_VERSION = 4,
	IPV6_BYTES = 40,
	IPV6_VERSION = 6,
	IP_PROTOCOL_TCP = 6,
	IP_PROTOCOL_UDP = 17,
	IP_PROTOCOL_ICMPV6 = 58,
	ARP_ETHERNET = 1,
	NEIGHBOUR_HOPS = 255, /* RFC 4861: such packets have not come through a router */
	ROCE_UDP_PORT = 4791,
	ROCE_UDP_SPORT_BASE = 0xc000, /* A17.9.3: source ports of RoCE are 0xc000 and above */
	VLAN_MASK = 0xfff,
	VLAN_PRIORITY_SHIFT = 13,
	VLAN_NONE = 0xffff, /* in place of a tag's last two bytes: no tag */
};

/* What carries the BTH of a packet in an Ethernet frame. */
enum roce_kind {
	ROCE_NONE, /* no RoCE: InfiniBand, or another frame */
	ROCE_V1,
	ROCE_V2_IPV4,
	ROCE_V2_IPV6,
	ROCE_KINDS,
};

/* Where the parts of a RoCE packet stand; offsets from the first byte of the frame. */
struct roce_places {
	enum roce_kind kind;
	uint16_t vlan;   /* priority and VLAN, or VLAN_NONE */
	uint16_t l3_off; /* GRH or IP header */
	uint16_t bth_off;
	uint16_t end; /* of the ICRC; padding and FCS may follow */
};

/* The UDP source port of a connection that names none: both QP numbers folded, so that the flows of
 * a host differ (assumption, after Linux's rdma_calc_flow_label). */
static inline uint16_t roce_source_port(uint32_t qpn, uint32_t peer)
{
	const uint64_t v = (uint64_t)qpn * peer;

	return (uint16_t)(ROCE_UDP_SPORT_BASE | ((v ^ v >> 20 ^ v >> 40) & 0x3fff));
}

/* Bytes of GRH, or of IP and UDP header. */
unsigned roce_l3_bytes(enum roce_kind kind);

/*
 * Finds the parts of a frame of `len` bytes with FCS, of which the first `kept` are there. NULL: it is a RoCE packet, and *at is set;
 * there are a whole BTH and an ICRC. Otherwise a text for the log, and at->kind says whether the
 * frame was meant to be RoCE (a wrong length in a header) or is something else (ROCE_NONE).
 * `udp_port` is the destination port of RoCE v2; 0: no UDP is RoCE.
 */
const char *roce_find(const uint8_t *frame, size_t kept, size_t len, unsigned udp_port,
		      struct roce_places *at);

/* The GIDs of a packet. An IPv4 address is the GID ::ffff:a.b.c.d. */
void roce_sgid(const uint8_t *frame, const struct roce_places *at, uint8_t gid[16]);
void roce_dgid(const uint8_t *frame, const struct roce_places *at, uint8_t gid[16]);

/* ::ffff:a.b.c.d */
bool gid_is_ipv4(const uint8_t gid[16]);
/* The GID names a group: ff00::/8, or an IPv4 group as ::ffff:224.0.0.0/4. */
bool gid_is_multicast(const uint8_t gid[16]);
/* The MAC that frames for this group go to: 33:33 and the last 32 bits, or 01:00:5e and the last 23
 * bits of an IPv4 group (RFC 2464, 1112). */
void gid_multicast_mac(const uint8_t gid[16], uint8_t mac[MAC_BYTES]);
/* fe80::/64 with the EUI-64 of a MAC; `vlan` VLAN_NONE: none (RFC 4291 appendix A;
 * with a VLAN as Linux's RoCE GIDs had it). */
void gid_from_mac(const uint8_t mac[MAC_BYTES], uint16_t vlan, uint8_t gid[16]);

/* The priority of a frame: that of its VLAN tag, 0 without one. */
static inline uint8_t vlan_priority(uint16_t vlan)
{
	return vlan == VLAN_NONE ? 0 : (uint8_t)(vlan >> VLAN_PRIORITY_SHIFT);
}

/* The reverse of gid_from_mac(). */
void gid_to_mac(const uint8_t gid[16], uint8_t mac[MAC_BYTES]);
/* fe80::/64 */
bool gid_is_link_local(const uint8_t gid[16]);

static inline bool mac_is_group(const uint8_t mac[MAC_BYTES])
{
	return mac[0] & 1;
}

/* A MAC as the low 48 bits of a number. */
static inline uint64_t mac_load(const uint8_t mac[MAC_BYTES])
{
	return (uint64_t)be16_load(mac) << 32 | be32_load(mac + 2);
}

static inline void mac_store(uint8_t mac[MAC_BYTES], uint64_t value)
{
	be16_store(mac, (uint16_t)(value >> 32));
	be32_store(mac + 2, (uint32_t)value);
}

/* The checksum of IPv4, UDP and ICMP over the bytes, added to `sum`; RFC 1071. The result of the
 * last call is complemented by the caller. */
static inline uint32_t ip_sum(const uint8_t *bytes, size_t n, uint32_t sum)
{
	size_t i;

	for (i = 0; i + 1 < n; i += 2)
		sum += be16_load(bytes + i);
	if (i < n)
		sum += (uint32_t)bytes[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

#endif
