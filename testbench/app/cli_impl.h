/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of the command line: one per command, and one per option and the commands that take it.
 * The parser, the help, the man page and the completion of shells are all made from them.
 */
#ifndef TESTBENCH_CLI_IMPL_H
#define TESTBENCH_CLI_IMPL_H

#include "testbench/app/cli.h"

#include <argp.h>
#include <stddef.h>

struct parse;

struct cli_command_row {
	enum cli_command command;
	const char *word, *arguments, *meaning;
	int least, most; /* arguments */
};

struct cli_option_row {
	const char *name, *value; /* value: its argument; NULL: none; [VALUE]: optional */
	unsigned commands;        /* 1 << cli_command; CLI_EVERY_COMMAND */
	char letter;
	error_t (*set)(struct parse *p, const char *value);
	size_t text; /* set is NULL: offset in struct cli of the string that gets the value */
	const char *meaning;
};

#define CLI_EVERY_COMMAND (~0u)

/* The rows in their order; NULL after the last. */
const struct cli_command_row *cli_command_row(size_t i);
const struct cli_option_row *cli_option_row(size_t i);

void cli_complete_bash(FILE *out);
void cli_complete_zsh(FILE *out);

#endif
