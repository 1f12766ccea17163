// SPDX-License-Identifier: Apache-2.0
/* See note.h: the Ethernet header of a note. */
#include "host_driver/net/note.h"

#include <string.h>

static const uint8_t all[MAC_BYTES] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

static void destination(const struct note *n, const uint8_t *to, uint8_t mac[MAC_BYTES])
{
	uint8_t group[NOTE_IP_BYTES];

	if (to) {
		memcpy(mac, to, MAC_BYTES);
	} else if (gid_is_ipv4(n->about)) {
		memcpy(mac, all, MAC_BYTES);
	} else {
		nd_group(n->other, group);
		gid_multicast_mac(group, mac);
	}
}

size_t note_write(const struct note *n, const uint8_t *to, uint16_t vlan,
		  uint8_t frame[NOTE_FRAME_MAX])
{
	const bool ipv4 = gid_is_ipv4(n->about);
	size_t at = 2 * MAC_BYTES;

	memset(frame, 0, NOTE_FRAME_MAX);
	destination(n, to, frame);
	memcpy(frame + MAC_BYTES, n->mac, MAC_BYTES);
	if (vlan != VLAN_NONE) {
		struct vlan_tag *tag = (struct vlan_tag *)(void *)(frame + at);

		vlan_tag_set_tpid(tag, ETH_TYPE_VLAN);
		vlan_tag_set_tci(tag, vlan);
		at += sizeof(*tag);
	}
	be16_store(frame + at, ipv4 ? ETH_TYPE_ARP : ETH_TYPE_IPV6);
	at += 2;
	at += ipv4 ? arp_write(n, to, frame + at) : nd_write(n, !to, frame + at);
	return at < NOTE_FRAME_MIN ? NOTE_FRAME_MIN : at;
}

bool note_read(const uint8_t *frame, size_t len, struct note *n)
{
	const struct eth_hdr *eth = (const struct eth_hdr *)(const void *)frame;

	*n = (struct note){0};
	if (len < sizeof(*eth))
		return false;
	switch (eth_hdr_get_type(eth)) {
	case ETH_TYPE_ARP:
		return arp_read(frame + sizeof(*eth), len - sizeof(*eth), n);
	case ETH_TYPE_IPV6:
		return nd_read(frame + sizeof(*eth), len - sizeof(*eth), n);
	default:
		return false;
	}
}
