// SPDX-License-Identifier: Apache-2.0
/* See crc_tables.h. crc.c explains what the tables are for, and the order of bits. */
#include "model/engine/wire/crc_tables.h"

/* The polynomials, with their highest power as the highest bit. P32 is primitive. */
static const uint64_t poly32 = 0x104c11db7, poly16 = 0x1100b;

/* In the next five functions bit i stands for x^i, and m is a polynomial of the given degree. */
static uint64_t poly_times_x(uint64_t a, uint64_t m, unsigned int degree)
{
	a <<= 1;
	return a >> degree & 1 ? a ^ m : a;
}

static uint64_t poly_by_x(uint64_t a, uint64_t m)
{
	return (a & 1 ? a ^ m : a) >> 1;
}

static uint64_t poly_mul(uint64_t a, uint64_t b, uint64_t m, unsigned int degree)
{
	uint64_t r = 0;

	for (; b; b >>= 1) {
		if (b & 1)
			r ^= a;
		a = poly_times_x(a, m, degree);
	}
	return r;
}

/* P16 * (1 / P16 mod P32): 1 modulo P32 and 0 modulo P16. */
static uint64_t poly_select32(uint64_t m)
{
	uint64_t a = poly16, inverse = 1;
	int i;

	/* P32 makes a field, where 1 / a is a^(2^32 - 2). */
	for (i = 1; i < 32; i++) {
		a = poly_mul(a, a, poly32, 32);
		inverse = poly_mul(inverse, a, poly32, 32);
	}
	return poly_mul(poly16, inverse, m, 48);
}

static uint64_t poly_reflect(uint64_t a, unsigned int width)
{
	uint64_t r = 0;
	unsigned int i;

	for (i = 0; i < width; i++)
		r |= (a >> i & 1) << (width - 1 - i);
	return r;
}

static uint64_t byte_crc(uint64_t byte, uint64_t reflected)
{
	int i;

	for (i = 0; i < 8; i++)
		byte = byte & 1 ? byte >> 1 ^ reflected : byte >> 1;
	return byte;
}

static void tables_of_bytes(struct crc_tables *t, uint64_t m)
{
	unsigned int b, k;

	for (b = 0; b < 256; b++) {
		t->icrc[b] = byte_crc(b, poly_reflect(poly32, 32));
		t->vcrc[0][b] = byte_crc(b, poly_reflect(poly16, 16));
		t->slice[0][b] = byte_crc(b, poly_reflect(m, 48));
	}
	for (k = 1; k < 8; k++)
		for (b = 0; b < 256; b++)
			t->slice[k][b] =
				t->slice[k - 1][b] >> 8 ^ t->slice[0][t->slice[k - 1][b] & 0xff];
	for (k = 1; k < 4; k++)
		for (b = 0; b < 256; b++)
			t->vcrc[k][b] =
				t->vcrc[k - 1][b] >> 8 ^ t->vcrc[0][t->vcrc[k - 1][b] & 0xff];
}

/* table[v] is the sum of bits[i] for all bits i that are set in v. */
static void table_of_bits(uint64_t *table, unsigned int log_size, const uint64_t *bits)
{
	unsigned int v, i;

	for (v = 0; v < 1u << log_size; v++)
		for (i = 0; i < log_size; i++)
			if (v >> i & 1)
				table[v] ^= bits[i];
}

/* For each byte of a value of `width` bits: what it adds to the two CRCs. Bit 0, the highest power,
 * adds a32 and a16; each bit after it adds these divided by x once more. */
static void table_split(uint64_t (*table)[256], unsigned int width, uint64_t a32, uint64_t a16)
{
	uint64_t bits[64];
	unsigned int i;

	for (i = 0; i < width; i++) {
		bits[i] = poly_reflect(a32, 32) | poly_reflect(a16, 16) << 32;
		a32 = poly_by_x(a32, poly32);
		a16 = poly_by_x(a16, poly16);
	}
	for (i = 0; i < width / 8; i++)
		table_of_bits(table[i], 8, &bits[8 * i]);
}

/* The CRC-32 is the message times x^32, the CRC-16 the message times x^16, and a CRC-48 the message
 * times x^48. So bit 0 of a CRC-48, x^47, adds x^31 and x^15 to the two. In split64 the value is
 * the message itself: bit 0 is x^63, and adds x^95 and x^79. */
static void tables_split(struct crc_tables *t)
{
	uint64_t a32 = 1ull << 31, a16 = 1 << 15;
	unsigned int i;

	table_split(t->split, 48, a32, a16);
	for (i = 0; i < 64; i++) {
		a32 = poly_times_x(a32, poly32, 32);
		a16 = poly_times_x(a16, poly16, 16);
	}
	table_split(t->split64, 64, a32, a16);
}

static void tables_patch(struct crc_tables *t, uint64_t m)
{
	uint64_t select32 = poly_select32(m), select16 = select32 ^ 1, bits[4 * 106];
	uint64_t x47 = 1ull << 47, a = poly_mul(x47, select32, m, 48);
	unsigned int i;

	for (i = 0; i < 4 * 106; i++) {
		bits[i] = poly_reflect(a, 48);
		a = poly_by_x(a, m);
	}
	for (i = 0; i < 32; i++)
		t->ones32 ^= bits[i];
	for (i = 0; i < CRC_LOCAL_NIBBLES; i++)
		table_of_bits(t->local[i], 4, &bits[4 * crc_masked_local[i]]);
	for (i = 0; i < CRC_GLOBAL_NIBBLES; i++)
		table_of_bits(t->global[i], 4, &bits[4 * crc_masked_global[i]]);
	a = poly_mul(x47, select16, m, 48);
	for (i = 0; i < 16; i++) {
		t->ones16 ^= poly_reflect(a, 48);
		a = poly_by_x(a, m);
	}
}

/* The product of two reflected 64-bit values is too high by one power of x. So the factor that
 * moves by n bits is x^(n - 1). */
static void tables_fold(struct crc_tables *t, uint64_t m)
{
	unsigned int e, bits = 8 * CRC_BLOCK;
	uint64_t a = 1;

	for (e = 0; e < bits * CRC_FOLD_MAX + 64; e++) {
		if (e == 63)
			t->by64 = poly_reflect(a, 64);
		if (e % bits == bits - 1)
			t->over[(e + 1) / bits].second = poly_reflect(a, 64);
		if (e % bits == 63 && e > bits)
			t->over[(e + 1) / bits].first = poly_reflect(a, 64);
		a = poly_times_x(a, m, 48);
	}
}

void crc_tables_make(struct crc_tables *t)
{
	uint64_t m = 0;
	unsigned int i;

	for (i = 0; i <= 16; i++)
		if (poly16 >> i & 1)
			m ^= poly32 << i;
	tables_of_bytes(t, m);
	tables_split(t);
	tables_patch(t, m);
	tables_fold(t, m);
}
