/* SPDX-License-Identifier: Apache-2.0 */
/* One point on a fresh pair of HCAs. SystemC allows one simulation a process: a row is a process.
 */
#ifndef TESTBENCH_PERF_ROW_H
#define TESTBENCH_PERF_ROW_H

#include "testbench/perf/points.h"
#include "testbench/app/run.h"

struct perf_row_options {
	const struct run_options *run; /* its -c and -s, --fw */
	const char *profile;           /* NULL: the point's */
};

/* 0, or -errno with one line in stderr: the configuration can be made. */
int perf_row_check(const struct perf_point *point, const struct perf_row_options *options);
/* In a process of its own, which ends: status 0 with the result (a double, in the point's unit)
 * written to fd and the counters as JSON after it; else one line in stderr. */
void perf_row_run(const struct perf_point *point, const struct perf_row_options *options, int fd)
	__attribute__((noreturn));

#endif
