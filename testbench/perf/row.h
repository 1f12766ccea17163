/* SPDX-License-Identifier: Apache-2.0 */
/* Measures one point on a fresh pair of HCAs. SystemC allows one simulation per process, so each
 * point runs in its own process. */
#ifndef TESTBENCH_PERF_ROW_H
#define TESTBENCH_PERF_ROW_H

#include "testbench/perf/points.h"
#include "testbench/language/run_options.h"

struct perf_row_options {
	const struct run_options *run; /* its -c and -s, --fw */
	const char *profile;           /* NULL: the point's */
};

/* Checks the configuration of a point. 0, or -errno after one line to stderr. */
int perf_row_check(const struct perf_point *point, const struct perf_row_options *options);
/* Measures, and ends the process. With status 0 it has written the result (a double in the point's
 * unit) and the counters as JSON to fd; else one line to stderr. */
void perf_row_run(const struct perf_point *point, const struct perf_row_options *options, int fd)
	__attribute__((noreturn));

#endif
