/* SPDX-License-Identifier: Apache-2.0 */
/* See report.h. */
#include "testbench/perf/report.h"

#include "model/sim/file.h"
#include "testbench/perf/workloads.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static const struct {
	const char *name, *letters;
	double aim_percent;
} categories[] = {
	[PERF_CAT_LATENCY] = {"latency", "L", 10},
	[PERF_CAT_BANDWIDTH] = {"bandwidth", "B", 5},
	[PERF_CAT_MESSAGE_RATE] = {"message rate", "M", 10},
	[PERF_CAT_SCALING] = {"QP/MR scaling", "QR", 20},
	[PERF_CAT_TIMERS] = {"timers", "T", 2},
};

const char *perf_category_name(enum perf_category category)
{
	return categories[category].name;
}

enum perf_category perf_category_of(const struct perf_point *point)
{
	for (unsigned i = 0; i < PERF_CATEGORIES; i++)
		if (strchr(categories[i].letters, point->id[0]))
			return (enum perf_category)i;
	if (!strcmp(point->workload_name, "ack_timeout") ||
	    !strcmp(point->workload_name, "rnr_delay"))
		return PERF_CAT_TIMERS;
	if (!strcmp(point->workload_name, "sym_read_rate"))
		return PERF_CAT_SCALING;
	switch (point->workload->quantity) {
	case PERF_TIME:
		return PERF_CAT_LATENCY;
	case PERF_BANDWIDTH:
		return PERF_CAT_BANDWIDTH;
	case PERF_RATE:
		break;
	}
	return PERF_CAT_MESSAGE_RATE;
}

/* 100 * (simulated - published) / published */
static double perf_error_percent(const struct perf_result *result)
{
	return 100 * (result->simulated - result->point->published) / result->point->published;
}

static bool is_published(const struct perf_result *result)
{
	return !isnan(result->point->published);
}

static unsigned published_count(const struct perf_results *results)
{
	unsigned n = 0;

	for (size_t i = 0; i < results->count; i++)
		n += is_published(&results->results[i]);
	return n;
}

/* A dash where there is nothing. */
static void cell(FILE *out, int width, const char *format, double value)
{
	char text[32] = "-";

	if (!isnan(value))
		snprintf(text, sizeof(text), format, value);
	fprintf(out, " %*s", width, text);
}

void perf_table_print(const struct perf_results *results, FILE *out)
{
	const bool compares = published_count(results);
	int width = 6;

	for (size_t i = 0; i < results->count; i++)
		if ((int)strlen(results->results[i].point->id) > width)
			width = (int)strlen(results->results[i].point->id);
	fprintf(out, "%-*s %-16s", width, "id", "workload");
	if (compares)
		fprintf(out, " %12s", "published");
	fprintf(out, " %12s %-6s", "simulated", "unit");
	if (compares)
		fprintf(out, " %8s", "error %");
	fprintf(out, "  parameters\n");
	for (size_t i = 0; i < results->count; i++) {
		const struct perf_result *r = &results->results[i];
		const struct perf_point *p = r->point;

		fprintf(out, "%-*s %-16s", width, p->id, p->workload_name);
		if (compares)
			cell(out, 12, "%.6g", p->published);
		if (r->valid)
			cell(out, 12, "%.6g", r->simulated);
		else
			fprintf(out, " %12s", "failed");
		fprintf(out, " %-6s", p->unit);
		if (compares)
			cell(out, 8, "%.1f", r->valid ? perf_error_percent(r) : NAN);
		fprintf(out, "  %s\n", strcmp(p->id, p->params_text) ? p->params_text : "");
	}
}

void perf_means_print(const struct perf_results *results, FILE *out)
{
	if (!published_count(results))
		return;
	fprintf(out, "\nmean absolute error\n");
	for (unsigned c = 0; c < PERF_CATEGORIES; c++) {
		unsigned n = 0, failed = 0;
		double sum = 0;

		for (size_t i = 0; i < results->count; i++) {
			const struct perf_result *r = &results->results[i];

			if (perf_category_of(r->point) != c || !is_published(r))
				continue;
			if (!r->valid) {
				failed++;
				continue;
			}
			sum += fabs(perf_error_percent(r));
			n++;
		}
		if (!n && !failed)
			continue;
		fprintf(out, "  %-14s", perf_category_name((enum perf_category)c));
		if (n)
			fprintf(out, " %6.1f %%  of %u points, aim %g %%%s", sum / n, n,
				categories[c].aim_percent,
				sum / n > categories[c].aim_percent ? ", MISSED" : "");
		if (failed)
			fprintf(out, " (%u failed)", failed);
		fputc('\n', out);
	}
}

/* Prints the counters of a JSON line that are not 0. */
static void stats_lines(const char *json, FILE *out)
{
	for (const char *line = json; line && *line; line = strchr(line, '\n')) {
		char key[128];
		unsigned long long value;

		line += *line == '\n';
		if (sscanf(line, " \"%127[^\"]\": %llu", key, &value) == 2 && value)
			fprintf(out, "  %-40s %llu\n", key, value);
	}
}

void perf_stats_print(const struct perf_results *results, FILE *out)
{
	for (size_t i = 0; i < results->count; i++) {
		if (!results->results[i].valid)
			continue;
		fprintf(out, "\n%s counters\n", results->results[i].point->id);
		stats_lines(results->results[i].stats, out);
	}
}

int perf_stats_write(const struct perf_results *results, FILE *out)
{
	const char *separator = "{\n";

	for (size_t i = 0; i < results->count; i++) {
		if (!results->results[i].valid)
			continue;
		fprintf(out, "%s\"%s\": %s", separator, results->results[i].point->id,
			results->results[i].stats);
		separator = ",\n";
	}
	fprintf(out, "%s}\n", *separator == '{' ? separator : "");
	return ferror(out) ? -EIO : 0;
}

int perf_csv_write(const struct perf_results *results, FILE *out)
{
	fprintf(out, "id,workload,published,simulated,unit,error_percent\n");
	for (size_t i = 0; i < results->count; i++) {
		const struct perf_result *r = &results->results[i];
		const struct perf_point *p = r->point;

		fprintf(out, "%s,%s,", p->id, p->workload_name);
		if (is_published(r))
			fprintf(out, "%.10g", p->published);
		fputc(',', out);
		if (r->valid)
			fprintf(out, "%.6g", r->simulated);
		fprintf(out, ",%s,", p->unit);
		if (r->valid && is_published(r))
			fprintf(out, "%.2f", perf_error_percent(r));
		fputc('\n', out);
	}
	return ferror(out) ? -EIO : 0;
}

int perf_file_write(const struct perf_results *results, const char *path,
		    int (*write)(const struct perf_results *results, FILE *out), FILE *err)
{
	struct file_out f;
	int rc = file_create(&f, path, err);

	return rc ? rc : file_finish(&f, write(results, f.out), err);
}
