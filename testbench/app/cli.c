/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See cli.h. argp splits the command line into options and words. The table `options` says what
 * each option does: one row per name and set of commands. A row is looked up once the command is
 * known, because two commands may use the same name differently.
 */
#include "testbench/app/cli_impl.h"

#include "model/interface/macros.h"
#include "model/interface/rows.h"
#include "model/sim/near_name.h"
#include "model/sim/units.h"
#include "testbench/os/outdir.h"
#include "testbench/perf/points.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	KEY_LONG = 0x100,
	PORT_MAX = 65535,
	JOBS_MAX = 4096,
	SCHEDULES_MAX = 100000000,
	GIVEN_MAX = 256
};
/* A longer path would not leave room for the name of a file in that folder. */
enum { VALUE_MAX = OUTDIR_CHARS - 1 };

/* Sets of commands */
#define IN(command) (1u << CLI_##command)
enum {
	SIMULATES = IN(RUN) | IN(DUMP) | IN(SWEEP) | IN(SERVE) | IN(PERF) | IN(EXPLORE),
};

static const char default_scenario[] = "tour";

static const struct cli_command_row commands[] = {
	{CLI_LIST, "list", "", "list the scenarios: name, two spaces, what it shows", 0, 0},
	{CLI_RUN, "run", "[NAME|FILE.c]",
	 "run a scenario: one of the list (default: tour), or a C file of your own", 0, 1},
	{CLI_CONFIG, "config", "", "print every parameter: unit, default, meaning and source", 0,
	 0},
	{CLI_RULES, "rules", "[RULE]",
	 "print every rule a driver must keep: name, meaning and source; or one rule with an "
	 "example",
	 0, 1},
	{CLI_DUMP, "dump", "NAME --at TIME",
	 "run a scenario and print the device's contexts at TIME, or when it fails", 1, 1},
	{CLI_CHECK, "check", "FILE",
	 "check a trace file: all CRCs and the layout of a .pcapng, the form of a .vcd, .json or "
	 ".records",
	 1, 1},
	{CLI_DIFF, "diff", "A B",
	 "compare two runs: print the first difference, and which stages changed in time", 2, 2},
	{CLI_STAGES, "stages", "DIR|NAME", "print how long each message spent in each stage, in ns",
	 1, 1},
	{CLI_GOLDEN, "golden", "DIR|NAME",
	 "print a run's traces without their times, in the form of traces/golden/", 1, 1},
	{CLI_REPORT, "report", "DIR|NAME",
	 "write DIR/report.html: packet ladder, latencies, throughput, counters", 1, 1},
	{CLI_SWEEP, "sweep", "NAME --vary KEY=V,V",
	 "run a scenario once for every combination of parameter values", 1, 1},
	{CLI_EXPLORE, "explore", "NAME",
	 "run a scenario under many schedules: threads, interrupts and the device overtake each "
	 "other",
	 1, 1},
	{CLI_PERF, "perf", "WORKLOAD [KEY=VALUE,..]",
	 "measure a latency, bandwidth or message rate; --points: compare published figures", 0,
	 1 + PERF_WORDS_MAX},
	{CLI_SERVE, "serve", "--socket PATH",
	 "offer one HCA, or two linked ones, to virtual machines over vfio-user", 0, 0},
	{CLI_CTL, "ctl", "SOCKET COMMAND...",
	 "send a command to a running serve; ctl SOCKET help lists the commands", 2, CLI_WORDS_MAX},
	{CLI_IWARP, "iwarp", "listen PORT|connect ADDRESS PORT [KEY=VALUE...]",
	 "one end of iWARP connections over this machine's TCP, to test the other end; iwarp help "
	 "lists the keys",
	 1, CLI_WORDS_MAX},
	{CLI_HELP, "help", "[COMMAND]", "print this text, or a command's options", 0, 1},
	{CLI_VERSION, "version", "", "print the version", 0, 0},
};

struct given {
	const char *name, *value;
};

struct parse {
	struct cli *cli;
	FILE *err;
	const struct cli_command_row *command;
	const char *args[CLI_WORDS_MAX];
	int nargs;
	struct given given[GIVEN_MAX];
	unsigned givens;
	bool at, help, version, complained;
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
	fprintf(p->err, " (hcasim %s%s--help)\n", p->command ? p->command->word : "",
		p->command ? " " : "");
	return EINVAL;
}

/* --- what each option does; each prints its own error --- */

static error_t append(struct parse *p, const char **list, unsigned *n, unsigned most,
		      const char *what, const char *value)
{
	if (*n == most)
		return complain(p, "expected at most %u %s", most, what);
	list[(*n)++] = value;
	return 0;
}

static error_t number(struct parse *p, const char *option, const char *text, unsigned long least,
		      unsigned long most, unsigned *out)
{
	char *end;
	const unsigned long n = strtoul(text, &end, 10);

	if (*end || end == text || n < least || n > most)
		return complain(p, "%s: expected %lu to %lu, got '%s'", option, least, most, text);
	*out = (unsigned)n;
	return 0;
}

static error_t set_ini(struct parse *p, const char *value)
{
	struct run_options *run = &p->cli->run;

	return append(p, run->ini, &run->inis, RUN_SETTINGS_MAX, "files", value);
}

static error_t set_setting(struct parse *p, const char *value)
{
	struct run_options *run = &p->cli->run;

	return append(p, run->settings, &run->setting_count, RUN_SETTINGS_MAX, "settings", value);
}

static error_t set_output(struct parse *p, const char *value)
{
	p->cli->run.dir = value;
	return *value ? 0 : complain(p, "-o: expected a path, got nothing");
}

static error_t set_gdb(struct parse *p, const char *value)
{
	p->cli->run.gdb = true;
	return number(p, "--fw-gdb", value, 0, PORT_MAX, &p->cli->run.gdb_port);
}

static error_t set_no_dmi(struct parse *p, const char *value)
{
	p->cli->run.no_dmi = true;
	return 0;
}

static error_t set_socket(struct parse *p, const char *value)
{
	struct serve_options *serve = &p->cli->serve;

	return append(p, serve->sockets, &serve->socket_count, SERVE_SOCKETS_MAX, "sockets", value);
}

static error_t set_guest_clock(struct parse *p, const char *value)
{
	struct serve_options *serve = &p->cli->serve;

	return append(p, serve->clocks, &serve->clock_count, SERVE_SOCKETS_MAX, "guest clocks",
		      value);
}

static error_t set_check(struct parse *p, const char *value)
{
	p->cli->serve.check = true;
	return 0;
}

static error_t set_stop_at(struct parse *p, const char *value)
{
	struct serve_options *serve = &p->cli->serve;

	serve->stops_at = true;
	if (cfg_value_parse(CFG_TIME, value, &serve->stop_at_ps))
		return complain(p, "--stop-at: expected %s, got '%s'", cfg_unit_expects(CFG_TIME),
				value);
	return 0;
}

static error_t set_stop_on(struct parse *p, const char *value)
{
	struct serve_options *serve = &p->cli->serve;
	const int rule = guest_rule_find(value);

	if (rule < 0)
		return complain(p, "--stop-on: expected a rule of hcasim rules, got '%s'", value);
	serve->stops_on = true;
	serve->stop_on = (enum guest_rule)rule;
	return 0;
}

static error_t set_at(struct parse *p, const char *value)
{
	p->at = true;
	if (cfg_value_parse(CFG_TIME, value, &p->cli->run.dump_ps))
		return complain(p, "--at: expected %s, got '%s'", cfg_unit_expects(CFG_TIME),
				value);
	return 0;
}

static error_t set_threshold(struct parse *p, const char *value)
{
	if (!compare_threshold_parse(&p->cli->diff, value))
		return complain(p, "--threshold: expected a time, a percentage or none, got '%s'",
				value);
	return 0;
}

static error_t set_classes(struct parse *p, const char *value)
{
	p->cli->diff.classes = run_classes_parse(value);
	return p->cli->diff.classes ? 0 : complain(p, "--only: unknown kind in '%s'", value);
}

static error_t set_by_qp(struct parse *p, const char *value)
{
	p->cli->diff.by_qp = true;
	return 0;
}

static error_t set_form(struct parse *p, const char *value)
{
	static const struct {
		const char *name;
		enum counters_form form;
	} forms[] = {{"text", COUNTERS_TEXT}, {"all", COUNTERS_ALL}, {"json", COUNTERS_JSON}};

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
		if (!value || !strcmp(value, forms[i].name)) {
			p->cli->run.stats = forms[i].form;
			return 0;
		}
	return complain(p, "--stats: expected text, all or json, got '%s'", value);
}

static error_t set_reached(struct parse *p, const char *value)
{
	p->cli->run.reached = true;
	return 0;
}

static error_t set_stats(struct parse *p, const char *value)
{
	p->cli->perf.stats = true;
	p->cli->perf.stats_file = value;
	return 0;
}

static error_t set_jobs(struct parse *p, const char *value)
{
	if (number(p, "-j", value, 1, JOBS_MAX, &p->cli->perf.jobs))
		return EINVAL;
	p->cli->sweep.jobs = p->cli->explore.jobs = p->cli->perf.jobs;
	return 0;
}

static error_t set_schedules(struct parse *p, const char *value)
{
	return number(p, "--schedules", value, 1, SCHEDULES_MAX, &p->cli->explore.schedules);
}

static error_t set_from_start(struct parse *p, const char *value)
{
	p->cli->explore.from_start = true;
	return 0;
}

static error_t set_vary(struct parse *p, const char *value)
{
	struct sweep_options *sweep = &p->cli->sweep;

	return append(p, sweep->vary, &sweep->varies, SWEEP_VARY_MAX, "--vary", value);
}

static error_t set_show(struct parse *p, const char *value)
{
	struct sweep_options *sweep = &p->cli->sweep;

	return append(p, sweep->show, &sweep->shows, SWEEP_SHOW_MAX, "--show", value);
}

static error_t set_list(struct parse *p, const char *value)
{
	p->cli->sweep.how = SWEEP_LIST;
	return 0;
}

static error_t set_collect(struct parse *p, const char *value)
{
	p->cli->sweep.how = SWEEP_COLLECT;
	return 0;
}

static error_t set_iwarp(struct parse *p, const char *value)
{
	p->cli->iwarp_rows = true;
	return 0;
}

static error_t set_matrix(struct parse *p, const char *value)
{
	p->cli->matrix = true;
	return 0;
}

static error_t set_behaviours(struct parse *p, const char *value)
{
	if (value && strcmp(value, "text"))
		return complain(p, "--behaviours: expected text, got '%s'", value);
	p->cli->behaviours = true;
	p->cli->behaviour_texts = value != NULL;
	return 0;
}

static error_t set_verbose(struct parse *p, const char *value)
{
	p->cli->verbose = true;
	return 0;
}

static error_t set_help_form(struct parse *p, const char *value)
{
	static const struct {
		const char *name;
		enum cli_help_form form;
	} forms[] = {{"man", CLI_HELP_MAN}, {"bash", CLI_HELP_BASH}, {"zsh", CLI_HELP_ZSH}};

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
		if (!strcmp(value, forms[i].name)) {
			p->cli->help_form = forms[i].form;
			return 0;
		}
	return complain(p, "--as: expected man, bash or zsh, got '%s'", value);
}

static error_t set_help(struct parse *p, const char *value)
{
	p->help = true;
	return 0;
}

static error_t set_version(struct parse *p, const char *value)
{
	p->version = true;
	return 0;
}

static const struct cli_option_row options[] = {
#define TEXT(member)   NULL, offsetof(struct cli, member)
#define CALL(function) function, 0
	{"config", "FILE.ini", SIMULATES, 'c', CALL(set_ini), "read parameters from an INI file"},
	{"set", "SECTION.KEY=VALUE", SIMULATES, 's', CALL(set_setting),
	 "set one parameter; overrides the files"},
	{"seed", "N", SIMULATES, 0, TEXT(run.seed), "seed of all random numbers"},
	{"trace", "LIST", IN(RUN) | IN(DUMP), 0, TEXT(run.traces),
	 "traces to write: any of log,records,pcapng,vcd,timeline, or none; default: "
	 "log,records,pcapng"},
	{"trace", "LIST", IN(SERVE) | IN(SWEEP), 0, TEXT(run.traces),
	 "traces to write: any of log,records,pcapng,vcd,timeline; default: none"},
	{"output", "DIR", IN(RUN) | IN(DUMP) | IN(SERVE), 'o', CALL(set_output),
	 "folder for the run's files; default: build/traces/NAME, installed: hcasim-traces/NAME"},
	{"output", "FILE.csv", IN(SWEEP), 'o', CALL(set_output),
	 "also write the table as CSV, one row per combination"},
	{"output", "FILE.csv", IN(PERF), 'o', CALL(set_output),
	 "write a CSV: id,workload,published,simulated,unit,error_percent"},
	{"fw", "ELF", SIMULATES, 0, TEXT(run.fw),
	 "firmware to load; default: the one built or installed with hcasim"},
	{"fw-gdb", "PORT", IN(RUN), 0, CALL(set_gdb),
	 "hold the firmware of hca0 until gdb-multiarch connects to this TCP port; 0: a free one"},
	{"fw-gdb", "PORT", IN(SERVE), 0, CALL(set_gdb),
	 "gdb-multiarch can connect to this TCP port at any time, for the firmware of hca0; 0: a "
	 "free one"},
	{"no-dmi", NULL, IN(RUN) | IN(DUMP), 0, CALL(set_no_dmi),
	 "grant no direct memory access (DMI): every DMA is a TLM b_transport call"},
	{"at", "TIME", IN(DUMP), 0, CALL(set_at), "simulated time of the dump, such as 1500us"},
	{"behaviours", "[text]", IN(LIST), 0, CALL(set_behaviours),
	 "list behaviours: id, scenario, and pass, fail or not-run in the last make test; "
	 "=text adds what the id means"},
	{"iwarp", NULL, IN(LIST), 0, CALL(set_iwarp),
	 "list situations of iWARP connection set-up: row, scenario or test, judge, and pass, fail "
	 "or not-run"},
	{"matrix", NULL, IN(LIST), 0, CALL(set_matrix),
	 "list results with the transport of each host in hardware or software (make matrix): "
	 "scenario, hw-hw, hw-sw, sw-hw, sw-sw; pass, fail, refused (what the device lacks) or "
	 "not-run"},
	{"verbose", NULL, IN(CHECK), 'v', CALL(set_verbose), "print one line per packet or record"},
	{"threshold", "TIME|PERCENT|none", IN(DIFF), 0, CALL(set_threshold),
	 "ignore smaller differences of time, such as 10ns or 5%; none: ignore all times"},
	{"only", "LIST", IN(DIFF) | IN(GOLDEN), 0, CALL(set_classes),
	 "take only some of: "
	 "out,in,discards,registers,commands,wqes,completions,events,interrupts,rules,faults"},
	{"only", "ID,...", IN(PERF), 0, TEXT(perf.only),
	 "run only these points; M* means all that begin with M"},
	{"phase", "NAME", IN(STAGES), 0, TEXT(diff.phase),
	 "take only this phase; default: all except bring-up and tear-down"},
	{"phase", "NAME", IN(DIFF) | IN(GOLDEN), 0, TEXT(diff.phase),
	 "take only this phase of the run"},
	{"by-qp", NULL, IN(DIFF), 0, CALL(set_by_qp),
	 "compare packets in the order of each QP instead of the wire's"},
	{"vary", "SECTION.KEY=VALUE,VALUE", IN(SWEEP), 0, CALL(set_vary),
	 "values of a parameter; repeat for further parameters"},
	{"show", "HCA.STAGE.COUNTER", IN(SWEEP), 0, CALL(set_show),
	 "add a counter as a column; HCA is hca0, hca1, or hca for their sum"},
	{"list", NULL, IN(SWEEP), 0, CALL(set_list),
	 "run nothing: print one shell command per combination, for other machines"},
	{"collect", NULL, IN(SWEEP), 0, CALL(set_collect),
	 "run nothing: print the table of the combinations that have run"},
	{"points", "FILE.csv", IN(PERF), 0, TEXT(perf.points),
	 "read measurements: id,profile,workload,params,value,unit,source"},
	{"profile", "NAME", IN(PERF), 0, TEXT(perf.profile),
	 "use configs/NAME.ini, or this file, for all points"},
	{"plot", "DIR", IN(PERF), 0, TEXT(perf.plot),
	 "draw SVG files into this folder (needs gnuplot)"},
	{"stats", "[text|all|json]", IN(RUN) | IN(SERVE), 0, CALL(set_form),
	 "print the counters at the end; all: zeros too; json: only JSON on stdout"},
	{"stats", "[FILE.json]", IN(PERF), 0, CALL(set_stats),
	 "print each point's counters; with a file: write them as JSON, too"},
	{"reached", NULL, IN(RUN), 0, CALL(set_reached),
	 "hcasim-checked: write the driver's functions that ran to reached.txt"},
	{"schedules", "N", IN(EXPLORE), 0, CALL(set_schedules),
	 "how many schedules to run; default: 1000"},
	{"replay", "FILE", IN(EXPLORE), 0, TEXT(explore.replay),
	 "run the schedule of this file alone, with all traces"},
	{"from-start", NULL, IN(EXPLORE), 0, CALL(set_from_start),
	 "explore bring-up as well; default: from the scenario's body on"},
	{"output", "FILE", IN(EXPLORE), 'o', CALL(set_output),
	 "file for the first schedule that fails; default: build/traces/explore/NAME.schedule"},
	{"jobs", "N", IN(PERF) | IN(SWEEP) | IN(EXPLORE), 'j', CALL(set_jobs),
	 "processes at a time; default: one per processor"},
	{"socket", "PATH", IN(SERVE), 0, CALL(set_socket),
	 "UNIX socket of an HCA; give it twice for two linked HCAs; with -s "
	 "hca0.port1.wire=dgram:OWN,PEER its cable leads to another program"},
	{"guest-clock", "PATH", IN(SERVE), 0, CALL(set_guest_clock),
	 "simulated time is the time of the guest at this UNIX socket; twice: a guest for each "
	 "HCA"},
	{"stop-at", "TIME", IN(SERVE), 0, CALL(set_stop_at),
	 "with --guest-clock: hold guests and devices at this time, until hcasim ctl SOCKET go"},
	{"stop-on", "RULE", IN(SERVE), 0, CALL(set_stop_on),
	 "the same at each guest error of this rule"},
	{"check", NULL, IN(SERVE), 0, CALL(set_check),
	 "report what a guest's driver takes back from the device too early, when it does so"},
	{"ctl", "PATH", IN(SERVE), 0, TEXT(serve.ctl), "UNIX socket for hcasim ctl"},
	{"as", "man|bash|zsh", IN(HELP), 0, CALL(set_help_form),
	 "print all help as a man page, or as the completion script of a shell"},
	{"help", NULL, CLI_EVERY_COMMAND, 0, CALL(set_help),
	 "print what the command does, and its options"},
	{"version", NULL, CLI_EVERY_COMMAND, 0, CALL(set_version), "print the version"},
#undef TEXT
#undef CALL
};

const struct cli_command_row *cli_command_row(size_t i)
{
	return i < ARRAY_SIZE(commands) ? &commands[i] : NULL;
}

const struct cli_option_row *cli_option_row(size_t i)
{
	return i < ARRAY_SIZE(options) ? &options[i] : NULL;
}

/* --- the line --- */

static const struct cli_option_row *option_of(const char *name, unsigned commands_of)
{
	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		if (!strcmp(options[i].name, name) && options[i].commands & commands_of)
			return &options[i];
	return NULL;
}

static const struct cli_command_row *command_of(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(commands[i].word, word))
			return &commands[i];
	return NULL;
}

/* Suggests the nearest known name, if one is near. */
static error_t complain_of_name(struct parse *p, const char *what, const struct near_name *near)
{
	if (near->name[0])
		return complain(p, "no %s '%s'; did you mean '%s'?", what, near->wanted,
				near->name);
	return complain(p, "no %s '%s'", what, near->wanted);
}

static error_t no_command(struct parse *p, const char *word)
{
	struct near_name near = {.wanted = word};

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		near_name_try(&near, commands[i].word);
	return complain_of_name(p, "command", &near);
}

static error_t no_option(struct parse *p, const char *word)
{
	struct near_name near = {.wanted = word};
	char name[NEAR_NAME_CHARS];

	for (size_t i = 0; i < ARRAY_SIZE(options) && word[1] == '-'; i++)
		if (!p->command || options[i].commands & 1u << p->command->command) {
			snprintf(name, sizeof(name), "--%s", options[i].name);
			near_name_try(&near, name);
		}
	return complain_of_name(p, "option", &near);
}

static error_t argument(struct parse *p, const char *text)
{
	if (p->command) {
		if (p->nargs == p->command->most)
			return complain(p, "unexpected '%s'", text);
		p->args[p->nargs++] = text;
		return 0;
	}
	p->command = command_of(text);
	return p->command ? 0 : no_command(p, text);
}

static error_t parse_key(int key, char *arg, struct argp_state *state)
{
	struct parse *p = state->input;

	if (arg && strlen(arg) > VALUE_MAX)
		return complain(p, "expected at most %d characters, got %zu: '%.40s...'", VALUE_MAX,
				strlen(arg), arg);
	if (key == ARGP_KEY_ARG)
		return argument(p, arg);
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		if (key != options[i].letter && key != KEY_LONG + (int)i)
			continue;
		if (p->givens == GIVEN_MAX)
			return complain(p, "expected at most %d options", GIVEN_MAX);
		p->given[p->givens++] = (struct given){options[i].name, arg};
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static int apply(struct parse *p)
{
	for (unsigned i = 0; i < p->givens; i++) {
		const struct given *g = &p->given[i];
		const struct cli_option_row *o =
			option_of(g->name, p->command ? 1u << p->command->command : ~0u);

		if (!o)
			return -complain(p, "%s has no option --%s", p->command->word, g->name);
		if (!o->set)
			*(const char **)((char *)p->cli + o->text) = g->value;
		else if (o->set(p, g->value))
			return -EINVAL;
	}
	return 0;
}

static int finish(struct parse *p)
{
	struct cli *cli = p->cli;
	enum cli_command command;

	if (apply(p))
		return -EINVAL;
	if (p->help || p->version) {
		cli->command = p->help ? CLI_HELP : CLI_VERSION;
		cli->file = p->help && p->command ? p->command->word : NULL;
		return 0;
	}
	if (!p->command)
		return -complain(p, "expected a command");
	command = p->command->command;
	if (p->nargs < p->command->least)
		return -complain(p, "%s: expected %s", p->command->word, p->command->arguments);
	if (command == CLI_DUMP && !p->at)
		return -complain(p, "dump: expected --at TIME");
	if (command == CLI_SWEEP && !cli->sweep.varies)
		return -complain(p, "sweep: expected --vary SECTION.KEY=VALUE,VALUE");
	if (command == CLI_SERVE && !cli->serve.socket_count)
		return -complain(p, "serve: expected --socket PATH");
	if (command == CLI_SERVE && cli->serve.clock_count > cli->serve.socket_count)
		return -complain(p, "serve: expected a --socket for each --guest-clock");
	if (command == CLI_SERVE && (cli->serve.stops_at || cli->serve.stops_on) &&
	    !cli->serve.clock_count)
		return -complain(p, "serve: --stop-at and --stop-on need --guest-clock");
	if (command == CLI_PERF && !cli->perf.points == !p->nargs)
		return -complain(p, "perf: expected a workload or --points FILE.csv");
	if (command == CLI_HELP && p->nargs && !command_of(p->args[0]))
		return -no_command(p, p->args[0]);
	if (!cli->run.traces)
		cli->run.traces =
			command == CLI_RUN || command == CLI_DUMP ? "log,records,pcapng" : "none";
	for (int i = 1; i < p->nargs; i++)
		cli->words[cli->word_count++] = p->args[i];
	cli->command = command;
	cli->file = p->args[0];
	cli->perf.workload = p->args[0];
	cli->perf.words = cli->words;
	cli->perf.word_count = cli->word_count;
	cli->diff.a = p->args[0];
	cli->diff.b = p->args[1];
	cli->run.scenario = p->args[0] ? p->args[0] : default_scenario;
	cli->run.dump = p->at;
	return 0;
}

/* argp was told to print nothing: finds the option that does not exist, or has no value. */
static int complain_of_option(struct parse *p, const struct argp_option *rows, int argc,
			      char **argv)
{
	for (int i = 1; i < argc; i++) {
		const size_t len = strcspn(argv[i], "=");
		const struct argp_option *o = rows;

		if (argv[i][0] != '-' || !argv[i][1])
			continue;
		while (o->name && (argv[i][1] == '-' ? strncmp(argv[i] + 2, o->name, len - 2)
						     : argv[i][1] != o->key))
			o++;
		if (!o->name)
			return -no_option(p, argv[i]);
		if (!o->arg || o->flags & OPTION_ARG_OPTIONAL)
			continue;
		if ((argv[i][1] == '-' ? !strchr(argv[i], '=') : !argv[i][2]) && ++i == argc)
			return -complain(p, "'%s' needs a value: %s", argv[i - 1], o->arg);
	}
	return -complain(p, "wrong options");
}

int cli_parse(int argc, char **argv, struct cli *cli, FILE *err)
{
	struct argp_option rows[ARRAY_SIZE(options) + 1] = {{0}};
	const struct argp argp = {.options = rows, .parser = parse_key};
	struct parse p = {.cli = cli, .err = err};
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	const unsigned jobs = cpus > 0 ? (unsigned)cpus : 1;
	size_t n = 0;
	error_t rc;

	*cli = (struct cli){.sweep.jobs = jobs,
			    .perf.jobs = jobs,
			    .explore = {.schedules = 1000, .jobs = jobs, .argv = argv}};
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		const struct cli_option_row *o = &options[i];

		if (option_of(o->name, ~0u) != o)
			continue; /* argp wants each name once */
		rows[n++] = (struct argp_option){
			.name = o->name,
			.key = o->letter ? o->letter : KEY_LONG + (int)i,
			.arg = o->value,
			.flags = o->value && *o->value == '[' ? OPTION_ARG_OPTIONAL : 0};
	}
	rc = argp_parse(&argp, argc, argv,
			ARGP_IN_ORDER | ARGP_NO_ERRS | ARGP_NO_EXIT | ARGP_NO_HELP, NULL, &p);
	if (rc)
		return p.complained ? -EINVAL : complain_of_option(&p, rows, argc, argv);
	return finish(&p);
}
