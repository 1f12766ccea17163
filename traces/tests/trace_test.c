/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <sys/stat.h>

#include "traces/tests/dir_of.h"
#include "traces/tests/packets.h"
#include "traces/trace.h"

/* A sink that remembers the records it saw. */
struct seen {
	uint64_t time_ps[2000];
	uint32_t corr[2000];
	char text[64];
	uint8_t bytes[64];
	unsigned int n;
	int fail_at; /* the record with this number gets -ENOSPC */
};

static int seen_record(void *sink, const struct trace_record *r)
{
	struct seen *s = sink;

	if (s->fail_at && (int)s->n + 1 == s->fail_at)
		return -ENOSPC;
	s->time_ps[s->n] = r->time_ps;
	s->corr[s->n++] = r->corr;
	if (r->text)
		snprintf(s->text, sizeof(s->text), "%s", r->text);
	if (r->bytes)
		memcpy(s->bytes, r->bytes, r->len < sizeof(s->bytes) ? r->len : sizeof(s->bytes));
	return 0;
}

static const struct trace_sink_ops seen_ops = {.name = "seen", .record = seen_record};

static void emit(struct trace *tr, uint64_t time_ps, uint32_t corr)
{
	trace_emit(tr, &(struct trace_record){.time_ps = time_ps, .point = TP_NOTE, .corr = corr});
}

static void records_come_in_order(void **state)
{
	struct trace *tr = trace_create();
	struct seen s = {0};
	uint32_t random = 1;

	assert_int_equal(trace_sink_add(tr, &seen_ops, &s, 0), 0);
	/* each record is up to 63 ps in the future; the clock advances by 1 ps every third
	 * record */
	for (uint32_t i = 0; i < 1500; i++) {
		random = random * 1664525 + 1013904223;
		trace_advance(tr, i / 3);
		emit(tr, i / 3 + (random >> 26), i);
	}
	assert_true(s.n < 1500);
	assert_int_equal(trace_close(tr), 0);
	assert_int_equal(s.n, 1500);
	for (unsigned int i = 1; i < s.n; i++) {
		assert_true(s.time_ps[i - 1] <= s.time_ps[i]);
		if (s.time_ps[i - 1] == s.time_ps[i])
			assert_true(s.corr[i - 1] < s.corr[i]);
	}
}

static void a_record_waits_for_its_time(void **state)
{
	struct trace *tr = trace_create();
	struct seen s = {0};
	char text[] = "later";
	uint8_t bytes[3] = {1, 2, 3};

	trace_sink_add(tr, &seen_ops, &s, 0);
	trace_emit(tr, &(struct trace_record){.time_ps = 100,
					      .point = TP_NOTE,
					      .text = text,
					      .bytes = bytes,
					      .len = sizeof(bytes)});
	/* the sink may use the text only during the call */
	memset(text, 'x', 5);
	memset(bytes, 0, sizeof(bytes));
	trace_advance(tr, 99);
	assert_int_equal(s.n, 0);
	trace_advance(tr, 100);
	assert_int_equal(s.n, 1);
	assert_string_equal(s.text, "later");
	assert_memory_equal(s.bytes, "\1\2\3", 3);
	/* a record of the present time goes straight through, after those released before it */
	emit(tr, 100, 7);
	assert_int_equal(s.n, 2);
	assert_int_equal(s.corr[1], 7);
	assert_int_equal(trace_close(tr), 0);
}

static void a_large_record_is_held(void **state)
{
	static uint8_t bytes[20000];
	struct trace *tr = trace_create();
	struct seen s = {0};

	trace_sink_add(tr, &seen_ops, &s, 0);
	bytes[0] = 0x5a;
	for (uint64_t i = 0; i < 3; i++)
		trace_emit(tr, &(struct trace_record){.time_ps = 5 - i,
						      .point = TP_NOTE,
						      .bytes = bytes,
						      .len = sizeof(bytes)});
	assert_int_equal(trace_close(tr), 0);
	assert_int_equal(s.n, 3);
	assert_int_equal(s.bytes[0], 0x5a);
}

static void points_are_on_for_those_who_listen(void **state)
{
	struct trace *tr = trace_create();
	struct seen s = {0};

	assert_false(trace_on(NULL, TP_NOTE));
	assert_false(trace_on(tr, TP_NOTE));
	emit(tr, 0, 1);
	trace_sink_add(tr, &seen_ops, &s, 1 << TRACE_PACKET);
	assert_true(trace_on(tr, TP_PKT_OUT));
	assert_false(trace_on(tr, TP_NOTE));
	emit(tr, 0, 1);
	assert_int_equal(s.n, 0);
	assert_int_equal(trace_close(tr), 0);
}

static void a_failed_sink_is_told_once_and_fails_close(void **state)
{
	struct trace *tr = trace_create();
	struct seen bad = {.fail_at = 2}, good = {0};

	trace_sink_add(tr, &seen_ops, &bad, 0);
	trace_sink_add(tr, &seen_ops, &good, 0);
	for (uint32_t i = 0; i < 5; i++)
		emit(tr, 0, i);
	assert_int_equal(bad.n, 1);
	assert_int_equal(good.n, 5);
	assert_int_equal(trace_close(tr), -ENOSPC);
}

static void a_full_disk_fails_close(void **state)
{
	struct test_dir *d = *state;
	struct trace *tr = trace_create();

	assert_int_equal(symlink("/dev/full", test_dir_file(d, "run.log")), 0);
	assert_int_equal(trace_open(tr, "log", d->path, stderr), 0);
	emit(tr, 0, 1);
	assert_int_equal(trace_close(tr), -ENOSPC);
}

static bool exists(struct test_dir *d, const char *name)
{
	struct stat st;

	return !stat(test_dir_file(d, name), &st);
}

static void only_files_asked_for_are_made(void **state)
{
	struct test_dir *d = *state;
	struct trace *tr = trace_create();

	assert_int_equal(trace_open(tr, NULL, d->path, stderr), 0);
	assert_int_equal(trace_open(tr, "", d->path, stderr), 0);
	assert_false(trace_on(tr, TP_NOTE));
	assert_int_equal(trace_open(tr, "pcapng", d->path, stderr), 0);
	assert_true(exists(d, "packets.pcapng"));
	assert_false(exists(d, "run.log"));
	assert_int_equal(trace_close(tr), 0);
}

static void a_wrong_name_is_one_clear_line(void **state)
{
	struct test_dir *d = *state;
	struct trace *tr = trace_create();
	char *text = NULL;
	size_t n;
	FILE *err = open_memstream(&text, &n);

	assert_int_equal(trace_open(tr, "log,pcap", d->path, err), -EINVAL);
	fclose(err);
	assert_string_equal(
		text, "--trace: no trace 'pcap', there are: log records pcapng vcd timeline\n");
	assert_false(exists(d, "run.log"));
	free(text);
	assert_int_equal(trace_close(tr), 0);
}

static void a_watch_knows_the_kinds_that_are_on(void **state)
{
	struct trace *tr = trace_create();
	struct trace_watch early, late;
	struct seen s = {0};

	trace_watch(tr, &early);
	assert_int_equal(early.kinds, 0);
	trace_sink_add(tr, &seen_ops, &s, 1 << TRACE_PACKET);
	trace_watch(tr, &late);
	assert_int_equal(early.kinds, 1 << TRACE_PACKET);
	assert_int_equal(late.kinds, 1 << TRACE_PACKET);
	trace_listen(tr, 0);
	assert_int_equal(early.kinds | late.kinds, 0);
	assert_false(trace_on(tr, TP_PKT_OUT));
	trace_unwatch(tr, &late);
	trace_unwatch(tr, &early);
	assert_int_equal(trace_close(tr), 0);
}

static void what_cannot_be_opened_leaves_nothing(void **state)
{
	struct test_dir *d = *state;
	struct trace *tr = trace_create();
	char *text = NULL, expect[160];
	size_t n;
	FILE *err = open_memstream(&text, &n);

	assert_int_equal(mkdir(test_dir_file(d, "packets.pcapng"), 0777), 0);
	assert_int_equal(trace_open(tr, "log,pcapng", d->path, err), -EISDIR);
	fclose(err);
	snprintf(expect, sizeof(expect), "%s/packets.pcapng: Is a directory\n", d->path);
	assert_string_equal(text, expect);
	free(text);
	assert_false(exists(d, "run.log"));
	assert_false(trace_on(tr, TP_NOTE));
	assert_int_equal(rmdir(test_dir_file(d, "packets.pcapng")), 0);
	assert_int_equal(trace_close(tr), 0);
}

static void packet(struct trace *tr, uint64_t time_ps, enum trace_point point, uint8_t hca,
		   const struct test_packet *p, const char *text)
{
	trace_emit(tr, &(struct trace_record){.time_ps = time_ps,
					      .point = point,
					      .hca = hca,
					      .port = 1,
					      .bytes = p->b,
					      .len = p->len,
					      .text = text});
}

static void the_tail_prints_the_last_ones_and_the_ladder(void **state)
{
	struct trace *tr = trace_create();
	static struct test_packet send, ack;
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	assert_int_equal(trace_tail_keep(tr, 4, 1 << TRACE_PACKET | 1 << TRACE_FAULT), 0);
	test_packet_make(&send, BTH_RC_SEND_ONLY, 5, 64, false);
	test_packet_make(&ack, BTH_RC_ACKNOWLEDGE, 5, 0, false);
	aeth_set_syndrome(test_packet_ext(&ack, BTH_EXT_AETH), 0x1f);
	aeth_set_msn(test_packet_ext(&ack, BTH_EXT_AETH), 1);
	trace_advance(tr, 1);
	packet(tr, 1, TP_PKT_OUT, 0, &send, NULL);
	trace_advance(tr, 20);
	trace_emit(tr, &(struct trace_record){.time_ps = 20, .point = TP_FAULT, .text = "drop it"});
	packet(tr, 30, TP_PKT_OUT, 0, &send, "drop");
	trace_advance(tr, 1000000);
	packet(tr, 1000000, TP_PKT_OUT, 0, &send, NULL);
	packet(tr, 1000000, TP_PKT_IN, 1, &send, NULL);
	/* a kind that the ladder does not keep, and a packet that is still held back */
	emit(tr, 2000000, 1);
	packet(tr, 12345678, TP_PKT_OUT, 1, &ack, NULL);
	trace_ladder_print(tr, 0, out);
	fprintf(out, "--\n");
	trace_ladder_print(tr, 1000001, out);
	fclose(out);
	assert_string_equal(
		text,
		"        0.000020  fault: drop it\n"
		"        0.000030  hca0 ---X   hca1  rc_send_only qpn 0x41 psn 0x5 payload 64, "
		"fault drop\n"
		"        1.000000  hca0 -----> hca1  rc_send_only qpn 0x41 psn 0x5 payload 64\n"
		"       12.345678  hca0 <----- hca1  rc_acknowledge qpn 0x41 psn 0x5, ack "
		"credits 31 msn 1\n"
		"--\n"
		"       12.345678  hca0 <----- hca1  rc_acknowledge qpn 0x41 psn 0x5, ack "
		"credits 31 msn 1\n");
	free(text);
	assert_int_equal(trace_close(tr), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_come_in_order),
		cmocka_unit_test(a_record_waits_for_its_time),
		cmocka_unit_test(a_large_record_is_held),
		cmocka_unit_test(points_are_on_for_those_who_listen),
		cmocka_unit_test(a_watch_knows_the_kinds_that_are_on),
		cmocka_unit_test(a_failed_sink_is_told_once_and_fails_close),
		cmocka_unit_test_setup_teardown(a_full_disk_fails_close, test_dir_make,
						test_dir_remove),
		cmocka_unit_test_setup_teardown(only_files_asked_for_are_made, test_dir_make,
						test_dir_remove),
		cmocka_unit_test_setup_teardown(a_wrong_name_is_one_clear_line, test_dir_make,
						test_dir_remove),
		cmocka_unit_test_setup_teardown(what_cannot_be_opened_leaves_nothing, test_dir_make,
						test_dir_remove),
		cmocka_unit_test(the_tail_prints_the_last_ones_and_the_ladder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
