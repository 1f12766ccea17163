/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the events of timeline.json, and assigns lanes to them. See timeline.c. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "traces/timeline_impl.h"
#include "model/interface/macros.h"

enum {
	DEPTH_MAX = 96,
	SLICE_MIN_PS = 1000,
	LANE_ORDER = 100, /* between two stages, so that the lanes of a stage stay together */
};

/* The order in which stages are shown. It follows the data path. */
static const char *const stages[] = {
	"pcie",      "doorbell", "scheduler", "wqe_fetch", "context_cache", "translate",
	"requester", "packet",   "link_port", "responder", "multicast",     "atomic_read",
	"srq",       "retry",    "qp",        "cqe_write", "event_queue",   "interrupt",
	"processor", "fw",       "ipath",     "fault",     "guest_error",
};

/* ---- writing */

static void quote(struct trace_text *t, const char *s, size_t n)
{
	trace_text_add(t, "\"");
	for (size_t i = 0; i < n && s[i]; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c == '"' || c == '\\')
			trace_text_add(t, "\\%c", c);
		else if (c < ' ' || c > '~')
			trace_text_add(t, c == '\n' ? " " : "?");
		else
			trace_text_add(t, "%c", c);
	}
	trace_text_add(t, "\"");
}

void timeline_event_begin(struct timeline *t, char phase, uint32_t pid, uint32_t tid)
{
	t->line.len = 0;
	trace_text_add(&t->line, ",\n{\"ph\":\"%c\",\"pid\":%u,\"tid\":%u", phase, pid, tid);
}

void timeline_event_time(struct timeline *t, uint64_t ps)
{
	trace_text_add(&t->line, ",\"ts\":");
	trace_text_time(&t->line, ps);
}

void timeline_event_name(struct timeline *t, const char *name, size_t n)
{
	trace_text_add(&t->line, ",\"name\":");
	quote(&t->line, name, n);
}

void timeline_event_end(struct timeline *t)
{
	trace_text_add(&t->line, "}");
	trace_file_write(&t->file, t->line.s, t->line.len);
}

static void meta(struct timeline *t, uint32_t pid, uint32_t tid, const char *what, const char *name,
		 unsigned order)
{
	timeline_event_begin(t, 'M', pid, tid);
	trace_text_add(&t->line, ",\"name\":\"%s_name\",\"args\":{\"name\":", what);
	quote(&t->line, name, strlen(name));
	trace_text_add(&t->line, "}");
	timeline_event_end(t);
	timeline_event_begin(t, 'M', pid, tid);
	trace_text_add(&t->line, ",\"name\":\"%s_sort_index\",\"args\":{\"sort_index\":%u}", what,
		       order);
	timeline_event_end(t);
}

/* ---- lanes */

void timeline_process_name(struct timeline *t, uint32_t pid)
{
	/* the order in which a message passes them: host 0, HCA 0, cables, HCA 1, host 1 */
	char name[16] = "scenario";
	unsigned order = 0;

	if (t->named[pid])
		return;
	t->named[pid] = true;
	if (pid == PID_LINKS) {
		snprintf(name, sizeof(name), "links");
		order = 3;
	} else if (pid >= PID_HCA) {
		snprintf(name, sizeof(name), "hca%u", pid - PID_HCA);
		order = pid == PID_HCA ? 2 : 4;
	} else if (pid >= PID_HOST) {
		snprintf(name, sizeof(name), "host%u", pid - PID_HOST);
		order = pid == PID_HOST ? 1 : 5;
	}
	meta(t, pid, 0, "process", name, order);
}

static unsigned lane_order(const char *name)
{
	unsigned i = 0;

	while (i < ARRAY_SIZE(stages) && strcmp(stages[i], name))
		i++;
	return i * LANE_ORDER;
}

static struct lane *lane_new(struct timeline *t, uint32_t pid, const char *name, unsigned sub)
{
	struct lane *lane = calloc(1, sizeof(*lane));
	char full[TIMELINE_NAME + 16];

	if (!lane) {
		t->err = -ENOMEM;
		return NULL;
	}
	lane->pid = pid;
	lane->tid = ++t->next_tid;
	lane->sub = sub;
	snprintf(lane->name, sizeof(lane->name), "%s", name);
	snprintf(full, sizeof(full), "%s", lane->name);
	if (sub)
		snprintf(full, sizeof(full), "%s %u", lane->name, sub + 1);
	timeline_process_name(t, pid);
	meta(t, pid, lane->tid, "thread", full, lane_order(name) + sub);
	return lane;
}

struct lane *timeline_lane_find(struct timeline *t, uint32_t pid, const char *name)
{
	struct lane *lane;

	for (size_t i = 0; i < t->lane_count; i++)
		if (t->lanes[i]->pid == pid && !strcmp(t->lanes[i]->name, name))
			return t->lanes[i];
	if (t->lane_count == t->lane_room) {
		size_t room = t->lane_room ? 2 * t->lane_room : 32;
		struct lane **lanes = realloc(t->lanes, room * sizeof(*lanes));

		if (!lanes) {
			t->err = -ENOMEM;
			return NULL;
		}
		t->lanes = lanes;
		t->lane_room = room;
	}
	lane = lane_new(t, pid, name, 0);
	if (lane)
		t->lanes[t->lane_count++] = lane;
	return lane;
}

static struct lane *lane_free_at(struct timeline *t, uint32_t pid, const char *name,
				 uint64_t from_ps)
{
	struct lane *lane = timeline_lane_find(t, pid, name);

	while (lane && lane->busy_until_ps > from_ps) {
		if (!lane->next)
			lane->next = lane_new(t, pid, name, lane->sub + 1);
		lane = lane->next;
	}
	return lane;
}

/* ---- slices */

static void args_write(struct timeline *t, const struct trace_record *r)
{
	struct trace_text *l = &t->line;
	const char *comma = "";

	trace_text_add(l, ",\"args\":{");
	if (r->qpn) {
		trace_text_add(l, "\"qpn\":\"0x%x\"", r->qpn);
		comma = ",";
	}
	switch (r->point) {
	case TP_DMA_READ_RUN:
	case TP_DMA_WRITE_RUN:
		trace_text_add(l, "%s\"bytes\":%" PRIu64, comma,
			       r->args[TRACE_ARG(DMA_READ_RUN, length)]);
		break;
	case TP_BAR_RUN:
		trace_text_add(l, "\"bar\":%" PRIu64 ",\"offset\":\"0x%" PRIx64 "\"",
			       r->args[TRACE_ARG(BAR_RUN, bar)],
			       r->args[TRACE_ARG(BAR_RUN, offset)]);
		break;
	case TP_LINK_TX:
	case TP_LINK_RX:
		trace_text_add(l,
			       "%s\"psn\":%u,\"vl\":%" PRIu64 ",\"credits\":%" PRIu64
			       ",\"bytes\":%" PRIu64,
			       comma, r->corr, r->args[TRACE_ARG(LINK_TX, vl)],
			       r->args[TRACE_ARG(LINK_TX, credits)],
			       r->args[TRACE_ARG(LINK_TX, length)]);
		break;
	case TP_PACKET_RUN:
	case TP_RESP_RUN:
	case TP_ATOMIC_RUN:
		trace_text_add(l, "%s\"psn\":%u", comma, r->corr);
		break;
	case TP_UNIT_RUN:
	case TP_WQE_READ_RUN:
	case TP_WQE_SEND:
		trace_text_add(l, "%s\"wqe\":%u", comma, r->corr);
		break;
	case TP_CQE_RUN:
		trace_text_add(l, "%s\"cqn\":\"0x%" PRIx64 "\",\"index\":%" PRIu64, comma,
			       r->args[TRACE_ARG(CQE_RUN, cqn)],
			       r->args[TRACE_ARG(CQE_RUN, index)]);
		break;
	case TP_EQE_RUN:
		trace_text_add(l, "%s\"eqn\":%" PRIu64 ",\"type\":%" PRIu64, comma,
			       r->args[TRACE_ARG(EQE_RUN, eqn)], r->args[TRACE_ARG(EQE_RUN, type)]);
		break;
	default:
		break;
	}
	trace_text_add(l, "}");
}

struct timeline_place timeline_slice_on(struct timeline *t, uint32_t pid, const char *lane_name,
					uint64_t from_ps, uint64_t until_ps,
					const struct trace_record *r, const char *name)
{
	struct lane *lane = lane_free_at(t, pid, lane_name, from_ps);
	uint64_t took = until_ps > from_ps ? until_ps - from_ps : 0;

	if (!lane)
		return (struct timeline_place){0};
	if (took < SLICE_MIN_PS)
		took = SLICE_MIN_PS;
	lane->busy_until_ps = from_ps + took;
	timeline_event_begin(t, 'X', pid, lane->tid);
	timeline_event_time(t, from_ps);
	trace_text_add(&t->line, ",\"dur\":");
	trace_text_time(&t->line, took);
	timeline_event_name(t, name, strlen(name));
	if (r)
		args_write(t, r);
	timeline_event_end(t);
	return (struct timeline_place){from_ps, pid, lane->tid};
}

/* ---- functions */

static void function_end(struct timeline *t, struct lane *lane, uint64_t at_ps)
{
	const char *name = lane->functions[--lane->depth];

	timeline_event_begin(t, 'E', lane->pid, lane->tid);
	timeline_event_time(t, at_ps);
	timeline_event_name(t, name, strlen(name));
	timeline_event_end(t);
}

void timeline_functions_end(struct timeline *t, struct lane *lane, unsigned depth, uint64_t at_ps)
{
	while (lane->depth > depth)
		function_end(t, lane, at_ps);
}

struct timeline_place timeline_function_begin(struct timeline *t, struct lane *lane,
					      const struct trace_record *r, const char *name,
					      size_t len, const char *args)
{
	if (!lane->functions)
		lane->functions = calloc(DEPTH_MAX, sizeof(*lane->functions));
	if (!lane->functions) {
		t->err = -ENOMEM;
		return (struct timeline_place){0};
	}
	if (lane->depth == DEPTH_MAX) /* no real program calls this deep */
		timeline_functions_end(t, lane, 0, r->time_ps);
	snprintf(lane->functions[lane->depth++], TIMELINE_NAME, "%.*s", (int)len, name);
	timeline_event_begin(t, 'B', lane->pid, lane->tid);
	timeline_event_time(t, r->time_ps);
	timeline_event_name(t, lane->functions[lane->depth - 1], TIMELINE_NAME);
	if (args && *args) {
		trace_text_add(&t->line, ",\"args\":{\"with\":");
		quote(&t->line, args, strlen(args));
		trace_text_add(&t->line, "}");
	}
	timeline_event_end(t);
	return (struct timeline_place){r->time_ps, lane->pid, lane->tid};
}

void timeline_function_leave(struct timeline *t, struct lane *lane, uint64_t at_ps,
			     const char *name, size_t len)
{
	for (unsigned i = lane->depth; i--;) {
		const char *f = lane->functions[i];

		if (!strncmp(f, name, len < TIMELINE_NAME - 1 ? len : TIMELINE_NAME - 1) &&
		    (len >= TIMELINE_NAME - 1 || !f[len])) {
			timeline_functions_end(t, lane, i, at_ps);
			return;
		}
	}
}

/* ---- chains */

static void chain_write(struct timeline *t, const struct timeline_chain *c, const char *name,
			char phase)
{
	timeline_event_begin(t, phase, c->last.pid, c->last.tid);
	timeline_event_time(t, c->last.at_ps);
	trace_text_add(&t->line, ",\"id\":%" PRIu64 ",\"cat\":\"message\"", c->id);
	timeline_event_name(t, name, strlen(name));
	if (phase == 'f')
		trace_text_add(&t->line, ",\"bp\":\"e\"");
	timeline_event_end(t);
}

void timeline_chain_step(struct timeline *t, struct timeline_chain *c, const char *name,
			 struct timeline_place place)
{
	if (!place.tid || (c->steps && place.at_ps < c->last.at_ps))
		return;
	if (c->steps) {
		if (!c->id)
			c->id = ++t->next_id;
		chain_write(t, c, name, c->steps == 1 ? 's' : 't');
	}
	c->last = place;
	c->steps++;
}

void timeline_chain_end(struct timeline *t, struct timeline_chain *c, const char *name)
{
	if (c->steps > 1)
		chain_write(t, c, name, 'f');
	*c = (struct timeline_chain){0};
}

void timeline_lanes_free(struct timeline *t)
{
	for (size_t i = 0; i < t->lane_count; i++) {
		struct lane *lane = t->lanes[i];

		timeline_functions_end(t, lane, 0, t->now_ps);
		while (lane) {
			struct lane *next = lane->next;

			free(lane->functions);
			free(lane);
			lane = next;
		}
	}
	free(t->lanes);
}
