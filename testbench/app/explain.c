// SPDX-License-Identifier: Apache-2.0
/* See explain.h. */
#define _GNU_SOURCE
#include "testbench/app/explain.h"

#include "model/interface/rows.h"
#include "model/sim/cfg.h"
#include "testbench/dsan/hear/callout.h"
#include "testbench/language/tb.h"
#include "testbench/os/child.h"
#include "testbench/os/outdir.h"
#include "testbench/os/place.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	PATH_CHARS = 4096,
	SEED_CHARS = 24,
	ARGUMENTS = 2 * RUN_SETTINGS_MAX + 32, /* -s and -c each have a value */
	SECONDS = 60,                          /* a driver that loops may never end */
};

/* One process runs one scenario. */
static struct {
	const struct run_options *options;
	char program[PATH_CHARS];
	const char *dir; /* of the first run */
} second;

/* The arguments of this run, with its seed and a folder of its own. */
static void arguments_of(const struct run_options *o, const char *seed, const char *dir,
			 const char **argv)
{
	size_t n = 0;

	argv[n++] = second.program;
	argv[n++] = "run";
	argv[n++] = o->scenario;
	argv[n++] = "--seed";
	argv[n++] = seed;
	argv[n++] = "--trace";
	argv[n++] = "none";
	argv[n++] = "-o";
	argv[n++] = dir;
	for (unsigned i = 0; i < o->inis && n + 8 < ARGUMENTS; i++) {
		argv[n++] = "-c";
		argv[n++] = o->ini[i];
	}
	for (unsigned i = 0; i < o->setting_count && n + 8 < ARGUMENTS; i++) {
		argv[n++] = "-s";
		argv[n++] = o->settings[i];
	}
	if (o->fw) {
		argv[n++] = "--fw";
		argv[n++] = o->fw;
	}
	if (o->no_dmi)
		argv[n++] = "--no-dmi";
	argv[n] = NULL;
}

static void child_run(const char *const *argv, FILE *said)
{
	if (dup2(fileno(said), STDERR_FILENO) < 0 || !freopen("/dev/null", "w", stdout))
		_exit(EXIT_FAILED);
	signal(SIGALRM, SIG_DFL);
	alarm(SECONDS);
	execv(argv[0], (char *const *)argv);
	_exit(EXIT_FAILED);
}

/* What the second run printed about guest errors: the lines before the one that says what failed. */
static char *guest_errors_of(FILE *said, const char *scenario)
{
	const char *unexplained = guest_rules[RULE_call_unexplained].name;
	char *line = NULL, *text = NULL, *failed;
	size_t capacity = 0, size;
	FILE *out = open_memstream(&text, &size);
	bool any = false;

	if (!out)
		return NULL;
	if (asprintf(&failed, ": %s failed at ", scenario) < 0)
		failed = NULL;
	while (failed && getline(&line, &capacity, said) >= 0 && !strstr(line, failed)) {
		any = any || !strncmp(line, "guest error ", strlen("guest error ")) ||
		      !strncmp(line, unexplained, strlen(unexplained));
		if (any)
			fputs(line, out);
	}
	fprintf(out, "so says the checker of the driver, which has repeated this run\n");
	free(failed);
	free(line);
	fclose(out);
	if (any)
		return text;
	free(text);
	return NULL;
}

/* Waits until it has ended. false: it could not be started, or the user has asked to end. */
static bool run_again(const struct tb *tb, const char *dir, FILE *said)
{
	const char *argv[ARGUMENTS];
	char seed[SEED_CHARS];
	int status;
	pid_t pid;
	bool ended;

	snprintf(seed, sizeof(seed), "%" PRIu64, tb->config->sim.sim_seed);
	arguments_of(second.options, seed, dir, argv);
	fflush(NULL);
	children_begin();
	pid = child_start();
	if (!pid)
		child_run(argv, said);
	ended = pid > 0 && child_wait(pid, &status) == pid;
	children_end();
	return ended;
}

static char *explain(const struct tb *tb)
{
	FILE *said = tmpfile();
	struct outdir dir;
	char *text = NULL;

	if (!said)
		return NULL;
	outdir_name(&dir, "%s/checked", second.dir);
	if (!outdir_create(&dir, stderr)) {
		outdir_release(&dir);
		if (run_again(tb, dir.path, said)) {
			rewind(said);
			text = guest_errors_of(said, tb->scenario->name);
		}
		outdir_undo(&dir);
	}
	fclose(said);
	return text;
}

void explain_prepare(struct tb *tb, const struct run_options *options, const char *dir)
{
	if (callouts_built() ||
	    place_executable(second.program, sizeof(second.program) - sizeof("-checked")))
		return;
	strcat(second.program, "-checked");
	if (access(second.program, X_OK))
		return;
	second.dir = dir;
	second.options = options;
	tb->explain = explain;
}
