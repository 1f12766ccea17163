/* SPDX-License-Identifier: Apache-2.0 */
/* See sweep_table.h. */
#include "testbench/app/sweep_table.h"

#include "model/interface/macros.h"
#include "model/sim/file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_CHARS = 6000, TEXT_CHARS = 64, COMPLAINT_LINES = 6 };

/* Figures of each run, one column each. */
#define FIGURES(F)                                                                                 \
	F(time_us, "%.6f", (double)c->takes_ps / 1e6)                                              \
	F(packets, "%.0f", (double)c->packets)                                                     \
	F(resent, "%.0f", (double)c->resent)                                                       \
	F(payload_bytes, "%.0f", (double)c->payload_bytes)                                         \
	F(gbps, "%.3f", c->takes_ps ? (double)c->payload_bytes * 8e3 / (double)c->takes_ps : 0)

static const char *const figure_names[] = {
#define F(name, format, value) #name,
	FIGURES(F)
#undef F
};

enum { FIGURE_COUNT = ARRAY_SIZE(figure_names) };

static void figure_text(const struct sweep_cell *c, unsigned n, char *buf, size_t size)
{
	unsigned i = 0;

#define F(name, format, value)                                                                     \
	if (n == i++)                                                                              \
		snprintf(buf, size, format, value);
	FIGURES(F)
#undef F
}

/* --- reading --- */

static uint64_t number_behind(const char *line, const char *key)
{
	const char *at = strstr(line, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

/* A sweep ignores bring-up and tear-down. */
static void phase_line(struct sweep_cell *cell, const char *line)
{
	if (strstr(line, "{\"name\": \"bring-up\"") || strstr(line, "{\"name\": \"tear-down\""))
		return;
	cell->takes_ps += number_behind(line, "\"takes_ps\": ");
	cell->packets += number_behind(line, "\"packets\": ");
	cell->resent += number_behind(line, "\"resent\": ");
	cell->payload_bytes += number_behind(line, "\"payload_bytes\": ");
}

/* "hca.stage.counter" is the sum of both HCAs. */
static bool is_asked(const char *show, const char *key)
{
	if (!strcmp(show, key))
		return true;
	return !strncmp(show, "hca.", 4) && !strncmp(key, "hca", 3) && !strcmp(show + 3, key + 4);
}

static void counter_line(const struct sweep_table *table, struct sweep_cell *cell, const char *line)
{
	char key[128];
	uint64_t value;

	if (sscanf(line, " \"%127[^\"]\": %" SCNu64, key, &value) != 2)
		return;
	for (unsigned i = 0; i < table->shows; i++)
		if (is_asked(table->show[i], key)) {
			cell->shown[i] += value;
			cell->has_shown[i] = true;
		}
}

/* Opens a file of the cell's folder; NULL if it does not exist. */
static FILE *cell_open(const char *dir, const char *file)
{
	char path[PATH_CHARS];
	FILE *in;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	return file_open(&in, path, FILE_REGULAR, NULL) ? NULL : in;
}

void sweep_cell_read(const struct sweep_table *table, struct sweep_cell *cell, const char *dir)
{
	char line[1024];
	FILE *in;

	in = cell_open(dir, "run.json");
	while (in && fgets(line, sizeof(line), in)) {
		cell->ran = true;
		if (strstr(line, "\"passed\": true"))
			cell->passed = cell->status == 0;
		if (strstr(line, "{\"name\": "))
			phase_line(cell, line);
	}
	if (in)
		fclose(in);
	in = cell_open(dir, "stats.json");
	while (in && fgets(line, sizeof(line), in))
		counter_line(table, cell, line);
	if (in)
		fclose(in);
}

static const char *verdict(const struct sweep_cell *cell)
{
	return cell->passed ? "passed" : cell->ran || cell->status ? "FAILED" : "has not run";
}

/* The lines to show of a failure: what was expected, what came, and the command that repeats it. */
static bool is_reason(const char *line)
{
	return strstr(line, " failed at ") || strstr(line, "expected") || strstr(line, "  got:") ||
	       strstr(line, "again:") || !strncmp(line, "hcasim: ", 8);
}

void sweep_cell_complain(const struct sweep_cell *cell, const char *dir, FILE *err)
{
	char line[512];
	unsigned n = 0;
	FILE *in;

	fprintf(err, "%s: %s\n", cell->name, verdict(cell));
	in = cell->ran || cell->status ? cell_open(dir, "out.txt") : NULL;
	if (!in)
		return;
	while (n < COMPLAINT_LINES && fgets(line, sizeof(line), in))
		if (is_reason(line)) {
			fprintf(err, "  %.*s\n", (int)strcspn(line, "\n"), line);
			n++;
		}
	fclose(in);
	fprintf(err, "  its output: %s/out.txt\n", dir);
}

/* --- columns: varied values, figures, counters, verdict --- */

static unsigned columns(const struct sweep_table *t)
{
	return t->varies + FIGURE_COUNT + t->shows + 1;
}

static const char *column_name(const struct sweep_table *t, unsigned n)
{
	if (n < t->varies)
		return t->keys[n];
	n -= t->varies;
	if (n < FIGURE_COUNT)
		return figure_names[n];
	n -= FIGURE_COUNT;
	return n < t->shows ? t->show[n] : "verdict";
}

static void column_text(const struct sweep_table *t, const struct sweep_cell *cell, unsigned n,
			char *buf, size_t size)
{
	*buf = 0;
	if (n < t->varies) {
		snprintf(buf, size, "%s", cell->values[n]);
		return;
	}
	n -= t->varies;
	if (n < FIGURE_COUNT) {
		if (cell->ran)
			figure_text(cell, n, buf, size);
		return;
	}
	n -= FIGURE_COUNT;
	if (n == t->shows)
		snprintf(buf, size, "%s", verdict(cell));
	else if (cell->has_shown[n])
		snprintf(buf, size, "%" PRIu64, cell->shown[n]);
}

void sweep_table_print(const struct sweep_table *t, FILE *out)
{
	char text[TEXT_CHARS];

	for (unsigned row = 0; row <= t->cell_count; row++) {
		for (unsigned n = 0; n < columns(t); n++) {
			int width = (int)strlen(column_name(t, n));

			for (unsigned i = 0; i < t->cell_count; i++) {
				column_text(t, &t->cells[i], n, text, sizeof(text));
				if ((int)strlen(text) > width)
					width = (int)strlen(text);
			}
			if (row)
				column_text(t, &t->cells[row - 1], n, text, sizeof(text));
			fprintf(out, "%s%*s", n ? "  " : "", width, row ? text : column_name(t, n));
		}
		fprintf(out, "\n");
	}
}

/* Puts a field with a comma or quote into quotes. */
static void csv_field(FILE *out, const char *text)
{
	if (!strpbrk(text, ",\"\n")) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

int sweep_table_csv(const struct sweep_table *t, const char *path)
{
	char text[TEXT_CHARS];
	struct file_out f;
	FILE *out;
	int rc = file_create(&f, path, stderr);

	if (rc)
		return rc;
	out = f.out;
	for (unsigned row = 0; row <= t->cell_count; row++)
		for (unsigned n = 0; n < columns(t); n++) {
			if (row)
				column_text(t, &t->cells[row - 1], n, text, sizeof(text));
			csv_field(out, row ? text : column_name(t, n));
			fputc(n + 1 < columns(t) ? ',' : '\n', out);
		}
	return file_finish(&f, 0, stderr);
}
