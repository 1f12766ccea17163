// SPDX-License-Identifier: Apache-2.0
/* The wire replay: what came to a port in a capture comes to it again, at its time. */
#include "model/wire/tests/wire_rig.h"

#include "model/interface/macros.h"

#include <errno.h>
#include <unistd.h>

enum { FRAMES = 40, LONG = 1500, STEP_NS = 40, ANSWER = 200 };
#define START_PS CFG_S(1)
#define END_PS   CFG_S(2)

static const struct fault_rule faults[] = {
	{.match = FAULT_MATCH_HCA | FAULT_MATCH_NTH, .hca = 1, .nth = 4, .action = FAULT_DROP},
	{.match = FAULT_MATCH_HCA | FAULT_MATCH_NTH,
	 .hca = 1,
	 .nth = 6,
	 .action = FAULT_DELAY,
	 .delay_ps = CFG_US(7)},
	{.match = FAULT_MATCH_HCA | FAULT_MATCH_NTH,
	 .hca = 1,
	 .nth = 9,
	 .action = FAULT_DUPLICATE,
	 .copies = 1,
	 .gap_ps = CFG_US(1)},
};

static enum hca_outside_answer ignore(void *ctx, unsigned port, const void *frame, size_t len)
{
	return OUTSIDE_TOOK;
}

static const struct hca_outside far_world = {.frame = ignore};

static void send(struct hca *hca, size_t len, uint8_t number)
{
	uint8_t frame[LONG] = {0x02, [6] = 0x06, [12] = 0x88, [13] = 0xb5, [14] = number};

	frame[len - 1] = (uint8_t)~number;
	assert_int_equal(hca_outside_send(hca, 1, frame, len), 0);
}

/* A run with both ends: frames of two lengths, back to back. One is lost on the cable, one late, one
 * comes twice. */
static void record(struct rig_frame frames[static RIG_SEEN], unsigned *n)
{
	rig_make();
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
		assert_true(fault_plan_add(&rig.plan, &faults[i]) >= 0);
	assert_int_equal(trace_open(rig.trace, "pcapng", rig.folder, stderr), 0);
	hca_link(rig.near, 1, rig.far, 1, &rig.plan);
	hca_outside_set(rig.near, &rig_world);
	hca_outside_set(rig.far, &far_world);
	event_core_run_until(&rig.core, START_PS);
	for (unsigned i = 0; i < FRAMES; i++) {
		event_core_run_until(&rig.core, rig.core.now_ps + CFG_NS(STEP_NS));
		send(rig.far, i & 1 ? LONG : RIG_FRAME, (uint8_t)i);
	}
	send(rig.near, RIG_FRAME, ANSWER);
	event_core_run_until(&rig.core, END_PS);
	*n = rig.seen;
	memcpy(frames, rig.frames, sizeof(rig.frames));
	rig_unmake();
	rig.seen = rig.n_lines = 0;
}

static void replay(const char *suffix, unsigned char answer)
{
	rig_set("hca0.port1.wire=replay:%s%s", rig.folder, suffix);
	rig_make();
	assert_int_equal(rig_open(NULL, stderr), 0);
	event_core_run_until(&rig.core, END_PS - CFG_MS(1));
	send(rig.near, RIG_FRAME, answer);
	event_core_run_until(&rig.core, END_PS);
	rig_close();
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static struct rig_frame was[RIG_SEEN];

static void frames_come_again_at_their_times(void **state)
{
	unsigned n;

	record(was, &n);
	assert_int_equal(n, FRAMES); /* one is lost, one comes twice */
	replay("", ANSWER);
	assert_int_equal(rig.seen, n);
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(rig.frames[i].len, was[i].len);
		assert_memory_equal(rig.frames[i].head, was[i].head, RIG_FRAME);
		/* a capture has nanoseconds */
		assert_true(distance(rig.frames[i].at_ps, was[i].at_ps) <= CFG_NS(1));
	}
	assert_true(rig_said("40 of 40 recorded frames came, 1 of 1 answers were as recorded"));
}

static void frames_come_at_another_time(void **state)
{
	const uint64_t first = START_PS + CFG_MS(500);
	unsigned n;

	record(was, &n);
	replay("/packets.pcapng@1500ms", ANSWER);
	assert_int_equal(rig.seen, n);
	assert_true(distance(rig.frames[0].at_ps, first) <= CFG_NS(1));
	for (unsigned i = 1; i < n; i++)
		assert_true(distance(rig.frames[i].at_ps - first, was[i].at_ps - was[0].at_ps) <=
			    CFG_NS(2));
}

static void another_answer_is_told(void **state)
{
	unsigned n;

	record(was, &n);
	replay("", ANSWER + 1);
	assert_true(rig_said("frame 1 from this port is another one than at"));
	assert_true(rig_said("0 of 1 answers were as recorded"));
}

static void expect_error(const char *words)
{
	char *text = NULL;
	size_t size = 0;
	FILE *err = open_memstream(&text, &size);

	rig_make();
	assert_true(rig_open(NULL, err) < 0);
	fclose(err);
	if (!strstr(text, words))
		fail_msg("expected '%s' in '%s'", words, text);
	assert_int_equal(strchr(text, '\n') - text, strlen(text) - 1);
	free(text);
	rig_unmake();
}

static void errors_are_one_line(void **state)
{
	char path[128];
	unsigned n;
	FILE *f;

	rig_set("hca0.port1.wire=replay:%s", rig.folder);
	expect_error("No such file");
	record(was, &n);
	rig_set("hca0.port1.wire=replay:%s/packets.pcapng", rig.folder);
	snprintf(path, sizeof(path), "%s/packets.pcapng", rig.folder);
	assert_int_equal(truncate(path, 5000), 0);
	expect_error("the file ends inside a block");
	f = fopen(path, "w");
	fputs("nothing of the kind", f);
	fclose(f);
	expect_error("not a pcapng file");
}

static int replay_teardown(void **state)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/packets.pcapng", rig.folder);
	unlink(path);
	return rig_teardown(state);
}

#define REPLAY_TEST(name) cmocka_unit_test_setup_teardown(name, rig_setup, replay_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		REPLAY_TEST(frames_come_again_at_their_times),
		REPLAY_TEST(frames_come_at_another_time),
		REPLAY_TEST(another_answer_is_told),
		REPLAY_TEST(errors_are_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
