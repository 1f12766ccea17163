/* SPDX-License-Identifier: Apache-2.0 */
/* Prints results as a table, means, CSV and counters. */
#ifndef TESTBENCH_PERF_REPORT_H
#define TESTBENCH_PERF_REPORT_H

#include "testbench/perf/points.h"

struct perf_result {
	const struct perf_point *point;
	double simulated; /* in the point's unit */
	bool valid;       /* false: the point failed and has printed why */
	char *stats;      /* the counters of its devices, a JSON object */
};

struct perf_results {
	struct perf_result *results;
	size_t count;
};

/* By the letter that an id begins with: L latency, B bandwidth, M message rate, Q and R scaling
 * with queue pairs and regions, T timers; of other ids by what the workload measures. */
enum perf_category {
	PERF_CAT_LATENCY,
	PERF_CAT_BANDWIDTH,
	PERF_CAT_MESSAGE_RATE,
	PERF_CAT_SCALING,
	PERF_CAT_TIMERS,
	PERF_CATEGORIES
};
enum perf_category perf_category_of(const struct perf_point *point);
const char *perf_category_name(enum perf_category category);

void perf_table_print(const struct perf_results *results, FILE *out);
/* Prints mean absolute errors, and how many points failed; those are not part of the mean. */
void perf_means_print(const struct perf_results *results, FILE *out);
void perf_stats_print(const struct perf_results *results, FILE *out);

int perf_csv_write(const struct perf_results *results, FILE *out);
int perf_stats_write(const struct perf_results *results, FILE *out);
/* 0, or -errno after one line to err. */
int perf_file_write(const struct perf_results *results, const char *path,
		    int (*write)(const struct perf_results *results, FILE *out), FILE *err);

#endif
