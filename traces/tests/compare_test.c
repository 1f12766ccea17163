/* SPDX-License-Identifier: Apache-2.0 */
/* Compares runs made by hand: what counts as a difference, which difference comes first, where time
 * was spent. */
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
#include "model/interface/macros.h"
#include "traces/messages.h"
#include "traces/tests/run_made.h"

/* One SEND, times in us: posted 1.0, doorbell 1.2, unit 1.25, WQE 2.0, out 3.5, in 3.58, ACK out
 * 4.0, in 4.08, CQE 4.5, EQE 4.6, polled 6.0. */
enum {
	BRING_UP,
	READ_BUSY,
	READ_IDLE,
	PHASE_ONE,
	POSTED,
	DOORBELL,
	PICKED,
	WQE,
	OUT,
	IN,
	ACK_OUT,
	ACK_IN,
	CQE,
	EQE,
	POLLED,
	RECORDS
};

struct run_of_send {
	struct trace_record r[RECORDS];
	struct test_packet send, ack;
	uint8_t wqe[64];
	struct cqe cqe;
	struct eqe eqe;
};

#define US(us, ns) ((us)*1000000ull + (ns)*1000ull)

static void run_of_send_make(struct run_of_send *run)
{
	struct wqe_ctrl *ctrl = (struct wqe_ctrl *)(void *)run->wqe;
	struct aeth *aeth;

	memset(run, 0, sizeof(*run));
	run_made_packet(&run->send, BTH_RC_SEND_ONLY, 0x300, 7, 64);
	bth_set_ack_req(run_made_bth(&run->send), 1);
	run_made_packet(&run->ack, BTH_RC_ACKNOWLEDGE, 0x208, 7, 0);
	aeth = test_packet_ext(&run->ack, BTH_EXT_AETH);
	aeth_set_msn(aeth, 1);
	wqe_ctrl_set_opcode(ctrl, WQE_SEND);
	wqe_ctrl_set_ds(ctrl, 2);
	wqe_data_set_byte_count((struct wqe_data *)(void *)(run->wqe + 16), 64);
	cqe_set_is_send(&run->cqe, 1);
	cqe_set_opcode(&run->cqe, WQE_SEND);
	cqe_set_my_qpn(&run->cqe, 0x208);
	cqe_set_byte_cnt(&run->cqe, 64);
	eqe_set_type(&run->eqe, EVENT_COMP);
	eqe_cq_set_cqn(eqe_as_cq(&run->eqe), 0x81);
	run->r[BRING_UP] =
		(struct trace_record){.point = TP_PHASE, .hca = TRACE_NO_HCA, .text = "bring-up"};
	run->r[READ_BUSY] = (struct trace_record){
		.time_ps = US(0, 500), .point = TP_REG_READ, .args = {0, 0x80698, 0x00800000, 4}};
	run->r[READ_IDLE] = (struct trace_record){
		.time_ps = US(0, 600), .point = TP_REG_READ, .args = {0, 0x80698, 0, 4}};
	run->r[PHASE_ONE] = (struct trace_record){
		.time_ps = US(0, 900), .point = TP_PHASE, .hca = TRACE_NO_HCA, .text = "one"};
	run->r[POSTED] = (struct trace_record){.time_ps = US(1, 0),
					       .point = TP_DRV_POST,
					       .qpn = 0x208,
					       .text = "drv_post_send qpn 000208, opcode 2"};
	run->r[DOORBELL] = (struct trace_record){
		.time_ps = US(1, 200), .point = TP_DOORBELL_SEND, .qpn = 0x208, .args = {129}};
	run->r[PICKED] =
		(struct trace_record){.time_ps = US(1, 250), .point = TP_SCHED_PICK, .qpn = 0x208};
	run->r[WQE] = (struct trace_record){.time_ps = US(2, 0),
					    .point = TP_WQE_SEND,
					    .qpn = 0x208,
					    .bytes = run->wqe,
					    .len = 32};
	run->r[OUT] = run_made_end(US(3, 500), TP_PKT_OUT, 0, &run->send, 0x208, 0);
	run->r[IN] = run_made_end(US(3, 580), TP_PKT_IN, 1, &run->send, 0x208, 0);
	run->r[ACK_OUT] = run_made_end(US(4, 0), TP_PKT_OUT, 1, &run->ack, 0x300, 7);
	run->r[ACK_IN] = run_made_end(US(4, 80), TP_PKT_IN, 0, &run->ack, 0x300, 7);
	run->r[CQE] = (struct trace_record){.time_ps = US(4, 500),
					    .point = TP_CQE_WRITE,
					    .qpn = 0x208,
					    .args = {0x81, 0},
					    .bytes = run->cqe.b,
					    .len = sizeof(run->cqe)};
	run->r[EQE] = (struct trace_record){.time_ps = US(4, 600),
					    .point = TP_EQE_WRITE,
					    .args = {5, 37},
					    .bytes = run->eqe.b,
					    .len = sizeof(run->eqe)};
	run->r[POLLED] = (struct trace_record){.time_ps = US(6, 0),
					       .point = TP_DRV_POLL,
					       .qpn = 0x208,
					       .args = {0x81},
					       .text = "drv_cq_poll cqn 000081, qpn 000208"};
}

struct rig {
	char dir[2][32];
	char *text;
	size_t size;
	struct run_of_send run; /* a test changes it and writes it as run B */
};

static void b_write(struct rig *rig)
{
	run_made_write(rig->dir[1], rig->run.r, RECORDS);
}

static int setup(void **state)
{
	struct rig *rig = calloc(1, sizeof(*rig));

	run_of_send_make(&rig->run);
	for (unsigned i = 0; i < 2; i++) {
		strcpy(rig->dir[i], "/tmp/compare_XXXXXX");
		assert_non_null(mkdtemp(rig->dir[i]));
		run_made_write(rig->dir[i], rig->run.r, RECORDS);
	}
	*state = rig;
	return 0;
}

static int teardown(void **state)
{
	static const char *const files[] = {RECORDS_FILE, "run.log", "config.ini", "packets.pcapng",
					    "golden"};
	struct rig *rig = *state;
	char path[64];

	for (unsigned i = 0; i < 2; i++) {
		for (unsigned f = 0; f < ARRAY_SIZE(files); f++) {
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

static void file_write(const char *dir, const char *name, const void *bytes, size_t n)
{
	char path[64];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	out = fopen(path, "w");
	assert_non_null(out);
	assert_int_equal(fwrite(bytes, 1, n, out), n);
	fclose(out);
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

	struct test_packet other = rig->run.ack;

	aeth_set_msn(test_packet_ext(&other, BTH_EXT_AETH), 2);
	rig->run.r[ACK_OUT].bytes = other.b;
	b_write(rig);
	assert_int_equal(compare(rig, (struct compare_options){0}), 1);
	assert_non_null(strstr(rig->text,
			       "first difference: packets out, hca1, number 1 (A has 1, B 1), "
			       "in phase 'one'"));
	assert_non_null(strstr(rig->text, "they differ in: msn 1,  |  msn 2,"));
	/* this packet is not among the packets of hca0, and completions can be compared alone */
	assert_null(strstr(rig->text, "packets out, hca0"));
	assert_int_equal(compare(rig, (struct compare_options){.classes = 1 << RUN_CQE}), 0);
}

static void one_run_ends_early(void **state)
{
	struct rig *rig = *state;

	rig->run.r[EQE].time_ps = 0;
	b_write(rig);
	assert_int_equal(compare(rig, (struct compare_options){0}), 1);
	assert_non_null(strstr(rig->text,
			       "first difference: events, hca0, eqn 0x5, number 1 (A has 1, B 0)"));
	assert_non_null(strstr(rig->text, "ends here, after 0"));
}

static void order_between_streams_is_no_difference(void **state)
{
	struct rig *rig = *state;

	const struct trace_record cqe = rig->run.r[CQE];

	/* swaps the EQE and the CQE, at the same two times */
	rig->run.r[CQE] = rig->run.r[EQE];
	rig->run.r[CQE].time_ps = cqe.time_ps;
	rig->run.r[EQE].time_ps = 0;
	b_write(rig);
	assert_int_equal(compare(rig, (struct compare_options){.no_times = true}), 1);
	rig->run.r[POLLED] = cqe;
	rig->run.r[POLLED].time_ps = US(4, 600);
	b_write(rig);
	assert_int_equal(compare(rig, (struct compare_options){.no_times = true}), 0);
}

static void polls_count_once(void **state)
{
	struct rig *rig = *state;

	rig->run.r[READ_BUSY].time_ps = 0;
	b_write(rig);
	assert_int_equal(compare(rig, (struct compare_options){0}), 0);
	rig->run.r[READ_IDLE].args[TRACE_ARG(REG_READ, value)] = 0x00200000;
	b_write(rig);
	assert_int_equal(compare(rig, (struct compare_options){0}), 1);
}

static void time_by_stage(void **state)
{
	struct rig *rig = *state;
	struct compare_options options = {.a = NULL};

	rig->run.r[ACK_OUT].time_ps = US(3, 950);
	b_write(rig);
	assert_int_equal(compare(rig, options), 1);
	/* sent 50 ns earlier and longer on the way: 370 instead of 420 ns, 130 instead of 80 */
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

	assert_int_equal(run_files_read(&run, rig->dir[0], RUN_RECORDS, false, stderr), 0);
	assert_int_equal(messages_find(&all, &run), 0);
	assert_int_equal(all.count, 1);
	assert_int_equal(all.messages[0]->bytes, 64);
	for (unsigned s = 0; s < MESSAGE_POINT_COUNT; s++) {
		uint64_t ps = 0;

		assert_int_equal(message_stage(all.messages[0], s, &ps), expected_ns[s] != 0);
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
	assert_int_equal(run_files_read(&run, rig->dir[0], RUN_RECORDS, false, stderr), 0);
	out = fopen(golden, "w");
	run_files_print(&run, RUN_PACKETS | 1 << RUN_CQE, "one", out);
	fclose(out);
	run_files_free(&run);
	assert_int_equal(compare(rig, (struct compare_options){.a = golden}), 0);
	/* records that a run does not hold are not compared; records that it holds are */
	rig->run.r[EQE].args[TRACE_ARG(EQE_WRITE, index)] = 38;
	b_write(rig);
	assert_int_equal(compare(rig, (struct compare_options){.a = golden}), 0);
	cqe_set_byte_cnt(&rig->run.cqe, 65);
	b_write(rig);
	assert_int_equal(compare(rig, (struct compare_options){.a = golden}), 1);
}

static void troubles(void **state)
{
	struct rig *rig = *state;

	assert_int_equal(compare(rig, (struct compare_options){.a = "/nowhere"}), 2);
	file_write(rig->dir[1], RECORDS_FILE, "hello\n", 6);
	assert_int_equal(compare(rig, (struct compare_options){0}), 2);
	run_made_write(rig->dir[1], NULL, 0);
	assert_int_equal(compare(rig, (struct compare_options){0}), 1);
}

/* A run of an hcasim that wrote no records is refused, whatever other files it has. */
static void run_without_records(void **state)
{
	struct rig *rig = *state;
	char path[64], *text = NULL;
	size_t size = 0;
	FILE *err = open_memstream(&text, &size);

	snprintf(path, sizeof(path), "%s/" RECORDS_FILE, rig->dir[1]);
	unlink(path);
	file_write(rig->dir[1], "run.log", "      0.000000      scenario      x\n", 36);
	file_write(rig->dir[1], "packets.pcapng", "", 0);
	assert_int_equal(run_files_sources(rig->dir[1], err), 0);
	fclose(err);
	assert_non_null(strstr(text, "has run.log but no run.records"));
	assert_ptr_equal(strchr(text, '\n'), text + size - 1);
	free(text);
}

/* Comparing a hundred thousand settings takes no longer than reading them. */
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

/* However many phases there are, each is counted separately. */
static void many_phases(void **state)
{
	enum { PHASES = 100 };
	struct rig *rig = *state;
	struct run_files run;
	struct trace_record r[PHASES];
	char names[PHASES][8];

	for (unsigned i = 0; i < PHASES; i++) {
		snprintf(names[i], sizeof(names[i]), "%u", i);
		r[i] = (struct trace_record){.time_ps = i * 1000000ull,
					     .point = TP_PHASE,
					     .hca = TRACE_NO_HCA,
					     .text = names[i]};
	}
	run_made_write(rig->dir[0], r, PHASES);
	run_made_write(rig->dir[1], r, PHASES);
	assert_int_equal(compare(rig, (struct compare_options){0}), 0);
	assert_int_equal(run_files_read(&run, rig->dir[0], RUN_RECORDS, false, stderr), 0);
	assert_int_equal(run.phase_count, 1 + PHASES);
	assert_string_equal(run.phases[PHASES], "99");
	assert_int_equal(run.phase_ps[PHASES], 99000000);
	assert_int_equal(run.items[PHASES - 1].phase, PHASES);
	run_files_free(&run);
}

static size_t records_get(struct rig *rig, uint8_t *bytes, size_t room)
{
	char path[64];
	FILE *in;
	size_t n;

	snprintf(path, sizeof(path), "%s/" RECORDS_FILE, rig->dir[0]);
	in = fopen(path, "r");
	n = fread(bytes, 1, room, in);
	fclose(in);
	assert_true(n < room);
	return n;
}

/* Wherever the records are cut, the rest is compared. */
static void cut_anywhere(void **state)
{
	static uint8_t bytes[1 << 16];
	struct rig *rig = *state;
	size_t compared;

	/* the last record is the driver's, which is not compared */
	run_made_write(rig->dir[0], rig->run.r, POLLED);
	compared = records_get(rig, bytes, sizeof(bytes)) - 2;
	for (size_t n = compared; n--;) {
		file_write(rig->dir[1], RECORDS_FILE, bytes, n);
		assert_int_not_equal(compare(rig, (struct compare_options){0}), 0);
	}
	file_write(rig->dir[1], RECORDS_FILE, bytes, compared);
	assert_int_equal(compare(rig, (struct compare_options){0}), 0);
}

static void no_text(void **state)
{
	struct rig *rig = *state;
	char path[64];

	snprintf(path, sizeof(path), "%s/" RECORDS_FILE, rig->dir[1]);
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
		T(run_without_records),
		T(many_phases),
		T(large_configurations),
		T(cut_anywhere),
		T(no_text),
	};
#undef T
	return cmocka_run_group_tests(tests, NULL, NULL);
}
