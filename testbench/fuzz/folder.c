/* SPDX-License-Identifier: Apache-2.0 */
/* See folder.h. */
#include "testbench/fuzz/folder.h"

#include "model/sim/cfg.h"
#include "model/sim/file.h"
#include "testbench/perf/points.h"
#include "testbench/app/sweep_table.h"
#include "traces/compare.h"
#include "traces/messages.h"
#include "traces/records.h"
#include "traces/report.h"
#include "traces/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_CHARS = 256, RECORDS_KEPT = 20 };
enum { VIEW_HEAD = 100000, VIEW_TAIL = 20000 };

static const char *const names[] = {
#define F(name, file) file,
	FOLDER_FILES(F)
#undef F
};

/* Two folders with the same files. The files of the first never change. */
static char real_dir[64], tried_dir[64];
static struct folder_bytes real[FOLDER_FILE_COUNT];
static FILE *nowhere;

const char *folder_file_name(enum folder_file file)
{
	return names[file];
}

const struct folder_bytes *folder_real(enum folder_file file)
{
	return &real[file];
}

static _Noreturn void die(const char *what)
{
	perror(what);
	exit(2);
}

static const char *path_of(const char *dir, enum folder_file file)
{
	static char path[2][PATH_CHARS];
	static unsigned turn;

	turn ^= 1;
	snprintf(path[turn], PATH_CHARS, "%s/%s", dir, names[file]);
	return path[turn];
}

static void put(const char *dir, enum folder_file file, const uint8_t *bytes, size_t len)
{
	FILE *out = fopen(path_of(dir, file), "wb");

	if (!out || (len && fwrite(bytes, 1, len, out) != len) || fclose(out))
		die(path_of(dir, file));
}

static struct folder_bytes get(const char *path)
{
	struct folder_bytes b = {NULL, 0};
	FILE *in = fopen(path, "rb");
	long size;

	if (!in)
		return b;
	if (fseek(in, 0, SEEK_END) || (size = ftell(in)) < 0)
		die(path);
	rewind(in);
	b.bytes = malloc((size_t)size + 1);
	b.len = b.bytes ? fread(b.bytes, 1, (size_t)size, in) : 0;
	fclose(in);
	return b;
}

/* --- fewer records --- */

/* Keeps all packets, because the capture has them all. Of every other point it keeps only the first
 * and the last records. */
static bool record_stays(enum trace_point point, unsigned seen, unsigned total)
{
	return seen <= RECORDS_KEPT || seen + RECORDS_KEPT > total ||
	       trace_point_kinds[point] == TRACE_PACKET;
}

static struct folder_bytes records_few(struct folder_bytes from)
{
	unsigned total[TRACE_POINT_COUNT] = {0}, seen[TRACE_POINT_COUNT] = {0};
	struct folder_bytes to = {malloc(from.len + RECORDS_RECORD_MAX + RECORDS_HEAD_MAX), 0};
	struct trace_record r;
	struct records *all;
	uint64_t last_ps = 0;
	size_t at = 0, place;

	if (!to.bytes || records_open(&all, from.bytes, from.len, RECORDS_FILE, stderr))
		die(RECORDS_FILE);
	while (records_next(all, &at, &place, &r) > 0)
		total[r.point]++;
	to.len = records_put_head(to.bytes);
	for (at = 0; records_next(all, &at, &place, &r) > 0;) {
		if (!record_stays(r.point, ++seen[r.point], total[r.point]))
			continue;
		to.len += records_put(to.bytes + to.len, &r, r.time_ps - last_ps);
		last_ps = r.time_ps;
	}
	to.len += records_put_end(to.bytes + to.len);
	records_close(all);
	return to;
}

/* Keeps only the beginning and the end of a waves or timeline file. */
static void view_shorten(struct folder_bytes *view)
{
	uint8_t *tail = view->bytes + view->len - VIEW_TAIL;

	if (view->len <= VIEW_HEAD + VIEW_TAIL)
		return;
	memmove(view->bytes + VIEW_HEAD, tail, VIEW_TAIL);
	view->len = VIEW_HEAD + VIEW_TAIL;
}

/* --- readers --- */

static void compare(const char *a, const char *b, bool by_qp, const char *phase)
{
	const struct compare_options options = {.a = a, .b = b, .by_qp = by_qp, .phase = phase};

	compare_runs(&options, nowhere);
}

static void print_run(const char *dir, unsigned sources)
{
	struct run_files run;
	struct messages all;

	if (run_files_read(&run, dir, sources, true, nowhere))
		return;
	run_files_print(&run, RUN_COMPARED, NULL, nowhere);
	if (!messages_find(&all, &run)) {
		messages_print(&all, &run, NULL, nowhere);
		messages_free(&all);
	}
	run_files_free(&run);
}

static void read_traces(void)
{
	compare(real_dir, tried_dir, false, NULL);
	compare(tried_dir, real_dir, true, "main");
	compare(tried_dir, path_of(real_dir, FOLDER_GOLDEN), false, NULL);
	print_run(tried_dir, RUN_RECORDS);
	print_run(tried_dir, RUN_CAPTURE);
	report_write(tried_dir, nowhere, nowhere);
}

static void read_file(enum folder_file file)
{
	const char *path = path_of(tried_dir, file);
	struct sweep_table table = {.shows = 0};
	struct sweep_cell cell = {.status = 0};
	struct perf_points points;
	struct config config;

	switch (file) {
	case FOLDER_RECORDS:
		trace_check_file(path, true, nowhere);
		read_traces();
		break;
	case FOLDER_CAPTURE:
		trace_check_file(path, true, nowhere);
		read_traces();
		break;
	case FOLDER_CONFIG:
		cfg_defaults(&config);
		cfg_load_ini(&config, path, nowhere);
		compare(real_dir, tried_dir, false, NULL);
		break;
	case FOLDER_STATS:
	case FOLDER_RUN:
		sweep_cell_read(&table, &cell, tried_dir);
		report_write(tried_dir, nowhere, nowhere);
		break;
	case FOLDER_GOLDEN:
		compare(path, real_dir, false, NULL);
		compare(real_dir, path, true, NULL);
		print_run(path, RUN_RECORDS | RUN_CAPTURE);
		break;
	case FOLDER_POINTS:
		if (!perf_points_load(&points, path, nowhere))
			perf_points_free(&points);
		break;
	default:
		trace_check_file(path, true, nowhere);
		break;
	}
}

void folder_try(enum folder_file file, const uint8_t *bytes, size_t len)
{
	put(tried_dir, file, bytes, len);
	read_file(file);
	put(tried_dir, file, real[file].bytes, real[file].len);
}

/* --- open, close --- */

static void golden_make(void)
{
	struct run_files run;
	FILE *out = fopen(path_of(real_dir, FOLDER_GOLDEN), "w");

	if (!out || run_files_read(&run, real_dir, RUN_RECORDS | RUN_CAPTURE, false, stderr))
		die("folder: no run");
	run_files_print(&run, RUN_COMPARED, NULL, out);
	run_files_free(&run);
	fclose(out);
	real[FOLDER_GOLDEN] = get(path_of(real_dir, FOLDER_GOLDEN));
}

void folder_open(const char *run)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(real_dir, sizeof(real_dir), "%.40s/folder.XXXXXX", tmp ? tmp : "/tmp");
	snprintf(tried_dir, sizeof(tried_dir), "%.40s/folder.XXXXXX", tmp ? tmp : "/tmp");
	nowhere = fopen("/dev/null", "w");
	if (!nowhere || !mkdtemp(real_dir) || !mkdtemp(tried_dir))
		die("folder");
	for (unsigned i = 0; i < FOLDER_FILE_COUNT; i++) {
		char path[4096];

		snprintf(path, sizeof(path), "%s/%s", run, names[i]);
		real[i] = get(i == FOLDER_POINTS ? "testbench/perf/points.csv" : path);
	}
	if (!real[FOLDER_RECORDS].len || !real[FOLDER_CAPTURE].len)
		die(run);
	real[FOLDER_RECORDS] = records_few(real[FOLDER_RECORDS]);
	view_shorten(&real[FOLDER_WAVES]);
	view_shorten(&real[FOLDER_TIMELINE]);
	for (unsigned i = 0; i < FOLDER_FILE_COUNT; i++)
		put(real_dir, i, real[i].bytes, real[i].len);
	golden_make();
	for (unsigned i = 0; i < FOLDER_FILE_COUNT; i++)
		put(tried_dir, i, real[i].bytes, real[i].len);
}

void folder_close(void)
{
	for (unsigned i = 0; i < FOLDER_FILE_COUNT; i++) {
		unlink(path_of(real_dir, i));
		unlink(path_of(tried_dir, i));
		free(real[i].bytes);
	}
	rmdir(real_dir);
	rmdir(tried_dir);
	fclose(nowhere);
}
