// SPDX-License-Identifier: Apache-2.0
/* Neighbour discovery of IPv6 (RFC 4861): see note.h. */
#include "host_driver/net/note.h"
#include "model/interface/wire.h"

#include <string.h>

enum { OPTION_UNIT = 8, OPTIONS_AT = 24 };

void nd_group(const uint8_t ip[NOTE_IP_BYTES], uint8_t group[NOTE_IP_BYTES])
{
	static const uint8_t prefix[NOTE_IP_BYTES] = {0xff, 2, [11] = 1, 0xff};

	memcpy(group, prefix, NOTE_IP_BYTES);
	memcpy(group + 13, ip + 13, 3);
}

static uint16_t checksum(const struct grh *ip, const uint8_t *bytes, size_t n)
{
	uint32_t sum = IP_PROTOCOL_ICMPV6 + (uint32_t)n;

	sum = ip_sum(grh_sgid_cptr(ip), NOTE_IP_BYTES, sum);
	sum = ip_sum(grh_dgid_cptr(ip), NOTE_IP_BYTES, sum);
	return (uint16_t)~ip_sum(bytes, n, sum);
}

size_t nd_write(const struct note *n, bool to_group, uint8_t *at)
{
	struct grh *ip = (struct grh *)(void *)at;
	struct neighbour *nb = (struct neighbour *)(void *)(at + sizeof(*ip));

	grh_set_ip_ver(ip, IPV6_VERSION);
	grh_set_pay_len(ip, sizeof(*nb));
	grh_set_next_hdr(ip, IP_PROTOCOL_ICMPV6);
	grh_set_hop_limit(ip, NEIGHBOUR_HOPS);
	memcpy(grh_sgid_ptr(ip), n->about, NOTE_IP_BYTES);
	if (to_group)
		nd_group(n->other, grh_dgid_ptr(ip));
	else
		memcpy(grh_dgid_ptr(ip), n->other, NOTE_IP_BYTES);
	neighbour_set_type(nb, n->question ? ICMPV6_SOLICITATION : ICMPV6_ADVERTISEMENT);
	neighbour_set_solicited(nb, n->solicited);
	neighbour_set_override(nb, !n->question);
	memcpy(neighbour_target_ptr(nb), n->question ? n->other : n->about, NOTE_IP_BYTES);
	neighbour_set_option(nb, n->question ? NEIGHBOUR_SOURCE_MAC : NEIGHBOUR_TARGET_MAC);
	neighbour_set_option_units(nb, 1);
	memcpy(neighbour_mac_ptr(nb), n->mac, MAC_BYTES);
	neighbour_set_checksum(nb, checksum(ip, nb->b, sizeof(*nb)));
	return sizeof(*ip) + sizeof(*nb);
}

/* The option with the sender's MAC, among others. false: it is not there, or an option is malformed. */
static bool find_mac(const uint8_t *options, size_t len, uint8_t wanted, uint8_t mac[MAC_BYTES])
{
	bool found = false;

	while (len) {
		const size_t bytes = len >= OPTION_UNIT ? (size_t)options[1] * OPTION_UNIT : 0;

		if (!bytes || bytes > len)
			return false;
		if (options[0] == wanted && !found) {
			memcpy(mac, options + 2, MAC_BYTES);
			found = true;
		}
		options += bytes;
		len -= bytes;
	}
	return found;
}

bool nd_read(const uint8_t *at, size_t len, struct note *n)
{
	static const uint8_t nobody[NOTE_IP_BYTES];
	const struct grh *ip = (const struct grh *)(const void *)at;
	const struct neighbour *nb = (const struct neighbour *)(const void *)(at + sizeof(*ip));
	size_t bytes;

	if (len < sizeof(*ip) + OPTIONS_AT)
		return false;
	bytes = grh_get_pay_len(ip);
	if (bytes < OPTIONS_AT || bytes > len - sizeof(*ip) || grh_get_ip_ver(ip) != IPV6_VERSION ||
	    grh_get_next_hdr(ip) != IP_PROTOCOL_ICMPV6 || grh_get_hop_limit(ip) != NEIGHBOUR_HOPS ||
	    checksum(ip, nb->b, bytes) || neighbour_get_code(nb) ||
	    gid_is_multicast(neighbour_target_cptr(nb)))
		return false;
	n->question = neighbour_get_type(nb) == ICMPV6_SOLICITATION;
	if (!n->question && neighbour_get_type(nb) != ICMPV6_ADVERTISEMENT)
		return false;
	n->solicited = !n->question && neighbour_get_solicited(nb);
	memcpy(n->about, n->question ? grh_sgid_cptr(ip) : neighbour_target_cptr(nb),
	       NOTE_IP_BYTES);
	memcpy(n->other, n->question ? neighbour_target_cptr(nb) : grh_dgid_cptr(ip),
	       NOTE_IP_BYTES);
	/* a sender without an address only probes whether another host has it */
	return memcmp(n->about, nobody, NOTE_IP_BYTES) != 0 &&
	       find_mac(nb->b + OPTIONS_AT, bytes - OPTIONS_AT,
			n->question ? NEIGHBOUR_SOURCE_MAC : NEIGHBOUR_TARGET_MAC, n->mac) &&
	       !mac_is_group(n->mac);
}
