/* SPDX-License-Identifier: Apache-2.0 */
/* Runs made by hand, compared: what counts as a difference, which comes first, where time went. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "traces/compare.h"
#include "traces/messages.h"

/* One SEND, times in us: posted 1.0, doorbell 1.2, unit 1.25, WQE 2.0, out 3.5, in 3.58, ACK out
 * 4.0, in 4.08, CQE 4.5, EQE 4.6, polled 6.0. */
static const char log_of_send[] =
	"      0.000000      scenario      phase bring-up\n"
	"      0.500000 hca0 pcie          read bar0 0x80698 value 0x00800000 hcr+0x18, go 1\n"
	"      0.600000 hca0 pcie          read bar0 0x80698 value 0x00000000 hcr+0x18\n"
	"      0.900000      scenario      phase one\n"
	"      1.000000 hca0 driver        drv_post_send qpn 000208, opcode 2\n"
	"      1.200000 hca0 doorbell      send doorbell qpn 0x208 uar 129\n"
	"      1.250000 hca0 scheduler     qpn 0x208 runs from wqe 0 to 0\n"
	"      2.000000 hca0 wqe_fetch     send wqe qpn 0x208 index 0 send, ds 2; data, byte_count "
	"64\n"
	"      3.500000 hca0 link_port     out port 1 rc_send_only qpn 0x300 psn 7 payload 64 "
	"ack_req, "
	"from 0x208, wqe 0\n"
	"      3.580000 hca1 link_port     in port 1 rc_send_only qpn 0x300 psn 7 payload 64 "
	"ack_req, "
	"from 0x208, wqe 0\n"
	"      4.000000 hca1 link_port     out port 1 rc_acknowledge qpn 0x208 psn 7, ack credits "
	"0 "
	"msn 1, from 0x300, wqe 7\n"
	"      4.080000 hca0 link_port     in port 1 rc_acknowledge qpn 0x208 psn 7, ack credits 0 "
	"msn 1, from 0x300, wqe 7\n"
	"      4.500000 hca0 cqe_write     cqe cqn 0x81 index 0 send send, my_qpn 0x208, byte_cnt "
	"64\n"
	"      4.600000 hca0 event_queue   eqe eqn 5 index 37 comp, cqn 0x81\n"
	"      6.000000 hca0 driver        drv_cq_poll cqn 000081, qpn 000208, status 0\n";

struct rig {
	char dir[2][32];
	char *text;
	size_t size;
};

static void run_write(const char *dir, const char *log)
{
	char path[64];
	FILE *out;

	snprintf(path, sizeof(path), "%s/run.log", dir);
	out = fopen(path, "w");
	assert_non_null(out);
	fputs(log, out);
	fclose(out);
}

static int setup(void **state)
{
	struct rig *rig = calloc(1, sizeof(*rig));

	for (unsigned i = 0; i < 2; i++) {
		strcpy(rig->dir[i], "/tmp/compare_XXXXXX");
		assert_non_null(mkdtemp(rig->dir[i]));
		run_write(rig->dir[i], log_of_send);
	}
	*state = rig;
	return 0;
}

static int teardown(void **state)
{
	static const char *const files[] = {"run.log", "config.ini", "packets.pcapng", "golden"};
	struct rig *rig = *state;
	char path[64];

	for (unsigned i = 0; i < 2; i++) {
		for (unsigned f = 0; f < sizeof(files) / sizeof(files[0]); f++) {
			snprintf(path, sizeof(path), "%s/%s", rig->dir[i], files[f]);
			unlink(path);
		}
		rmdir(rig->dir[i]);
	}
	free(rig->text);
	free(rig);
	return 0;
}

static int compare(struct rig *rig, struct compare_options options)
{
	FILE *out;
	int ret;

	free(rig->text);
	out = open_memstream(&rig->text, &rig->size);
	options.a = options.a ? options.a : rig->dir[0];
	options.b = rig->dir[1];
	ret = compare_runs(&options, out);
	fclose(out);
	return ret;
}

/* The log with one piece replaced, as run B. */
static void change(struct rig *rig, const char *from, const char *to)
{
	const char *at = strstr(log_of_send, from);
	char log[sizeof(log_of_send) + 256];

	assert_non_null(at);
	snprintf(log, sizeof(log), "%.*s%s%s", (int)(at - log_of_send), log_of_send, to,
		 at + strlen(from));
	run_write(rig->dir[1], log);
}

static void equal_runs(void **state)
{
	struct rig *rig = *state;

	assert_int_equal(compare(rig, (struct compare_options){0}), 0);
	assert_non_null(strstr(rig->text, "equal: 2 packets out, 2 packets in"));
	assert_non_null(strstr(rig->text, "times are equal"));
}

static void first_of_two_differences(void **state)
{
	struct rig *rig = *state;

	change(rig, "msn 1, from 0x300, wqe 7\n      4.080000",
	       "msn 2, from 0x300, wqe 7\n      4.080000");
	assert_int_equal(compare(rig, (struct compare_options){0}), 1);
	assert_non_null(strstr(rig->text,
			       "first difference: packets out, hca1, number 1 (A has 1, B 1), "
			       "in phase 'one'"));
	assert_non_null(strstr(rig->text, "they differ in: msn 1,  |  msn 2,"));
	/* it is not among the packets of hca0, and completions may be looked at alone */
	assert_null(strstr(rig->text, "packets out, hca0"));
	assert_int_equal(compare(rig, (struct compare_options){.classes = 1 << RUN_CQE}), 0);
}

static void one_run_ends_early(void **state)
{
	struct rig *rig = *state;

	change(rig, "      4.600000 hca0 event_queue   eqe eqn 5 index 37 comp, cqn 0x81\n", "");
	assert_int_equal(compare(rig, (struct compare_options){0}), 1);
	assert_non_null(strstr(rig->text,
			       "first difference: events, hca0, eqn 0x5, number 1 (A has 1, B 0)"));
	assert_non_null(strstr(rig->text, "ends here, after 0"));
}

static void order_between_streams_is_no_difference(void **state)
{
	struct rig *rig = *state;

	/* the EQE before the CQE, at the same two times */
	change(rig,
	       "      4.500000 hca0 cqe_write     cqe cqn 0x81 index 0 send send, my_qpn 0x208, "
	       "byte_cnt 64\n"
	       "      4.600000 hca0 event_queue   eqe eqn 5 index 37 comp, cqn 0x81\n",
	       "      4.500000 hca0 event_queue   eqe eqn 5 index 37 comp, cqn 0x81\n"
	       "      4.600000 hca0 cqe_write     cqe cqn 0x81 index 0 send send, my_qpn 0x208, "
	       "byte_cnt "
	       "64\n");
	assert_int_equal(compare(rig, (struct compare_options){.no_times = true}), 0);
}

static void polls_count_once(void **state)
{
	struct rig *rig = *state;

	change(rig,
	       "      0.500000 hca0 pcie          read bar0 0x80698 value 0x00800000 hcr+0x18, go "
	       "1\n",
	       "");
	assert_int_equal(compare(rig, (struct compare_options){0}), 0);
	change(rig, "read bar0 0x80698 value 0x00000000 hcr+0x18\n",
	       "read bar0 0x80698 value 0x00200000 hcr+0x18, toggle 1\n");
	assert_int_equal(compare(rig, (struct compare_options){0}), 1);
}

static void time_by_stage(void **state)
{
	struct rig *rig = *state;
	struct compare_options options = {.a = NULL};

	change(rig, "      4.000000 hca1 link_port     out",
	       "      3.950000 hca1 link_port     out");
	assert_int_equal(compare(rig, options), 1);
	/* 50 ns earlier out, and longer on the way: 370 for 420 ns, 130 for 80 */
	assert_non_null(
		strstr(rig->text, "hca0 respond               1         420.000         370.000"));
	assert_non_null(
		strstr(rig->text, "hca0 return                1          80.000         130.000"));
	assert_null(strstr(rig->text, "hca0 wire"));
	assert_true(compare_threshold_parse(&options, "50ns"));
	assert_int_equal(compare(rig, options), 0);
	options = (struct compare_options){.a = NULL};
	assert_true(compare_threshold_parse(&options, "13%"));
	assert_int_equal(compare(rig, options), 1);
	assert_null(strstr(rig->text, "hca0 respond"));
	assert_false(compare_threshold_parse(&options, "5 parsec"));
}

static void stages_of_a_message(void **state)
{
	static const uint64_t expected_ns[MESSAGE_POINT_COUNT] = {
		[MESSAGE_DOORBELL] = 200,   [MESSAGE_PICKED] = 50,  [MESSAGE_WQE] = 750,
		[MESSAGE_FIRST_OUT] = 1500, [MESSAGE_ARRIVED] = 80, [MESSAGE_ANSWERED] = 420,
		[MESSAGE_ANSWER] = 80,      [MESSAGE_CQE] = 420,    [MESSAGE_EQE] = 100,
		[MESSAGE_POLLED] = 1400,
	};
	struct rig *rig = *state;
	struct messages all;
	struct run_files run;

	assert_int_equal(run_files_read(&run, rig->dir[0], RUN_LOG, false, stderr), 0);
	assert_int_equal(messages_find(&all, &run), 0);
	assert_int_equal(all.count, 1);
	assert_int_equal(all.messages[0].bytes, 64);
	for (unsigned s = 0; s < MESSAGE_POINT_COUNT; s++) {
		uint64_t ps = 0;

		assert_int_equal(message_stage(&all.messages[0], s, &ps), expected_ns[s] != 0);
		assert_int_equal(ps, expected_ns[s] * 1000);
	}
	messages_free(&all);
	run_files_free(&run);
}

static void configurations_that_differ(void **state)
{
	static const char *const values[2] = {"10ns", "1us"};
	struct rig *rig = *state;
	char path[64];

	for (unsigned i = 0; i < 2; i++) {
		FILE *out;

		snprintf(path, sizeof(path), "%s/config.ini", rig->dir[i]);
		out = fopen(path, "w");
		fprintf(out, "# x\n[hca.link]\n# cable\ndelay = %s\nwidth = 4x\n", values[i]);
		fclose(out);
	}
	assert_int_equal(compare(rig, (struct compare_options){0}), 0);
	assert_non_null(strstr(rig->text, "hca.link.delay: 10ns | 1us\n"));
	assert_null(strstr(rig->text, "width"));
}

static void golden_trace_against_run(void **state)
{
	struct rig *rig = *state;
	char golden[64];
	struct run_files run;
	FILE *out;

	snprintf(golden, sizeof(golden), "%s/golden", rig->dir[0]);
	assert_int_equal(run_files_read(&run, rig->dir[0], RUN_LOG, false, stderr), 0);
	out = fopen(golden, "w");
	run_files_print(&run, RUN_PACKETS | 1 << RUN_CQE, "one", out);
	fclose(out);
	run_files_free(&run);
	assert_int_equal(compare(rig, (struct compare_options){.a = golden}), 0);
	/* what it does not hold is not compared; what it holds is */
	change(rig, "index 37", "index 38");
	assert_int_equal(compare(rig, (struct compare_options){.a = golden}), 0);
	change(rig, "byte_cnt 64", "byte_cnt 65");
	assert_int_equal(compare(rig, (struct compare_options){.a = golden}), 1);
}

static void troubles(void **state)
{
	struct rig *rig = *state;

	assert_int_equal(compare(rig, (struct compare_options){.a = "/nowhere"}), 2);
	run_write(rig->dir[1], "hello\n");
	assert_int_equal(compare(rig, (struct compare_options){0}), 2);
	run_write(rig->dir[1], "");
	assert_int_equal(compare(rig, (struct compare_options){0}), 1);
}

/* A hundred thousand settings do not take longer than reading them does. */
static void large_configurations(void **state)
{
	enum { SETTINGS = 100000, CHANGED = 77, LIMIT_S = 20 };
	struct rig *rig = *state;
	char path[64];

	for (unsigned side = 0; side < 2; side++) {
		FILE *out;

		snprintf(path, sizeof(path), "%s/config.ini", rig->dir[side]);
		out = fopen(path, "w");
		assert_non_null(out);
		for (unsigned i = 0; i < SETTINGS; i++)
			fprintf(out, "[s%u]\nkey = %u\n", i, i + (side && i == CHANGED));
		fclose(out);
	}
	alarm(LIMIT_S);
	assert_int_equal(compare(rig, (struct compare_options){0}), 0);
	alarm(0);
	assert_non_null(strstr(rig->text, "A | B:\n  s77.key: 77 | 78\n"));
	assert_null(strstr(rig->text, "more"));
}

/* However many there are, each is one of its own. */
static void many_phases(void **state)
{
	enum { PHASES = 100 };
	struct rig *rig = *state;
	struct run_files run;
	char *log = calloc(PHASES, 128), *at = log;

	for (unsigned i = 0; i < PHASES; i++)
		at += sprintf(at, "%7u.000000      scenario      phase %u\n", i, i);
	run_write(rig->dir[0], log);
	run_write(rig->dir[1], log);
	free(log);
	assert_int_equal(compare(rig, (struct compare_options){0}), 0);
	assert_int_equal(run_files_read(&run, rig->dir[0], RUN_LOG, false, stderr), 0);
	assert_int_equal(run.phase_count, 1 + PHASES);
	assert_string_equal(run.phases[PHASES], "99");
	assert_int_equal(run.phase_ps[PHASES], 99000000);
	assert_int_equal(run.items[PHASES - 1].phase, PHASES);
	run_files_free(&run);
}

/* Wherever a log is cut, what is left of it is compared. */
static void cut_anywhere(void **state)
{
	struct rig *rig = *state;
	char cut[sizeof(log_of_send)];
	/* the last line is the driver's, which is not compared */
	const char *compared = strstr(log_of_send, "\n      6.000000");

	for (size_t n = sizeof(log_of_send) - 1; n--;) {
		memcpy(cut, log_of_send, n);
		cut[n] = 0;
		run_write(rig->dir[1], cut);
		if (log_of_send + n < compared)
			assert_int_not_equal(compare(rig, (struct compare_options){0}), 0);
		else
			compare(rig, (struct compare_options){0});
	}
}

static void no_text(void **state)
{
	struct rig *rig = *state;
	char path[64];
	FILE *out;

	snprintf(path, sizeof(path), "%s/run.log", rig->dir[1]);
	out = fopen(path, "w");
	fwrite(log_of_send, 1, sizeof(log_of_send), out); /* and a zero byte */
	fclose(out);
	assert_int_equal(compare(rig, (struct compare_options){0}), 2);
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	alarm(10);
	assert_int_equal(compare(rig, (struct compare_options){0}), 2);
	alarm(0);
	unlink(path);
	assert_int_equal(symlink("/dev/zero", path), 0);
	assert_int_equal(compare(rig, (struct compare_options){0}), 2);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(equal_runs),
		T(first_of_two_differences),
		T(one_run_ends_early),
		T(order_between_streams_is_no_difference),
		T(polls_count_once),
		T(time_by_stage),
		T(stages_of_a_message),
		T(configurations_that_differ),
		T(golden_trace_against_run),
		T(troubles),
		T(many_phases),
		T(large_configurations),
		T(cut_anywhere),
		T(no_text),
	};
#undef T
	return cmocka_run_group_tests(tests, NULL, NULL);
}
