/* SPDX-License-Identifier: Apache-2.0 */
/* Events in the Trace Event Format, from records made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "traces/tests/dir_of.h"
#include "traces/trace.h"

#define EMIT(tr, ...) trace_emit(tr, &(struct trace_record){__VA_ARGS__})

static struct trace *open_timeline(struct test_dir *d)
{
	struct trace *tr = trace_create();

	assert_int_equal(trace_open(tr, "timeline", d->path, stderr), 0);
	return tr;
}

/* The events as one line each, without the commas at the end and without the events that give
 * names. */
static char *events_of(struct test_dir *d)
{
	FILE *f = fopen(test_dir_file(d, "timeline.json"), "r");
	char *all = NULL, *line = NULL;
	size_t size = 0, room = 0;
	FILE *out = open_memstream(&all, &size);

	assert_non_null(f);
	while (getline(&line, &room, f) > 0) {
		char *end = line + strlen(line) - 1;

		if (end > line && end[-1] == ',')
			end--;
		*end = 0;
		if (strstr(line, "{\"ph\":") == line && !strstr(line, "\"ph\":\"M\""))
			fprintf(out, "%s\n", line);
	}
	assert_string_equal(line, "]}"); /* the file is complete, whatever was recorded */
	free(line);
	fclose(f);
	fclose(out);
	return all;
}

static void events_are(void **state, struct trace *tr, const char *expect)
{
	char *events;

	assert_int_equal(trace_close(tr), 0);
	events = events_of(*state);
	assert_string_equal(events, expect);
	free(events);
}

static void functions_nest(void **state)
{
	struct trace *tr = open_timeline(*state);

	EMIT(tr, .time_ps = 1000000, .point = TP_DRV_ENTER, .corr = 3, .bytes = "main", .len = 4,
	     .text = "drv_post_send qpn 000041, \"\\");
	EMIT(tr, .time_ps = 1000001, .point = TP_THREAD_WAIT, .corr = 3, .bytes = "main", .len = 4,
	     .text = "time");
	/* the end of the wait is missing, so the end of the function ends it; an end without a
	 * beginning is left out */
	EMIT(tr, .time_ps = 2500000, .point = TP_DRV_EXIT, .corr = 3, .bytes = "main", .len = 4,
	     .text = "drv_post_send 0");
	EMIT(tr, .time_ps = 2500000, .point = TP_DRV_EXIT, .corr = 3, .bytes = "main", .len = 4,
	     .text = "drv_post_recv 0");
	EMIT(tr, .time_ps = 3000000, .point = TP_IRQ_ENTER, .bytes = "irq", .len = 3, .args = {4});
	events_are(
		state, tr,
		"{\"ph\":\"B\",\"pid\":10,\"tid\":1,\"ts\":1.000000,\"name\":\"drv_post_send\","
		"\"args\":{\"with\":\"qpn 000041, \\\"\\\\\"}}\n"
		"{\"ph\":\"B\",\"pid\":10,\"tid\":1,\"ts\":1.000001,\"name\":\"waits for time\"}\n"
		"{\"ph\":\"E\",\"pid\":10,\"tid\":1,\"ts\":2.500000,\"name\":\"waits for time\"}\n"
		"{\"ph\":\"E\",\"pid\":10,\"tid\":1,\"ts\":2.500000,\"name\":\"drv_post_send\"}\n"
		"{\"ph\":\"B\",\"pid\":10,\"tid\":2,\"ts\":3.000000,\"name\":\"interrupt vector "
		"4\"}\n"
		"{\"ph\":\"E\",\"pid\":10,\"tid\":2,\"ts\":3.000000,\"name\":\"interrupt vector "
		"4\"}\n");
}

/* The trace points were off for a while. Frames that ended in that time end when their depth is
 * used again. */
static void firmware_frames(void **state)
{
	struct trace *tr = open_timeline(*state);

	EMIT(tr, .time_ps = 1000, .point = TP_FW_CALL, .hca = 1, .corr = 0, .text = "main");
	EMIT(tr, .time_ps = 2000, .point = TP_FW_CALL, .hca = 1, .corr = 1, .text = "lost");
	EMIT(tr, .time_ps = 3000, .point = TP_FW_CALL, .hca = 1, .corr = 1, .text = "found");
	EMIT(tr, .time_ps = 4000, .point = TP_FW_RETURN, .hca = 1, .corr = 1, .text = "found");
	events_are(state, tr,
		   "{\"ph\":\"B\",\"pid\":21,\"tid\":1,\"ts\":0.001000,\"name\":\"main\"}\n"
		   "{\"ph\":\"B\",\"pid\":21,\"tid\":1,\"ts\":0.002000,\"name\":\"lost\"}\n"
		   "{\"ph\":\"E\",\"pid\":21,\"tid\":1,\"ts\":0.003000,\"name\":\"lost\"}\n"
		   "{\"ph\":\"B\",\"pid\":21,\"tid\":1,\"ts\":0.003000,\"name\":\"found\"}\n"
		   "{\"ph\":\"E\",\"pid\":21,\"tid\":1,\"ts\":0.004000,\"name\":\"found\"}\n"
		   "{\"ph\":\"E\",\"pid\":21,\"tid\":1,\"ts\":0.004000,\"name\":\"main\"}\n");
}

/* Slices of one lane never cross: the second slice gets a lane of its own, and the third goes to
 * the lane of the first. */
static void lanes_beside_each_other(void **state)
{
	struct trace *tr = open_timeline(*state);

	trace_advance(tr, 9000000);
	EMIT(tr, .time_ps = 1000000, .point = TP_CACHE_RUN, .corr = 1, .text = "qpc",
	     .args = {3000000});
	EMIT(tr, .time_ps = 2000000, .point = TP_CACHE_RUN, .corr = 2, .text = "qpc",
	     .args = {4000000});
	EMIT(tr, .time_ps = 3000000, .point = TP_CACHE_RUN, .corr = 3, .text = "qpc",
	     .args = {3000000});
	events_are(state, tr,
		   "{\"ph\":\"X\",\"pid\":20,\"tid\":1,\"ts\":1.000000,\"dur\":2.000000,\"name\":"
		   "\"read qpc 1\",\"args\":{}}\n"
		   "{\"ph\":\"X\",\"pid\":20,\"tid\":2,\"ts\":2.000000,\"dur\":2.000000,\"name\":"
		   "\"read qpc 2\",\"args\":{}}\n"
		   "{\"ph\":\"X\",\"pid\":20,\"tid\":1,\"ts\":3.000000,\"dur\":0.001000,\"name\":"
		   "\"read qpc 3\",\"args\":{}}\n");
}

/* Of two messages one gets its CQE and the other is still in progress when the run ends. Both
 * chains have an end. */
static void chains_end(void **state)
{
	struct trace *tr = open_timeline(*state);
	uint8_t wqe[64] = {0};
	unsigned s = 0, t = 0, f = 0;
	char *events;

	wqe[15] = 0x0c; /* control segment, byte 0x0f: CQE always */
	for (unsigned i = 0; i < 2; i++) {
		uint64_t now = 1000000 * (i + 1);

		EMIT(tr, .time_ps = now, .point = TP_DOORBELL_SEND, .qpn = 0x41);
		EMIT(tr, .time_ps = now + 1000, .point = TP_WQE_SEND, .qpn = 0x41, .corr = i,
		     .bytes = wqe, .len = sizeof(wqe));
		EMIT(tr, .time_ps = now + 1000, .point = TP_UNIT_RUN, .qpn = 0x41, .corr = i,
		     .args = {now + 2000, 0, i});
	}
	EMIT(tr, .time_ps = 3000000, .point = TP_CQE_RUN, .qpn = 0x41, .corr = 0,
	     .args = {3100000, 0x84, 0, 1});
	assert_int_equal(trace_close(tr), 0);
	events = events_of(*state);
	for (const char *at = events; (at = strstr(at, "{\"ph\":\"")); at++) {
		s += at[7] == 's';
		t += at[7] == 't';
		f += at[7] == 'f';
	}
	assert_int_equal(s, 2);
	assert_int_equal(t, 1); /* doorbell, unit, CQE; doorbell, unit */
	assert_int_equal(f, 2);
	assert_non_null(strstr(
		events, "\"ts\":1.000000,\"id\":1,\"cat\":\"message\",\"name\":\"message\"}"));
	assert_non_null(strstr(
		events,
		"\"ts\":3.000000,\"id\":1,\"cat\":\"message\",\"name\":\"message\",\"bp\":\"e\"}"));
	free(events);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(functions_nest, test_dir_make, test_dir_remove),
		cmocka_unit_test_setup_teardown(firmware_frames, test_dir_make, test_dir_remove),
		cmocka_unit_test_setup_teardown(lanes_beside_each_other, test_dir_make,
						test_dir_remove),
		cmocka_unit_test_setup_teardown(chains_end, test_dir_make, test_dir_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
