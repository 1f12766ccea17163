/* SPDX-License-Identifier: Apache-2.0 */
/* Checksums, VLAN tags and hash of frames. The vectors of the hash are Microsoft's ("Verifying the
 * RSS hash calculation"). */
#include "model/engine/wire/frame.h"

#include "model/interface/macros.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MACS_BYTES = 12, ETH_BYTES = 14, LONG = 1500 };

static uint8_t frame[LONG];

/* An Ethernet header, and optionally a VLAN tag. The offset behind it. */
static unsigned put_ethernet(unsigned type, uint16_t vlan)
{
	unsigned at = MACS_BYTES;

	memset(frame, 0, sizeof(frame));
	if (vlan != VLAN_NONE) {
		be16_store(frame + at, ETH_TYPE_VLAN);
		be16_store(frame + at + 2, vlan);
		at += 4;
	}
	be16_store(frame + at, (uint16_t)type);
	return at + 2;
}

/* IPv4 with TCP or UDP and n bytes behind the addresses of Microsoft's first vector. The length. */
static unsigned put_ipv4(uint16_t vlan, unsigned protocol, unsigned options, unsigned n)
{
	const unsigned at = put_ethernet(ETH_TYPE_IPV4, vlan);
	struct ipv4_hdr *ip = (void *)(frame + at);
	uint8_t *l4 = frame + at + IPV4_BYTES + options;

	ipv4_hdr_set_version(ip, IPV4_VERSION);
	ipv4_hdr_set_ihl(ip, (IPV4_BYTES + options) / 4);
	ipv4_hdr_set_total_len(ip, IPV4_BYTES + options + n);
	ipv4_hdr_set_protocol(ip, protocol);
	ipv4_hdr_set_saddr(ip, 0x420995bb); /* 66.9.149.187 */
	ipv4_hdr_set_daddr(ip, 0xa18e6450); /* 161.142.100.80 */
	for (unsigned i = 0; i < n; i++)
		l4[i] = (uint8_t)(i * 7 + 1);
	be16_store(l4, 2794);
	be16_store(l4 + 2, 1766);
	return at + IPV4_BYTES + options + n;
}

static unsigned put_ipv6(unsigned protocol, unsigned n)
{
	static const uint8_t addresses[32] = {
		0x3f, 0xfe, 0x25, 0x01, 0x02, 0x00, 0x1f, 0xff, 0, 0, 0, 0, 0, 0, 0, 7,
		0x3f, 0xfe, 0x25, 0x01, 0x02, 0x00, 0x00, 0x03, 0, 0, 0, 0, 0, 0, 0, 1,
	};
	const unsigned at = put_ethernet(ETH_TYPE_IPV6, VLAN_NONE);
	uint8_t *l4 = frame + at + IPV6_BYTES;

	frame[at] = IPV6_VERSION << 4;
	be16_store(frame + at + 4, (uint16_t)n);
	frame[at + 6] = (uint8_t)protocol;
	memcpy(frame + at + 8, addresses, sizeof(addresses));
	for (unsigned i = 0; i < n; i++)
		l4[i] = (uint8_t)(i * 5 + 3);
	be16_store(l4, 2794);
	be16_store(l4 + 2, 1766);
	return at + IPV6_BYTES + n;
}

/* The sum of the header and the payload as the receiving side of RFC 1071 forms it, in plain
 * arithmetic. */
static uint16_t plain_sum(const uint8_t *bytes, unsigned n, uint64_t sum)
{
	for (unsigned i = 0; i < n; i++)
		sum += i % 2 ? bytes[i] : (unsigned)bytes[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

static void checksums_of_all_kinds(void **state)
{
	static const struct {
		unsigned protocol, options, bytes;
		uint16_t vlan;
		unsigned status;
	} rows[] = {
		{IP_PROTOCOL_TCP, 0, 20, VLAN_NONE, CQE_CSUM_IPV4 | CQE_CSUM_TCP},
		{IP_PROTOCOL_TCP, 0, 777, 0x2005, CQE_CSUM_IPV4 | CQE_CSUM_TCP},
		{IP_PROTOCOL_UDP, 0, 9, VLAN_NONE, CQE_CSUM_IPV4 | CQE_CSUM_UDP},
		{IP_PROTOCOL_UDP, 12, 100, VLAN_NONE, CQE_CSUM_IPV4_OPTIONS | CQE_CSUM_UDP},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		const unsigned len =
			put_ipv4(rows[i].vlan, rows[i].protocol, rows[i].options, rows[i].bytes);
		const unsigned l4 = len - rows[i].bytes, l3 = l4 - rows[i].options - IPV4_BYTES;
		uint16_t checksum;

		assert_int_not_equal(frame_checksums_look(frame, len, &checksum) & CQE_CSUM_IP_OK,
				     CQE_CSUM_IP_OK);
		assert_int_not_equal(checksum, 0xffff);
		frame_checksums_put(frame, len, FRAME_IP_CHECKSUM | FRAME_L4_CHECKSUM);
		assert_int_equal(plain_sum(frame + l3, l4 - l3, 0), 0xffff);
		assert_int_equal(plain_sum(frame + l4, rows[i].bytes,
					   rows[i].protocol + rows[i].bytes +
						   plain_sum(frame + l3 + 12, 8, 0)),
				 0xffff);
		assert_int_equal(frame_checksums_look(frame, len, &checksum),
				 rows[i].status | CQE_CSUM_IP_OK);
		assert_int_equal(checksum, 0xffff);
		frame[len - 1] ^= 1;
		frame_checksums_look(frame, len, &checksum);
		assert_int_not_equal(checksum, 0xffff);
	}
}

static void ipv6_checksum(void **state)
{
	const unsigned n = 123, len = put_ipv6(IP_PROTOCOL_TCP, n);
	uint16_t checksum;

	frame_checksums_put(frame, len, FRAME_IP_CHECKSUM | FRAME_L4_CHECKSUM);
	assert_int_equal(plain_sum(frame + len - n, n,
				   IP_PROTOCOL_TCP + n + plain_sum(frame + ETH_BYTES + 8, 32, 0)),
			 0xffff);
	assert_int_equal(frame_checksums_look(frame, len, &checksum),
			 CQE_CSUM_IPV6 | CQE_CSUM_IP_OK | CQE_CSUM_TCP);
	assert_int_equal(checksum, 0xffff);
}

/* Only what is asked for is written, and nothing where a header is missing, cut off or wrong. */
static void others_stay(void **state)
{
	uint8_t before[LONG];
	unsigned len = put_ipv4(VLAN_NONE, IP_PROTOCOL_UDP, 0, 50);
	uint16_t checksum;

	be16_store(frame + ETH_BYTES + IPV4_BYTES + 6, 0);
	frame_checksums_put(frame, len, FRAME_IP_CHECKSUM);
	assert_int_equal(be16_load(frame + ETH_BYTES + IPV4_BYTES + 6), 0);
	/* UDP without a checksum: nothing is said of it */
	assert_int_equal(frame_checksums_look(frame, len, &checksum),
			 CQE_CSUM_IPV4 | CQE_CSUM_IP_OK);

	for (unsigned cut = 0; cut < len; cut++) {
		memcpy(before, frame, sizeof(frame));
		frame_checksums_put(frame, cut, FRAME_IP_CHECKSUM | FRAME_L4_CHECKSUM);
		assert_memory_equal(before, frame, sizeof(frame));
	}
	ipv4_hdr_set_fragment((void *)(frame + ETH_BYTES), 1);
	frame_checksums_put(frame, len, FRAME_L4_CHECKSUM);
	assert_int_equal(be16_load(frame + ETH_BYTES + IPV4_BYTES + 6), 0);
	assert_true(frame_checksums_look(frame, len, &checksum) & CQE_CSUM_IPV4_FRAGMENT);

	put_ethernet(ETH_TYPE_ARP, VLAN_NONE);
	assert_int_equal(frame_checksums_look(frame, 60, &checksum), 0);
}

/* A UDP checksum that adds up to 0 is sent as 0xffff, because 0 means that there is none. */
static void udp_never_zero(void **state)
{
	const unsigned len = put_ipv4(VLAN_NONE, IP_PROTOCOL_UDP, 0, 10);
	uint8_t *udp = frame + ETH_BYTES + IPV4_BYTES;
	uint16_t checksum;

	frame_checksums_put(frame, len, FRAME_L4_CHECKSUM);
	checksum = be16_load(udp + 6);
	be16_store(udp + 8, (uint16_t)plain_sum(udp + 6, 4, 0));
	assert_int_not_equal(checksum, 0);
	frame_checksums_put(frame, len, FRAME_L4_CHECKSUM);
	assert_int_equal(be16_load(udp + 6), 0xffff);
}

static struct packet *packet_of(unsigned len, uint16_t vlan)
{
	struct packet *pkt = calloc(1, sizeof(*pkt) + PACKET_FRAME);

	memcpy(packet_payload(pkt), frame, len);
	pkt->wire = packet_payload(pkt);
	pkt->payload_len = (uint16_t)len;
	pkt->vlan = vlan;
	return pkt;
}

static void vlan_in_and_out(void **state)
{
	const unsigned len = put_ipv4(VLAN_NONE, IP_PROTOCOL_TCP, 0, 200);
	struct packet *pkt = packet_of(len, 0x6123);

	for (unsigned i = 0; i < MACS_BYTES; i++)
		pkt->wire[i] = frame[i] = (uint8_t)(0x10 + i);
	frame_finish(pkt);
	assert_int_equal(pkt->len, len + 4 + FCS_BYTES);
	assert_memory_equal(pkt->wire, frame, MACS_BYTES);
	assert_int_equal(be32_load(pkt->wire + MACS_BYTES), 0x81006123);
	assert_memory_equal(pkt->wire + MACS_BYTES + 4, frame + MACS_BYTES, len - MACS_BYTES);
	assert_int_equal(frame_vlan(pkt->wire, pkt->len - FCS_BYTES), 0x6123);
	pkt->payload_len = pkt->len - FCS_BYTES;
	frame_vlan_strip(pkt);
	assert_int_equal(pkt->payload_len, len);
	assert_memory_equal(pkt->wire, frame, len);
	free(pkt);
}

static void short_frames_are_filled(void **state)
{
	struct packet *pkt;

	put_ethernet(ETH_TYPE_ARP, VLAN_NONE);
	memset(frame, 0xaa, ETHERNET_MIN);
	pkt = packet_of(20, VLAN_NONE);
	memset(pkt->wire + 20, 0xbb, 60);
	frame_finish(pkt);
	assert_int_equal(pkt->len, ETHERNET_MIN);
	assert_int_equal(pkt->wire[19], 0xaa);
	for (unsigned i = 20; i < ETHERNET_MIN - FCS_BYTES; i++)
		assert_int_equal(pkt->wire[i], 0);
	free(pkt);
}

static void hash_vectors(void **state)
{
	static const uint8_t key[] = {0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67,
				      0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb,
				      0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30,
				      0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa};
	static const struct {
		bool v6;
		unsigned protocol, kinds;
		uint32_t hash;
	} rows[] = {
		{false, IP_PROTOCOL_TCP, RSS_IPV4, 0x323e8fc2},
		{false, IP_PROTOCOL_TCP, RSS_IPV4 | RSS_TCP_IPV4, 0x51ccc178},
		{false, IP_PROTOCOL_UDP, RSS_IPV4 | RSS_TCP_IPV4, 0x323e8fc2},
		{false, IP_PROTOCOL_UDP, RSS_UDP_IPV4, 0x51ccc178},
		{false, IP_PROTOCOL_UDP, RSS_TCP_IPV4 | RSS_IPV6, 0},
		{true, IP_PROTOCOL_TCP, RSS_IPV6, 0x2cc18cd5},
		{true, IP_PROTOCOL_TCP, RSS_IPV6 | RSS_TCP_IPV6, 0x40207d3d},
	};
	struct rss_context rss = {{0}};

	memcpy(rss_context_key_ptr(&rss), key, sizeof(key));
	rss_context_set_function(&rss, RSS_TOEPLITZ);
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		const unsigned len = rows[i].v6 ? put_ipv6(rows[i].protocol, 40)
						: put_ipv4(VLAN_NONE, rows[i].protocol, 0, 40);

		rss_context_set_kinds(&rss, rows[i].kinds);
		assert_int_equal(frame_hash(frame, len, &rss), rows[i].hash);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(checksums_of_all_kinds),
		cmocka_unit_test(ipv6_checksum),
		cmocka_unit_test(others_stay),
		cmocka_unit_test(udp_never_zero),
		cmocka_unit_test(vlan_in_and_out),
		cmocka_unit_test(short_frames_are_filled),
		cmocka_unit_test(hash_vectors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
