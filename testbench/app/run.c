/* SPDX-License-Identifier: Apache-2.0 */
/* See run.h. */
#include "testbench/app/run.h"

#include "model/engine/chip/processor.h"
#include "model/interface/macros.h"
#include "model/sim/cfg.h"
#include "model/sim/file.h"
#include "model/wire/wire.h"
#include "testbench/app/catalog.h"
#include "testbench/app/dump.h"
#include "testbench/app/ending.h"
#include "testbench/app/explain.h"
#include "testbench/app/matrix.h"
#include "testbench/dsan/hear/reached.h"
#include "testbench/os/calls.h"
#include "testbench/os/outdir.h"
#include "testbench/os/place.h"
#include "testbench/language/tb.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PATH_CHARS = 4096, ERROR_CHARS = 512 };

struct run {
	const struct run_options *options;
	const struct scenario *scenario;
	struct config config;
	struct outdir dir;
	char fw[PATH_CHARS];
	struct trace *trace;
	struct machine machine;
	struct wires wires;
	struct tb tb;
	struct timespec started;
	uint64_t ended_ps;
	bool right;
};

enum exit_status run_output_status(enum exit_status status)
{
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	fprintf(stderr, "hcasim: standard output: %s\n", strerror(errno ? errno : EIO));
	return status == EXIT_INPUT ? status : EXIT_FAILED;
}

/* --- inputs: nothing is written before all of them are right --- */

static int find_scenario(struct run *run)
{
	const char *name = run->options->scenario;
	size_t len = strlen(name);

	run->scenario = catalog_find(name);
	if (run->scenario)
		return 0;
	if (len > 2 && !strcmp(name + len - 2, ".c"))
		return catalog_load(name, &run->scenario, stderr);
	catalog_complain(name, stderr);
	return -ENOENT;
}

static int configure(struct run *run)
{
	const struct run_options *o = run->options;
	int rc = 0;

	cfg_defaults(&run->config);
	for (size_t i = 0; i < ARRAY_SIZE(run->scenario->setup.settings) && !rc; i++)
		if (run->scenario->setup.settings[i])
			rc = cfg_set(&run->config, run->scenario->setup.settings[i],
				     run->scenario->name, stderr);
	for (size_t i = 0; i < o->inis && !rc; i++)
		rc = cfg_load_ini(&run->config, o->ini[i], stderr);
	for (size_t i = 0; i < o->setting_count && !rc; i++)
		rc = cfg_set(&run->config, o->settings[i], "-s", stderr);
	if (!rc && o->seed) {
		char seed[64];

		snprintf(seed, sizeof(seed), "sim.seed=%s", o->seed);
		rc = cfg_set(&run->config, seed, "--seed", stderr);
	}
	return rc ? rc : wires_suit(&run->config, stderr);
}

static int find_paths(struct run *run)
{
	const struct run_options *o = run->options;
	char runs[PATH_CHARS - 64];
	int rc = place_firmware(o->fw, run->fw, sizeof(run->fw));

	if (rc)
		return rc;
	if (o->dir) {
		outdir_name(&run->dir, "%s", o->dir);
		return 0;
	}
	rc = place_runs(runs, sizeof(runs));
	if (!rc)
		outdir_name(&run->dir, "%s/%s", runs, run->scenario->name);
	return rc;
}

static int note_reached(const struct run *run)
{
	const int rc = run->options->reached ? reached_begin() : 0;

	if (rc)
		fprintf(stderr, "hcasim: --reached %s\n",
			rc == -ENOTSUP ? "needs the program hcasim-checked" : strerror(-rc));
	return rc;
}

static bool has_files(const struct run *run)
{
	const struct run_options *o = run->options;

	return !o->dump && (!o->schedule || o->schedule->files);
}

static void wire_says(void *arg, const char *line)
{
	struct run *run = arg;

	fprintf(run->tb.account, "  %.6f us hca0 %s\n", (double)run->machine.core.now_ps / 1e6,
		line);
}

static int connect_wires(struct run *run)
{
	const struct wires_env env = {.near = host_hca(run->machine.hosts[0]),
				      .far = host_hca(run->machine.hosts[1]),
				      .core = &run->machine.core,
				      .plan = &run->machine.plan,
				      .say = wire_says,
				      .arg = run};

	return wires_wanted(&run->config) ? wires_open(&run->wires, &env, &run->config, stderr) : 0;
}

static int make_machine(struct run *run)
{
	const struct machine_options options = {
		.config = &run->config,
		.fw_path = run->fw,
		.trace = run->trace,
		.no_dmi = run->options->no_dmi,
		.explorer = run->options->schedule ? run->options->schedule->explorer : NULL,
	};
	const char *lacks = matrix_lacks(run->scenario, &run->config);
	char err[ERROR_CHARS];
	int rc;

	if (lacks) {
		fprintf(stderr, "hcasim: %s: a device of personality ipath has no %s\n",
			run->scenario->name, lacks);
		return -EINVAL;
	}
	rc = machine_create(&run->machine, &options, err, sizeof(err));
	if (rc) {
		fprintf(stderr, "hcasim: %s\n", err);
		return rc;
	}
	rc = tb_create(&run->tb, run->scenario, &run->machine, run->trace, &run->config);
	if (run->options->schedule) {
		run->tb.on_begin = run->options->schedule->begin;
		run->tb.on_begin_arg = run->options->schedule->arg;
	}
	if (has_files(run) && !run->options->schedule && !run->options->gdb)
		explain_prepare(&run->tb, run->options, run->dir.path);
	if (run->options->stats == COUNTERS_JSON)
		run->tb.account = stderr;
	if (rc)
		fprintf(stderr, "hcasim: %s\n", strerror(-rc));
	return rc ? rc : connect_wires(run);
}

/* --- files --- */

static int write_file(struct run *run, const char *name, int (*write)(struct run *run, FILE *out))
{
	char path[PATH_CHARS];
	struct file_out f;
	int rc;

	if (!has_files(run))
		return 0;
	outdir_file(&run->dir, name, path, sizeof(path));
	rc = file_create(&f, path, stderr);
	return rc ? rc : file_finish(&f, write(run, f.out), stderr);
}

static int write_config(struct run *run, FILE *out)
{
	return cfg_save(&run->config, out);
}

static int write_stats(struct run *run, FILE *out)
{
	return tb_stats_write(&run->tb, out);
}

static int write_reached(struct run *run, FILE *out)
{
	return reached_write(out);
}

static int write_account(struct run *run, FILE *out)
{
	return tb_account_write(&run->tb, run->right, out);
}

static int open_files(struct run *run)
{
	const char *list = run->options->traces;
	int rc;

	if (!has_files(run))
		return 0;
	rc = outdir_create(&run->dir, stderr);
	if (rc)
		return rc;
	trace_snap(run->trace, (uint32_t)run->config.sim.pcapng_snaplen);
	if (strcmp(list, "none") && *list) {
		rc = trace_open(run->trace, list, run->dir.path, stderr);
		if (rc)
			return rc;
	}
	return write_file(run, "config.ini", write_config);
}

/* --- the run --- */

static bool judge_end(struct run *run, enum kernel_end end)
{
	struct tb *tb = &run->tb;

	if (end == KERNEL_FAILED) {
		fprintf(stderr, "hcasim: %s failed: SystemC reported what stands above\n",
			run->scenario->name);
		return false;
	}
	if (ending_asked()) {
		tb_interrupted(tb);
		return false;
	}
	if (tb->done || run->options->dump)
		return !tb->failed;
	tb->timed_out = true;
	if (end == KERNEL_STARVED)
		tb_fail(tb, tb->here, "this call to return",
			"no event is left, so it would wait for ever");
	else
		tb_fail(tb, tb->here, "the scenario to end before sim.time_limit", NULL);
	return false;
}

static int print_stats(struct run *run)
{
	const struct hca *hcas[MACHINE_HOSTS];

	return counters_print(hcas, tb_devices(&run->tb, hcas), run->options->stats, stdout);
}

static void print_files(struct run *run, bool right)
{
	static const char *const names[] = {"packets.pcapng", "run.log",       "run.records",
					    "waves.vcd",      "timeline.json", "config.ini",
					    "stats.json",     "run.json",      "reached.txt"};
	struct timespec now;
	char path[PATH_CHARS];
	const char *label = "files";

	clock_gettime(CLOCK_MONOTONIC, &now);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		outdir_file(&run->dir, names[i], path, sizeof(path));
		if (access(path, R_OK))
			continue;
		fprintf(run->tb.account, "  %-10s %s\n", label, path);
		label = "";
	}
	fprintf(run->tb.account, "%s: %s, %.6f s simulated in %.2f s\n", run->scenario->name,
		right            ? "passed"
		: ending_asked() ? "interrupted"
				 : "FAILED",
		(double)run->ended_ps / 1e12,
		(double)(now.tv_sec - run->started.tv_sec) +
			(double)(now.tv_nsec - run->started.tv_nsec) / 1e9);
}

/* The command that repeats this run. */
static void print_again(const struct run *run)
{
	const struct run_options *o = run->options;
	char self[PATH_CHARS];

	fprintf(stderr, "  again:    %s run %s --seed %" PRIu64,
		place_executable(self, sizeof(self)) ? "hcasim" : self, o->scenario,
		run->config.sim.sim_seed);
	for (size_t i = 0; i < o->inis; i++)
		fprintf(stderr, " -c %s", o->ini[i]);
	for (size_t i = 0; i < o->setting_count; i++)
		fprintf(stderr, " -s %s", o->settings[i]);
	if (o->fw)
		fprintf(stderr, " --fw %s", o->fw);
	fprintf(stderr, "%s\n", o->no_dmi ? " --no-dmi" : "");
}

/* A scenario that runs with other values than it asks for may fail for that reason alone. */
static void print_overridden(const struct run *run)
{
	const char *const *asked = run->scenario->setup.settings;
	struct config *as_asked = malloc(sizeof(*as_asked));

	for (size_t i = 0; as_asked && i < ARRAY_SIZE(run->scenario->setup.settings); i++) {
		if (!asked[i])
			continue;
		*as_asked = run->config;
		if (!cfg_set(as_asked, asked[i], run->scenario->name, stderr) &&
		    memcmp(as_asked, &run->config, sizeof(*as_asked)))
			fprintf(stderr,
				"  note:     %s asks for %s, and this run has another value\n",
				run->scenario->name, asked[i]);
	}
	free(as_asked);
}

static enum exit_status execute(struct run *run)
{
	enum kernel_end end;
	struct dump dump;
	bool right;
	int rc;

	run->tb.progress = isatty(STDERR_FILENO) && !run->options->schedule;
	if (run->options->dump)
		dump_at(&dump, &run->tb, run->options->dump_ps);
	kernel_thread_start(run->machine.kernel, "scenario", tb_run, &run->tb);
	ending_watch(&run->tb, run->options->gdb);
	calls_outside_begin(__builtin_frame_address(0));
	end = machine_run(&run->machine);
	ending_forget();
	right = judge_end(run, end);
	run->ended_ps = run->machine.core.now_ps;
	tb_progress_clear(&run->tb);
	if (run->options->dump) {
		if (!dump.done && !ending_asked())
			fprintf(stderr, "hcasim: --at: %s ended earlier, at %" PRIu64 "ps\n",
				run->scenario->name, run->ended_ps);
		/* host threads are still in the middle of their work: do not free anything */
		ending_raise();
		fflush(NULL);
		_exit(dump.done ? run_output_status(EXIT_RIGHT) : EXIT_INPUT);
	}
	if (run->options->schedule)
		run->options->schedule->end(&run->tb, right);
	if (!run->tb.done) /* a phase is still open */
		tb_phase_end(&run->tb);
	run->right = right;
	rc = write_file(run, "stats.json", write_stats);
	if (!rc)
		rc = write_file(run, "run.json", write_account);
	if (!rc && run->options->reached)
		rc = write_file(run, "reached.txt", write_reached);
	if (right) {
		tb_account_print(&run->tb);
	} else if (!ending_asked()) {
		print_again(run);
		print_overridden(run);
	}
	if (!rc)
		rc = print_stats(run);
	return right && !rc ? EXIT_RIGHT : EXIT_FAILED;
}

static int wait_debugger(const struct run *run)
{
	struct hca *hca = host_hca(run->machine.hosts[0]);
	const int port = processor_debug(hca, run->options->gdb_port);
	int rc;

	if (port < 0)
		return port;
	fprintf(stderr, "hcasim: waiting for gdb-multiarch -ex 'target remote :%d' %s\n", port,
		run->fw);
	rc = processor_debug_wait(hca);
	if (rc)
		fprintf(stderr, "hcasim: --fw-gdb %d: %s\n", port, strerror(-rc));
	return rc;
}

static enum exit_status run_machine(struct run *run)
{
	enum exit_status status = EXIT_INPUT;
	int rc;

	if (make_machine(run))
		return EXIT_INPUT;
	if ((run->options->gdb && wait_debugger(run)) || open_files(run)) {
		outdir_undo(&run->dir);
		goto destroy;
	}
	status = execute(run);
destroy:
	/* errors that the machine reports during tear-down are not part of the run */
	trace_listen(run->trace, 0);
	wires_close(&run->wires);
	machine_destroy(&run->machine);
	rc = trace_close(run->trace);
	run->trace = NULL;
	if (rc && status == EXIT_RIGHT)
		status = EXIT_FAILED;
	if (status == EXIT_INPUT)
		outdir_undo(&run->dir);
	else if (has_files(run))
		print_files(run, status == EXIT_RIGHT);
	tb_destroy(&run->tb);
	ending_raise();
	if (status != EXIT_INPUT && !run->tb.done) {
		/* the run was cut short, and the memory of the drivers is not freed: skip the
		 * checks for leaks at exit */
		fflush(NULL);
		_exit(status);
	}
	return status;
}

enum exit_status run_scenario(const struct run_options *options)
{
	struct run *run = calloc(1, sizeof(*run));
	enum exit_status status = EXIT_INPUT;

	if (!run) {
		fprintf(stderr, "hcasim: out of memory\n");
		return EXIT_FAILED;
	}
	run->options = options;
	clock_gettime(CLOCK_MONOTONIC, &run->started);
	if (find_scenario(run) || configure(run) || find_paths(run) || note_reached(run))
		goto out;
	run->trace = trace_create();
	if (!run->trace) {
		fprintf(stderr, "hcasim: out of memory\n");
		goto out;
	}
	status = run_machine(run);
	if (run->trace)
		trace_close(run->trace);
out:
	free(run);
	return status;
}
