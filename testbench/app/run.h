/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running a scenario once: configuration, machine, traces and files, verdict. A process runs one.
 */
#ifndef TESTBENCH_RUN_H
#define TESTBENCH_RUN_H

#include "testbench/language/run_options.h"

/* What is wrong is printed to stderr, the account to stdout; with counters as JSON these alone are
 * there, and the account goes to stderr. */
enum exit_status run_scenario(const struct run_options *options);

/* The status when all that was printed to stdout has come there; else EXIT_FAILED, with a line. */
enum exit_status run_output_status(enum exit_status status);

#endif
