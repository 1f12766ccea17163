/* SPDX-License-Identifier: Apache-2.0 */
/* hcasim: main(), and one case per command. */
#include "model/interface/rows.h"
#include "model/sim/cfg.h"
#include "testbench/app/behaviours.h"
#include "testbench/app/matrix.h"
#include "testbench/app/catalog.h"
#include "testbench/app/cli.h"
#include "testbench/app/ctl.h"
#include "testbench/app/iwarp.h"
#include "testbench/os/place.h"
#include "testbench/app/tools.h"
#include "testbench/version.h"
#include "traces/trace.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RULE_SCENARIO = 64 };

static enum exit_status print_rule(const char *name)
{
	const int rule = guest_rule_find(name);
	const struct guest_rule_row *row;
	char scenario[RULE_SCENARIO];

	if (rule < 0) {
		fprintf(stderr, "hcasim: rules: there is no rule '%s'; hcasim rules prints all\n",
			name);
		return EXIT_INPUT;
	}
	row = &guest_rules[rule];
	printf("%s\n  means:    %s\n  source:   %s\n  example:  %s\n  look at:  %s\n", row->name,
	       row->meaning, row->source, row->example, row->look);
	snprintf(scenario, sizeof(scenario), "guest_%s", row->name);
	if (catalog_find(scenario))
		printf("  shown by: hcasim run %s\n", scenario);
	return EXIT_RIGHT;
}

static void print_rules(void)
{
	for (unsigned i = 0; i < RULE_COUNT; i++)
		printf("%-22s %s [%s]\n", guest_rules[i].name, guest_rules[i].meaning,
		       guest_rules[i].source);
}

static enum exit_status list_behaviours(bool text)
{
	char results[4096];

	if (place_find(PLACE_TEST_LOGS, "results", results, sizeof(results), NULL))
		results[0] = 0; /* make test has not run */
	return behaviours_print(stdout, results, text) ? EXIT_FAILED : EXIT_RIGHT;
}

static enum exit_status list_matrix(void)
{
	char results[4096];

	if (place_find(PLACE_TEST_LOGS, "../matrix/results", results, sizeof(results), NULL))
		results[0] = 0; /* make matrix has not run */
	return matrix_print(stdout, results) ? EXIT_FAILED : EXIT_RIGHT;
}

static enum exit_status check(const struct cli *cli)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int rc;

	if (!out) {
		fprintf(stderr, "hcasim: out of memory\n");
		return EXIT_FAILED;
	}
	rc = trace_check_file(cli->file, cli->verbose, out);
	fclose(out);
	if (rc == 2) /* not a trace file: print only the reason */
		fprintf(stderr, "%.*s\n", (int)strcspn(text, "\n"), text);
	else
		fputs(text, stdout);
	free(text);
	return rc == 0 ? EXIT_RIGHT : rc == 1 ? EXIT_FAILED : EXIT_INPUT;
}

static enum exit_status obey(const struct cli *cli)
{
	switch (cli->command) {
	case CLI_LIST:
		if (cli->matrix)
			return list_matrix();
		if (cli->behaviours)
			return list_behaviours(cli->behaviour_texts);
		if (cli->iwarp_rows)
			return iwarp_rows_print(stdout) ? EXIT_FAILED : EXIT_RIGHT;
		catalog_print(stdout);
		return EXIT_RIGHT;
	case CLI_RUN:
	case CLI_DUMP:
		return run_scenario(&cli->run);
	case CLI_CONFIG:
		return cfg_print_rows(stdout) ? EXIT_FAILED : EXIT_RIGHT;
	case CLI_RULES:
		if (cli->file)
			return print_rule(cli->file);
		print_rules();
		return EXIT_RIGHT;
	case CLI_CHECK:
		return check(cli);
	case CLI_DIFF:
		return tool_diff(&cli->diff);
	case CLI_STAGES:
		return tool_stages(&cli->diff);
	case CLI_GOLDEN:
		return tool_golden(&cli->diff);
	case CLI_REPORT:
		return tool_report(cli->file);
	case CLI_SWEEP:
		return sweep(&cli->run, &cli->sweep);
	case CLI_EXPLORE:
		return explore(&cli->run, &cli->explore);
	case CLI_SERVE:
		return serve(&cli->run, &cli->serve);
	case CLI_CTL:
		return ctl_send(cli->file, cli->words, cli->word_count);
	case CLI_IWARP:
		return iwarp_command(cli->file, cli->words, cli->word_count);
	case CLI_PERF:
		return perf(&cli->run, &cli->perf);
	case CLI_HELP:
		cli_help_as(stdout, cli->help_form, cli->file);
		return EXIT_RIGHT;
	case CLI_VERSION:
		puts(*BUILD_COMMIT ? "hcasim " BUILD_VERSION " (commit " BUILD_COMMIT ")"
				   : "hcasim " BUILD_VERSION);
		return EXIT_RIGHT;
	}
	return EXIT_INPUT;
}

int main(int argc, char **argv)
{
	struct cli cli;
	enum exit_status status;

	signal(SIGXFSZ, SIG_IGN); /* writing beyond a file size limit gives EFBIG instead */
	if (cli_parse(argc, argv, &cli, stderr))
		return EXIT_INPUT;
	status = run_output_status(obey(&cli));
	/* diff uses 1 for "the runs differ" */
	return cli.command == CLI_DIFF && ferror(stdout) ? EXIT_INPUT : status;
}
