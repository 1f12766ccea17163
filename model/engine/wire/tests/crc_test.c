/* SPDX-License-Identifier: Apache-2.0 */
/* The CRCs, compared with published check values, and every path compared with a bit-by-bit
 * reference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/engine/wire/crc.h"
#include "model/interface/wire.h"

enum {
	MAX_BYTES = 4400,
	GUARD = 0xa5,
};

static uint32_t rnd_state = 1;

static uint32_t rnd(void)
{
	rnd_state = rnd_state * 1664525 + 1013904223;
	return rnd_state >> 8;
}

static uint32_t ref_crc(uint32_t c, uint32_t poly, const uint8_t *p, size_t n)
{
	size_t i;

	for (i = 0; i < 8 * n; i++) {
		c ^= p[i / 8] >> (i % 8) & 1;
		c = c & 1 ? c >> 1 ^ poly : c >> 1;
	}
	return c;
}

/* IBA 7.8.1: the masks of its table, byte by byte. */
static uint32_t ref_icrc(const uint8_t *p, size_t n)
{
	uint8_t copy[MAX_BYTES];
	size_t i;

	memcpy(copy, p, n);
	if ((p[1] & 3) == 2) {
		copy[0] |= 0xf0;
		if (n > 12)
			copy[12] = 0xff;
	} else {
		memset(copy, 0xff, 8);
		if (n > 8)
			copy[8] |= 0x0f;
		for (i = 9; i < 12 && i < n; i++)
			copy[i] = 0xff;
		if (n > 15)
			copy[15] = 0xff;
		if (n > 52)
			copy[52] = 0xff;
	}
	return ~ref_crc(~0u, 0xedb88320, copy, n);
}

static uint16_t ref_vcrc(const uint8_t *p, size_t n)
{
	return ~ref_crc(0xffff, 0xd008, p, n);
}

static void check_one(uint8_t *p, size_t n, unsigned int lnh)
{
	uint32_t icrc;
	uint16_t vcrc;
	size_t i;

	for (i = 0; i < n; i++)
		p[i] = rnd();
	p[1] = (p[1] & ~3) | lnh;
	p[n + CRC_BYTES] = GUARD;
	assert_int_equal(crc_make(p, n), CRC_BYTES);
	icrc = ref_icrc(p, n);
	assert_int_equal(p[n] | p[n + 1] << 8 | p[n + 2] << 16 | (uint32_t)p[n + 3] << 24, icrc);
	vcrc = ref_vcrc(p, n + ICRC_BYTES);
	assert_int_equal(p[n + 4] | p[n + 5] << 8, vcrc);
	assert_int_equal(p[n + CRC_BYTES], GUARD);
	assert_int_equal(crc_icrc(p, n), icrc);
	assert_int_equal(crc_vcrc(p, n + ICRC_BYTES), vcrc);
	assert_int_equal(crc_check(p, n + CRC_BYTES), 0);
}

/* Every length up to two rounds of the widest loop, then some lengths up to the largest. */
static void check_path(enum crc_path path)
{
	static uint8_t buf[MAX_BYTES + 128];
	size_t n;
	unsigned int lnh;

	if (crc_force(path)) {
		print_message("path %s: not on this machine\n", crc_path_name(path));
		skip();
	}
	assert_int_equal(crc_select(), path);
	for (lnh = 2; lnh <= 3; lnh++) {
		for (n = 8; n < 800; n++)
			check_one(buf + rnd() % 64, n, lnh);
		for (; n <= 4300; n += 4 * (1 + rnd() % 32))
			check_one(buf + rnd() % 64, n, lnh);
	}
}

static void portable(void **state)
{
	check_path(CRC_PATH_PORTABLE);
}

static void clmul128(void **state)
{
	check_path(CRC_PATH_CLMUL128);
}

static void clmul512(void **state)
{
	check_path(CRC_PATH_CLMUL512);
}

static void alignments(void **state)
{
	static uint8_t buf[1024 + 128];
	unsigned int path, at;

	for (path = 0; path < CRC_PATH_COUNT; path++) {
		if (crc_force(path))
			continue;
		for (at = 0; at < 64; at++)
			check_one(buf + at, 1000, 2 + at % 2);
	}
}

/* Values of the CRC catalogue: CRC-32 of nine digits, and of 32 bytes 00 and ff. The ICRC's masks
 * change nothing there (LNH 0, or already all ones). */
static void check_values(void **state)
{
	static const uint8_t digits[] = "123456789", zeros[32];
	uint8_t ones[32];

	memset(ones, 0xff, sizeof(ones));
	assert_int_equal(~ref_crc(~0u, 0xedb88320, digits, 9), 0xcbf43926);
	assert_int_equal(crc_icrc(zeros, sizeof(zeros)), 0x190a55ad);
	assert_int_equal(crc_icrc(ones, sizeof(ones)), 0xff6cab0b);
	assert_int_equal(crc_vcrc(digits, 9), 0x0a3d);
}

/* The registers after data and its own CRC are debb20e3 and 556f. Here they appear inverted. */
static void residues(void **state)
{
	uint8_t p[300];
	unsigned int path;

	for (path = 0; path < CRC_PATH_COUNT; path++) {
		if (crc_force(path))
			continue;
		check_one(p, sizeof(p) - CRC_BYTES - 1, 2);
		assert_int_equal(crc_icrc(p, sizeof(p) - VCRC_BYTES - 1), ~0xdebb20e3);
		assert_int_equal(crc_vcrc(p, sizeof(p) - 1), 0xaa90);
	}
}

static int is_masked(unsigned int lnh, size_t byte, unsigned int bit)
{
	if (lnh == 2)
		return (byte == 0 && bit >= 4) || byte == 12;
	return byte < 8 || (byte == 8 && bit < 4) || (byte > 8 && byte < 12) || byte == 15 ||
	       byte == 52;
}

/* Inverts each bit in turn. The VCRC finds all of them. The ICRC finds those that no switch may
 * change. */
static void one_bit_wrong(void **state)
{
	enum { BYTES = 332, PACKET = BYTES + CRC_BYTES };
	uint8_t p[PACKET + 1];
	unsigned int path, lnh, want;
	size_t t;

	for (path = 0; path < CRC_PATH_COUNT; path++) {
		if (crc_force(path))
			continue;
		for (lnh = 2; lnh <= 3; lnh++) {
			check_one(p, BYTES, lnh);
			for (t = 0; t < 8 * PACKET; t++) {
				if (t == 8 || t == 9) /* LNH: another value means another mask */
					continue;
				want = CRC_BAD_VCRC;
				if (t < 8 * (PACKET - 2) && !is_masked(lnh, t / 8, t % 8))
					want |= CRC_BAD_ICRC;
				p[t / 8] ^= 1 << t % 8;
				assert_int_equal(crc_check(p, PACKET), want);
				p[t / 8] ^= 1 << t % 8;
			}
		}
	}
}

static void raw_packet_has_no_icrc(void **state)
{
	uint8_t p[80];
	uint16_t vcrc;
	unsigned int path, lnh;

	for (path = 0; path < CRC_PATH_COUNT; path++) {
		if (crc_force(path))
			continue;
		for (lnh = 0; lnh <= 1; lnh++) {
			memset(p, 0x5a, sizeof(p));
			p[1] = lnh;
			assert_int_equal(crc_make(p, 72), VCRC_BYTES);
			vcrc = ref_vcrc(p, 72);
			assert_int_equal(p[72] | p[73] << 8, vcrc);
			assert_int_equal(p[74], 0x5a);
			assert_int_equal(crc_check(p, 74), 0);
			p[40] ^= 1;
			assert_int_equal(crc_check(p, 74), CRC_BAD_VCRC);
		}
	}
}

/* Each packet is in a block of exactly its size, so that the sanitizer finds reads outside of
 * it. */
static void too_short(void **state)
{
	size_t n;
	uint8_t *p;

	for (n = 0; n < 14; n++) {
		p = malloc(n ? n : 1);
		assert_non_null(p);
		memset(p, 2, n);
		assert_int_equal(crc_check(p, n), CRC_BAD_ICRC | CRC_BAD_VCRC);
		free(p);
	}
}

static void no_such_path(void **state)
{
	enum crc_path now = crc_select();

	assert_true(crc_force(CRC_PATH_COUNT) < 0);
	assert_int_equal(crc_select(), now);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(check_values),  cmocka_unit_test(portable),
		cmocka_unit_test(clmul128),      cmocka_unit_test(clmul512),
		cmocka_unit_test(alignments),    cmocka_unit_test(residues),
		cmocka_unit_test(one_bit_wrong), cmocka_unit_test(raw_packet_has_no_icrc),
		cmocka_unit_test(too_short),     cmocka_unit_test(no_such_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
