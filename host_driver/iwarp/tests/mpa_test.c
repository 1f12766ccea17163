/* SPDX-License-Identifier: Apache-2.0 */
/* Frames against vectors: those of RFC 5044 (figures 5 and 6), and messages without data. */
#include "host_driver/iwarp/bytes.h"
#include "host_driver/iwarp/mpa.h"
#include "host_driver/iwarp/rdmap.h"

#include <stdio.h>
#include <stdlib.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static size_t from_hex(uint8_t *bytes, const char *hex)
{
	size_t n = 0;
	unsigned v;

	for (; *hex; hex++)
		if (*hex != ' ' && sscanf(hex++, "%2x", &v) == 1)
			bytes[n++] = (uint8_t)v;
	return n;
}

static void assert_fpdu(const struct rdmap_message *m, const char *hex)
{
	uint8_t ulpdu[128], fpdu[256], want[256];
	struct mpa_fpdus tx = {.crc = true};
	size_t n = mpa_fpdu_put(&tx, fpdu, ulpdu, rdmap_put(ulpdu, m));

	assert_int_equal(n, from_hex(want, hex));
	assert_memory_equal(fpdu, want, n);
}

#define ZEROS_8  "0000000000000000"
#define ZEROS_24 ZEROS_8 ZEROS_8 ZEROS_8

static void vectors_without_data(void **state)
{
	assert_fpdu(&(struct rdmap_message){.opcode = RDMAP_WRITE, .last = true, .stag = 1},
		    "000e c140 00000001" ZEROS_8 "ebd34c5f");
	assert_fpdu(&(struct rdmap_message){.opcode = RDMAP_READ_REQUEST,
					    .last = true,
					    .msn = 1,
					    .read = {.sink_stag = 1, .source_stag = 1}},
		    "002e 4141 00000000 00000001 00000001 00000000 00000001" ZEROS_8
		    "00000000 00000001" ZEROS_8 "27dbd7e7");
	assert_fpdu(&(struct rdmap_message){.opcode = RDMAP_READ_RESPONSE, .last = true, .stag = 1},
		    "000e c142 00000001" ZEROS_8 "21a3e83e");
	assert_fpdu(&(struct rdmap_message){.opcode = RDMAP_SEND, .last = true, .msn = 1},
		    "0012 4143 00000000 00000000 00000001 00000000 587be8c4");
	assert_fpdu(
		&(struct rdmap_message){
			.opcode = RDMAP_TERMINATE, .last = true, .msn = 1, .term = {2, 0, 7}},
		"0016 4147 00000000 00000002 00000001 00000000 20070000 1bd2babe");
}

/* RFC 5044, figure 5: the first FPDU of a stream, so a marker is in front. Figure 6: the marker is
 * 0x14 bytes behind the length. */
static void figures_of_rfc_5044(void **state)
{
	static const struct {
		uint64_t at;
		const char *hex;
		uint32_t msn;
	} rows[] = {
		{0, "00000000 002a 4143 00000000 00000000 00000001 00000000" ZEROS_24 "52239983",
		 1},
		{512 - 20,
		 "002a 4143 00000000 00000000 00000002 0000 0014 0000 0000" ZEROS_24 "84925898", 2},
	};
	uint8_t ulpdu[64], fpdu[256], want[256], data[24] = {0};

	for (unsigned i = 0; i < 2; i++) {
		struct mpa_fpdus tx = {.crc = true, .markers = true, .at = rows[i].at};
		size_t n = rdmap_put(ulpdu, &(struct rdmap_message){.opcode = RDMAP_SEND,
								    .last = true,
								    .msn = rows[i].msn,
								    .payload = data,
								    .len = sizeof(data)});

		n = mpa_fpdu_put(&tx, fpdu, ulpdu, n);
		from_hex(want, rows[i].hex);
		assert_int_equal(n, 52);
		/* of figure 6 the marker and the sum say all */
		if (!i)
			assert_memory_equal(fpdu, want, n);
		else
			assert_int_equal(get_be32(fpdu + 20), 0x14);
		assert_memory_equal(fpdu + n - 4, i ? "\x84\x92\x58\x98" : "\x52\x23\x99\x83", 4);
	}
}

static uint32_t next(uint32_t *x)
{
	*x = *x * 1664525 + 1013904223;
	return *x >> 8;
}

/* Every length, from every place relative to the markers, in pieces of any size, comes back. */
static void fpdus_come_back(void **state)
{
	static struct mpa_fpdu_rx rx;
	static uint8_t ulpdu[3000], fpdu[4096];
	struct mpa_fpdus tx;
	uint32_t x = 1;

	for (unsigned mode = 0; mode < 4; mode++) {
		tx = (struct mpa_fpdus){.markers = mode & 1, .crc = mode & 2};
		rx = (struct mpa_fpdu_rx){.stream = tx};
		for (unsigned round = 0; round < 2000; round++) {
			size_t n = round < 600 ? round : next(&x) % sizeof(ulpdu), at = 0, len;
			enum mpa_verdict verdict = MPA_MORE;

			for (size_t i = 0; i < n; i++)
				ulpdu[i] = (uint8_t)next(&x);
			len = mpa_fpdu_put(&tx, fpdu, ulpdu, n);
			assert_true(len <= mpa_fpdu_room(n));
			while (at < len) {
				size_t some = 1 + next(&x) % 700, taken;

				assert_int_equal(verdict, MPA_MORE);
				if (some > len - at)
					some = len - at;
				verdict = mpa_fpdu_get(&rx, fpdu + at, some, &taken);
				assert_int_equal(taken, some);
				at += some;
			}
			assert_int_equal(verdict, MPA_FPDU);
			assert_int_equal(rx.len, n);
			assert_memory_equal(mpa_ulpdu(&rx), ulpdu, n);
			assert_int_equal(rx.stream.at, tx.at);
		}
	}
}

/* Each bit of an FPDU that is wrong is found, at the latest by the CRC of that FPDU or because the
 * length asks for more. */
static void wrong_bits_are_found(void **state)
{
	static struct mpa_fpdu_rx rx;
	uint8_t ulpdu[600] = {1, 2, 3}, fpdu[1024];
	struct mpa_fpdus tx = {.markers = true, .crc = true};
	size_t n = mpa_fpdu_put(&tx, fpdu, ulpdu, sizeof(ulpdu)), taken;

	for (size_t bit = 0; bit < 8 * n; bit++) {
		enum mpa_verdict verdict;

		rx = (struct mpa_fpdu_rx){.stream = {.markers = true, .crc = true}};
		fpdu[bit / 8] ^= (uint8_t)(1 << bit % 8);
		verdict = mpa_fpdu_get(&rx, fpdu, n, &taken);
		assert_int_not_equal(verdict, MPA_FPDU);
		if (bit < 32)
			assert_int_equal(verdict, MPA_BAD_MARKER);
		else if (bit / 8 > 6 && bit / 8 < 512)
			assert_int_equal(verdict, MPA_BAD_CRC);
		fpdu[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}

static void mulpdus(void **state)
{
	static const struct {
		unsigned emss;
		bool markers;
		unsigned mulpdu;
	} rows[] = {
		{1460, false, 1454}, {1461, false, 1454}, {1460, true, 1442}, {8960, true, 8882},
		{536, true, 522},    {100, false, 128},   {0, true, 128},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(mpa_mulpdu(rows[i].emss, rows[i].markers), rows[i].mulpdu);
}

static void starts_come_back(void **state)
{
	static const uint8_t pdata[MPA_PDATA_MAX] = {5, 4, 3};
	uint8_t frame[MPA_START_BYTES + MPA_PDATA_MAX];

	for (unsigned i = 0; i < 64; i++) {
		const struct mpa_start sent = {
			.key = i % MPA_KEY_COUNT,
			.rev = 2,
			.bits = (uint8_t)(MPA_S | (i & 4 ? MPA_C : 0)),
			.has_enhanced = true,
			.enhanced = {i & 8, i % 8, (uint16_t)(i * 260), (uint16_t)(0x3fff - i)},
			.pdata = pdata,
			.pdata_len = (uint16_t)(i * 8),
		};
		struct mpa_start_rx rx = {.have = 0};
		struct mpa_start got;
		size_t n = mpa_start_put(frame, &sent), taken = 0;
		int ret = 0;

		assert_int_equal(n, 24 + i * 8);
		for (size_t at = 0; at < n; at++) {
			assert_int_equal(ret, 0);
			ret = mpa_start_get(&rx, frame + at, 1, &taken, &got);
			assert_int_equal(taken, 1);
		}
		assert_int_equal(ret, 1);
		assert_int_equal(got.key, sent.key);
		assert_int_equal(got.bits, sent.bits);
		assert_int_equal(got.enhanced.peer_to_peer, sent.enhanced.peer_to_peer);
		assert_int_equal(got.enhanced.kinds, sent.enhanced.kinds);
		assert_int_equal(got.enhanced.ird, sent.enhanced.ird);
		assert_int_equal(got.enhanced.ord, sent.enhanced.ord);
		assert_int_equal(got.pdata_len, sent.pdata_len);
		assert_memory_equal(got.pdata, pdata, got.pdata_len);
	}
}

/* The bits of enhanced data stand where RFC 6581 has them. */
static void enhanced_bits(void **state)
{
	static const struct {
		struct mpa_enhanced e;
		uint32_t bits;
	} rows[] = {
		{{true, 0, 0, 0}, 0x80000000},          {{false, MPA_RTR_SEND, 0, 0}, 0x40000000},
		{{false, MPA_RTR_WRITE, 0, 0}, 0x8000}, {{false, MPA_RTR_READ, 0, 0}, 0x4000},
		{{false, 0, 0x3fff, 0}, 0x3fff0000},    {{false, 0, 0, 0x3fff}, 0x3fff},
	};
	uint8_t frame[MPA_START_BYTES + MPA_PDATA_MAX];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		mpa_start_put(frame, &(struct mpa_start){.key = MPA_REQ,
							 .has_enhanced = true,
							 .enhanced = rows[i].e});
		assert_int_equal(get_be32(frame + MPA_START_BYTES), rows[i].bits);
	}
}

static void terms_are_found(void **state)
{
	for (enum iw_term t = IW_TERM_NONE + 1; t < IW_TERM_COUNT; t++)
		assert_int_equal(iw_term_find(iw_term_rows[t].layer, iw_term_rows[t].type,
					      iw_term_rows[t].code),
				 t);
	assert_int_equal(iw_term_find(3, 0, 0), IW_TERM_COUNT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vectors_without_data),
		cmocka_unit_test(figures_of_rfc_5044),
		cmocka_unit_test(fpdus_come_back),
		cmocka_unit_test(wrong_bits_are_found),
		cmocka_unit_test(mulpdus),
		cmocka_unit_test(starts_come_back),
		cmocka_unit_test(enhanced_bits),
		cmocka_unit_test(terms_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
