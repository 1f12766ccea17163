/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sweep: one scenario under every combination of some parameters' values, each combination (a
 * cell) a run of its own in a process of its own.
 *
 * A cell's files are in sweep/SCENARIO/KEY=VALUE+KEY=VALUE in the folder of place_runs(), so that
 * cells that other machines ran can be collected from there.
 */
#ifndef TESTBENCH_SWEEP_H
#define TESTBENCH_SWEEP_H

#include "testbench/app/run.h"

enum { SWEEP_VARY_MAX = 8, SWEEP_SHOW_MAX = 32 };

enum sweep_how {
	SWEEP_RUN,     /* run the cells, then print */
	SWEEP_LIST,    /* print the command of each cell */
	SWEEP_COLLECT, /* print what the cells left that ran already */
};

struct sweep_options {
	const char *vary[SWEEP_VARY_MAX]; /* section.key=value,value,... */
	unsigned varies;
	const char *show[SWEEP_SHOW_MAX]; /* hca0.stage.counter, or hca.stage.counter: of both */
	unsigned shows;
	unsigned jobs; /* processes at a time */
	enum sweep_how how;
};

/* run: the scenario and what all cells have in common; its dir is the CSV file, or NULL.
 * EXIT_FAILED when a cell failed, EXIT_INPUT when nothing was run. */
enum exit_status sweep(const struct run_options *run, const struct sweep_options *options);

#endif
