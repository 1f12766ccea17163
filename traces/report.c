/* SPDX-License-Identifier: Apache-2.0 */
/* See report.h. */
#include "traces/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/engine/base/stats.h"
#include "model/interface/fwregs.h"
#include "model/sim/cfg.h"
#include "model/sim/file.h"
#include "traces/messages.h"
#include "traces/report_impl.h"
#include "traces/report_page.gen.h"
#include "traces/trace_impl.h"

/* The page has this line where the data goes. */
static const char data_mark[] = "<!--DATA-->";

enum { PATH_CHARS = 4096, MARKS_MAX = 20000 };

struct report {
	struct run_files run;
	struct messages messages;
	struct report_packets packets;
	struct report_texts texts;
	FILE *out;
};

/* --- JSON --- */

/* '<' is escaped too, so that no data can end the script element that holds it. */
static void put_text(FILE *out, const char *text, size_t n)
{
	putc('"', out);
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < ' ' || c == '<' || c == 127)
			fprintf(out, "\\u%04x", c);
		else
			putc(c, out);
	}
	putc('"', out);
}

static void put_key(FILE *out, const char *key)
{
	fprintf(out, ",\n\"%s\":", key);
}

/* Writes a file of the run as a string; an empty one when the run has no such file. */
static void put_file(struct report *r, const char *key, const char *file)
{
	char path[PATH_CHARS], *text;
	size_t n = 0;
	FILE *in;

	snprintf(path, sizeof(path), "%s/%s", r->run.path, file);
	put_key(r->out, key);
	in = file_open(&in, path, FILE_REGULAR, NULL) ? NULL : in;
	text = in ? malloc(REPORT_FILE_MAX) : NULL;
	if (text)
		n = fread(text, 1, REPORT_FILE_MAX, in);
	put_text(r->out, text ? text : "", n);
	free(text);
	if (in)
		fclose(in);
}

static void put_phases(struct report *r)
{
	put_key(r->out, "phases");
	for (unsigned i = 1; i < r->run.phase_count; i++) {
		fprintf(r->out, "%s[%" PRIu64 ",", i > 1 ? "," : "[", r->run.phase_ps[i]);
		put_text(r->out, r->run.phases[i], strlen(r->run.phases[i]));
		putc(']', r->out);
	}
	fputs(r->run.phase_count > 1 ? "]" : "[]", r->out);
}

/* --- columns --- */

/* One array for each property of the packets: P(key, value for packet p). */
#define PACKET_COLUMNS(P)                                                                          \
	P("t", p->out_ps - last_ps)                                                                \
	P("d", p->in_ps == MESSAGE_NEVER ? -1 : (int64_t)(p->in_ps - p->out_ps))                   \
	P("hca", p->hca)                                                                           \
	P("op", p->op)                                                                             \
	P("qp", p->qpn)                                                                            \
	P("from", p->from)                                                                         \
	P("psn", p->psn)                                                                           \
	P("len", p->payload)                                                                       \
	P("wqe", p->wqe)                                                                           \
	P("flags", p->flags)                                                                       \
	P("note", p->note)

static void put_packets(struct report *r)
{
	uint64_t last_ps;

	put_key(r->out, "packets");
	putc('{', r->out);
#define P(key, value)                                                                              \
	fprintf(r->out, "\"" key "\":[");                                                          \
	last_ps = 0;                                                                               \
	for (size_t i = 0; i < r->packets.count; i++) {                                            \
		const struct report_packet *p = &r->packets.packets[i];                            \
                                                                                                   \
		fprintf(r->out, "%s%" PRId64, i ? "," : "", (int64_t)(value));                     \
		last_ps = p->out_ps;                                                               \
	}                                                                                          \
	fprintf(r->out, "],\n");
	PACKET_COLUMNS(P)
#undef P
	(void)last_ps;
	fprintf(r->out, "\"count\":%zu}", r->packets.count);
}

/* Writes [hca, qpn, index, opcode, bytes, packets, resent, failed, first ps, and for each point the
 * ps since then or -1]. */
static void put_message(struct report *r, const struct message *m)
{
	uint64_t first = m->at_ps[MESSAGE_WQE];

	for (unsigned s = 0; s < MESSAGE_POINT_COUNT; s++)
		if (m->at_ps[s] < first)
			first = m->at_ps[s];
	fprintf(r->out, "[%u,%u,%u,%u,%" PRIu64 ",%u,%u,%d,%" PRIu64, m->hca, m->qpn, m->index,
		report_text(&r->texts, m->opcode, strlen(m->opcode)), m->bytes, m->packets,
		m->resent, m->failed, first);
	for (unsigned s = 0; s < MESSAGE_POINT_COUNT; s++)
		if (m->at_ps[s] == MESSAGE_NEVER)
			fprintf(r->out, ",-1");
		else
			fprintf(r->out, ",%" PRIu64, m->at_ps[s] - first);
	putc(']', r->out);
}

static void put_messages(struct report *r)
{
	put_key(r->out, "messages");
	putc('[', r->out);
	for (size_t i = 0; i < r->messages.count; i++) {
		if (i)
			fprintf(r->out, ",\n");
		put_message(r, r->messages.messages[i]);
	}
	putc(']', r->out);
	put_key(r->out, "commands");
	putc('[', r->out);
	for (size_t i = 0; i < r->messages.command_count; i++) {
		const struct command *c = &r->messages.commands[i];

		fprintf(r->out, "%s[%u,%u,%" PRIu64 ",%" PRId64 "]", i ? "," : "", c->hca,
			report_text(&r->texts, c->name, strlen(c->name)), c->posted_ps,
			c->done_ps == MESSAGE_NEVER ? -1 : (int64_t)(c->done_ps - c->posted_ps));
	}
	putc(']', r->out);
}

/* Events to mark beside the packets: faults, timeouts, broken rules, discards. Returns the number
 * of the mark in the page; -1: none. */
static int mark_of(const struct run_files *run, const struct run_item *it)
{
	struct trace_record r;

	switch (it->class) {
	case RUN_FAULT:
		return 0;
	case RUN_GUEST_ERROR:
		return 2;
	case RUN_DISCARD:
		return 3;
	case RUN_OTHER:
		run_item_record(run, it, &r);
		return r.point == TP_FW_CATAS || r.point == TP_TIMER_EXPIRE ||
				       r.point == TP_REQ_RETRY
			       ? 1
			       : -1;
	default:
		return -1;
	}
}

static void put_marks(struct report *r)
{
	struct trace_text t = {0};
	const char *text;
	size_t n = 0;

	put_key(r->out, "marks");
	putc('[', r->out);
	for (size_t i = 0; i < r->run.count && n < MARKS_MAX; i++) {
		const struct run_item *it = &r->run.items[i];
		const int kind = mark_of(&r->run, it);

		if (kind < 0)
			continue;
		text = run_item_text(&r->run, it, &t);
		fprintf(r->out, "%s[%" PRIu64 ",%u,%d,%u]", n++ ? "," : "", it->time_ps, it->hca,
			kind, report_text(&r->texts, text, strlen(text)));
	}
	trace_text_free(&t);
	putc(']', r->out);
}

static void put_rows(struct report *r)
{
	put_key(r->out, "points");
	putc('[', r->out);
	for (unsigned s = 0; s < MESSAGE_POINT_COUNT; s++)
		fprintf(r->out, "%s[\"%s\",\"%s\"]", s ? "," : "", message_stage_word(s),
			message_stage_meaning(s));
	putc(']', r->out);
	put_key(r->out, "flags");
	fputs("{", r->out);
#define F(name, bit, meaning) fprintf(r->out, "%s\"%s\":%u", bit ? "," : "", #name, 1u << (bit));
	REPORT_FLAGS(F)
#undef F
	fputs("}", r->out);
}

/* Writes what the page cannot know: what each counter means. */
static void put_meanings(struct report *r)
{
	const char *separator = "{";

	put_key(r->out, "meanings");
#define S(stage, counter, meaning)                                                                 \
	fprintf(r->out, "%s\"%s.%s\":\"%s\"", separator, #stage, #counter, meaning);               \
	separator = ",";
	HCA_STATS(S)
#undef S
#define P(NAME, field, meaning)                                                                    \
	fprintf(r->out, ",\"port1.%s\":\"%s\",\"port2.%s\":\"%s\"", #field, meaning, #field,       \
		meaning);
	FW_PORT_COUNTERS(P)
#undef P
	putc('}', r->out);
}

static int put_defaults(struct report *r)
{
	struct config *config = malloc(sizeof(*config));
	char *text = NULL;
	size_t n = 0;
	FILE *out = config ? open_memstream(&text, &n) : NULL;
	int rc = out ? 0 : -ENOMEM;

	if (out) {
		cfg_defaults(config);
		rc = cfg_save(config, out);
		fclose(out);
	}
	put_key(r->out, "defaults");
	put_text(r->out, text, rc ? 0 : n);
	free(text);
	free(config);
	return rc;
}

static void put_texts(struct report *r)
{
	put_key(r->out, "texts");
	putc('[', r->out);
	for (uint32_t i = 0; i < r->texts.count; i++) {
		if (i)
			fprintf(r->out, ",\n");
		put_text(r->out, r->texts.texts[i].text, r->texts.texts[i].len);
	}
	putc(']', r->out);
}

static void put_data(struct report *r)
{
	uint64_t end = r->run.count ? r->run.items[r->run.count - 1].time_ps : 0;

	fprintf(r->out, "<script type=\"application/json\" id=\"data\">{\"end\":%" PRIu64, end);
	put_file(r, "run", "run.json");
	put_file(r, "stats", "stats.json");
	put_file(r, "config", "config.ini");
	put_rows(r);
	put_meanings(r);
	if (!r->texts.err)
		r->texts.err = put_defaults(r);
	put_phases(r);
	put_packets(r);
	put_messages(r);
	put_marks(r);
	put_texts(r); /* last, because the functions above add texts */
	fprintf(r->out, "}</script>\n");
}

/* --- the page --- */

static int page_write(struct report *r)
{
	const char *page = (const char *)report_page, *at = strstr(page, data_mark);

	if (!at)
		return -EINVAL;
	fwrite(page, 1, (size_t)(at - page), r->out);
	put_data(r);
	fputs(at + strlen(data_mark), r->out);
	return r->texts.err;
}

int report_write(const char *dir, FILE *out, FILE *err)
{
	struct report *r = calloc(1, sizeof(*r));
	unsigned sources = run_files_sources(dir, err);
	int ret = -ENOENT;

	if (!r)
		return -ENOMEM;
	if (!sources)
		goto out;
	/* The records have everything that the ladder shows. The capture would only add the
	 * payload. */
	ret = run_files_read(&r->run, dir, sources & RUN_RECORDS ? RUN_RECORDS : RUN_CAPTURE, false,
			     err);
	if (ret)
		goto out;
	if (r->run.golden) {
		fprintf(err, "%s: is no folder of a run\n", dir);
		ret = -EINVAL;
		goto out;
	}
	r->out = out;
	ret = messages_find(&r->messages, &r->run);
	if (!ret)
		ret = report_packets_find(&r->packets, &r->texts, &r->run);
	if (!ret)
		ret = page_write(r);
	if (ret)
		fprintf(err, "%s: %s\n", dir, strerror(-ret));
out:
	report_packets_free(&r->packets);
	report_texts_free(&r->texts);
	messages_free(&r->messages);
	run_files_free(&r->run);
	free(r);
	return ret;
}
