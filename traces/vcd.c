/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waves.vcd, for GTKWave: a value change dump (IEEE 1364-2005, clause 18), in picoseconds. Its
 * signals are the rows of signals.h, and each stage of each HCA is a scope. Strings are an
 * extension of the format by GTKWave. The file does not contain the date.
 *
 * The end of a span is known when the span begins. It waits in a heap until its time comes. When a
 * signal has several values at one moment, only the last one is written.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "traces/signals.h"
#include "model/interface/macros.h"
#include "traces/trace_impl.h"

enum {
	HCAS = 2,
	PORTS = 2,
	LANES = 8, /* data VLs */
	TEXT_MAX = 64,
	ID_CHARS = 94, /* characters of a code, from '!' on */
	ID_MAX = 4,
};

enum wave_bits { EVENT = -1, TEXT = 0 };
enum wave_each { ONE = 1, PORT = PORTS, LANE = PORTS * LANES };
enum wave_from { ARG0, ARG1, ARG2, ARG3, ARG4, QPN, CORR, NAME, CALLER, OPEN, BUSY, SUM, MOMENT };

static const struct wave_row {
	const char *stage, *signal;
	int bits;
	enum wave_each each;
	enum trace_point point;
	enum wave_from from;
} rows[] = {
#define W(stage, signal, bits, each, point, from) {#stage, #signal, bits, each, TP_##point, from},
	WAVE_SIGNALS(W)
#undef W
};

enum { ROWS = ARRAY_SIZE(rows) };

struct wave_signal {
	char id[ID_MAX + 1];
	int bits;
	bool dirty, written;
	uint32_t open; /* spans under way */
	uint64_t value, last;
	char text[TEXT_MAX], last_text[TEXT_MAX];
};

struct fall {
	uint64_t at_ps, seq;
	struct wave_signal *signal;
	bool is_busy;
};

struct vcd {
	struct trace_file file;
	struct trace_text line;
	struct wave_signal *signals;
	uint32_t count;
	/* first signal of each row: that of HCA 0, port 1, VL 0 */
	uint32_t first[ROWS];
	/* for each point, the index in by_point of its first row */
	uint16_t of_point[TRACE_POINT_COUNT + 1];
	uint16_t by_point[ROWS];
	struct wave_signal **dirty;
	uint32_t dirty_count;
	struct fall *falls; /* a heap, the earliest first */
	size_t fall_count, fall_room;
	uint64_t seq, now_ps, last_ps; /* last_ps: the last time that was written */
	bool timed;
};

/* ---- what there is */

/* The first row of the same signal, which declares it. */
static unsigned row_declares(unsigned row)
{
	for (unsigned i = 0; i < row; i++)
		if (!strcmp(rows[i].stage, rows[row].stage) &&
		    !strcmp(rows[i].signal, rows[row].signal))
			return i;
	return row;
}

static void rows_index(struct vcd *v)
{
	unsigned n = 0;

	for (unsigned p = 0; p < TRACE_POINT_COUNT; p++) {
		v->of_point[p] = (uint16_t)n;
		for (unsigned i = 0; i < ROWS; i++)
			if (rows[i].point == p)
				v->by_point[n++] = (uint16_t)i;
	}
	v->of_point[TRACE_POINT_COUNT] = (uint16_t)n;
	for (unsigned i = 0; i < ROWS; i++) {
		unsigned d = row_declares(i);

		v->first[i] = d == i ? v->count : v->first[d];
		if (d == i)
			v->count += (uint32_t)rows[i].each * HCAS;
	}
}

static void id_make(char *id, uint32_t n)
{
	do
		*id++ = (char)('!' + n % ID_CHARS);
	while ((n /= ID_CHARS));
	*id = 0;
}

static void declare(struct vcd *v, const struct wave_row *row, unsigned k, struct wave_signal *s)
{
	const char *type = row->bits == EVENT ? "event" : row->bits == TEXT ? "string" : "wire";
	int bits = row->bits > 0 ? row->bits : 1;

	id_make(s->id, (uint32_t)(s - v->signals));
	s->bits = row->bits;
	trace_text_add(&v->line, "$var %s %d %s ", type, bits, s->id);
	if (row->each != ONE)
		trace_text_add(&v->line, "p%u_", 1 + (row->each == PORT ? k : k / LANES));
	trace_text_add(&v->line, "%s", row->signal);
	if (row->each == LANE)
		trace_text_add(&v->line, "_vl%u", k % LANES);
	trace_text_add(&v->line, bits > 1 ? " [%d:0] $end\n" : " $end\n", bits - 1);
}

static void header(struct vcd *v)
{
	const char *stage = NULL;

	trace_text_add(&v->line, "$version hcasim $end\n$timescale 1ps $end\n");
	for (unsigned h = 0; h < HCAS; h++) {
		trace_text_add(&v->line, "$scope module hca%u $end\n", h);
		for (unsigned i = 0; i < ROWS; i++) {
			if (!stage || strcmp(stage, rows[i].stage)) {
				if (stage)
					trace_text_add(&v->line, "$upscope $end\n");
				stage = rows[i].stage;
				trace_text_add(&v->line, "$scope module %s $end\n", stage);
			}
			for (unsigned k = 0; row_declares(i) == i && k < (unsigned)rows[i].each;
			     k++)
				declare(v, &rows[i], k,
					&v->signals[v->first[i] + h * rows[i].each + k]);
		}
		trace_text_add(&v->line, "$upscope $end\n$upscope $end\n");
		stage = NULL;
	}
	trace_text_add(&v->line, "$enddefinitions $end\n");
	trace_file_write(&v->file, v->line.s, v->line.len);
}

/* ---- values */

static void value_write(struct vcd *v, struct wave_signal *s)
{
	struct trace_text *t = &v->line;

	if (s->bits == EVENT) {
		trace_text_add(t, "1%s\n", s->id);
	} else if (s->bits == TEXT) {
		if (s->written && !strcmp(s->text, s->last_text))
			return;
		memcpy(s->last_text, s->text, sizeof(s->text));
		trace_text_add(t, "s%s %s\n", s->text, s->id);
	} else {
		if (s->written && s->value == s->last)
			return;
		s->last = s->value;
		if (s->bits == 1) {
			trace_text_add(t, "%u%s\n", (unsigned)s->value, s->id);
		} else {
			char bits[65], *b = bits + 64;
			uint64_t value = s->value;

			*b = 0;
			do
				*--b = (char)('0' + (value & 1));
			while (value >>= 1);
			trace_text_add(t, "b%s %s\n", b, s->id);
		}
	}
	s->written = true;
}

/* Writes everything that has changed at the present time. */
static void flush(struct vcd *v)
{
	size_t stamp;

	if (!v->dirty_count)
		return;
	v->line.len = 0;
	if (!v->timed || v->last_ps != v->now_ps)
		trace_text_add(&v->line, "#%" PRIu64 "\n", v->now_ps);
	stamp = v->line.len;
	for (uint32_t i = 0; i < v->dirty_count; i++) {
		v->dirty[i]->dirty = false;
		value_write(v, v->dirty[i]);
	}
	v->dirty_count = 0;
	if (v->line.len == stamp)
		return;
	v->timed = true;
	v->last_ps = v->now_ps;
	trace_file_write(&v->file, v->line.s, v->line.len);
}

static void changed(struct vcd *v, struct wave_signal *s)
{
	if (!s->dirty)
		v->dirty[v->dirty_count++] = s;
	s->dirty = true;
}

static void set_text(struct wave_signal *s, const char *text, size_t len)
{
	if (len >= TEXT_MAX)
		len = TEXT_MAX - 1;
	if (!len) {
		text = "-";
		len = 1;
	}
	for (size_t i = 0; i < len; i++)
		s->text[i] = text[i] > ' ' && text[i] < 0x7f ? text[i] : '_';
	s->text[len] = 0;
}

/* ---- spans */

static bool fall_before(const struct fall *a, const struct fall *b)
{
	return a->at_ps != b->at_ps ? a->at_ps < b->at_ps : a->seq < b->seq;
}

static int fall_push(struct vcd *v, uint64_t at_ps, struct wave_signal *s, bool is_busy)
{
	struct fall f = {at_ps, v->seq++, s, is_busy};
	size_t i = v->fall_count;

	if (i == v->fall_room) {
		size_t room = i ? 2 * i : 64;
		struct fall *falls = realloc(v->falls, room * sizeof(*falls));

		if (!falls)
			return -ENOMEM;
		v->falls = falls;
		v->fall_room = room;
	}
	for (v->fall_count++; i && fall_before(&f, &v->falls[(i - 1) / 2]); i = (i - 1) / 2)
		v->falls[i] = v->falls[(i - 1) / 2];
	v->falls[i] = f;
	return 0;
}

static struct fall fall_pop(struct vcd *v)
{
	struct fall first = v->falls[0], last = v->falls[--v->fall_count];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < v->fall_count) {
		if (child + 1 < v->fall_count &&
		    fall_before(&v->falls[child + 1], &v->falls[child]))
			child++;
		if (fall_before(&last, &v->falls[child]))
			break;
		v->falls[i] = v->falls[child];
		i = child;
	}
	if (v->fall_count)
		v->falls[i] = last;
	return first;
}

static void open_count(struct vcd *v, struct wave_signal *s, bool is_busy, int change)
{
	s->open += (uint32_t)change;
	s->value = is_busy ? s->open > 0 : s->open;
	changed(v, s);
}

static void time_to(struct vcd *v, uint64_t now_ps)
{
	while (v->fall_count && v->falls[0].at_ps <= now_ps) {
		struct fall f = fall_pop(v);

		if (f.at_ps > v->now_ps) {
			flush(v);
			v->now_ps = f.at_ps;
		}
		open_count(v, f.signal, f.is_busy, -1);
	}
	if (now_ps > v->now_ps) {
		flush(v);
		v->now_ps = now_ps;
	}
}

/* ---- the sink */

static struct wave_signal *signal_of(struct vcd *v, unsigned row, const struct trace_record *r)
{
	unsigned each = rows[row].each, k = 0;

	if (r->hca >= HCAS)
		return NULL;
	if (each != ONE) {
		if (r->port < 1 || r->port > PORTS)
			return NULL;
		k = r->port - 1u;
	}
	if (each == LANE) {
		if (r->args[1] >= LANES)
			return NULL;
		k = k * LANES + (unsigned)r->args[1];
	}
	return &v->signals[v->first[row] + r->hca * each + k];
}

static int drive(struct vcd *v, unsigned row, const struct trace_record *r)
{
	struct wave_signal *s = signal_of(v, row, r);
	enum wave_from from = rows[row].from;

	if (!s)
		return 0;
	switch (from) {
	case OPEN:
	case BUSY:
		open_count(v, s, from == BUSY, 1);
		return fall_push(v, r->args[0] > v->now_ps ? r->args[0] : v->now_ps, s,
				 from == BUSY);
	case NAME:
		set_text(s, r->text, r->text ? strlen(r->text) : 0);
		/* opcodes are in lower case, as in the log */
		for (char *c = s->text; *c && trace_point_rows[r->point].kind == TRACE_SPAN; c++)
			*c = (char)tolower((unsigned char)*c);
		break;
	case CALLER:
		set_text(s, r->bytes, r->bytes ? r->len : 0);
		break;
	case QPN:
		s->value = r->qpn;
		break;
	case CORR:
		s->value = r->corr;
		break;
	case SUM:
		s->value += r->args[0];
		break;
	case MOMENT:
		break;
	default:
		s->value = r->args[from - ARG0];
	}
	if (s->bits > 0 && s->bits < 64)
		s->value &= (UINT64_C(1) << s->bits) - 1;
	changed(v, s);
	return 0;
}

static int vcd_record(void *sink, const struct trace_record *r)
{
	struct vcd *v = sink;
	int ret = 0;

	if (v->of_point[r->point] == v->of_point[r->point + 1])
		return 0;
	time_to(v, r->time_ps);
	for (unsigned i = v->of_point[r->point]; i < v->of_point[r->point + 1] && !ret; i++)
		ret = drive(v, v->by_point[i], r);
	return ret ? ret : v->file.err;
}

static void vcd_free(struct vcd *v)
{
	trace_text_free(&v->line);
	free(v->signals);
	free(v->dirty);
	free(v->falls);
	free(v);
}

static int vcd_open(void **sink, const char *path, uint32_t snap)
{
	struct vcd *v = calloc(1, sizeof(*v));
	int ret = -ENOMEM;

	if (!v)
		return ret;
	rows_index(v);
	v->signals = calloc(v->count, sizeof(*v->signals));
	v->dirty = calloc(v->count, sizeof(*v->dirty));
	if (v->signals && v->dirty)
		ret = trace_file_open(&v->file, path);
	if (ret) {
		vcd_free(v);
		return ret;
	}
	header(v);
	*sink = v;
	return 0;
}

/* Spans under way are not ended: nobody knows whether they would have ended. */
static int vcd_close(void *sink)
{
	struct vcd *v = sink;
	int ret;

	flush(v);
	if (v->timed && v->last_ps != v->now_ps) {
		v->line.len = 0;
		trace_text_add(&v->line, "#%" PRIu64 "\n", v->now_ps);
		trace_file_write(&v->file, v->line.s, v->line.len);
	}
	ret = trace_file_close(&v->file);
	vcd_free(v);
	return ret;
}

const struct trace_sink_ops trace_vcd_ops = {
	.name = "vcd",
	.file = "waves.vcd",
	.open = vcd_open,
	.record = vcd_record,
	.close = vcd_close,
};
