/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line: which command to run, with which options.
 */
#ifndef TESTBENCH_CLI_H
#define TESTBENCH_CLI_H

#include "testbench/perf/perf.h"
#include "testbench/app/explore.h"
#include "testbench/app/run.h"
#include "testbench/app/serve.h"
#include "testbench/app/sweep.h"
#include "traces/compare.h"

#include <stdio.h>

enum cli_command {
	CLI_LIST,
	CLI_RUN,
	CLI_CONFIG,
	CLI_RULES,
	CLI_DUMP,
	CLI_CHECK,
	CLI_DIFF,
	CLI_STAGES,
	CLI_GOLDEN,
	CLI_REPORT,
	CLI_SWEEP,
	CLI_EXPLORE,
	CLI_SERVE,
	CLI_CTL,
	CLI_IWARP,
	CLI_PERF,
	CLI_HELP,
	CLI_VERSION
};

enum cli_help_form { CLI_HELP_TEXT, CLI_HELP_MAN, CLI_HELP_BASH, CLI_HELP_ZSH };

enum { CLI_WORDS_MAX = 33 };

struct cli {
	enum cli_command command;
	struct run_options run; /* RUN, DUMP, SERVE and SWEEP */
	struct serve_options serve;
	struct compare_options diff; /* DIFF; STAGES and GOLDEN use only a */
	struct perf_options perf;
	struct sweep_options sweep;
	struct explore_options explore;
	const char *words[CLI_WORDS_MAX]; /* CTL, IWARP: words of the command */
	unsigned word_count;
	const char *file; /* CHECK; CTL: the socket; REPORT: the folder; HELP: a command or NULL */
	enum cli_help_form help_form;     /* HELP */
	bool verbose;                     /* CHECK */
	bool behaviours, behaviour_texts; /* LIST */
	bool iwarp_rows, matrix;          /* LIST */
};

/* Returns 0 and fills *cli, whose strings point into argv; or -EINVAL after one line to err. */
int cli_parse(int argc, char **argv, struct cli *cli, FILE *err);
/* Prints all commands; with a command's word, the options of that command. */
void cli_help(FILE *out, const char *word);
/* All help in a form; word is for CLI_HELP_TEXT alone, and may be NULL. */
void cli_help_as(FILE *out, enum cli_help_form form, const char *word);

#endif
