/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line: which command to run, with which options.
 */
#ifndef TESTBENCH_CLI_H
#define TESTBENCH_CLI_H

#include "testbench/perf/perf.h"
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
	CLI_SERVE,
	CLI_CTL,
	CLI_PERF,
	CLI_HELP,
	CLI_VERSION
};

enum { CLI_WORDS_MAX = 17 };

struct cli {
	enum cli_command command;
	struct run_options run; /* RUN, DUMP, SERVE and SWEEP */
	struct serve_options serve;
	struct compare_options diff; /* DIFF; STAGES and GOLDEN use only a */
	struct perf_options perf;
	struct sweep_options sweep;
	const char *words[CLI_WORDS_MAX]; /* CTL: words of the command */
	unsigned word_count;
	const char *file; /* CHECK; CTL: the socket; REPORT: the folder; HELP: a command or NULL */
	bool verbose;     /* CHECK */
	bool behaviours, behaviour_texts; /* LIST */
};

/* Returns 0 and fills *cli, whose strings point into argv; or -EINVAL after one line to err. */
int cli_parse(int argc, char **argv, struct cli *cli, FILE *err);
/* Prints all commands; with a command's word, the options of that command. */
void cli_help(FILE *out, const char *word);

#endif
