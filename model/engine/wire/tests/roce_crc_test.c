/* SPDX-License-Identifier: Apache-2.0 */
/* ICRC and FCS of frames: frames captured on ConnectX hardware, and a reference that computes bit by
 * bit what the annexes of the specification say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/engine/wire/crc.h"
#include "model/engine/wire/roce_crc.h"
#include "model/interface/wire.h"

enum { FRAME_MAX = 1200, L3_MAX = 48 };

/* Captured: a UC SEND of 18 bytes between two ports of one host, and a congestion notification of a
 * ConnectX-4 Lx. Both are in scapy's tests of its RoCE layer. Without FCS. */
static const uint8_t
	uc_send[] =
		{
			0x24, 0x8a, 0x07, 0xa8, 0xfa, 0x22, 0x24, 0x8a, 0x07, 0xa8,
			0xfa, 0x22, 0x08, 0x00, /* IPv4 */
			0x45, 0x01, 0x00, 0x40, 0x04, 0x78, 0x40, 0x00, 0x40, 0x11,
			0xb4, 0xd5, 0xc0, 0xa8, 0x00, 0x07, 0xc0, 0xa8, 0x00, 0x07, /* UDP */
			0xc0, 0x00, 0x12, 0xb7, 0x00, 0x2c, 0xac, 0xa2,             /* BTH */
			0x24, 0x60, 0xff, 0xff, 0x00, 0x00, 0x00, 0xd3, 0x00, 0xcf,
			0x17, 0x10, /* payload, pad */
			0x46, 0x30, 0x81, 0x8b, 0xe2, 0x89, 0x35, 0xd9, 0x0e, 0x9a,
			0x95, 0x50, 0x54, 0x01, 0xbe, 0x88, 0x5e, 0x50, 0x00, 0x00, /* ICRC */
			0x78, 0xf3, 0x53, 0xf3,
};

static const uint8_t
	cnp[] =
		{
			0xe4, 0x1d, 0x2d, 0xab, 0x2b, 0xc2, 0x7c, 0xfe, 0x90, 0x64,
			0x3b, 0x32, 0x08, 0x00, /* IPv4 */
			0x45, 0xc2, 0x00, 0x3c, 0x71, 0x8c, 0x40, 0x00, 0x40, 0x11,
			0x91, 0x61, 0x0a, 0x00, 0x11, 0x01, 0x0a, 0x00, 0x12, 0x01, /* UDP */
			0x00, 0x00, 0x12, 0xb7, 0x00, 0x28, 0x00, 0x00,             /* BTH */
			0x81, 0x00, 0xff, 0xff, 0x40, 0x00, 0x01, 0x18, 0x00, 0x00,
			0x00, 0x00, /* reserved */
			0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
			0x00, 0x00, 0x00, 0x00, 0x00, 0x00, /* ICRC */
			0x82, 0xfd, 0x00, 0x2a,
};

/* With room for an FCS, which is not checked. */
static void captured_one(const uint8_t *bytes, size_t len)
{
	uint8_t frame[FRAME_MAX] = {0};
	struct roce_places at;

	memcpy(frame, bytes, len);
	len += FCS_BYTES;
	assert_null(roce_find(frame, len, len, ROCE_UDP_PORT, &at));
	assert_int_equal(at.kind, ROCE_V2_IPV4);
	assert_int_equal(at.end, len - FCS_BYTES);
	assert_true(roce_icrc_is_right(frame, &at));
	assert_int_equal(ip_sum(frame + at.l3_off, IPV4_BYTES, 0), 0xffff);
	frame[at.end - 5] ^= 1;
	assert_false(roce_icrc_is_right(frame, &at));
}

static void captured(void **state)
{
	captured_one(uc_send, sizeof(uc_send));
	captured_one(cnp, sizeof(cnp));
}

/* --- the reference --- */

static uint32_t rnd_state = 7;

static uint8_t rnd(void)
{
	rnd_state = rnd_state * 1664525 + 1013904223;
	return (uint8_t)(rnd_state >> 16);
}

static uint32_t ref_crc(const uint8_t *p, size_t n)
{
	uint32_t c = UINT32_MAX;

	for (size_t i = 0; i < 8 * n; i++) {
		c ^= p[i / 8] >> (i % 8) & 1;
		c = c & 1 ? c >> 1 ^ 0xedb88320 : c >> 1;
	}
	return ~c;
}

/* Bytes of the header at l3_off, and of the BTH, that the ICRC reads as ones; the nibble below is in
 * the byte after 0xf0. */
static void ref_mask(uint8_t *l3, enum roce_kind kind)
{
	static const uint8_t ipv6[] = {1, 2, 3, 7}, ipv4[] = {1, 8, 10, 11};
	const bool is_v4 = kind == ROCE_V2_IPV4;
	const unsigned l3_bytes = roce_l3_bytes(kind);

	for (unsigned i = 0; i < 4; i++)
		l3[is_v4 ? ipv4[i] : ipv6[i]] = 0xff;
	if (!is_v4)
		l3[0] |= 0x0f;
	if (kind != ROCE_V1)
		l3[l3_bytes - 2] = l3[l3_bytes - 1] = 0xff;
	l3[l3_bytes + 4] = 0xff;
}

static uint32_t ref_icrc(const uint8_t *frame, const struct roce_places *at)
{
	uint8_t copy[8 + FRAME_MAX];
	const size_t n = at->end - ICRC_BYTES - (size_t)at->l3_off;

	memset(copy, 0xff, 8);
	memcpy(copy + 8, frame + at->l3_off, n);
	ref_mask(copy + 8, at->kind);
	return ref_crc(copy, 8 + n);
}

/* A frame of random content with a payload of n bytes; the headers say only what roce_find() wants. */
static size_t make(uint8_t *frame, enum roce_kind kind, bool vlan, size_t n)
{
	static const uint16_t types[] = {0, ETH_TYPE_ROCE, ETH_TYPE_IPV4, ETH_TYPE_IPV6};
	const size_t l3_off = vlan ? 18 : 14, bth_off = l3_off + roce_l3_bytes(kind);
	const size_t end = bth_off + BTH_BYTES + n + ICRC_BYTES;
	uint8_t *l3 = frame + l3_off;

	for (size_t i = 0; i < end + FCS_BYTES; i++)
		frame[i] = rnd();
	if (vlan)
		be16_store(frame + 12, ETH_TYPE_VLAN);
	be16_store(l3 - 2, types[kind]);
	if (kind == ROCE_V2_IPV4) {
		l3[0] = 0x45;
		be16_store(l3 + 2, (uint16_t)(end - l3_off));
		be16_store(l3 + 6, 0x4000);
		l3[9] = IP_PROTOCOL_UDP;
	} else {
		l3[0] = 0x60 | (l3[0] & 0xf);
		be16_store(l3 + 4, (uint16_t)(end - l3_off - GRH_BYTES));
		l3[6] = kind == ROCE_V1 ? GRH_NEXT_BTH : IP_PROTOCOL_UDP;
	}
	if (kind != ROCE_V1) {
		be16_store(frame + bth_off - 6, ROCE_UDP_PORT);
		be16_store(frame + bth_off - 4, (uint16_t)(end - bth_off + 8));
	}
	return end + FCS_BYTES;
}

static void reference(void **state)
{
	static const size_t payloads[] = {0, 4, 8, 16, 28, 64, 1024};
	uint8_t frame[FRAME_MAX];
	struct roce_places at;

	for (unsigned kind = ROCE_V1; kind < ROCE_KINDS; kind++)
		for (unsigned i = 0; i < 14; i++) {
			size_t len = make(frame, kind, i & 1, payloads[i / 2]);

			assert_null(roce_find(frame, len, len, ROCE_UDP_PORT, &at));
			assert_int_equal(at.kind, kind);
			assert_int_equal(roce_icrc(frame, &at), ref_icrc(frame, &at));
			assert_int_equal(frame_fcs(frame, len - 4), ref_crc(frame, len - 4));
			roce_crcs_make(frame, len, &at);
			assert_true(roce_icrc_is_right(frame, &at));
			assert_true(frame_fcs_is_right(frame, len));
		}
}

/* Any path of the processor gives the same. */
static void paths(void **state)
{
	const enum crc_path best = crc_select();
	uint8_t frame[FRAME_MAX];
	struct roce_places at;
	size_t len = make(frame, ROCE_V2_IPV6, false, 1024);
	uint32_t icrc;

	assert_null(roce_find(frame, len, len, ROCE_UDP_PORT, &at));
	icrc = roce_icrc(frame, &at);
	for (unsigned path = 0; path < CRC_PATH_COUNT; path++)
		if (!crc_force(path))
			assert_int_equal(roce_icrc(frame, &at), icrc);
	crc_force(best);
}

/* What switches and routers may change does not count; everything else does. */
static void fields(void **state)
{
	uint8_t frame[FRAME_MAX], masked[FRAME_MAX];
	struct roce_places at;

	for (unsigned kind = ROCE_V1; kind < ROCE_KINDS; kind++) {
		size_t len = make(frame, kind, false, 8);
		uint32_t icrc;

		assert_null(roce_find(frame, len, len, ROCE_UDP_PORT, &at));
		icrc = roce_icrc(frame, &at);
		for (size_t i = at.l3_off; i < at.end - (size_t)ICRC_BYTES; i++)
			for (unsigned bit = 0; bit < 8; bit++) {
				uint8_t ones;

				memset(masked, 0, sizeof(masked));
				ref_mask(masked + at.l3_off, kind);
				ones = masked[i];
				frame[i] ^= (uint8_t)(1u << bit);
				assert_int_equal(roce_icrc(frame, &at) == icrc, ones >> bit & 1);
				frame[i] ^= (uint8_t)(1u << bit);
			}
	}
}

/* No frame, however short or damaged, makes roce_find() look beyond its bytes (the sanitizers see
 * that), and what it accepts has all its parts. */
static void damaged(void **state)
{
	uint8_t frame[FRAME_MAX], copy[256];
	struct roce_places at;

	for (unsigned kind = ROCE_V1; kind < ROCE_KINDS; kind++) {
		size_t len = make(frame, kind, kind & 1, 8);

		for (size_t cut = 0; cut <= len; cut++) {
			uint8_t *exact = copy + sizeof(copy) - cut;

			memcpy(exact, frame, cut);
			if (!roce_find(exact, cut, cut, ROCE_UDP_PORT, &at))
				assert_true(at.end + (size_t)FCS_BYTES <= cut);
		}
		for (unsigned n = 0; n < 20000; n++) {
			memcpy(copy, frame, len);
			for (unsigned i = 0; i < 3; i++)
				copy[(rnd() | rnd() << 8) % len] = rnd();
			if (!roce_find(copy, len, len, ROCE_UDP_PORT, &at)) {
				assert_true(at.end <= len - FCS_BYTES);
				assert_true(at.bth_off + BTH_BYTES + ICRC_BYTES <= at.end);
			}
		}
	}
}

/* --- addresses --- */

static void addresses(void **state)
{
	static const uint8_t mac[] = {0x00, 0x02, 0xc9, 0xa0, 0x00, 0x01};
	static const uint8_t eui[] = {0xfe, 0x80, 0,    0,    0,    0,    0, 0,
				      0x02, 2,    0xc9, 0xff, 0xfe, 0xa0, 0, 1};
	static const uint8_t group[] = {0xff, 0x0e, 0, 0, 0,    0,    0,    0,
					0,    0,    0, 0, 0x12, 0x34, 0x56, 0x78};
	static const uint8_t group_v4[] = {0, 0, 0,    0,    0,   0,    0, 0,
					   0, 0, 0xff, 0xff, 239, 0x81, 2, 3};
	static const uint8_t host_v4[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 11, 0, 1, 2};
	uint8_t gid[16], to[MAC_BYTES];

	gid_from_mac(mac, VLAN_NONE, gid);
	assert_memory_equal(gid, eui, sizeof(gid));
	gid_from_mac(mac, 0x123, gid);
	assert_int_equal(be16_load(gid + 11), 0x123);
	assert_true(gid_is_multicast(group) && gid_is_multicast(group_v4));
	assert_false(gid_is_multicast(eui) || gid_is_multicast(host_v4));
	gid_multicast_mac(group, to);
	assert_int_equal(mac_load(to), 0x333312345678);
	gid_multicast_mac(group_v4, to);
	assert_int_equal(mac_load(to), 0x01005e010203);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(captured), cmocka_unit_test(reference),
		cmocka_unit_test(paths),    cmocka_unit_test(fields),
		cmocka_unit_test(damaged),  cmocka_unit_test(addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
