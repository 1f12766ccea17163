/* SPDX-License-Identifier: Apache-2.0 */
/* The user's options for a run and the exit status: for all commands that simulate. */
#ifndef TESTBENCH_RUN_OPTIONS_H
#define TESTBENCH_RUN_OPTIONS_H

#include "testbench/language/counters.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum exit_status { EXIT_RIGHT = 0, EXIT_FAILED = 1, EXIT_INPUT = 2 };
enum { RUN_SETTINGS_MAX = 256 };

struct explorer;
struct tb;

/* For a run that follows a schedule (testbench/explore/). */
struct run_schedule {
	struct explorer *explorer;
	/* As on_begin of struct tb; at the end, with the verdict. Either may end the process. */
	void (*begin)(struct tb *tb, bool body);
	void (*end)(struct tb *tb, bool right);
	void *arg;  /* on_begin_arg */
	bool files; /* false: no files, and nothing is printed after the failure */
};

struct run_options {
	const char *scenario;              /* name or FILE.c */
	const char *ini[RUN_SETTINGS_MAX]; /* in this order, then settings */
	unsigned inis;
	const char *settings[RUN_SETTINGS_MAX];
	unsigned setting_count;
	const char *seed;   /* NULL: as configured */
	const char *traces; /* list of sinks, "none" */
	const char *dir;    /* NULL: NAME in the folder of place_runs() */
	const char *fw;     /* NULL: the build's or the installed one */
	bool gdb;           /* a debugger of the firmware of hca0 may come */
	unsigned gdb_port;  /* 0: any free one */
	bool dump;          /* print contexts at dump_ps or at failure, write no files */
	uint64_t dump_ps;
	bool no_dmi;
	bool reached;                        /* RUN: also write which functions of the driver ran */
	const struct run_schedule *schedule; /* NULL: none */
	enum counters_form stats;            /* RUN, SERVE: to stdout at the end */
};

#endif
