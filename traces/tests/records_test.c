/* SPDX-License-Identifier: Apache-2.0 */
/* The file of records: it holds everything that the log says, and a reader takes from it what it
 * knows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "traces/tests/dir_of.h"
#include "traces/tests/run_made.h"
#include "traces/trace_impl.h"

enum { ROUNDS = 200 };

static uint32_t random_next(uint32_t *x)
{
	*x = *x * 1664525 + 1013904223;
	return *x >> 8;
}

/* A record of a point whose fields are all in use. */
static struct trace_record any_record(enum trace_point point, uint64_t time_ps, uint32_t *x,
				      uint8_t *bytes, const struct test_packet *p)
{
	static const char *const texts[] = {NULL, "", "a word", "two words\n"};
	struct trace_record r = {.time_ps = time_ps, .point = point, .hca = random_next(x) % 2};

	for (const struct trace_field *f = trace_point_rows[point].fields; f->name; f++) {
		if (f->in == TRACE_IN_QPN)
			r.qpn = random_next(x);
		else if (f->in == TRACE_IN_CORR)
			r.corr = random_next(x);
		else if (f->in == TRACE_IN_PORT)
			r.port = 1 + random_next(x) % 2;
		else if (f->in == TRACE_IN_TEXT)
			r.text = texts[random_next(x) % 4];
		else if (f->in == TRACE_IN_BYTES && random_next(x) % 8)
			r.bytes = bytes;
	}
	for (unsigned i = 0; i < 6; i++)
		r.args[i] = (uint64_t)random_next(x) << random_next(x) % 41;
	if (!r.bytes)
		return r;
	r.len = random_next(x) % 300;
	for (uint32_t i = 0; i < r.len; i++)
		bytes[i] = random_next(x) % 3 ? (uint8_t)random_next(x) : 0;
	if (trace_point_kinds[point] == TRACE_PACKET && random_next(x) % 4) {
		r.bytes = p->b;
		r.len = p->len;
	}
	return r;
}

/* The log made from the records equals the original log. */
static void records_hold_what_the_log_says(void **state)
{
	static const uint8_t opcodes[] = {BTH_RC_SEND_ONLY, BTH_RC_WRITE_FIRST, BTH_RC_ACKNOWLEDGE,
					  BTH_UD_SEND_ONLY, BTH_RC_READ_REQUEST};
	struct test_dir *d = *state;
	struct trace *tr = trace_create();
	struct trace_text line = {0};
	struct trace_record r;
	struct records *all;
	struct test_packet p;
	uint8_t bytes[300];
	uint32_t x = 1;
	uint64_t now = 0;
	size_t at = 0, place;
	char *log = NULL;
	size_t room = 0;
	FILE *in;

	assert_int_equal(trace_open(tr, "log,records", d->path, stderr), 0);
	for (unsigned i = 0; i < ROUNDS * TRACE_POINT_COUNT; i++) {
		now += random_next(&x) % 1000;
		test_packet_make(&p, opcodes[i % 5], i, i % 5 == 3 ? 256 : i % 3000, i % 7 == 0);
		r = any_record(i % TRACE_POINT_COUNT, now, &x, bytes, &p);
		trace_advance(tr, now);
		trace_emit(tr, &r);
	}
	assert_int_equal(trace_close(tr), 0);
	in = fopen(test_dir_file(d, "run.log"), "r");
	assert_int_equal(records_load(&all, test_dir_file(d, RECORDS_FILE), stderr), 0);
	while (records_next(all, &at, &place, &r) > 0) {
		struct trace_record again;

		assert_true(getline(&log, &room, in) > 0);
		line.len = 0;
		trace_log_line(&line, &r);
		assert_string_equal(line.s, log);
		now = r.time_ps;
		records_at(all, place, &again);
		again.time_ps = now;
		line.len = 0;
		trace_log_line(&line, &again);
		assert_string_equal(line.s, log);
	}
	assert_true(getline(&log, &room, in) < 0);
	fclose(in);
	free(log);
	trace_text_free(&line);
	records_close(all);
}

/* --- files made by hand --- */

struct made {
	uint8_t b[4096];
	size_t n;
};

static void add(struct made *m, const char *bytes, size_t n)
{
	memcpy(m->b + m->n, bytes, n);
	m->n += n;
}

static void add_name(struct made *m, const char *name)
{
	m->b[m->n++] = (uint8_t)strlen(name);
	add(m, name, strlen(name));
}

static void add_field(struct made *m, const char *name, const char *type)
{
	add_name(m, name);
	add_name(m, type);
}

/* Writes two points as another version would: one that this version does not know, and a doorbell.
 * The doorbell has its fields in another order, has a field that does not exist here, and lacks its
 * UAR. */
static void other_writer(struct made *m)
{
	m->n = 0;
	add(m, "hcasim records 1\n\2", 18);
	add_name(m, "NEW_POINT");
	add_name(m, "new_unit");
	add_name(m, "NEW_KIND");
	m->b[m->n++] = 2;
	add_field(m, "number", "DEC");
	add_field(m, "text", "TEXT");
	add_name(m, "DOORBELL_SEND");
	add_name(m, "doorbell");
	add_name(m, "DOORBELL");
	m->b[m->n++] = 3;
	add_field(m, "colour", "TEXT");
	add_field(m, "weight", "LENGTH");
	add_field(m, "qpn", "HEX");
	/* length, point, HCA, ps, number, text */
	add(m, "\x08\x00\x01\x05\x64\x03no\x00", 9);
	/* length, point, HCA, ps, colour, weight, qpn */
	add(m, "\x0a\x01\x01\x05\x04red\x00\x09\x41", 11);
}

static int open_made(struct records **all, const struct made *m, FILE *err)
{
	uint8_t *bytes = malloc(m->n ? m->n : 1);

	memcpy(bytes, m->b, m->n);
	return records_open(all, bytes, m->n, "made", err);
}

static void reader_takes_what_it_knows(void **state)
{
	struct trace_record r;
	struct records *all;
	struct made m;
	size_t at = 0, place;

	other_writer(&m);
	add(&m, "\1E", 2);
	assert_int_equal(open_made(&all, &m, stderr), 0);
	assert_int_equal(records_next(all, &at, &place, &r), 1);
	assert_int_equal(r.point, TP_DOORBELL_SEND);
	assert_int_equal(r.time_ps, 5 + 5);
	assert_int_equal(r.hca, 1);
	assert_int_equal(r.qpn, 0x41);
	assert_int_equal(r.args[TRACE_ARG(DOORBELL_SEND, uar)], 0);
	assert_null(r.text);
	assert_int_equal(records_next(all, &at, &place, &r), 0);
	records_close(all);
}

/* Reads these bytes and keeps everything that the reader prints. Returns the number of records, or
 * -errno. */
static int said(const struct made *m, char **text)
{
	struct trace_record r;
	struct records *all = NULL;
	size_t size, at = 0, place;
	FILE *err = open_memstream(text, &size);
	int n = 0, ret = open_made(&all, m, err);

	while (!ret && (ret = records_next(all, &at, &place, &r)) > 0) {
		ret = 0;
		n++;
	}
	if (!ret)
		ret = n;
	records_close(all);
	fclose(err);
	return ret;
}

static void troubles_are_one_line(void **state)
{
	struct made m;
	char *text;

	m.n = 0;
	add(&m, "hcasim golden trace\n", 20);
	assert_int_equal(said(&m, &text), -EINVAL);
	assert_string_equal(text, "made: is no file of records\n");
	free(text);
	m.n = 0;
	add(&m, "hcasim records 2\n\0", 18);
	assert_int_equal(said(&m, &text), -EINVAL);
	assert_string_equal(text, "made: records of another version than 1: run it again\n");
	free(text);
	other_writer(&m);
	assert_int_equal(said(&m, &text), 1);
	assert_non_null(strstr(text, "without its end, read up to there\n"));
	free(text);
	m.b[m.n - 1] = 0x80; /* the QPN runs past the end of the record */
	assert_int_equal(said(&m, &text), -EINVAL);
	assert_non_null(strstr(text, "made: the record at byte "));
	free(text);
}

/* Whatever is damaged, the reader gives records or prints one line. */
static void any_damage_is_one_line_at_most(void **state)
{
	static struct made whole, m;
	uint32_t x = 7;

	other_writer(&whole);
	add(&whole, "\1E", 2);
	for (unsigned i = 0; i < 20000; i++) {
		char *text;
		int ret;

		m = whole;
		m.n = i % 3 ? m.n : random_next(&x) % m.n;
		for (unsigned k = 0; m.n && k < 1 + i % 4; k++)
			m.b[random_next(&x) % m.n] ^= (uint8_t)(1 << random_next(&x) % 8);
		ret = said(&m, &text);
		if (*text)
			assert_ptr_equal(strchr(text, '\n') + 1, text + strlen(text));
		else
			assert_true(ret >= 0);
		free(text);
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, test_dir_make, test_dir_remove)
	const struct CMUnitTest tests[] = {
		T(records_hold_what_the_log_says),
		T(reader_takes_what_it_knows),
		T(troubles_are_one_line),
		T(any_damage_is_one_line_at_most),
	};
#undef T
	return cmocka_run_group_tests(tests, NULL, NULL);
}
