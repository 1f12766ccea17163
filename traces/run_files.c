/* SPDX-License-Identifier: Apache-2.0 */
/* See run_files.h. */
#define _GNU_SOURCE /* qsort_r */
#include "traces/run_files_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/sim/file.h"
#include "traces/decode.h"
#include "traces/pcapng_format.h"

enum {
	PATH_CHARS = 4096,
	UNIT_CHARS = 14, /* of a log line, with its blank */
	FNV_OFFSET = 0x811c9dc5,
	FNV_PRIME = 0x01000193,
	KEY_HCA = 32,
	KEY_CLASS = 40
};

static const char *const class_words[] = {
#define C(name, word, text) word,
	RUN_CLASSES(C)
#undef C
};
static const char *const class_texts[] = {
#define C(name, word, text) text,
	RUN_CLASSES(C)
#undef C
};

const char *run_class_text(enum run_class class)
{
	return class_texts[class];
}

const char *run_class_word(enum run_class class)
{
	return class_words[class];
}

uint32_t run_classes_parse(const char *list)
{
	uint32_t classes = 0;

	for (;; list++) {
		size_t n = strcspn(list, ",\n"), i = 0;

		while (i < RUN_CLASS_COUNT &&
		       (strlen(class_words[i]) != n || memcmp(class_words[i], list, n)))
			i++;
		if (i == RUN_CLASS_COUNT)
			return 0;
		classes |= 1u << i;
		list += n;
		if (*list != ',')
			return classes;
	}
}

bool run_field(const char *text, const char *key, uint64_t *value)
{
	const char *at = text;
	char *end;

	while ((at = strstr(at, key)) && at != text && at[-1] != ' ')
		at++;
	if (!at)
		return false;
	*value = strtoull(at + strlen(key), &end, 0);
	return end != at + strlen(key);
}

void run_stream_name(uint64_t key, char *buf, size_t size)
{
	static const char *const numbers[RUN_CLASS_COUNT] = {
		[RUN_OUT] = "qpn",      [RUN_IN] = "qpn",  [RUN_WQE] = "qpn",
		[RUN_REGISTER] = "bar", [RUN_CQE] = "cqn", [RUN_EQE] = "eqn",
	};
	unsigned class = (unsigned)(key >> KEY_CLASS), hca = (uint8_t)(key >> KEY_HCA);
	uint32_t number = (uint32_t)key;
	int n = snprintf(buf, size, "%s", class_texts[class]);

	if (hca != RUN_NO_HCA)
		n += snprintf(buf + n, size - (size_t)n, ", hca%u", hca);
	if (number && numbers[class])
		snprintf(buf + n, size - (size_t)n, ", %s 0x%x", numbers[class], number - 1);
}

/* --- lines --- */

static enum run_class class_of(const char *unit, const char *text)
{
	if (starts(unit, "link_port "))
		return starts(text, "out ")       ? RUN_OUT
		       : starts(text, "in ")      ? RUN_IN
		       : starts(text, "discard ") ? RUN_DISCARD
						  : RUN_OTHER;
	if (starts(unit, "pcie "))
		return starts(text, "dma ") ? RUN_OTHER : RUN_REGISTER;
	if (starts(unit, "fw "))
		return starts(text, "command ") || starts(text, "done ") ? RUN_COMMAND : RUN_OTHER;
	if (starts(unit, "wqe_fetch "))
		return RUN_WQE;
	if (starts(unit, "cqe_write "))
		return RUN_CQE;
	if (starts(unit, "event_queue "))
		return RUN_EQE;
	if (starts(unit, "interrupt "))
		return RUN_IRQ;
	if (starts(unit, "guest_error "))
		return RUN_GUEST_ERROR;
	return starts(unit, "fault ") ? RUN_FAULT : RUN_OTHER;
}

/* The number of the item's stream: 0 when its class has one stream an HCA, else from 1. */
static uint32_t stream_number(const struct run_item *item, bool by_qp)
{
	const char *at;
	uint64_t n = 0;

	switch (item->class) {
	case RUN_OUT:
	case RUN_IN:
	case RUN_WQE:
		return by_qp && run_field(item->text, "qpn ", &n) ? (uint32_t)n + 1 : 0;
	case RUN_REGISTER:
		at = strstr(item->text, " bar");
		return at ? (uint32_t)strtoul(at + 4, NULL, 10) + 1 : 0;
	case RUN_CQE:
		return run_field(item->text, "cqn ", &n) ? (uint32_t)n + 1 : 0;
	case RUN_EQE:
		return run_field(item->text, "eqn ", &n) ? (uint32_t)n + 1 : 0;
	default:
		return 0;
	}
}

void run_key_make(struct run_item *item, uint32_t number)
{
	item->key = (uint64_t)item->class << KEY_CLASS | (uint64_t)item->hca << KEY_HCA | number;
}

struct run_item *run_item_add(struct run_files *run)
{
	if (!(run->count & (run->count - 1))) {
		size_t room = run->count ? 2 * run->count : 1;
		struct run_item *more = realloc(run->items, room * sizeof(*more));

		if (!more)
			return NULL;
		run->items = more;
	}
	run->items[run->count] = (struct run_item){.hca = RUN_NO_HCA};
	return &run->items[run->count++];
}

static int phase_begin(struct run_files *run, const char *name, uint64_t time_ps)
{
	if (!(run->phase_count & (run->phase_count - 1))) {
		const size_t room = run->phase_count ? 2 * run->phase_count : 1;
		const char **names = realloc(run->phases, room * sizeof(*names));
		uint64_t *begins = names ? realloc(run->phase_ps, room * sizeof(*begins)) : NULL;

		run->phases = names ? names : run->phases;
		if (!begins)
			return -ENOMEM;
		run->phase_ps = begins;
	}
	run->phases[run->phase_count] = name;
	run->phase_ps[run->phase_count++] = time_ps;
	return 0;
}

char *run_line_next(const struct run_files *run, char **rest)
{
	char *line = *rest, *end = line + strcspn(line, "\n");

	if (line == run->end || (end < run->end && *end != '\n'))
		return NULL;
	*rest = end + (end < run->end);
	*end = 0;
	return line;
}

/* "     12.345678 hca0 unit          text" */
static int log_line(struct run_files *run, const char *line, uint32_t number, bool by_qp)
{
	struct run_item *item = run_item_add(run);
	char *end;
	uint64_t us;

	if (!item)
		return -ENOMEM;
	us = strtoull(line, &end, 10);
	if (*end != '.' || strlen(end) < 8 + 5 + UNIT_CHARS)
		return -EINVAL;
	item->line = line;
	item->number = number;
	item->time_ps = us * 1000000 + strtoull(end + 1, NULL, 10);
	if (starts(end + 8, "hca")) {
		if (end[11] < '0' || end[11] > '9')
			return -EINVAL;
		item->hca = (uint8_t)(end[11] - '0');
	}
	item->unit = end + 8 + 5;
	item->text = item->unit + UNIT_CHARS;
	item->class = (uint8_t)class_of(item->unit, item->text);
	if (item->hca == RUN_NO_HCA && starts(item->unit, "scenario ") &&
	    starts(item->text, "phase ") &&
	    phase_begin(run, item->text + strlen("phase "), item->time_ps))
		return -ENOMEM;
	item->phase = run->phase_count - 1;
	run_key_make(item, stream_number(item, by_qp));
	return 0;
}

static int log_lines(struct run_files *run, const char *name, bool by_qp, FILE *err)
{
	uint32_t number = 0;
	char *rest = run->text, *line;
	int ret = 0;

	while (!ret && (line = run_line_next(run, &rest)))
		ret = log_line(run, line, ++number, by_qp);
	if (!ret && rest < run->end) {
		number++;
		ret = -EINVAL;
	}
	if (ret)
		fprintf(err, "%s:%u: %s\n", name, number,
			ret == -EINVAL ? "not a line of a log" : strerror(-ret));
	return ret;
}

uint32_t run_bytes_hash(const uint8_t *bytes, uint32_t len)
{
	uint32_t h = FNV_OFFSET;

	while (len--)
		h = (h ^ *bytes++) * FNV_PRIME;
	return h;
}

/* --- the capture --- */

/* Gives the packets of the log, in their order, what the capture knows of them. */
static int capture_join(struct run_files *run, const char *path, FILE *err)
{
	struct pcapng_reader *rd;
	struct pcapng_packet pkt;
	uint32_t n = 0;
	size_t at = 0;
	int ret = pcapng_reader_open(&rd, path, err);

	if (ret)
		return ret;
	while ((ret = pcapng_reader_next(rd, &pkt, err)) > 0) {
		while (at < run->count && !(1u << run->items[at].class & RUN_PACKETS))
			at++;
		if (at == run->count)
			break;
		run->items[at].packet = n++;
		run->items[at].hash = run_bytes_hash(pkt.bytes, pkt.len);
		run->items[at++].has_hash = true;
	}
	pcapng_reader_close(rd);
	while (!ret && at < run->count)
		if (1u << run->items[at++].class & RUN_PACKETS)
			ret = 1;
	if (ret > 0)
		fprintf(err, "%s: other packets than in run.log\n", path);
	return ret > 0 ? -EINVAL : ret;
}

/* What a comment says behind "key=", as a number; 0 without. */
static uint64_t comment_number(const char *comment, const char *key)
{
	const char *at = strstr(comment, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

static void capture_line(struct trace_text *line, const struct pcapng_packet *pkt)
{
	const char *text = strstr(pkt->comment, "fault=");
	unsigned hca = 0, port = 1;
	char fault[128];
	struct trace_record r = {
		.time_ps = pkt->time_ps,
		.point = pkt->flags == PCAPNG_INBOUND ? TP_PKT_IN : TP_PKT_OUT,
		.args = {0, 0, comment_number(pkt->comment, "wqe="),
			 comment_number(pkt->comment, "try=")},
		.bytes = pkt->bytes,
		.len = pkt->len,
		.text = text ? fault : NULL,
	};

	if (text)
		snprintf(fault, sizeof(fault), "%.*s", (int)strcspn(text + 6, ";"), text + 6);
	if (strstr(pkt->comment, "wqe="))
		r.args[0] = TRACE_PACKET_WQE;
	sscanf(pkt->name, "hca%u.port%u", &hca, &port);
	r.hca = (uint8_t)(hca % 10);
	r.port = (uint8_t)port;
	line->len = 0;
	trace_log_line(line, &r);
}

/* The log that the packets of a capture would make. */
static int capture_log(struct run_files *run, const char *path, FILE *err)
{
	struct trace_text all = {0}, line = {0};
	struct pcapng_reader *rd;
	struct pcapng_packet pkt;
	int ret = pcapng_reader_open(&rd, path, err);

	if (ret)
		return ret;
	while ((ret = pcapng_reader_next(rd, &pkt, err)) > 0) {
		capture_line(&line, &pkt);
		trace_text_add(&all, "%s", line.s ? line.s : "");
	}
	pcapng_reader_close(rd);
	trace_text_free(&line);
	run->text = all.s ? all.s : strdup("");
	if (!run->text)
		return -ENOMEM;
	run->end = run->text + all.len;
	return ret;
}

/* --- files --- */

static int text_read(struct run_files *run, const char *path, FILE *err)
{
	size_t len;
	int ret = file_text(&run->text, &len, path, FILE_REGULAR, SIZE_MAX, err);

	if (!ret)
		run->end = run->text + len;
	return ret;
}

static void path_of(char *buf, const char *dir, const char *file)
{
	snprintf(buf, PATH_CHARS, "%s/%s", dir, file);
}

/* Whether a run's folder has this file; what stands there must be one that can be read. */
static int has_file(const char *dir, const char *file, bool *has, FILE *err)
{
	char path[PATH_CHARS];
	FILE *in;
	int ret;

	path_of(path, dir, file);
	*has = !access(path, F_OK) || errno != ENOENT;
	ret = *has ? file_open(&in, path, FILE_REGULAR, err) : 0;
	if (*has && !ret)
		fclose(in);
	return ret;
}

unsigned run_files_sources(const char *path, FILE *err)
{
	bool has_log, has_capture;
	unsigned sources;
	struct stat st;

	if (stat(path, &st)) {
		fprintf(err, "%s: %s\n", path, strerror(errno));
		return 0;
	}
	if (S_ISREG(st.st_mode))
		return RUN_LOG | RUN_CAPTURE;
	if (has_file(path, "run.log", &has_log, err) ||
	    has_file(path, "packets.pcapng", &has_capture, err))
		return 0;
	sources = (has_log ? RUN_LOG : 0) | (has_capture ? RUN_CAPTURE : 0);
	if (!sources)
		fprintf(err, "%s: has neither run.log nor packets.pcapng\n", path);
	return sources;
}

static int folder_read(struct run_files *run, unsigned sources, bool by_qp, FILE *err)
{
	char log[PATH_CHARS], capture[PATH_CHARS];
	int ret;

	path_of(log, run->path, "run.log");
	path_of(capture, run->path, "packets.pcapng");
	ret = sources & RUN_LOG ? text_read(run, log, err) : capture_log(run, capture, err);
	if (!ret)
		ret = log_lines(run, log, by_qp, err);
	if (!ret && sources & RUN_CAPTURE)
		ret = capture_join(run, capture, err);
	return ret;
}

int run_files_read(struct run_files *run, const char *path, unsigned sources, bool by_qp, FILE *err)
{
	struct stat st;
	int ret;

	*run = (struct run_files){.path = strdup(path)};
	if (!run->path || phase_begin(run, "", 0))
		ret = -ENOMEM;
	else if (stat(path, &st))
		ret = -errno;
	else if (S_ISREG(st.st_mode))
		ret = text_read(run, path, err) ? -EIO : run_golden_lines(run, err);
	else
		ret = folder_read(run, sources, by_qp, err);
	if (ret)
		run_files_free(run);
	return ret;
}

void run_files_free(struct run_files *run)
{
	free(run->items);
	free(run->phases);
	free(run->phase_ps);
	free(run->text);
	free(run->path);
	*run = (struct run_files){0};
}

/* --- streams --- */

static int by_stream(const void *a, const void *b, void *items)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct run_item *i = (const struct run_item *)items + x,
			      *j = (const struct run_item *)items + y;

	return i->key != j->key ? (i->key < j->key ? -1 : 1) : x < y ? -1 : x > y;
}

/* Both read the same register; j may be cut. */
static bool is_poll(const struct run_item *i, const struct run_item *j)
{
	const char *value = strstr(i->text, " value ");

	return i->class == RUN_REGISTER && i->key == j->key && value &&
	       !strncmp(i->text, j->text, (size_t)(value + 7 - i->text)) &&
	       (starts(i->text, "read ") || starts(i->text, "config read "));
}

uint32_t *run_files_streams(const struct run_files *run, uint32_t classes, const char *phase,
			    size_t *count)
{
	uint32_t *order = malloc((run->count + 1) * sizeof(*order));
	size_t n = 0, kept = 0;

	if (!order)
		return NULL;
	for (size_t i = 0; i < run->count; i++)
		if (classes >> run->items[i].class & 1 &&
		    (!phase || run->golden || !strcmp(phase, run->phases[run->items[i].phase])))
			order[n++] = (uint32_t)i;
	qsort_r(order, n, sizeof(*order), by_stream, run->items);
	for (size_t i = 0; i < n; i++)
		if (i + 1 == n || !is_poll(&run->items[order[i]], &run->items[order[i + 1]]))
			order[kept++] = order[i];
	*count = kept;
	return order;
}
