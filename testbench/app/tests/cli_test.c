/* SPDX-License-Identifier: Apache-2.0 */
#include "model/interface/macros.h"
#include "testbench/app/cli.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { ARGS_MAX = 40 };

static char message[1024];

static void help_names_the_options_of_its_command_alone(void **state)
{
	static const struct {
		const char *word, *has, *lacks;
	} cases[] = {{"run", "--fw-gdb PORT", "--vary"},
		     {"sweep", "-j, --jobs N", "--fw-gdb"},
		     {"perf", "--output FILE.csv", "--output DIR"},
		     {"perf", "--stats[=FILE.json]", "--phase"},
		     {"run", "--stats[=text|all|json]", "FILE.json"},
		     {"serve", "--stats[=text|all|json]", "--phase"}};
	char text[4096];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		FILE *out = fmemopen(text, sizeof(text), "w");

		cli_help(out, cases[i].word);
		fclose(out);
		assert_non_null(strstr(text, cases[i].has));
		assert_null(strstr(text, cases[i].lacks));
	}
}

/* Splits the line at blanks and parses it. The strings are valid until the next call. */
static int parse(struct cli *cli, const char *line)
{
	static char words[512];
	char *argv[ARGS_MAX] = {(char *)"hcasim"}, *rest;
	int argc = 1, rc;
	FILE *err = fmemopen(message, sizeof(message), "w");

	snprintf(words, sizeof(words), "%s", line);
	for (char *w = strtok_r(words, " ", &rest); w && argc + 1 < ARGS_MAX;
	     w = strtok_r(NULL, " ", &rest))
		argv[argc++] = w;
	argv[argc] = NULL;
	message[0] = 0;
	rc = cli_parse(argc, argv, cli, err);
	fclose(err);
	return rc;
}

static void runs_the_tour_by_default(void **state)
{
	struct cli cli;

	assert_int_equal(parse(&cli, "run"), 0);
	assert_int_equal(cli.command, CLI_RUN);
	assert_string_equal(cli.run.scenario, "tour");
	assert_string_equal(cli.run.traces, "log,records,pcapng");
	assert_null(cli.run.dir);
}

static void takes_every_option_of_run(void **state)
{
	struct cli cli;

	assert_int_equal(parse(&cli, "run -c a.ini x --seed 7 -s a.b=1 --trace=log -c b.ini -o out "
				     "--fw f.elf --fw-gdb 1234 -s c.d=2"),
			 0);
	assert_string_equal(cli.run.scenario, "x");
	assert_int_equal(cli.run.inis, 2);
	assert_string_equal(cli.run.ini[1], "b.ini");
	assert_int_equal(cli.run.setting_count, 2);
	assert_string_equal(cli.run.settings[0], "a.b=1");
	assert_string_equal(cli.run.seed, "7");
	assert_string_equal(cli.run.traces, "log");
	assert_string_equal(cli.run.dir, "out");
	assert_string_equal(cli.run.fw, "f.elf");
	assert_true(cli.run.gdb);
	assert_int_equal(cli.run.gdb_port, 1234);
}

static void a_debugger_gets_any_free_port(void **state)
{
	struct cli cli;

	assert_int_equal(parse(&cli, "run x --fw-gdb 0"), 0);
	assert_true(cli.run.gdb);
	assert_int_equal(cli.run.gdb_port, 0);
	assert_int_equal(parse(&cli, "run x"), 0);
	assert_false(cli.run.gdb);
}

static void stats_come_as_text_unless_said_otherwise(void **state)
{
	struct cli cli;

	assert_int_equal(parse(&cli, "run x"), 0);
	assert_int_equal(cli.run.stats, COUNTERS_QUIET);
	assert_int_equal(parse(&cli, "run x --stats"), 0);
	assert_int_equal(cli.run.stats, COUNTERS_TEXT);
	assert_int_equal(parse(&cli, "run x --stats=all"), 0);
	assert_int_equal(cli.run.stats, COUNTERS_ALL);
	assert_int_equal(parse(&cli, "serve --socket s --stats=json"), 0);
	assert_int_equal(cli.run.stats, COUNTERS_JSON);
	assert_int_equal(parse(&cli, "perf --points p.csv --stats=f.json"), 0);
	assert_int_equal(cli.run.stats, COUNTERS_QUIET);
	assert_string_equal(cli.perf.stats_file, "f.json");
}

static void dump_wants_its_time(void **state)
{
	struct cli cli;

	assert_int_equal(parse(&cli, "dump rc_send --at 1.5us"), 0);
	assert_int_equal(cli.command, CLI_DUMP);
	assert_true(cli.run.dump);
	assert_int_equal(cli.run.dump_ps, 1500000);
	assert_int_equal(parse(&cli, "dump rc_send"), -EINVAL);
	assert_int_equal(parse(&cli, "dump rc_send --at soon"), -EINVAL);
	assert_int_equal(parse(&cli, "dump --at 1us"), -EINVAL);
	assert_int_equal(parse(&cli, "run --at 1us"), -EINVAL);
}

static void serve_wants_sockets(void **state)
{
	struct cli cli;

	assert_int_equal(parse(&cli, "serve --socket a --socket b --ctl c -s a.b=1 -o out"), 0);
	assert_int_equal(cli.command, CLI_SERVE);
	assert_int_equal(cli.serve.socket_count, 2);
	assert_string_equal(cli.serve.sockets[1], "b");
	assert_string_equal(cli.serve.ctl, "c");
	assert_string_equal(cli.run.traces, "none");
	assert_int_equal(parse(&cli, "serve"), -EINVAL);
	assert_int_equal(parse(&cli, "serve a"), -EINVAL);
	assert_int_equal(parse(&cli, "serve --socket a --socket b --socket c"), -EINVAL);
	/* a guest has one HCA or both, never none */
	assert_int_equal(parse(&cli, "serve --socket a --socket b --guest-clock x"), 0);
	assert_int_equal(cli.serve.clock_count, 1);
	assert_int_equal(parse(&cli, "serve --socket a --guest-clock x --guest-clock y"), -EINVAL);
	assert_int_equal(parse(&cli, "run --socket a"), -EINVAL);
}

static void ctl_takes_a_command(void **state)
{
	struct cli cli;

	assert_int_equal(parse(&cli, "ctl c.sock link down hca1"), 0);
	assert_int_equal(cli.command, CLI_CTL);
	assert_string_equal(cli.file, "c.sock");
	assert_int_equal(cli.word_count, 3);
	assert_string_equal(cli.words[2], "hca1");
	assert_int_equal(parse(&cli, "ctl c.sock"), -EINVAL);
}

static void diff_takes_two_runs(void **state)
{
	struct cli cli;

	assert_int_equal(parse(&cli, "diff a b --threshold 5% --only out,completions --phase x"),
			 0);
	assert_int_equal(cli.command, CLI_DIFF);
	assert_string_equal(cli.diff.a, "a");
	assert_string_equal(cli.diff.b, "b");
	assert_string_equal(cli.diff.phase, "x");
	assert_true(cli.diff.threshold_percent == 5);
	assert_int_equal(cli.diff.classes, 1 << RUN_OUT | 1 << RUN_CQE);
	assert_int_equal(parse(&cli, "diff a b --threshold none"), 0);
	assert_true(cli.diff.no_times);
}

static void sweep_takes_values_and_columns(void **state)
{
	struct cli cli;

	assert_int_equal(parse(&cli,
			       "sweep x --vary a.b=1,2 --vary c.d=3 --show hca0.e.f -j 3 -o y.csv "
			       "-s g.h=4"),
			 0);
	assert_int_equal(cli.command, CLI_SWEEP);
	assert_string_equal(cli.run.scenario, "x");
	assert_string_equal(cli.run.dir, "y.csv");
	assert_string_equal(cli.run.traces, "none");
	assert_int_equal(cli.run.setting_count, 1);
	assert_int_equal(cli.sweep.varies, 2);
	assert_string_equal(cli.sweep.vary[1], "c.d=3");
	assert_string_equal(cli.sweep.show[0], "hca0.e.f");
	assert_int_equal(cli.sweep.jobs, 3);
	assert_int_equal(cli.sweep.how, SWEEP_RUN);
}

static void help_and_version_need_no_command(void **state)
{
	struct cli cli;

	assert_int_equal(parse(&cli, "--help"), 0);
	assert_int_equal(cli.command, CLI_HELP);
	assert_null(cli.file);
	assert_int_equal(parse(&cli, "run --help"), 0);
	assert_int_equal(cli.command, CLI_HELP);
	assert_string_equal(cli.file, "run");
	assert_int_equal(parse(&cli, "help sweep"), 0);
	assert_string_equal(cli.file, "sweep");
	assert_int_equal(parse(&cli, "help fly"), -EINVAL);
	assert_int_equal(parse(&cli, "run --version"), 0);
	assert_int_equal(cli.command, CLI_VERSION);
}

static void wrong_lines_give_one_line(void **state)
{
	static const char *const lines[] = {"",
					    "fly",
					    "list extra",
					    "run a b",
					    "run --colour",
					    "run -c",
					    "run --fw-gdb -1",
					    "run --fw-gdb 70000",
					    "run --fw-gdb x",
					    "list --seed 1",
					    "check",
					    "run -v",
					    "diff a",
					    "diff a b c",
					    "diff a b --threshold fast",
					    "diff a b --only mice",
					    "run --phase x",
					    "sweep x",
					    "sweep --vary a.b=1",
					    "sweep x --vary a.b=1 -j 0",
					    "run x --vary a.b=1"};
	struct cli cli;

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		assert_int_equal(parse(&cli, lines[i]), -EINVAL);
		assert_non_null(strchr(message, '\n'));
		assert_int_equal(strchr(message, '\n')[1], 0);
		assert_memory_equal(message, "hcasim: ", 8);
	}
	parse(&cli, "run --colour");
	assert_non_null(strstr(message, "--colour"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_the_tour_by_default),
		cmocka_unit_test(takes_every_option_of_run),
		cmocka_unit_test(a_debugger_gets_any_free_port),
		cmocka_unit_test(stats_come_as_text_unless_said_otherwise),
		cmocka_unit_test(dump_wants_its_time),
		cmocka_unit_test(serve_wants_sockets),
		cmocka_unit_test(ctl_takes_a_command),
		cmocka_unit_test(diff_takes_two_runs),
		cmocka_unit_test(sweep_takes_values_and_columns),
		cmocka_unit_test(help_and_version_need_no_command),
		cmocka_unit_test(help_names_the_options_of_its_command_alone),
		cmocka_unit_test(wrong_lines_give_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
