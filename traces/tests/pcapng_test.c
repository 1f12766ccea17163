/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "traces/pcapng_format.h"
#include "model/interface/macros.h"
#include "traces/tests/dir_of.h"
#include "traces/tests/packets.h"
#include "traces/trace.h"

static struct trace *capture(struct test_dir *d)
{
	struct trace *tr = trace_create();

	assert_int_equal(trace_open(tr, "pcapng", d->path, stderr), 0);
	return tr;
}

static void packet(struct trace *tr, uint64_t time_ps, enum trace_point point, uint8_t hca,
		   const void *bytes, uint32_t len, const char *text)
{
	trace_emit(tr,
		   &(struct trace_record){.time_ps = time_ps,
					  .point = point,
					  .hca = hca,
					  .port = 1,
					  .bytes = bytes,
					  .len = len,
					  .args = {TRACE_PACKET_WR_ID | TRACE_PACKET_WQE, 7, 3, 1},
					  .text = text});
}

static size_t read_all(const char *path, uint8_t *buf, size_t room)
{
	FILE *f = fopen(path, "rb");
	size_t n;

	assert_non_null(f);
	n = fread(buf, 1, room, f);
	fclose(f);
	return n;
}

/* The blocks of the pcapng draft, and the ERF header of the ERF description, written out by
 * hand. */
// clang-format off
static const uint8_t expected[] = {
	/* section header: length of the section unknown, name of the program */
	0x0a, 0x0d, 0x0d, 0x0a, 44, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0,
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	4, 0, 6, 0, 'h', 'c', 'a', 's', 'i', 'm', 0, 0, 0, 0, 0, 0, 44, 0, 0, 0,
	/* interface: link type 197, name of 10 characters, 10^-9 s */
	1, 0, 0, 0, 48, 0, 0, 0, 197, 0, 0, 0, 0, 0, 0, 0,
	2, 0, 10, 0, 'h', 'c', 'a', '1', '.', 'p', 'o', 'r', 't', '1', 0, 0,
	9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0, 48, 0, 0, 0,
	/* packet: interface 0, 1.5 s is 0x59682f00 ns, 46 bytes of 46 */
	6, 0, 0, 0, 124, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x00, 0x2f, 0x68, 0x59,
	46, 0, 0, 0, 46, 0, 0, 0,
	/* ERF: 1.5 in 32.32 bits little-endian, type 21, varying length, rlen 46, wlen 30 */
	0, 0, 0, 0x80, 1, 0, 0, 0, 21, 4, 0, 46, 0, 0, 0, 30,
	0x00, 0x02, 0x00, 0x04, 0x00, 0x07, 0x00, 0x01, 0x11, 0x40, 0xff, 0xff, 0x00, 0x87, 0x04,
	0x08, 0x00, 0xd4, 0x0a, 0x55, 0x1f, 0x00, 0x00, 0x01, 0xa8, 0x03, 0x55, 0x50, 0x30, 0x81,
	0, 0,
	/* comment of 25 bytes, direction outbound */
	1, 0, 25, 0, 'w', 'r', '_', 'i', 'd', '=', '7', ';', 'w', 'q', 'e', '=', '3', ';',
	'f', 'a', 'u', 'l', 't', '=', 'd', 'r', 'o', 'p', ';', 0, 0, 0,
	2, 0, 4, 0, 2, 0, 0, 0, 0, 0, 0, 0, 124, 0, 0, 0,
};
// clang-format on

static void the_file_is_as_the_format_says(void **state)
{
	struct test_dir *d = *state;
	struct trace *tr = capture(d);
	uint8_t got[512];

	packet(tr, 1500000000000, TP_PKT_OUT, 1, captured_ack, sizeof(captured_ack), "drop");
	/* neither of these two belongs in the file */
	packet(tr, 1500000000001, TP_PKT_DISCARD, 0, captured_ack, sizeof(captured_ack), "vcrc");
	trace_emit(tr, &(struct trace_record){.time_ps = 1, .point = TP_NOTE});
	assert_int_equal(trace_close(tr), 0);
	assert_int_equal(read_all(test_dir_file(d, "packets.pcapng"), got, sizeof(got)),
			 sizeof(expected));
	assert_memory_equal(got, expected, sizeof(expected));
}

static void what_is_written_is_read(void **state)
{
	static struct test_packet sent[40];
	struct test_dir *d = *state;
	struct trace *tr = capture(d);
	struct pcapng_reader *rd;
	struct pcapng_packet p;

	for (uint32_t i = 0; i < 40; i++) {
		test_packet_make(&sent[i], BTH_RC_SEND_ONLY, i, i * 105, i & 1);
		packet(tr, UINT64_C(7000000000999) + 1000 * i, i & 2 ? TP_PKT_IN : TP_PKT_OUT,
		       i & 1, sent[i].b, sent[i].len, NULL);
	}
	assert_int_equal(trace_close(tr), 0);
	assert_int_equal(pcapng_reader_open(&rd, test_dir_file(d, "packets.pcapng"), stderr), 0);
	for (uint32_t i = 0; i < 40; i++) {
		assert_int_equal(pcapng_reader_next(rd, &p, stderr), 1);
		assert_int_equal(p.time_ps, UINT64_C(7000000000000) + 1000 * i);
		assert_int_equal(p.len, sent[i].len);
		assert_memory_equal(p.bytes, sent[i].b, p.len);
		assert_string_equal(p.name, i & 1 ? "hca1.port1" : "hca0.port1");
		assert_int_equal(p.flags, i & 2 ? PCAPNG_INBOUND : PCAPNG_OUTBOUND);
		assert_string_equal(p.comment, "wr_id=7;wqe=3;");
	}
	assert_int_equal(pcapng_reader_next(rd, &p, stderr), 0);
	pcapng_reader_close(rd);
}

static char *check(struct test_dir *d, const char *name, bool verbose, int expect)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	assert_int_equal(trace_check_file(test_dir_file(d, name), verbose, out), expect);
	fclose(out);
	return text;
}

/* Checks the captured and original length of the block, and rlen and wlen of its ERF header: only
 * the captured length and rlen are cut. The reader reports the cut, and the checker judges what is
 * left. */
static void long_packets_are_cut(void **state)
{
	enum { SNAP = 144, SNAPLEN = 44 + 12, LENGTHS = 44 + 48 + 20, ERF = LENGTHS + 8 };
	static struct test_packet sent[2];
	struct test_dir *d = *state;
	struct trace *tr = trace_create();
	uint8_t got[1024];
	struct pcapng_reader *rd;
	struct pcapng_packet p;
	char *text;

	trace_snap(tr, SNAP);
	assert_int_equal(trace_open(tr, "pcapng", d->path, stderr), 0);
	test_packet_make(&sent[0], BTH_RC_SEND_ONLY, 1, 200, false);
	test_packet_make(&sent[1], BTH_RC_SEND_ONLY, 2, 20, false);
	for (unsigned i = 0; i < 2; i++)
		packet(tr, 1000000, TP_PKT_OUT, 0, sent[i].b, sent[i].len, NULL);
	assert_int_equal(trace_close(tr), 0);
	read_all(test_dir_file(d, "packets.pcapng"), got, sizeof(got));
	assert_int_equal(got[SNAPLEN], 16 + SNAP);
	assert_int_equal(got[LENGTHS], 16 + SNAP);
	assert_int_equal(got[LENGTHS + 4], 16 + sent[0].len);
	assert_int_equal(got[ERF + 11], 16 + SNAP);
	assert_int_equal(got[ERF + 15], sent[0].len);
	assert_int_equal(pcapng_reader_open(&rd, test_dir_file(d, "packets.pcapng"), stderr), 0);
	assert_int_equal(pcapng_reader_next(rd, &p, stderr), 1);
	assert_int_equal(p.len, SNAP);
	assert_int_equal(p.wire_len, sent[0].len);
	assert_memory_equal(p.bytes, sent[0].b, SNAP);
	assert_int_equal(pcapng_reader_next(rd, &p, stderr), 1);
	assert_int_equal(p.len, sent[1].len);
	assert_int_equal(p.wire_len, sent[1].len);
	pcapng_reader_close(rd);
	text = check(d, "packets.pcapng", false, 0);
	assert_non_null(strstr(text, "2 packets, 2 good, 0 bad"));
	assert_non_null(strstr(text, "1 of them are cut, so their CRCs are not checked"));
	free(text);
}

static void captured_packets_are_right(void **state)
{
	struct test_dir *d = *state;
	struct trace *tr = capture(d);
	char *text;

	packet(tr, 0, TP_PKT_OUT, 0, captured_ack, sizeof(captured_ack), NULL);
	packet(tr, 0, TP_PKT_OUT, 0, captured_grh, sizeof(captured_grh), NULL);
	assert_int_equal(trace_close(tr), 0);
	text = check(d, "packets.pcapng", false, 0);
	assert_non_null(strstr(text, "2 packets, 2 good, 0 bad, 0 harmed on purpose"));
	free(text);
}

/* Each single error is found and named. In a packet with fault= the error is intended. */
static void wrong_packets_are_found(void **state)
{
	static const struct {
		uint32_t at;
		uint8_t flip;
		bool seal;
		const char *what;
	} wrongs[] = {
		{27, 0x01, false, ": bad: icrc, vcrc\n"}, /* payload, so both see it */
		{4, 0x00, true, NULL},
		{0, 0x01, true, ": bad: lrh version\n"},
		{5, 0x01, true, ": bad: lrh length\n"},
		{9, 0x01, true, ": bad: transport version\n"},
		{8, 0x1c, true, ": bad: unknown opcode\n"}, /* 0x04 to 0x18 */
		{8, 0x05, true,
		 ": bad: first or middle packet is not a full MTU\n"},   /* 0x04 to 0x01 */
		{8, 0x15, true, ": bad: payload where none is allowed"}, /* 0x04 to 0x11 */
		{83, 0x01, true, ": bad: pad is not zero\n"},
	};
	struct test_dir *d = *state;

	for (size_t i = 0; i < ARRAY_SIZE(wrongs); i++) {
		struct test_packet p;
		struct trace *tr;
		char *text;

		test_packet_make(&p, BTH_RC_SEND_ONLY, 5, 63, false);
		p.b[wrongs[i].at] ^= wrongs[i].flip;
		if (wrongs[i].seal)
			test_packet_seal(&p);
		tr = capture(d);
		packet(tr, 0, TP_PKT_OUT, 0, p.b, p.len, NULL);
		assert_int_equal(trace_close(tr), 0);
		text = check(d, "packets.pcapng", false, wrongs[i].what ? 1 : 0);
		if (wrongs[i].what)
			assert_non_null(strstr(text, wrongs[i].what));
		free(text);
		tr = capture(d);
		packet(tr, 0, TP_PKT_OUT, 0, p.b, p.len, "corrupt");
		assert_int_equal(trace_close(tr), 0);
		text = check(d, "packets.pcapng", false, 0);
		assert_non_null(
			strstr(text, wrongs[i].what ? "0 good, 0 bad, 1 harmed" : "1 good"));
		free(text);
	}
}

static void every_packet_is_told_when_asked(void **state)
{
	struct test_dir *d = *state;
	struct trace *tr = capture(d);
	struct test_packet p;
	char *text;

	test_packet_make(&p, BTH_XRC_SEND_ONLY, 16777215, 4, false);
	xrceth_set_srqn(test_packet_ext(&p, BTH_EXT_XRCETH), 0xabcde);
	test_packet_seal(&p);
	packet(tr, 1234567, TP_PKT_OUT, 0, p.b, p.len, NULL);
	assert_int_equal(trace_close(tr), 0);
	text = check(d, "packets.pcapng", true, 0);
	assert_non_null(strstr(
		text, "1 1.234000 hca0.port1 out xrc_send_only slid 1 dlid 2 sl 0 vl 0 qpn 0x41 "
		      "psn 16777215 payload 4, srqn 0xabcde, wr_id=7;wqe=3;\n"));
	free(text);
}

static void write_file(const char *path, const uint8_t *bytes, size_t n)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	fwrite(bytes, 1, n, f);
	fclose(f);
}

/* Whatever is in a file, the reader fails only by its return value (run with SAN=1). */
static void damaged_files_are_refused(void **state)
{
	struct test_dir *d = *state;
	uint8_t bytes[sizeof(expected)];
	uint32_t random = 1;

	for (size_t n = 0; n < sizeof(expected); n++) {
		/* if the cut is between two blocks, the result is a valid file with fewer
		 * packets */
		bool whole = n == 44 || n == 92;

		write_file(test_dir_file(d, "other.pcapng"), expected, n);
		free(check(d, "other.pcapng", true, whole ? 0 : 2));
	}
	for (unsigned int i = 0; i < 3000; i++) {
		FILE *null = fopen("/dev/null", "w");
		int ret;

		memcpy(bytes, expected, sizeof(bytes));
		for (unsigned int k = 0; k <= i % 3; k++) {
			random = random * 1664525 + 1013904223;
			bytes[(random >> 8) % sizeof(bytes)] = (uint8_t)(random >> 24);
		}
		write_file(test_dir_file(d, "other.pcapng"), bytes, sizeof(bytes));
		ret = trace_check_file(d->file, true, null);
		assert_in_range(ret, 0, 2);
		fclose(null);
	}
	free(check(d, "missing.pcapng", false, 2));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, test_dir_make, test_dir_remove)
	const struct CMUnitTest tests[] = {
		T(the_file_is_as_the_format_says),
		T(what_is_written_is_read),
		T(captured_packets_are_right),
		T(wrong_packets_are_found),
		T(every_packet_is_told_when_asked),
		T(damaged_files_are_refused),
		T(long_packets_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
