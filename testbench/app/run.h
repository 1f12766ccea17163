/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running a scenario once: configuration, machine, traces and files, verdict. A process runs one.
 */
#ifndef TESTBENCH_RUN_H
#define TESTBENCH_RUN_H

#include "testbench/language/run_options.h"

/* Prints errors to stderr and the account to stdout. With counters as JSON, only these go to stdout,
 * and the account goes to stderr. */
enum exit_status run_scenario(const struct run_options *options);

/* Returns the status if everything printed to stdout could be written; else EXIT_FAILED, after one
 * line. */
enum exit_status run_output_status(enum exit_status status);

#endif
