/* SPDX-License-Identifier: Apache-2.0 */
/* Simulated and published curves as SVG, drawn by gnuplot. */
#ifndef TESTBENCH_PERF_PLOT_H
#define TESTBENCH_PERF_PLOT_H

#include "testbench/perf/report.h"

/* Creates the folder dir and writes NAME.gnuplot and NAME.svg for each plot that has points. 0, or
 * -errno after one line to err. */
int perf_plot(const struct perf_results *results, const char *dir, FILE *err);
/* The gnuplot program of plot number n that writes `svg`; false: no such plot, or no points. */
bool perf_plot_program(const struct perf_results *results, unsigned n, const char *svg, FILE *out);
/* NULL: no such plot. */
const char *perf_plot_name(unsigned n);

#endif
