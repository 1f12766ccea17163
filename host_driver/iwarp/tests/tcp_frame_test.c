/* SPDX-License-Identifier: Apache-2.0 */
/* Frames that a driver of this folder never makes: options of TCP in any order, lengths that do not fit each other. */
#include "host_driver/iwarp/bytes.h"
#include "host_driver/iwarp/tcp_frame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

enum {
	IP = ETH_HEADER,
	TCP = IP + IP_HEADER,
	OPTIONS = TCP + TCP_HEADER,
	OPTIONS_MAX = 40,
	PAYLOAD = 7,
	MSS = 0x0102,
	PATIENCE_S = 10
};

static const uint8_t macs[2][ETH_ADDRESS] = {{2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}};
static uint8_t frame[ETH_FRAME_MIN + OPTIONS_MAX + PAYLOAD];
static struct tcp_segment got;

static uint16_t sum(const uint8_t *bytes, size_t n, uint32_t s)
{
	for (size_t i = 0; i < n; i++)
		s += (uint32_t)bytes[i] << (i % 2 ? 0 : 8);
	while (s >> 16)
		s = (s & 0xffff) + (s >> 16);
	return (uint16_t)~s;
}

/* A SYN with these options; their length is a multiple of 4. */
static size_t make(const uint8_t *options, size_t n_options, size_t payload)
{
	const struct tcp_segment s = {.from_ip = 1, .to_ip = 2, .seq = 3, .flags = TCP_SYN};
	const size_t tcp = TCP_HEADER + n_options + payload;
	size_t n = tcp_frame_put(frame, macs[0], macs[1], &s);

	memcpy(frame + OPTIONS, options, n_options);
	memset(frame + OPTIONS + n_options, 2, payload);
	frame[TCP + 12] = (uint8_t)((TCP_HEADER + n_options) / 4 << 4);
	put_be16(frame + IP + 2, (uint16_t)(IP_HEADER + tcp));
	put_be16(frame + IP + 10, 0);
	put_be16(frame + IP + 10, sum(frame + IP, IP_HEADER, 0));
	put_be16(frame + TCP + 16, 0);
	put_be16(frame + TCP + 16, sum(frame + TCP, tcp, (uint32_t)(1 + 2 + 6 + tcp)));
	return n < TCP + tcp ? TCP + tcp : n;
}

static void options_in_any_order(void **state)
{
	static const struct {
		uint8_t bytes[12];
		size_t n;
		uint16_t mss;
	} rows[] = {
		{{0}, 0, 0},
		{{2, 4, 1, 2}, 4, MSS},
		/* no operation, in front and between */
		{{1, 1, 1, 1, 2, 4, 1, 2}, 8, MSS},
		{{1, 2, 4, 1, 2, 1, 0, 0}, 8, MSS},
		/* an option of two bytes, of three, of ten */
		{{4, 2, 2, 4, 1, 2, 0, 0}, 8, MSS},
		{{3, 3, 7, 2, 4, 1, 2, 0}, 8, MSS},
		{{8, 8, 2, 4, 9, 9, 0, 0, 2, 4, 1, 2}, 12, MSS},
		/* behind the end of the list */
		{{0, 1, 1, 1, 2, 4, 1, 2}, 8, 0},
		{{4, 2, 0, 0, 2, 4, 1, 2}, 8, 0},
		/* an MSS of another length, and the right one behind it */
		{{2, 3, 9, 2, 4, 1, 2, 0}, 8, MSS},
		{{2, 2, 2, 4, 1, 2, 0, 0}, 8, MSS},
		/* lengths of 0, of 1, and beyond the list */
		{{3, 0, 2, 4, 1, 2, 0, 0}, 8, 0},
		{{3, 1, 2, 4, 1, 2, 0, 0}, 8, 0},
		{{3, 9, 0, 0, 0, 0, 0, 0}, 8, 0},
		{{1, 1, 2, 4}, 4, 0},
		{{1, 1, 1, 2}, 4, 0},
		{{1, 1, 1, 1}, 4, 0},
	};

	alarm(PATIENCE_S); /* an option of length 0 must not be passed for ever */
	for (unsigned i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		const size_t payload = i % 2 ? PAYLOAD : 0;
		const size_t n = make(rows[i / 2].bytes, rows[i / 2].n, payload);

		assert_null(tcp_frame_get(frame, n, &got));
		assert_int_equal(got.mss, rows[i / 2].mss);
		assert_int_equal(got.len, payload);
		assert_ptr_equal(got.payload, frame + OPTIONS + rows[i / 2].n);
	}
	alarm(0);
}

/* Each length one beyond what fits, or below. */
static void lengths(void **state)
{
	const size_t n = make(NULL, 0, 0);
	size_t whole;

	assert_int_equal(n, ETH_FRAME_MIN);
	assert_null(tcp_frame_get(frame, OPTIONS, &got)); /* no pad */
	for (size_t cut = 0; cut < OPTIONS; cut++)
		assert_non_null(tcp_frame_get(frame, cut, &got));
	whole = make(frame, OPTIONS_MAX, PAYLOAD);
	assert_null(tcp_frame_get(frame, whole, &got));
	assert_non_null(tcp_frame_get(frame, whole - 1, &got));
	for (unsigned words = 0; words < 16; words++) {
		make(NULL, 0, 4);
		frame[TCP + 12] = (uint8_t)(words << 4);
		put_be16(frame + TCP + 16, 0);
		put_be16(frame + TCP + 16,
			 sum(frame + TCP, TCP_HEADER + 4, 1 + 2 + 6 + TCP_HEADER + 4));
		assert_int_equal(!tcp_frame_get(frame, ETH_FRAME_MIN, &got),
				 words == 5 || words == 6);
	}
}

/* What is not TCP over IPv4, and each bit of the headers that is wrong. */
static void damaged(void **state)
{
	const size_t n = make(NULL, 0, 4);

	for (unsigned bit = 0; bit < 8 * (TCP_HEADER + IP_HEADER + 4); bit++) {
		frame[IP + bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_non_null(tcp_frame_get(frame, n, &got));
		frame[IP + bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	for (unsigned i = 0; i < 2; i++) {
		frame[ETH_HEADER - 1 - i] ^= 1;
		assert_non_null(tcp_frame_get(frame, n, &got));
		frame[ETH_HEADER - 1 - i] ^= 1;
	}
	assert_null(tcp_frame_get(frame, n, &got));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_in_any_order),
		cmocka_unit_test(lengths),
		cmocka_unit_test(damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
