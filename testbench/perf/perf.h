/* SPDX-License-Identifier: Apache-2.0 */
/* hcasim perf: measures, and compares with published measurements. */
#ifndef TESTBENCH_PERF_PERF_H
#define TESTBENCH_PERF_PERF_H

#include "testbench/language/run_options.h"

#include <stdio.h>

struct perf_options {
	const char *points; /* FILE.csv; NULL: use the words */
	const char *workload;
	const char *const *words; /* KEY=VALUE,VALUE... */
	unsigned word_count;
	const char *profile; /* NULL: the profile of each point */
	const char *only;    /* ID,ID..., or PREFIX*; NULL: all */
	const char *plot;    /* folder of SVG files; NULL: none */
	const char *stats_file;
	bool stats;
	unsigned jobs; /* processes at a time */
};

/* Prints the workloads and keys. */
void perf_help(FILE *out);

/* Uses -c, -s, --seed and --fw of run. Its dir is the CSV file to write (NULL: none). */
enum exit_status perf(const struct run_options *run, const struct perf_options *options);

#endif
