// SPDX-License-Identifier: Apache-2.0
/* ARP packets (RFC 826): see note.h. */
#include "host_driver/net/note.h"

#include <string.h>

enum { IPV4_ADDRESS = 4, IPV4_AT = NOTE_IP_BYTES - IPV4_ADDRESS };

static void to_gid(const uint8_t *ip, uint8_t gid[NOTE_IP_BYTES])
{
	memset(gid, 0, IPV4_AT);
	gid[10] = gid[11] = 0xff;
	memcpy(gid + IPV4_AT, ip, IPV4_ADDRESS);
}

size_t arp_write(const struct note *n, const uint8_t *to, uint8_t *at)
{
	struct arp *arp = (struct arp *)(void *)at;

	arp_set_hardware(arp, ARP_ETHERNET);
	arp_set_protocol(arp, ETH_TYPE_IPV4);
	arp_set_mac_bytes(arp, MAC_BYTES);
	arp_set_ip_bytes(arp, IPV4_ADDRESS);
	arp_set_op(arp, n->question ? ARP_OP_REQUEST : ARP_OP_REPLY);
	memcpy(arp_sender_mac_ptr(arp), n->mac, MAC_BYTES);
	memcpy(arp_sender_ip_ptr(arp), n->about + IPV4_AT, IPV4_ADDRESS);
	/* only an answer is to a MAC that its sender knows (RFC 826) */
	if (n->solicited && to)
		memcpy(arp_target_mac_ptr(arp), to, MAC_BYTES);
	memcpy(arp_target_ip_ptr(arp), n->other + IPV4_AT, IPV4_ADDRESS);
	return sizeof(*arp);
}

/* A packet that names one address twice announces it, whatever its opcode says (RFC 5227, 3). */
bool arp_read(const uint8_t *at, size_t len, struct note *n)
{
	const struct arp *arp = (const struct arp *)(const void *)at;
	bool announces;

	if (len < sizeof(*arp) || arp_get_hardware(arp) != ARP_ETHERNET ||
	    arp_get_protocol(arp) != ETH_TYPE_IPV4 || arp_get_mac_bytes(arp) != MAC_BYTES ||
	    arp_get_ip_bytes(arp) != IPV4_ADDRESS ||
	    (arp_get_op(arp) != ARP_OP_REQUEST && arp_get_op(arp) != ARP_OP_REPLY))
		return false;
	announces = !memcmp(arp_sender_ip_cptr(arp), arp_target_ip_cptr(arp), IPV4_ADDRESS);
	n->question = arp_get_op(arp) == ARP_OP_REQUEST && !announces;
	n->solicited = arp_get_op(arp) == ARP_OP_REPLY && !announces;
	to_gid(arp_sender_ip_cptr(arp), n->about);
	to_gid(arp_target_ip_cptr(arp), n->other);
	memcpy(n->mac, arp_sender_mac_cptr(arp), MAC_BYTES);
	/* a sender without an address only probes whether another host has it */
	return be32_load(arp_sender_ip_cptr(arp)) && !mac_is_group(n->mac);
}
