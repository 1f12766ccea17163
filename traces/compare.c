/* SPDX-License-Identifier: Apache-2.0 */
/* See compare.h. */
#include "traces/compare.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/sim/units.h"
#include "traces/compare_impl.h"
#include "traces/pcapng_format.h"
#include "traces/trace_impl.h"

enum { BEFORE = 3, LOG_BEFORE = 6, OTHERS_MAX = 20, BYTES_SHOWN = 8, LINE_SHOWN = 150 };

/* A stream of one or both runs: a range in the order of each run. */
struct stream {
	uint64_t key;
	const uint32_t *at[2];
	size_t n[2];
	size_t first; /* the first item that differs */
	bool differs;
};

struct compare {
	const struct compare_options *options;
	struct run_files runs[2];
	uint32_t *order[2];
	size_t count[2];
	struct stream *streams;
	size_t stream_count;
	unsigned sources;
	uint32_t classes;
	const char *phase;
	struct trace_text texts[2]; /* the texts of the items that were looked at last */
};

static const struct run_item *item(const struct compare *c, const struct stream *s, unsigned side,
				   size_t i)
{
	return i < s->n[side] ? &c->runs[side].items[s->at[side][i]] : NULL;
}

static const char *text_of(struct compare *c, unsigned side, const struct run_item *it)
{
	return run_item_text(&c->runs[side], it, &c->texts[side]);
}

/* Compares the items of the two sides. A golden trace has shortened its long texts. */
static bool same_text(struct compare *c, const struct run_item *a, const struct run_item *b)
{
	const char *text[2] = {text_of(c, 0, a), text_of(c, 1, b)};
	char cut[RUN_SHORT_CHARS];

	for (unsigned side = 0; side < 2; side++)
		if (!c->runs[side].golden && c->runs[!side].golden) {
			run_text_short(text[side], cut, sizeof(cut));
			text[side] = cut;
		}
	return !strcmp(text[0], text[1]);
}

static bool same(struct compare *c, const struct run_item *a, const struct run_item *b)
{
	return same_text(c, a, b) && (!a->has_hash || !b->has_hash || a->hash == b->hash);
}

static void stream_compare(struct compare *c, struct stream *s)
{
	size_t n = s->n[0] < s->n[1] ? s->n[0] : s->n[1];

	while (s->first < n && same(c, item(c, s, 0, s->first), item(c, s, 1, s->first)))
		s->first++;
	s->differs = s->first < s->n[0] || s->first < s->n[1];
}

static uint64_t key_at(const struct compare *c, unsigned side, size_t i)
{
	return i < c->count[side] ? c->runs[side].items[c->order[side][i]].key : UINT64_MAX;
}

static int streams_make(struct compare *c)
{
	size_t at[2] = {0, 0};

	c->streams = calloc(c->count[0] + c->count[1] + 1, sizeof(*c->streams));
	if (!c->streams)
		return -1;
	while (at[0] < c->count[0] || at[1] < c->count[1]) {
		struct stream *s = &c->streams[c->stream_count++];
		uint64_t a = key_at(c, 0, at[0]), b = key_at(c, 1, at[1]);

		s->key = a < b ? a : b;
		for (unsigned side = 0; side < 2; side++) {
			s->at[side] = c->order[side] + at[side];
			while (key_at(c, side, at[side]) == s->key) {
				at[side]++;
				s->n[side]++;
			}
		}
		stream_compare(c, s);
	}
	return 0;
}

/* The time of the difference; UINT64_MAX when only golden traces have it, which have no times. */
static uint64_t difference_ps(const struct compare *c, const struct stream *s)
{
	uint64_t ps = UINT64_MAX;

	for (unsigned side = 0; side < 2; side++) {
		const struct run_item *it = item(c, s, side, s->first);

		if (it && !c->runs[side].golden && it->time_ps < ps)
			ps = it->time_ps;
	}
	return ps;
}

/* --- what is printed --- */

static void print_time(FILE *out, const struct run_files *run, const struct run_item *it)
{
	if (!it || run->golden)
		fprintf(out, " %15s", "");
	else
		fprintf(out, " %8" PRIu64 ".%06" PRIu64, it->time_ps / 1000000,
			it->time_ps % 1000000);
}

/* Prints the times of both, and then the text, which both share or which only A or only B has. */
static void print_item(FILE *out, struct compare *c, const char *mark, const struct run_item *a,
		       const struct run_item *b)
{
	fprintf(out, "  %s", mark);
	print_time(out, &c->runs[0], a);
	print_time(out, &c->runs[1], b);
	fprintf(out, "  %s\n", a ? text_of(c, 0, a) : text_of(c, 1, b));
}

static void print_end(FILE *out, const char *mark, size_t n)
{
	fprintf(out, "  %s %32s ends here, after %zu\n", mark, "", n);
}

/* Returns where the two words before `at` begin: usually a name and its value. */
static int words_back(const char *text, int at)
{
	for (unsigned words = 0; at > 0; at--)
		if (text[at - 1] == ' ' && ++words == 2)
			break;
	return at;
}

/* Prints the words that differ first, with the word before them. */
static void print_words(FILE *out, const char *a, const char *b)
{
	int n = 0, from;

	while (a[n] && a[n] == b[n])
		n++;
	from = words_back(a, n);
	for (unsigned side = 0; side < 2; side++) {
		const char *text = side ? b : a;

		fprintf(out, side ? "  |  %.*s\n" : "    they differ in: %.*s",
			n - from + (int)strcspn(text + n, " "), text + from);
	}
}

/* Copies packet `number` of a folder's capture and returns its length; 0 when it cannot be read. */
static uint32_t packet_bytes(const struct run_files *run, uint32_t number, uint8_t *bytes)
{
	struct pcapng_reader *rd;
	struct pcapng_packet pkt;
	char path[4096];
	uint32_t len = 0;

	snprintf(path, sizeof(path), "%s/packets.pcapng", run->path);
	if (run->golden || pcapng_reader_open(&rd, path, stderr))
		return 0;
	while (pcapng_reader_next(rd, &pkt, stderr) > 0)
		if (!number--) {
			len = pkt.len < ERF_PACKET_MAX ? pkt.len : ERF_PACKET_MAX;
			memcpy(bytes, pkt.bytes, len);
			break;
		}
	pcapng_reader_close(rd);
	return len;
}

static void print_bytes(FILE *out, const struct compare *c, const struct run_item *a,
			const struct run_item *b)
{
	static uint8_t bytes[2][ERF_PACKET_MAX];
	uint32_t len[2] = {packet_bytes(&c->runs[0], a->packet, bytes[0]),
			   packet_bytes(&c->runs[1], b->packet, bytes[1])},
		 n = len[0] < len[1] ? len[0] : len[1], at = 0;

	while (at < n && bytes[0][at] == bytes[1][at])
		at++;
	if (!n) {
		fprintf(out, "    the packets' bytes differ\n");
		return;
	}
	fprintf(out, "    the packets differ from byte %u:", at);
	for (unsigned side = 0; side < 2; side++) {
		fprintf(out, " %s", side ? "B" : "A");
		for (uint32_t i = at; i < at + BYTES_SHOWN && i < len[side]; i++)
			fprintf(out, " %02x", bytes[side][i]);
	}
	fprintf(out, "\n");
}

/* Prints the item's line of the log and the lines before it, whatever their kind. */
static void print_around(FILE *out, struct compare *c, unsigned side, const struct run_item *it)
{
	const struct run_files *run = &c->runs[side];
	size_t at = it ? (size_t)(it - run->items) : 0;
	const char *line;

	if (!it || run->golden)
		return;
	fprintf(out, "  around it in %s:\n", side ? "B" : "A");
	for (size_t i = at < LOG_BEFORE ? 0 : at - LOG_BEFORE; i <= at; i++) {
		line = run_item_line(run, &run->items[i], &c->texts[side]);
		fprintf(out, "  %c %6u %.*s%s\n", side ? 'B' : 'A', run->items[i].number,
			LINE_SHOWN, line, strlen(line) > LINE_SHOWN ? " ..." : "");
	}
}

static void print_first(FILE *out, struct compare *c, const struct stream *s)
{
	const struct run_item *a = item(c, s, 0, s->first), *b = item(c, s, 1, s->first);
	const struct run_item *timed = a && !c->runs[0].golden   ? a
				       : b && !c->runs[1].golden ? b
								 : NULL;
	char name[96];

	run_stream_name(s->key, name, sizeof(name));
	fprintf(out, "first difference: %s, number %zu (A has %zu, B %zu)", name, s->first + 1,
		s->n[0], s->n[1]);
	if (timed && timed->phase)
		fprintf(out, ", in phase '%s'", c->runs[timed == b].phases[timed->phase]);
	fprintf(out, "\n    %15s %15s\n", "us in A", "us in B");
	for (size_t i = s->first < BEFORE ? 0 : s->first - BEFORE; i < s->first; i++)
		print_item(out, c, " ", item(c, s, 0, i), item(c, s, 1, i));
	if (a)
		print_item(out, c, "A", a, NULL);
	else
		print_end(out, "A", s->n[0]);
	if (b)
		print_item(out, c, "B", NULL, b);
	else
		print_end(out, "B", s->n[1]);
	if (a && b && !same_text(c, a, b))
		print_words(out, text_of(c, 0, a), text_of(c, 1, b));
	else if (a && b)
		print_bytes(out, c, a, b);
	print_around(out, c, 0, a);
	print_around(out, c, 1, b);
}

static void print_others(FILE *out, const struct compare *c, const struct stream *first)
{
	unsigned printed = 0, left = 0;

	for (size_t i = 0; i < c->stream_count; i++) {
		const struct stream *s = &c->streams[i];
		uint64_t ps = difference_ps(c, s);
		char name[96];

		if (!s->differs || s == first)
			continue;
		if (printed == OTHERS_MAX) {
			left++;
			continue;
		}
		if (!printed++)
			fprintf(out, "also different:\n");
		run_stream_name(s->key, name, sizeof(name));
		fprintf(out, "  %-34s from number %zu (A has %zu, B %zu)", name, s->first + 1,
			s->n[0], s->n[1]);
		if (ps != UINT64_MAX)
			fprintf(out, ", at %" PRIu64 ".%06" PRIu64 " us", ps / 1000000,
				ps % 1000000);
		fprintf(out, "\n");
	}
	if (left)
		fprintf(out, "  and %u more streams\n", left);
}

static bool print_differences(FILE *out, struct compare *c)
{
	const struct stream *first = NULL;

	for (size_t i = 0; i < c->stream_count; i++) {
		const struct stream *s = &c->streams[i];

		if (s->differs && (!first || difference_ps(c, s) < difference_ps(c, first)))
			first = s;
	}
	if (!first)
		return false;
	print_first(out, c, first);
	print_others(out, c, first);
	return true;
}

static void print_equal(FILE *out, const struct compare *c)
{
	size_t per_class[RUN_CLASS_COUNT] = {0};
	const char *separator = "equal: ";

	for (size_t i = 0; i < c->count[0]; i++)
		per_class[c->runs[0].items[c->order[0][i]].class]++;
	for (unsigned k = 0; k < RUN_CLASS_COUNT; k++)
		if (per_class[k]) {
			fprintf(out, "%s%zu %s", separator, per_class[k], run_class_text(k));
			separator = ", ";
		}
	fprintf(out, *separator == 'e' ? "equal: nothing to compare\n" : "\n");
}

/* --- inputs --- */

static int sources_of(struct compare *c)
{
	const char *paths[2] = {c->options->a, c->options->b};
	unsigned have[2];

	for (unsigned side = 0; side < 2; side++) {
		have[side] = run_files_sources(paths[side], stderr);
		if (!have[side])
			return -1;
	}
	c->sources = have[0] & have[1];
	if (!c->sources) {
		fprintf(stderr, "%s and %s have no trace in common: one has only %s\n", paths[0],
			paths[1], have[0] & RUN_RECORDS ? "run.records" : "packets.pcapng");
		return -1;
	}
	return 0;
}

static int read_both(struct compare *c)
{
	const char *paths[2] = {c->options->a, c->options->b};

	c->classes = c->options->classes ? c->options->classes : RUN_COMPARED;
	c->phase = c->options->phase;
	for (unsigned side = 0; side < 2; side++) {
		struct run_files *run = &c->runs[side];

		if (run_files_read(run, paths[side], c->sources, c->options->by_qp, stderr))
			return -1;
		if (!run->golden)
			continue;
		c->classes &= run->classes;
		if (*run->phase)
			c->phase = run->phase;
	}
	if (!(c->sources & RUN_RECORDS))
		c->classes &= RUN_PACKETS;
	for (unsigned side = 0; side < 2; side++) {
		c->order[side] =
			run_files_streams(&c->runs[side], c->classes, c->phase, &c->count[side]);
		if (!c->order[side])
			return -1;
	}
	return streams_make(c);
}

static int compare_all(struct compare *c, FILE *out)
{
	bool differ, times = !c->options->no_times && c->sources & RUN_RECORDS &&
			     !c->runs[0].golden && !c->runs[1].golden;

	fprintf(out, "A %s\nB %s\n", c->options->a, c->options->b);
	compare_configs(c->options->a, c->options->b, out);
	if (!(c->sources & RUN_RECORDS))
		fprintf(out, "compared without records: packets only\n");
	else if (!(c->sources & RUN_CAPTURE))
		fprintf(out, "compared without captures: packets by their headers\n");
	differ = print_differences(out, c);
	if (!differ)
		print_equal(out, c);
	if (times) {
		int ret = compare_times(c->runs, c->phase, c->options, out);

		if (ret < 0)
			return 2;
		differ |= ret;
	}
	return differ;
}

int compare_runs(const struct compare_options *options, FILE *out)
{
	struct compare c = {.options = options};
	int ret = 2;

	if (!sources_of(&c) && !read_both(&c))
		ret = compare_all(&c, out);
	for (unsigned side = 0; side < 2; side++) {
		free(c.order[side]);
		trace_text_free(&c.texts[side]);
		run_files_free(&c.runs[side]);
	}
	free(c.streams);
	return ret;
}

bool compare_threshold_parse(struct compare_options *options, const char *text)
{
	char *end;
	double value;
	uint64_t ps;

	options->no_times = !strcmp(text, "none");
	if (options->no_times)
		return true;
	value = strtod(text, &end);
	if (end != text && !strcmp(end, "%") && value >= 0) {
		options->threshold_percent = value;
		return true;
	}
	if (cfg_value_parse(CFG_TIME, text, &ps))
		return false;
	options->threshold_ps = (double)ps;
	return true;
}
