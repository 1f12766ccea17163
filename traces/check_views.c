/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the form of waves.vcd and timeline.json as this simulator writes them: what a viewer
 * needs, and also errors that a viewer would not notice. Files are read line by line, so a file may
 * have any length.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "model/sim/file.h"
#include "traces/trace_impl.h"

enum { SAID_MAX = 20, WORDS = 6, FUNCTIONS_MAX = 128, ID_CHARS = 94 };

struct view {
	const char *path;
	FILE *out;
	uint64_t line, bad, records;
};

static __attribute__((format(printf, 2, 3))) void wrong(struct view *v, const char *format, ...)
{
	va_list args;

	if (++v->bad > SAID_MAX)
		return;
	fprintf(v->out, "%s:%" PRIu64 ": ", v->path, v->line);
	va_start(args, format);
	vfprintf(v->out, format, args);
	va_end(args);
	fprintf(v->out, "\n");
}

/* ---- waves */

struct wave {
	char type; /* 'w' wire, 'e' event, 's' string; 0: this code is not declared */
	unsigned bits;
};

struct waves {
	struct wave *waves; /* indexed by code */
	size_t room;
	int depth;
	bool body, timed;
	uint64_t now;
};

static size_t code_number(const char *code)
{
	size_t n = 0, factor = 1;

	for (; *code > ' ' && *code < 0x7f && factor < SIZE_MAX / ID_CHARS; code++) {
		n += (size_t)(*code - '!') * factor;
		factor *= ID_CHARS;
	}
	return *code ? SIZE_MAX : n;
}

static int wave_declare(struct waves *w, struct view *v, char **word)
{
	size_t n = code_number(word[3]);

	if (n >= 1 << 20) {
		wrong(v, "code '%s'", word[3]);
		return 0;
	}
	if (n >= w->room) {
		size_t room = n + 256;
		struct wave *waves = realloc(w->waves, room * sizeof(*waves));

		if (!waves)
			return -ENOMEM;
		memset(waves + w->room, 0, (room - w->room) * sizeof(*waves));
		w->waves = waves;
		w->room = room;
	}
	if (w->waves[n].type)
		wrong(v, "code '%s' is declared twice", word[3]);
	w->waves[n] = (struct wave){word[1][0], (unsigned)strtoul(word[2], NULL, 10)};
	return 0;
}

static int wave_header(struct waves *w, struct view *v, char **word, unsigned words)
{
	if (words && !strcmp(word[0], "$scope"))
		w->depth++;
	else if (words && !strcmp(word[0], "$upscope"))
		w->depth--;
	else if (words && !strcmp(word[0], "$enddefinitions"))
		w->body = true;
	else if (words > 4 && !strcmp(word[0], "$var"))
		return wave_declare(w, v, word);
	else if (!words || (strcmp(word[0], "$version") && strcmp(word[0], "$timescale")))
		wrong(v, "no declaration");
	if (w->depth < 0 || (w->body && w->depth))
		wrong(v, "scopes do not nest");
	return 0;
}

static void wave_value(struct waves *w, struct view *v, char **word, unsigned words)
{
	char kind = word[0][0];
	bool is_bit = kind == '0' || kind == '1';
	const char *code = is_bit ? word[0] + 1 : words > 1 ? word[1] : "";
	size_t n = code_number(code);
	struct wave wave = *code && n < w->room ? w->waves[n] : (struct wave){0};

	v->records++;
	if (!w->timed)
		wrong(v, "a value before any time");
	if (!wave.type)
		wrong(v, "'%s' has a value but is not declared", code);
	else if (is_bit ? wave.type == 's' || (wave.type == 'w' && wave.bits != 1)
		 : kind == 's'
			 ? wave.type != 's'
			 : kind != 'b' || wave.type != 'w' || strlen(word[0] + 1) > wave.bits ||
				   strspn(word[0] + 1, "01") != strlen(word[0] + 1))
		wrong(v, "'%s' is not a value of '%s'", word[0], code);
}

static void wave_time(struct waves *w, struct view *v, const char *text)
{
	char *end;
	uint64_t now = strtoull(text, &end, 10);

	if (*end || end == text || (w->timed && now <= w->now))
		wrong(v, "time '%s' after %" PRIu64, text, w->now);
	w->timed = true;
	w->now = now;
}

static int wave_line(void *arg, struct view *v, char *line)
{
	struct waves *w = arg;
	char *word[WORDS], *rest = line, *at;
	unsigned words = 0;

	while (words < WORDS && (at = strsep(&rest, " ")))
		if (*at)
			word[words++] = at;
	if (!w->body)
		return wave_header(w, v, word, words);
	if (!words)
		wrong(v, "an empty line");
	else if (word[0][0] == '#')
		wave_time(w, v, word[0] + 1);
	else
		wave_value(w, v, word, words);
	return 0;
}

/* ---- timeline */

/* How far the functions of a lane have come, and how far a chain has. */
struct thread {
	uint64_t tid, last_ps;
	unsigned depth;
	char *function[FUNCTIONS_MAX];
};

struct chain {
	uint64_t id, last_ps;
	bool ended;
};

struct timeline_file {
	struct thread *threads;
	struct chain *chains; /* indexed by id, from 1 */
	size_t thread_count, chain_count;
	bool ended;
};

/* The members of an event that are checked. */
struct event_fields {
	char phase;
	uint64_t tid, id, ts, dur;
	bool has_name, has_ts, has_dur, has_id;
	const char *name; /* as the file has it, with its escapes */
	size_t name_len;
};

static bool string_skip(const char **s)
{
	const char *p = *s;

	if (*p++ != '"')
		return false;
	for (; *p != '"'; p++) {
		if ((unsigned char)*p < ' ')
			return false;
		if (*p == '\\' && (!*++p || !strchr("\"\\/bfnrtu", *p)))
			return false;
	}
	*s = p + 1;
	return true;
}

static bool number_skip(const char **s)
{
	const char *p = *s;

	p += *p == '-';
	if (!isdigit((unsigned char)*p))
		return false;
	while (isdigit((unsigned char)*p))
		p++;
	if (*p == '.' && !isdigit((unsigned char)*++p))
		return false;
	while (isdigit((unsigned char)*p))
		p++;
	*s = p;
	return true;
}

/* Parses microseconds with six digits after the point. Returns ps. */
static uint64_t time_of(const char *s)
{
	char *end;
	uint64_t us = strtoull(s, &end, 10);

	return us * 1000000 + (*end == '.' ? strtoull(end + 1, NULL, 10) : 0);
}

static void field_note(struct event_fields *e, const char *key, size_t n, const char *value,
		       const char *end)
{
#define IS(text) (n == sizeof(text) - 1 && !memcmp(key, text, n))
	if (IS("ph"))
		e->phase = value[1];
	else if (IS("tid"))
		e->tid = strtoull(value, NULL, 10);
	else if (IS("id"))
		e->id = strtoull(value, NULL, 10), e->has_id = true;
	else if (IS("ts"))
		e->ts = time_of(value), e->has_ts = true;
	else if (IS("dur"))
		e->dur = time_of(value), e->has_dur = true;
	else if (IS("name"))
		e->name = value, e->name_len = (size_t)(end - value), e->has_name = true;
#undef IS
}

/* Parses an object of strings, numbers and objects. The members of the outer one are stored in
 * *e. */
static bool object_parse(const char **s, struct event_fields *e, bool outer)
{
	if (*(*s)++ != '{')
		return false;
	if (**s == '}') {
		(*s)++;
		return true;
	}
	do {
		const char *key = *s + 1, *value;
		size_t n;

		if (!string_skip(s) || **s != ':')
			return false;
		n = (size_t)(*s - key - 1);
		value = ++*s;
		if (*value == '{'   ? !outer || !object_parse(s, e, false)
		    : *value == '"' ? !string_skip(s)
				    : !number_skip(s))
			return false;
		if (outer)
			field_note(e, key, n, value, *s);
	} while (*(*s)++ == ',');
	return (*s)[-1] == '}';
}

static struct thread *thread_find(struct timeline_file *t, uint64_t tid)
{
	struct thread *threads;

	for (size_t i = 0; i < t->thread_count; i++)
		if (t->threads[i].tid == tid)
			return &t->threads[i];
	threads = realloc(t->threads, (t->thread_count + 1) * sizeof(*threads));
	if (!threads)
		return NULL;
	t->threads = threads;
	threads[t->thread_count] = (struct thread){.tid = tid};
	return &threads[t->thread_count++];
}

static int function_event(struct timeline_file *t, struct view *v, const struct event_fields *e)
{
	struct thread *thread = thread_find(t, e->tid);
	char *name;

	if (!thread)
		return -ENOMEM;
	if (e->ts < thread->last_ps)
		wrong(v, "earlier than the event before it in its lane");
	thread->last_ps = e->ts;
	if (e->phase == 'B') {
		if (thread->depth == FUNCTIONS_MAX) {
			wrong(v, "more than %d nested functions", FUNCTIONS_MAX);
			return 0;
		}
		name = strndup(e->name, e->name_len);
		if (!name)
			return -ENOMEM;
		thread->function[thread->depth++] = name;
		return 0;
	}
	name = thread->depth ? thread->function[thread->depth - 1] : NULL;
	if (!name || strncmp(name, e->name, e->name_len) || name[e->name_len]) {
		wrong(v, "ends a function that has not begun");
		return 0;
	}
	thread->depth--;
	free(name);
	return 0;
}

static int chain_event(struct timeline_file *t, struct view *v, const struct event_fields *e)
{
	struct chain *chain;

	if (!e->has_id || !e->id || (e->phase == 's') != (e->id == t->chain_count + 1)) {
		wrong(v, "a chain without a begin, or with two");
		return 0;
	}
	if (e->phase == 's') {
		struct chain *chains = realloc(t->chains, e->id * sizeof(*chains));

		if (!chains)
			return -ENOMEM;
		t->chains = chains;
		chains[t->chain_count++] = (struct chain){.id = e->id};
	} else if (e->id > t->chain_count) {
		wrong(v, "a chain without a begin");
		return 0;
	}
	chain = &t->chains[e->id - 1];
	if (chain->ended || e->ts < chain->last_ps)
		wrong(v,
		      "chain %" PRIu64
		      " has an event after its end, or earlier than the one before",
		      e->id);
	chain->last_ps = e->ts;
	chain->ended = e->phase == 'f';
	return 0;
}

static int timeline_line(void *arg, struct view *v, char *line)
{
	struct timeline_file *t = arg;
	struct event_fields e = {0};
	const char *s = line;
	bool parsed;

	if (v->line == 1) {
		if (strcmp(line, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":["))
			wrong(v, "not a timeline of this simulator");
		return 0;
	}
	if (!strcmp(line, "]}")) {
		t->ended = true;
		return 0;
	}
	parsed = object_parse(&s, &e, true) && (!*s || !strcmp(s, ","));
	if (!parsed || t->ended || !e.phase || !strchr("MBEXCistf", e.phase)) {
		wrong(v, "no event");
		return 0;
	}
	v->records++;
	if (!e.has_name || (e.phase != 'M' && !e.has_ts) || (e.phase == 'X') != e.has_dur ||
	    (e.phase == 'X' && !e.dur))
		wrong(v, "an event without name, time or duration");
	else if (e.phase == 'B' || e.phase == 'E')
		return function_event(t, v, &e);
	else if (strchr("stf", e.phase))
		return chain_event(t, v, &e);
	return 0;
}

static void timeline_end(struct timeline_file *t, struct view *v)
{
	if (!t->ended)
		wrong(v, "the file ends too early");
	for (size_t i = 0; i < t->thread_count; i++) {
		if (t->threads[i].depth)
			wrong(v, "functions of lane %" PRIu64 " do not end", t->threads[i].tid);
		while (t->threads[i].depth)
			free(t->threads[i].function[--t->threads[i].depth]);
	}
	for (size_t i = 0; i < t->chain_count; i++)
		if (!t->chains[i].ended)
			wrong(v, "chain %" PRIu64 " does not end", t->chains[i].id);
	free(t->threads);
	free(t->chains);
}

/* ---- both */

static int lines(struct view *v, int (*each)(void *arg, struct view *v, char *line), void *arg)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t n;
	FILE *f;
	int ret = file_open(&f, v->path, FILE_ANY, v->out);

	if (ret)
		return ret;
	while (!ret && (n = file_line(f, &line, &room)) > 0) {
		v->line++;
		if (line[n - 1] != '\n' || strlen(line) != (size_t)n)
			wrong(v, "a line without an end, or with a zero byte");
		line[strcspn(line, "\n")] = 0;
		ret = each(arg, v, line);
	}
	if (!ret && errno)
		ret = -errno;
	if (ret)
		fprintf(v->out, "%s: %s\n", v->path, strerror(-ret));
	else if (!v->line)
		wrong(v, "empty");
	free(line);
	fclose(f);
	return ret;
}

int trace_check_view(const char *path, bool is_timeline, FILE *out)
{
	struct view v = {.path = path, .out = out};
	struct timeline_file t = {0};
	struct waves w = {0};
	int ret;

	if (is_timeline) {
		ret = lines(&v, timeline_line, &t);
		timeline_end(&t, &v);
	} else {
		ret = lines(&v, wave_line, &w);
		if (!w.body || !w.timed)
			wrong(&v, "the file ends too early");
		free(w.waves);
	}
	if (ret)
		return 2;
	fprintf(out, "%s: %" PRIu64 " %s, %" PRIu64 " wrong\n", path, v.records,
		is_timeline ? "events" : "values", v.bad);
	return v.bad ? 1 : 0;
}
