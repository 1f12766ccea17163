/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ICRC and VCRC of a packet, both in one pass. from: packet (LRH..pad) or link_port (a whole
 * packet). Takes no simulated time: packet and link_port account for it.
 *
 * P32 and P16 are the two polynomials, and M = P32 * P16. M has degree 48, and the two have no
 * common factor, so the remainder of the message modulo M determines its remainders by P32 and by
 * P16. A path therefore only has to compute a 48-bit CRC, or any other value that equals the
 * message modulo M. A small table walk then splits this into the two CRCs.
 *
 * The two CRCs do not see the same message: the ICRC reads some header fields as ones, and each CRC
 * starts with its own initial ones. By the Chinese remainder theorem there is a 48-bit value that,
 * added to the first six bytes, makes such a difference for one CRC and none for the other. It is
 * called the "patch".
 *
 * Bit order is that of the wire, least significant bit of a byte first: bit t of a packet of n
 * bytes stands for x^(8n - 1 - t), and bit i of a w-bit value for x^(w - 1 - i).
 */
#include "model/engine/wire/crc.h"

#include "model/engine/wire/crc_tables.h"
#include "model/interface/wire.h"

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#define CRC_HAVE_X86 1
#endif

enum {
	LNH_BYTE = 1,
	LNH_MASK = 3,
	LANES128 = 8, /* independent states, folded in turn */
	LANES512 = 4, /* the same; each state holds four blocks */
	MIN_CLMUL = CRC_BLOCK,
	/* so that fold_front() has enough for its first blocks */
	MIN_CLMUL512 = 2 * CRC_BLOCK + 2 * 64 * LANES512,
};

/* The tables are made when the program starts, and never change after that. Only crc_force()
 * changes the path. */
static struct crc_tables crc;
static enum crc_path path_taken;

static uint64_t load64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

static uint32_t load32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

static uint64_t slice_8(uint64_t v)
{
	return crc.slice[7][v & 0xff] ^ crc.slice[6][v >> 8 & 0xff] ^ crc.slice[5][v >> 16 & 0xff] ^
	       crc.slice[4][v >> 24 & 0xff] ^ crc.slice[3][v >> 32 & 0xff] ^
	       crc.slice[2][v >> 40 & 0xff] ^ crc.slice[1][v >> 48 & 0xff] ^ crc.slice[0][v >> 56];
}

static uint64_t slice_rest(uint64_t r, const uint8_t *p, size_t n)
{
	for (; n >= 8; p += 8, n -= 8)
		r = slice_8(r ^ load64(p));
	if (n & 4) {
		uint32_t v = r ^ load32(p);

		r = r >> 32 ^ crc.slice[3][v & 0xff] ^ crc.slice[2][v >> 8 & 0xff] ^
		    crc.slice[1][v >> 16 & 0xff] ^ crc.slice[0][v >> 24];
		p += 4;
		n -= 4;
	}
	for (; n; p++, n--)
		r = r >> 8 ^ crc.slice[0][(r ^ *p) & 0xff];
	return r;
}

/* Splits a CRC-48 into CRC-32 | CRC-16 << 32. */
static uint64_t split(uint64_t r)
{
	uint64_t both = 0;
	unsigned int i;

#pragma GCC unroll 6
	for (i = 0; i < 6; i++)
		both ^= crc.split[i][r >> 8 * i & 0xff];
	return both;
}

/* Both CRCs, with initial value 0, of n >= 8 bytes after the patch has been added to the first
 * six. */
static uint64_t both_portable(const uint8_t *p, size_t n, uint64_t patch)
{
	return split(slice_rest(patch, p, n));
}

#ifdef CRC_HAVE_X86

#define CRC_TARGET128 __attribute__((target("avx,pclmul")))
#define CRC_TARGET512 __attribute__((target("avx512f,vpclmulqdq,avx,pclmul")))

static inline CRC_TARGET128 __m128i load_fold(unsigned int blocks)
{
	return _mm_set_epi64x(crc.over[blocks].second, crc.over[blocks].first);
}

static inline CRC_TARGET128 __m128i fold_128(__m128i a, __m128i by, __m128i next)
{
	__m128i first = _mm_clmulepi64_si128(a, by, 0x00);
	__m128i second = _mm_clmulepi64_si128(a, by, 0x11);

	return _mm_xor_si128(_mm_xor_si128(first, next), second);
}

static inline CRC_TARGET128 __m128i load_128(const uint8_t *p)
{
	return _mm_loadu_si128((const __m128i *)p);
}

/*
 * Both CRCs of the message that equals `a` modulo M. First reduces the 128 bits of `a` to 64: the
 * first eight bytes are multiplied by x^64 modulo M, which gives 112 bits, and added to the last
 * eight. 48 bits are then above the last 64. The same step leaves 32 bits above them, then 16, then
 * none.
 */
static inline CRC_TARGET128 uint64_t split_128(__m128i a)
{
	const __m128i by = _mm_cvtsi64_si128(crc.by64);
	uint64_t rest, both = 0;
	unsigned int i;
	__m128i above = a;

#pragma GCC unroll 4
	for (i = 0; i < 4; i++) {
		above = _mm_clmulepi64_si128(above, by, 0x00);
		a = _mm_xor_si128(a, above);
	}
	rest = _mm_extract_epi64(a, 1);
#pragma GCC unroll 8
	for (i = 0; i < 8; i++)
		both ^= crc.split64[i][rest >> 8 * i & 0xff];
	return both;
}

/*
 * Folds the front of the message. Zeros before a message change nothing, so the first n % CRC_BLOCK
 * bytes make a block with zeros in front of them, and only whole blocks remain. Then folds block by
 * block, until *p is the end, or until at least two whole rows are left. Returns the state of what
 * precedes *p.
 */
static inline CRC_TARGET128 __m128i fold_front(const uint8_t **p, const uint8_t *end, size_t row,
					       uint64_t patch)
{
	static const uint8_t to_end[2 * CRC_BLOCK] = {
		0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
		0x80, 0x80, 0x80, 0x80, 0x80, 0,    1,    2,    3,    4,    5,
		6,    7,    8,    9,    10,   11,   12,   13,   14,   15,
	};
	const size_t head = (size_t)(end - *p) % CRC_BLOCK;
	const __m128i by1 = load_fold(1);
	const uint8_t *at = *p;
	__m128i a, next;

	a = _mm_xor_si128(load_128(at), _mm_cvtsi64_si128(patch));
	a = _mm_shuffle_epi8(a, load_128(to_end + head));
	/* the rest of the patch belongs to the bytes after the head */
	patch = head < sizeof(patch) ? patch >> 8 * head : 0;
	at += head;
	next = _mm_xor_si128(load_128(at), _mm_cvtsi64_si128(patch));
	a = fold_128(a, by1, next);
	for (at += CRC_BLOCK; at < end; at += CRC_BLOCK) {
		if ((size_t)(end - at) % row == 0 && at + row < end)
			break;
		a = fold_128(a, by1, load_128(at));
	}
	*p = at;
	return a;
}

/* n >= CRC_BLOCK */
static CRC_TARGET128 uint64_t both_clmul128(const uint8_t *p, size_t n, uint64_t patch)
{
	const __m128i by1 = load_fold(1);
	const uint8_t *end = p + n;
	__m128i a[LANES128], by;
	unsigned int i;

	a[0] = fold_front(&p, end, sizeof(a), patch);
	if (p < end) {
		a[0] = fold_128(a[0], by1, load_128(p));
#pragma GCC unroll 8
		for (i = 1; i < LANES128; i++)
			a[i] = load_128(p + i * CRC_BLOCK);
		by = load_fold(LANES128);
		p += sizeof(a);
		do {
#pragma GCC unroll 8
			for (i = 0; i < LANES128; i++)
				a[i] = fold_128(a[i], by, load_128(p + i * CRC_BLOCK));
			p += sizeof(a);
		} while (p < end);
#pragma GCC unroll 8
		for (i = 1; i < LANES128; i++)
			a[0] = fold_128(a[0], by1, a[i]);
	}
	return split_128(a[0]);
}

static inline CRC_TARGET512 __m512i fold_512(__m512i a, __m512i by, __m512i next)
{
	__m512i first = _mm512_clmulepi64_epi128(a, by, 0x00);
	__m512i second = _mm512_clmulepi64_epi128(a, by, 0x11);

	return _mm512_ternarylogic_epi64(first, second, next, 0x96);
}

/* n >= CRC_BLOCK */
static CRC_TARGET512 uint64_t both_clmul512(const uint8_t *p, size_t n, uint64_t patch)
{
	const uint8_t *end = p + n;
	__m512i a[LANES512], by;
	__m128i last = fold_front(&p, end, sizeof(a), patch);
	unsigned int i;

	if (p == end)
		return split_128(last);
	last = fold_128(last, load_fold(1), _mm_setzero_si128());
	by = _mm512_broadcast_i32x4(load_fold(4 * LANES512));
#pragma GCC unroll 4
	for (i = 0; i < LANES512; i++)
		a[i] = _mm512_loadu_si512(p + i * sizeof(a[0]));
	a[0] = _mm512_xor_si512(a[0], _mm512_zextsi128_si512(last));
	for (p += sizeof(a); p < end; p += sizeof(a))
#pragma GCC unroll 4
		for (i = 0; i < LANES512; i++)
			a[i] = fold_512(a[i], by, _mm512_loadu_si512(p + i * sizeof(a[0])));
	by = _mm512_broadcast_i32x4(load_fold(4));
#pragma GCC unroll 4
	for (i = 1; i < LANES512; i++)
		a[0] = fold_512(a[0], by, a[i]);
	last = _mm512_extracti32x4_epi32(a[0], 3);
	last = fold_128(_mm512_extracti32x4_epi32(a[0], 2), load_fold(1), last);
	last = fold_128(_mm512_extracti32x4_epi32(a[0], 1), load_fold(2), last);
	last = fold_128(_mm512_castsi512_si128(a[0]), load_fold(3), last);
	/* Without this, SSE code that follows would wait for the upper halves of the wide
	 * registers. That would take longer than the CRC. */
	_mm256_zeroupper();
	return split_128(last);
}

static bool path_works(enum crc_path path)
{
	/* These functions also check XCR0, which says whether the system saves the wide
	 * registers. */
	__builtin_cpu_init();
	switch (path) {
	case CRC_PATH_CLMUL128:
		return __builtin_cpu_supports("avx") && __builtin_cpu_supports("pclmul");
	case CRC_PATH_CLMUL512:
		return path_works(CRC_PATH_CLMUL128) && __builtin_cpu_supports("avx512f") &&
		       __builtin_cpu_supports("vpclmulqdq");
	default:
		return path == CRC_PATH_PORTABLE;
	}
}

static uint64_t both_crcs(const uint8_t *p, size_t n, uint64_t patch)
{
	if (path_taken == CRC_PATH_PORTABLE || n < MIN_CLMUL)
		return both_portable(p, n, patch);
	if (path_taken == CRC_PATH_CLMUL512 && n >= MIN_CLMUL512)
		return both_clmul512(p, n, patch);
	return both_clmul128(p, n, patch);
}

#else

static bool path_works(enum crc_path path)
{
	return path == CRC_PATH_PORTABLE;
}

static uint64_t both_crcs(const uint8_t *p, size_t n, uint64_t patch)
{
	return both_portable(p, n, patch);
}

#endif

static __attribute__((constructor)) void crc_init(void)
{
	unsigned int i;

	crc_tables_make(&crc);
	for (i = 0; i < CRC_PATH_COUNT; i++)
		if (path_works(i))
			path_taken = i;
}

static unsigned int lacks(const uint8_t *p, unsigned int nibble)
{
	return ~p[nibble >> 1] >> 4 * (nibble & 1) & 0xf;
}

static uint64_t packet_patch(const uint8_t *p, size_t n)
{
	uint64_t patch = crc.ones32 ^ crc.ones16;
	unsigned int i;

	switch (p[LNH_BYTE] & LNH_MASK) {
	case LNH_IBA_LOCAL:
		patch ^= crc.local[0][lacks(p, crc_masked_local[0])];
		if (2 * n > crc_masked_local[CRC_LOCAL_NIBBLES - 1])
			patch ^= crc.local[1][lacks(p, crc_masked_local[1])] ^
				 crc.local[2][lacks(p, crc_masked_local[2])];
		break;
	case LNH_IBA_GLOBAL:
		for (i = 0; i < CRC_GLOBAL_NIBBLES && crc_masked_global[i] < 2 * n; i++)
			patch ^= crc.global[i][lacks(p, crc_masked_global[i])];
		break;
	}
	return patch;
}

/* Both CRC registers over LRH..pad, before the final inversion: CRC-32 | CRC-16 << 32. */
static uint64_t packet_crcs(const uint8_t *p, size_t n)
{
	return both_crcs(p, n, packet_patch(p, n));
}

static uint16_t vcrc_after_icrc(uint16_t v, uint32_t icrc)
{
	return crc.vcrc[3][(icrc ^ v) & 0xff] ^ crc.vcrc[2][(icrc ^ v) >> 8 & 0xff] ^
	       crc.vcrc[1][icrc >> 16 & 0xff] ^ crc.vcrc[0][icrc >> 24];
}

static bool packet_has_icrc(const uint8_t *p)
{
	return (p[LNH_BYTE] & LNH_MASK) >= LNH_IBA_LOCAL;
}

static void store_vcrc(uint8_t *p, uint16_t v)
{
	v = htole16(~v);
	memcpy(p, &v, sizeof(v));
}

size_t crc_make(uint8_t *wire, size_t len)
{
	uint64_t both = packet_crcs(wire, len);
	uint32_t icrc = ~both;
	uint16_t v = both >> 32;

	if (!packet_has_icrc(wire)) {
		store_vcrc(wire + len, v);
		return VCRC_BYTES;
	}
	v = vcrc_after_icrc(v, icrc);
	store_vcrc(wire + len + ICRC_BYTES, v);
	icrc = htole32(icrc);
	memcpy(wire + len, &icrc, sizeof(icrc));
	return CRC_BYTES;
}

unsigned int crc_check(const uint8_t *wire, size_t len)
{
	unsigned int bad = 0;
	const uint8_t *end = wire + len;
	uint64_t both;
	uint32_t icrc;
	uint16_t v;

	if (len < LRH_BYTES + VCRC_BYTES)
		return CRC_BAD_ICRC | CRC_BAD_VCRC;
	if (!packet_has_icrc(wire)) {
		v = packet_crcs(wire, len - VCRC_BYTES) >> 32;
	} else {
		if (len < LRH_BYTES + CRC_BYTES)
			return CRC_BAD_ICRC | CRC_BAD_VCRC;
		both = packet_crcs(wire, len - CRC_BYTES);
		icrc = load32(end - CRC_BYTES);
		v = vcrc_after_icrc(both >> 32, icrc);
		if (icrc != (uint32_t)~both)
			bad |= CRC_BAD_ICRC;
	}
	if ((uint16_t)~v != (end[-2] | end[-1] << 8))
		bad |= CRC_BAD_VCRC;
	return bad;
}

uint32_t crc_icrc(const uint8_t *p, size_t n)
{
	static const uint8_t none[1];
	const uint8_t *nibbles = none;
	unsigned int lnh = p[LNH_BYTE] & LNH_MASK, count = 0, mask;
	uint32_t c = ~0u;
	size_t i;

	if (lnh == LNH_IBA_LOCAL) {
		nibbles = crc_masked_local;
		count = CRC_LOCAL_NIBBLES;
	} else if (lnh == LNH_IBA_GLOBAL) {
		nibbles = crc_masked_global;
		count = CRC_GLOBAL_NIBBLES;
	}
	for (i = 0; i < n; i++) {
		for (mask = 0; count && *nibbles >> 1 == i; nibbles++, count--)
			mask |= 0xf << 4 * (*nibbles & 1);
		c = c >> 8 ^ crc.icrc[(c ^ (p[i] | mask)) & 0xff];
	}
	return ~c;
}

/* The register of a CRC is added to the first bytes of what follows. The other CRC of the pair means
 * nothing here. */
uint32_t crc32_more(uint32_t c, const uint8_t *p, size_t n)
{
	if (n >= MIN_CLMUL)
		return (uint32_t)both_crcs(p, n, c);
	for (; n; p++, n--)
		c = c >> 8 ^ crc.icrc[(c ^ *p) & 0xff];
	return c;
}

uint16_t crc_vcrc(const uint8_t *p, size_t n)
{
	uint16_t v = 0xffff;

	for (; n; p++, n--)
		v = v >> 8 ^ crc.vcrc[0][(v ^ *p) & 0xff];
	return ~v;
}

enum crc_path crc_select(void)
{
	return path_taken;
}

const char *crc_path_name(enum crc_path path)
{
	static const char *const names[CRC_PATH_COUNT] = {
		[CRC_PATH_PORTABLE] = "portable",
		[CRC_PATH_CLMUL128] = "clmul128",
		[CRC_PATH_CLMUL512] = "clmul512",
	};

	return path < CRC_PATH_COUNT ? names[path] : "unknown";
}

int crc_force(enum crc_path path)
{
	if (!path_works(path))
		return -ENOTSUP;
	path_taken = path;
	return 0;
}
