/* SPDX-License-Identifier: Apache-2.0 */
/* hcasim perf: published measurements beside simulated ones. */
#ifndef TESTBENCH_PERF_PERF_H
#define TESTBENCH_PERF_PERF_H

#include "testbench/app/run.h"

#include <stdio.h>

struct perf_options {
	const char *points; /* FILE.csv; NULL: the words */
	const char *workload;
	const char *const *words; /* KEY=VALUE,VALUE... */
	unsigned word_count;
	const char *profile; /* NULL: the points' own */
	const char *only;    /* ID,ID..., or PREFIX*; NULL: all */
	const char *plot;    /* folder of SVG files; NULL: none */
	const char *stats_file;
	bool stats;
	unsigned jobs; /* processes at a time */
};

/* What can be measured, and its keys. */
void perf_help(FILE *out);

/* run: -c, -s, --seed, --fw; its dir is the CSV file to write (NULL: none). */
enum exit_status perf(const struct run_options *run, const struct perf_options *options);

#endif
