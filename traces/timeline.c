/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline.json, for Perfetto and chrome://tracing, in the Trace Event Format as a JSON object.
 * Each event is one line and is written as it comes. A process stands for a host, an HCA or the
 * cables; a thread of an HCA stands for a stage. Activities of one stage that overlap are on
 * several lanes: "pcie", "pcie 2". Times are microseconds with picosecond digits.
 *
 * Functions (driver, firmware) are B and E events, which nest. An activity whose duration is known
 * is an X event, a moment is an i event, and the length of a queue is a C event. Messages are
 * chains of s, t and f events.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "model/interface/rows.h"
#include "traces/timeline_impl.h"

/* ---- slices */

struct timeline_place timeline_slice(struct timeline *t, unsigned hca, const char *stage,
				     uint64_t from_ps, uint64_t until_ps,
				     const struct trace_record *r, const char *format, ...)
{
	char name[96];
	va_list args;

	va_start(args, format);
	vsnprintf(name, sizeof(name), format, args);
	va_end(args);
	return timeline_slice_on(t, PID_HCA + hca, stage, from_ps, until_ps, r, name);
}

static struct timeline_place span(struct timeline *t, const struct trace_record *r)
{
	const struct trace_point_row *row = &trace_point_rows[r->point];
	struct trace_text name = {0};
	struct timeline_place place = {0};

	trace_text_record(&name, r);
	if (name.s) {
		for (size_t i = 0; i < name.len; i++) /* lower case, as in the log */
			name.s[i] = (char)tolower((unsigned char)name.s[i]);
		if (r->point == TP_LINK_TX) {
			char lane[TIMELINE_NAME];

			snprintf(lane, sizeof(lane), "from hca%u port %u", r->hca, r->port);
			timeline_slice_on(t, PID_LINKS, lane, r->time_ps, r->args[0], r, name.s);
		}
		place = timeline_slice_on(t, PID_HCA + r->hca, row->unit, r->time_ps, r->args[0], r,
					  name.s);
	}
	trace_text_free(&name);
	return place;
}

/* ---- functions */

static struct timeline_place host_record(struct timeline *t, const struct trace_record *r)
{
	char lane_name[TIMELINE_NAME], name[96];
	const char *text = r->text ? r->text : "", *args = text + strcspn(text, " ");
	struct lane *lane;

	snprintf(lane_name, sizeof(lane_name), "%.*s", (int)r->len, (const char *)r->bytes);
	if (!*lane_name)
		snprintf(lane_name, sizeof(lane_name), "driver");
	lane = timeline_lane_find(t, PID_HOST + r->hca, lane_name);
	if (!lane)
		return (struct timeline_place){0};
	switch (r->point) {
	case TP_DRV_ENTER:
	case TP_DRV_POST:
	case TP_DRV_POLL:
		return timeline_function_begin(t, lane, r, text, (size_t)(args - text),
					       *args ? args + 1 : args);
	case TP_DRV_EXIT:
		timeline_function_leave(t, lane, r->time_ps, text, (size_t)(args - text));
		break;
	case TP_THREAD_WAIT:
	case TP_THREAD_GO:
		snprintf(name, sizeof(name), "waits for %s", text);
		if (r->point == TP_THREAD_WAIT)
			return timeline_function_begin(t, lane, r, name, strlen(name), NULL);
		timeline_function_leave(t, lane, r->time_ps, name, strlen(name));
		break;
	default:
		snprintf(name, sizeof(name), "interrupt vector %" PRIu64, r->args[0]);
		if (r->point == TP_IRQ_ENTER)
			return timeline_function_begin(t, lane, r, name, strlen(name), NULL);
		timeline_function_leave(t, lane, r->time_ps, name, strlen(name));
	}
	return (struct timeline_place){0};
}

static void firmware_record(struct timeline *t, const struct trace_record *r)
{
	struct lane *lane = timeline_lane_find(t, PID_HCA + r->hca, "processor");
	const char *name = r->text ? r->text : "";

	if (!lane)
		return;
	/* functions that are deeper have ended while the points were off */
	timeline_functions_end(t, lane, r->corr, r->time_ps);
	if (r->point == TP_FW_CALL)
		timeline_function_begin(t, lane, r, name, strlen(name), NULL);
}

static void command_record(struct timeline *t, const struct trace_record *r)
{
	struct lane *lane = timeline_lane_find(t, PID_HCA + r->hca, "fw");
	char name[TIMELINE_NAME];
	const struct hcr_row *row = hcr_row_find((uint32_t)r->args[0]);

	if (!lane)
		return;
	if (row)
		snprintf(name, sizeof(name), "%s", row->name);
	else
		snprintf(name, sizeof(name), "command 0x%" PRIx64, r->args[0]);
	timeline_functions_end(t, lane, 0, r->time_ps);
	if (r->point == TP_HCR_POST)
		timeline_function_begin(t, lane, r, name, strlen(name), NULL);
}

/* ---- moments and levels */

static void moment(struct timeline *t, const struct trace_record *r)
{
	const struct trace_point_row *row = &trace_point_rows[r->point];
	bool outside = r->hca >= TIMELINE_HCAS;
	struct lane *lane =
		timeline_lane_find(t, outside ? PID_SCENARIO : PID_HCA + r->hca, row->unit);
	struct trace_text name = {0};

	if (!lane)
		return;
	trace_text_record(&name, r);
	if (row->kind == TRACE_PACKET)
		trace_text_add(&name, " %s", r->text ? r->text : "");
	timeline_event_begin(t, 'i', lane->pid, lane->tid);
	timeline_event_time(t, r->time_ps);
	trace_text_add(&t->line, ",\"s\":\"%c\"", outside ? 'p' : 't');
	timeline_event_name(t, name.s ? name.s : "", name.len);
	timeline_event_end(t);
	trace_text_free(&name);
}

static void level(struct timeline *t, const struct trace_record *r)
{
	const struct trace_point_row *row = &trace_point_rows[r->point];
	char name[TIMELINE_NAME];
	uint64_t value = r->args[0];

	snprintf(name, sizeof(name), "%s port %u %s", row->unit, r->port, row->text);
	if (r->point == TP_LINK_QUEUE) {
		if (r->port < 1 || r->port > TIMELINE_PORTS || r->args[1] >= TIMELINE_VLS)
			return;
		value = t->queues[r->hca][r->port - 1][r->args[1]] += value;
		snprintf(name, sizeof(name), "%s port %u vl %u %s", row->unit, r->port,
			 (unsigned)r->args[1], row->text);
	}
	timeline_process_name(t, PID_HCA + r->hca);
	timeline_event_begin(t, 'C', PID_HCA + r->hca, 0);
	timeline_event_time(t, r->time_ps);
	timeline_event_name(t, name, strlen(name));
	trace_text_add(&t->line, ",\"args\":{\"value\":%" PRIu64 "}", value);
	timeline_event_end(t);
}

/* ---- the sink */

/* Which points of the log are shown as moments. */
static bool is_moment(enum trace_point point)
{
	switch (point) {
	case TP_RESET:
	case TP_FW_TEXT:
	case TP_FW_NUMBER:
	case TP_FW_CATAS:
	case TP_TRANSLATE_DENY:
	case TP_REQ_RETRY:
	case TP_TIMER_EXPIRE:
	case TP_RESP_RESOURCE:
	case TP_SRQ_STATE:
	case TP_QP_STATE:
	case TP_PKT_DISCARD:
	case TP_LINK_STATE:
	case TP_LINK_CREDIT:
	case TP_IRQ_PEND:
	case TP_DMA_FAULT:
	case TP_FAULT:
	case TP_GUEST_ERROR:
	case TP_PHASE:
	case TP_NOTE:
		return true;
	default:
		return false;
	}
}

static struct timeline_place show(struct timeline *t, const struct trace_record *r)
{
	switch (r->point) {
	case TP_DRV_ENTER:
	case TP_DRV_POST:
	case TP_DRV_POLL:
	case TP_DRV_EXIT:
	case TP_THREAD_WAIT:
	case TP_THREAD_GO:
	case TP_IRQ_ENTER:
	case TP_IRQ_EXIT:
		return host_record(t, r);
	case TP_FW_CALL:
	case TP_FW_RETURN:
		firmware_record(t, r);
		break;
	case TP_HCR_POST:
	case TP_HCR_DONE:
		command_record(t, r);
		break;
	case TP_FW_RUN: /* the functions of the processor are shown instead */
		break;
	case TP_DOORBELL_SEND:
	case TP_DOORBELL_BLUEFLAME:
	case TP_DOORBELL_CQ_ARM:
	case TP_DOORBELL_EQ_CI:
		return timeline_slice_on(t, PID_HCA + r->hca, "doorbell", r->time_ps, r->time_ps, r,
					 r->point == TP_DOORBELL_SEND        ? "send"
					 : r->point == TP_DOORBELL_BLUEFLAME ? "blueflame"
					 : r->point == TP_DOORBELL_CQ_ARM    ? "arm cq"
									     : "eq ci");
	default:
		if (trace_point_rows[r->point].kind == TRACE_SPAN)
			return span(t, r);
		if (trace_point_rows[r->point].kind == TRACE_LEVEL)
			level(t, r);
		else if (is_moment(r->point))
			moment(t, r);
	}
	return (struct timeline_place){0};
}

static int timeline_record(void *sink, const struct trace_record *r)
{
	struct timeline *t = sink;
	struct timeline_place place;

	if (r->hca >= TIMELINE_HCAS && trace_point_kinds[r->point] != TRACE_NOTE)
		return 0;
	t->now_ps = r->time_ps;
	place = show(t, r);
	if (!t->err && r->hca < TIMELINE_HCAS)
		t->err = flows_record(t->flows, r, place);
	return t->err ? t->err : t->file.err;
}

static const char file_tail[] = "\n]}\n";

static int timeline_open(void **sink, const char *path, uint32_t snap)
{
	static const char head[] = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
				   "{\"ph\":\"M\",\"pid\":1,\"tid\":0,\"name\":\"process_name\","
				   "\"args\":{\"name\":\"scenario\"}}";
	struct timeline *t = calloc(1, sizeof(*t));
	int ret = -ENOMEM;

	if (!t)
		return ret;
	t->flows = flows_new(t);
	if (t->flows)
		ret = trace_file_open(&t->file, path);
	if (ret) {
		free(t->flows);
		free(t);
		return ret;
	}
	t->named[PID_SCENARIO] = true;
	t->file.tail = file_tail;
	trace_file_write(&t->file, head, sizeof(head) - 1);
	*sink = t;
	return 0;
}

static int timeline_close(void *sink)
{
	struct timeline *t = sink;
	int ret;

	flows_free(t->flows);
	timeline_lanes_free(t);
	trace_file_write(&t->file, file_tail, strlen(file_tail));
	ret = trace_file_close(&t->file);
	trace_text_free(&t->line);
	free(t);
	return ret;
}

const struct trace_sink_ops trace_timeline_ops = {
	.name = "timeline",
	.file = "timeline.json",
	.open = timeline_open,
	.record = timeline_record,
	.close = timeline_close,
};
