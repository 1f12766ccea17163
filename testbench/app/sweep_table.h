/* SPDX-License-Identifier: Apache-2.0 */
/* The results of a sweep, as a table and as CSV. */
#ifndef TESTBENCH_SWEEP_TABLE_H
#define TESTBENCH_SWEEP_TABLE_H

#include "testbench/app/sweep.h"

#include <stdio.h>
#include <sys/types.h>

struct sweep_cell {
	const char *values[SWEEP_VARY_MAX];
	char name[256];
	pid_t pid;
	int status; /* of its process */
	bool passed, ran;
	/* sums over the phases between bring-up and tear-down */
	uint64_t takes_ps, packets, resent, payload_bytes;
	uint64_t shown[SWEEP_SHOW_MAX];
	bool has_shown[SWEEP_SHOW_MAX];
};

struct sweep_table {
	char *const *keys;
	unsigned varies;
	const char *const *show;
	unsigned shows;
	struct sweep_cell *cells;
	unsigned cell_count;
};

/* Reads run.json and stats.json of the cell's folder. */
void sweep_cell_read(const struct sweep_table *table, struct sweep_cell *cell, const char *dir);
/* Prints why a cell failed: the last lines of its output. */
void sweep_cell_complain(const struct sweep_cell *cell, const char *dir, FILE *err);
void sweep_table_print(const struct sweep_table *table, FILE *out);
/* 0, or -errno after printing it. */
int sweep_table_csv(const struct sweep_table *table, const char *path);

#endif
