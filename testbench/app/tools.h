/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tools that read the folders of runs and print. The name of a scenario stands for the folder of
 * its last run without -o.
 */
#ifndef TESTBENCH_TOOLS_H
#define TESTBENCH_TOOLS_H

#include "testbench/app/run.h"
#include "traces/compare.h"

/* Compares two runs: EXIT_RIGHT: equal, EXIT_FAILED: different, EXIT_INPUT: unreadable. */
enum exit_status tool_diff(const struct compare_options *options);
/* Prints the run options->a as a golden trace: the classes and phase of the options. */
enum exit_status tool_golden(const struct compare_options *options);
/* Prints how long each message of a run spent in each stage. */
enum exit_status tool_stages(const struct compare_options *options);
/* Prints the names of the stages. */
void tool_stages_help(FILE *out);
/* Writes dir/report.html and prints its path. */
enum exit_status tool_report(const char *dir);

#endif
