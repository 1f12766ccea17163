/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tools that read what runs left behind: each reads folders of runs and prints. The name of a
 * scenario stands for the folder of its last run without -o.
 */
#ifndef TESTBENCH_TOOLS_H
#define TESTBENCH_TOOLS_H

#include "testbench/app/run.h"
#include "traces/compare.h"

/* Compares two runs: EXIT_RIGHT equal, EXIT_FAILED they differ, EXIT_INPUT trouble. */
enum exit_status tool_diff(const struct compare_options *options);
/* Prints a run (options->a) as a golden trace, of the classes and phase asked for. */
enum exit_status tool_golden(const struct compare_options *options);
/* Prints where the time of each of its messages went. */
enum exit_status tool_stages(const struct compare_options *options);
/* The stages' names. */
void tool_stages_help(FILE *out);
/* Writes dir/report.html and prints its path. */
enum exit_status tool_report(const char *dir);

#endif
