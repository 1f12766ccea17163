// SPDX-License-Identifier: Apache-2.0
/* See cli.h. */
#include "testbench/cli.h"

#include "model/sim/units.h"

#include <argp.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
	KEY_SEED = 0x100,
	KEY_TRACE,
	KEY_FW,
	KEY_FW_GDB,
	KEY_AT,
	KEY_NO_DMI,
	KEY_SOCKET,
	KEY_CTL,
	KEY_BEHAVIOURS,
	KEY_THRESHOLD,
	KEY_ONLY,
	KEY_PHASE,
	KEY_BY_QP,
	KEY_POINTS,
	KEY_PROFILE,
	KEY_PLOT,
	KEY_STATS,
	KEY_VARY,
	KEY_SHOW,
	KEY_LIST,
	KEY_COLLECT,
	KEY_HELP,
	KEY_VERSION,
	PORT_MAX = 65535,
	JOBS_MAX = 4096
};

static const char default_scenario[] = "tour";

static const struct command {
	const char *word, *arguments, *meaning;
	enum cli_command command;
	int least, most;
	bool runs;
} commands[] = {
	{"list", "", "the scenarios: name, two spaces, what it shows", CLI_LIST, 0, 0, false},
	{"run", "[NAME|FILE.c]",
	 "run a scenario (without a name: tour); FILE.c is compiled and loaded", CLI_RUN, 0, 1,
	 true},
	{"config", "", "every parameter: section, key, unit, default, meaning, source", CLI_CONFIG,
	 0, 0, false},
	{"rules", "", "every guest-error rule: name, meaning, source", CLI_RULES, 0, 0, false},
	{"dump", "NAME --at TIME", "contexts by number, decoded, at that time or at failure",
	 CLI_DUMP, 1, 1, true},
	{"check", "FILE.pcapng", "check structure and both CRCs of every packet of a capture",
	 CLI_CHECK, 1, 1, false},
	{"diff", "A B", "compare two runs' folders: the first difference, and times by stage",
	 CLI_DIFF, 2, 2, false},
	{"stages", "DIR", "where the time of each message of a run went, in ns", CLI_STAGES, 1, 1,
	 false},
	{"golden", "DIR", "a run's traces without times, as traces/golden/ keeps them", CLI_GOLDEN,
	 1, 1, false},
	{"sweep", "NAME --vary KEY=V,V", "run a scenario under every combination of parameters", CLI_SWEEP,
	 1, 1, true},
	{"serve", "--socket PATH", "offer one or two linked HCAs to virtual machines (vfio-user)",
	 CLI_SERVE, 0, 0, true},
	{"ctl", "SOCKET COMMAND...", "tell a running serve, such as: ctl c.sock help", CLI_CTL, 2,
	 CLI_WORDS_MAX, false},
	{"perf", "--points FILE.csv", "published measurements beside simulated ones", CLI_PERF, 0, 0,
	 true},
	{"help", "", "this text (also --help)", CLI_HELP, 0, 0, false},
	{"version", "", "the version (also --version)", CLI_VERSION, 0, 0, false},
};

static const struct argp_option options[] = {
	{"config", 'c', "FILE.ini", 0, "read parameters from a file (run, dump)", 0},
	{"set", 's', "SECTION.KEY=VALUE", 0, "set a parameter, stronger than files (run, dump)", 0},
	{"seed", KEY_SEED, "N", 0, "seed of every random number (run, dump)", 0},
	{"trace", KEY_TRACE, "LIST", 0, "traces to write: log,pcapng or none; default both, serve and sweep: none",
	 0},
	{"output", 'o', "DIR", 0,
	 "folder of the run's files; default traces/NAME beside the executable (run); CSV file (perf)", 0},
	{"fw", KEY_FW, "ELF", 0,
	 "firmware; default fw/hcasim-fw.elf beside the executable (run, dump)", 0},
	{"fw-gdb", KEY_FW_GDB, "PORT", 0,
	 "the firmware of hca0 waits for gdb-multiarch on this TCP port (run)", 0},
	{"no-dmi", KEY_NO_DMI, NULL, 0,
	 "host memory grants no direct access: every DMA is a b_transport (run)", 0},
	{"socket", KEY_SOCKET, "PATH", 0,
	 "socket of an HCA; twice: two linked HCAs (serve)", 0},
	{"ctl", KEY_CTL, "PATH", 0, "control socket (serve)", 0},
	{"at", KEY_AT, "TIME", 0, "when to dump, such as 1500us", 0},
	{"threshold", KEY_THRESHOLD, "NS|PERCENT", 0,
	 "times that differ by no more are equal, such as 10ns or 5%; none: no times (diff)", 0},
	{"only", KEY_ONLY, "LIST", 0,
	 "of out,in,discards,registers,commands,wqes,completions,events,interrupts,rules,faults "
	 "(diff, golden); ID,... these points, M* all that begin so (perf)",
	 0},
	{"phase", KEY_PHASE, "NAME", 0, "this phase of the runs alone (diff, stages, golden)", 0},
	{"by-qp", KEY_BY_QP, NULL, 0, "packets in the order of each QP, not of the wire (diff)", 0},
	{"points", KEY_POINTS, "FILE.csv", 0, "id,profile,workload,params,value,unit,source (perf)", 0},
	{"profile", KEY_PROFILE, "NAME", 0, "configs/NAME.ini, or a file, instead of the points' own (perf)", 0},
	{"plot", KEY_PLOT, "DIR", 0, "SVG files, by gnuplot (perf)", 0},
	{"stats", KEY_STATS, "FILE.json", OPTION_ARG_OPTIONAL, "counters of each point, and as JSON (perf)", 0},
	{"vary", KEY_VARY, "SECTION.KEY=VALUE,VALUE", 0,
	 "the values of a parameter; several: their combinations (sweep)", 0},
	{"jobs", 'j', "N", 0, "processes at a time; default: one a processor (perf, sweep)", 0},
	{"show", KEY_SHOW, "HCA.STAGE.COUNTER", 0,
	 "a counter as a column; hca0, hca1, or hca for their sum (sweep)", 0},
	{"list", KEY_LIST, NULL, 0, "instead: print a command a cell, for other machines (sweep)", 0},
	{"collect", KEY_COLLECT, NULL, 0, "instead: the table of cells that ran already (sweep)", 0},
	{"behaviours", KEY_BEHAVIOURS, NULL, 0,
	 "instead: id, scenario, pass|fail|not-run of the last make test, by tabs (list)", 0},
	{"verbose", 'v', NULL, 0, "a line a packet (check)", 0},
	{"help", KEY_HELP, NULL, 0, "this text", -1},
	{"version", KEY_VERSION, NULL, 0, "the version", -1},
	{0},
};

struct parse {
	struct cli *cli;
	FILE *err;
	const struct command *command;
	const char *args[CLI_WORDS_MAX];
	int nargs;
	bool run_option, serve_option, diff_option, perf_option, sweep_option, at, verbose, behaviours;
	const char *only;
	unsigned jobs;
	bool complained;
};

static __attribute__((format(printf, 2, 3))) error_t complain(struct parse *p, const char *format,
							      ...)
{
	va_list args;

	if (p->complained)
		return EINVAL;
	p->complained = true;
	fprintf(p->err, "hcasim: ");
	va_start(args, format);
	vfprintf(p->err, format, args);
	va_end(args);
	fprintf(p->err, " (hcasim --help)\n");
	return EINVAL;
}

static error_t argument(struct parse *p, const char *text)
{
	if (p->command) {
		if (p->nargs == p->command->most)
			return complain(p, "unexpected '%s'", text);
		p->args[p->nargs++] = text;
		return 0;
	}
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(text, commands[i].word))
			p->command = &commands[i];
	return p->command ? 0 : complain(p, "no command '%s'", text);
}

static error_t gdb_port(struct parse *p, const char *text)
{
	char *end;
	unsigned long port = strtoul(text, &end, 10);

	if (*end || end == text || !port || port > PORT_MAX)
		return complain(p, "--fw-gdb: expected a TCP port, got '%s'", text);
	p->cli->run.gdb_port = (unsigned)port;
	return 0;
}

static error_t at_time(struct parse *p, const char *text)
{
	p->at = true;
	if (cfg_value_parse(CFG_TIME, text, &p->cli->run.dump_ps))
		return complain(p, "--at: expected %s, got '%s'", cfg_unit_expects(CFG_TIME), text);
	return 0;
}

static error_t run_option(struct parse *p, int key, char *arg)
{
	struct run_options *run = &p->cli->run;

	p->run_option = true;
	switch (key) {
	case 'c':
		if (run->inis == RUN_SETTINGS_MAX)
			return complain(p, "more than %d files", RUN_SETTINGS_MAX);
		run->ini[run->inis++] = arg;
		return 0;
	case 's':
		if (run->setting_count == RUN_SETTINGS_MAX)
			return complain(p, "more than %d settings", RUN_SETTINGS_MAX);
		run->settings[run->setting_count++] = arg;
		return 0;
	case 'o':
		run->dir = arg;
		return *arg ? 0 : complain(p, "-o: expected a folder");
	case KEY_SEED:
		run->seed = arg;
		return 0;
	case KEY_TRACE:
		run->traces = arg;
		return 0;
	case KEY_FW:
		run->fw = arg;
		return 0;
	case KEY_FW_GDB:
		return gdb_port(p, arg);
	case KEY_NO_DMI:
		run->no_dmi = true;
		return 0;
	default:
		return at_time(p, arg);
	}
}

static error_t serve_option(struct parse *p, int key, char *arg)
{
	struct serve_options *serve_options = &p->cli->serve;

	p->serve_option = true;
	if (key == KEY_CTL) {
		serve_options->ctl = arg;
		return 0;
	}
	if (serve_options->socket_count == SERVE_SOCKETS_MAX)
		return complain(p, "more than %d sockets", SERVE_SOCKETS_MAX);
	serve_options->sockets[serve_options->socket_count++] = arg;
	return 0;
}

static error_t diff_option(struct parse *p, int key, char *arg)
{
	struct compare_options *diff = &p->cli->diff;

	p->diff_option = true;
	switch (key) {
	case KEY_THRESHOLD:
		return compare_threshold_parse(diff, arg)
			       ? 0
			       : complain(p, "--threshold: expected a time or percentage, got '%s'",
					  arg);
	case KEY_PHASE:
		diff->phase = arg;
		return 0;
	default:
		diff->by_qp = true;
		return 0;
	}
}

static error_t perf_option(struct parse *p, int key, char *arg)
{
	struct perf_options *perf_options = &p->cli->perf;

	p->perf_option = true;
	switch (key) {
	case KEY_POINTS:
		perf_options->points = arg;
		return 0;
	case KEY_PROFILE:
		perf_options->profile = arg;
		return 0;
	case KEY_PLOT:
		perf_options->plot = arg;
		return 0;
	case KEY_STATS:
		perf_options->stats = true;
		perf_options->stats_file = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t sweep_option(struct parse *p, int key, char *arg)
{
	struct sweep_options *sweep = &p->cli->sweep;

	p->sweep_option = true;
	switch (key) {
	case KEY_VARY:
		if (sweep->varies == SWEEP_VARY_MAX)
			return complain(p, "more than %d --vary", SWEEP_VARY_MAX);
		sweep->vary[sweep->varies++] = arg;
		return 0;
	case KEY_SHOW:
		if (sweep->shows == SWEEP_SHOW_MAX)
			return complain(p, "more than %d --show", SWEEP_SHOW_MAX);
		sweep->show[sweep->shows++] = arg;
		return 0;
	case KEY_LIST:
	case KEY_COLLECT:
		sweep->how = key == KEY_LIST ? SWEEP_LIST : SWEEP_COLLECT;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t jobs(struct parse *p, const char *arg)
{
	char *end;
	const unsigned long n = strtoul(arg, &end, 10);

	if (*end || end == arg || !n || n > JOBS_MAX)
		return complain(p, "-j: expected 1 to %d, got '%s'", JOBS_MAX, arg);
	p->jobs = (unsigned)n;
	return 0;
}

static error_t parse_key(int key, char *arg, struct argp_state *state)
{
	struct parse *p = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		return argument(p, arg);
	case 'v':
		p->verbose = true;
		return 0;
	case KEY_BEHAVIOURS:
		p->behaviours = true;
		return 0;
	case KEY_HELP:
		p->command = &commands[sizeof(commands) / sizeof(commands[0]) - 2];
		return 0;
	case KEY_VERSION:
		p->command = &commands[sizeof(commands) / sizeof(commands[0]) - 1];
		return 0;
	case 'c':
	case 's':
	case 'o':
	case KEY_SEED:
	case KEY_TRACE:
	case KEY_FW:
	case KEY_FW_GDB:
	case KEY_NO_DMI:
	case KEY_AT:
		return run_option(p, key, arg);
	case KEY_ONLY:
		p->only = arg;
		return 0;
	case KEY_POINTS:
	case KEY_PROFILE:
	case KEY_PLOT:
	case KEY_STATS:
		return perf_option(p, key, arg);
	case KEY_SOCKET:
	case KEY_CTL:
		return serve_option(p, key, arg);
	case KEY_THRESHOLD:
	case KEY_PHASE:
	case KEY_BY_QP:
		return diff_option(p, key, arg);
	case 'j':
		return jobs(p, arg);
	case KEY_VARY:
	case KEY_SHOW:
	case KEY_LIST:
	case KEY_COLLECT:
		return sweep_option(p, key, arg);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static bool reads_runs(enum cli_command command)
{
	return command == CLI_DIFF || command == CLI_STAGES || command == CLI_GOLDEN;
}

/* Which ones is the command's to say: points, or kinds of records. */
static int only(struct parse *p)
{
	struct cli *cli = p->cli;

	cli->perf.only = p->only;
	if (!p->only || p->command->command == CLI_PERF)
		return 0;
	if (!reads_runs(p->command->command))
		return -complain(p, "%s takes no such option", p->command->word);
	cli->diff.classes = run_classes_parse(p->only);
	return cli->diff.classes ? 0 : -complain(p, "--only: no such list as '%s'", p->only);
}

static int finish(struct parse *p)
{
	struct cli *cli = p->cli;

	if (!p->command)
		return -complain(p, "expected a command");
	if (p->command->command == CLI_HELP || p->command->command == CLI_VERSION)
		return cli->command = p->command->command, 0;
	if (p->nargs < p->command->least)
		return -complain(p, "%s: expected %s", p->command->word, p->command->arguments);
	if (p->run_option && !p->command->runs)
		return -complain(p, "%s takes no such option", p->command->word);
	if (p->at != (p->command->command == CLI_DUMP))
		return -complain(p, p->at ? "--at goes with dump" : "dump: expected --at TIME");
	if (p->verbose && p->command->command != CLI_CHECK)
		return -complain(p, "%s takes no such option", p->command->word);
	if (p->behaviours && p->command->command != CLI_LIST)
		return -complain(p, "%s takes no such option", p->command->word);
	if (p->sweep_option && p->command->command != CLI_SWEEP)
		return -complain(p, "%s takes no such option", p->command->word);
	if (p->command->command == CLI_SWEEP && !cli->sweep.varies)
		return -complain(p, "sweep: expected --vary SECTION.KEY=VALUE,VALUE");
	if (p->diff_option && !reads_runs(p->command->command))
		return -complain(p, "%s takes no such option", p->command->word);
	if (p->serve_option && p->command->command != CLI_SERVE)
		return -complain(p, "%s takes no such option", p->command->word);
	if (p->command->command == CLI_SERVE && !cli->serve.socket_count)
		return -complain(p, "serve: expected --socket PATH");
	if (p->perf_option && p->command->command != CLI_PERF)
		return -complain(p, "%s takes no such option", p->command->word);
	if (p->command->command == CLI_PERF && !cli->perf.points)
		return -complain(p, "perf: expected --points FILE.csv");
	if (only(p))
		return -EINVAL;
	if (p->jobs && p->command->command != CLI_PERF && p->command->command != CLI_SWEEP)
		return -complain(p, "%s takes no such option", p->command->word);
	cli->perf.jobs = cli->sweep.jobs = p->jobs;
	if (!cli->run.traces)
		cli->run.traces = p->command->command == CLI_SERVE ||
						  p->command->command == CLI_SWEEP
					  ? "none"
					  : "log,pcapng";
	for (int i = 1; i < p->nargs; i++)
		cli->words[cli->word_count++] = p->args[i];
	cli->command = p->command->command;
	cli->verbose = p->verbose;
	cli->behaviours = p->behaviours;
	cli->file = p->args[0];
	cli->diff.a = p->args[0];
	cli->diff.b = p->args[1];
	cli->run.scenario = p->args[0] ? p->args[0] : default_scenario;
	cli->run.dump = p->at;
	return 0;
}

static const struct argp_option *find_option(const char *word)
{
	size_t len = strcspn(word, "=");

	for (const struct argp_option *o = options; o->name; o++)
		if (word[1] == '-' ? !strncmp(word + 2, o->name, len - 2) : word[1] == o->key)
			return o;
	return NULL;
}

/* What getopt would print by itself: an option that does not exist, or lacks its value. */
static int complain_of_option(struct parse *p, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const struct argp_option *o;

		if (argv[i][0] != '-' || !argv[i][1])
			continue;
		o = find_option(argv[i]);
		if (!o)
			return -complain(p, "no option '%s'", argv[i]);
		if (!o->arg)
			continue;
		if ((argv[i][1] == '-' ? !strchr(argv[i], '=') : !argv[i][2]) && ++i == argc)
			return -complain(p, "'%s' lacks its value, %s", argv[i - 1], o->arg);
	}
	return -complain(p, "wrong options");
}

int cli_parse(int argc, char **argv, struct cli *cli, FILE *err)
{
	static const struct argp argp = {.options = options, .parser = parse_key};
	struct parse p = {.cli = cli, .err = err};
	error_t rc;

	*cli = (struct cli){.file = NULL};
	rc = argp_parse(&argp, argc, argv,
			ARGP_IN_ORDER | ARGP_NO_ERRS | ARGP_NO_EXIT | ARGP_NO_HELP, NULL, &p);
	if (rc)
		return p.complained ? -EINVAL : complain_of_option(&p, argc, argv);
	return finish(&p);
}

void cli_help(FILE *out)
{
	fprintf(out, "hcasim: two linked InfiniBand HCAs, from the driver's registers to the "
		     "packets on the wire\n\n");
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		fprintf(out, "  hcasim %-8s%-16s %s\n", commands[i].word, commands[i].arguments,
			commands[i].meaning);
	fprintf(out, "\n");
	for (const struct argp_option *o = options; o->name; o++) {
		char text[64], letter[8] = "   ";

		if (o->key < 0x100)
			snprintf(letter, sizeof(letter), "-%c,", o->key);
		snprintf(text, sizeof(text), "%s --%s%s%s", letter, o->name, o->arg ? " " : "",
			 o->arg ? o->arg : "");
		fprintf(out, "  %-32s %s\n", text, o->doc);
	}
	fprintf(out, "\nExit status: 0 passed, 1 a scenario or check failed, 2 wrong input.\n");
}
