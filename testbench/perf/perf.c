/* SPDX-License-Identifier: Apache-2.0 */
/* See perf.h. */
#include "testbench/perf/perf.h"

#include "testbench/os/child.h"
#include "testbench/os/outdir.h"
#include "testbench/perf/plot.h"
#include "testbench/perf/report.h"
#include "testbench/perf/row.h"
#include "testbench/perf/workloads.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct job {
	pid_t pid;
	int fd;
	struct perf_result *result;
};

struct pool {
	const struct perf_row_options *row;
	struct job *jobs;
	unsigned room, running;
	size_t done, total;
	bool progress;
};

static void progress(struct pool *pool)
{
	if (pool->progress)
		fprintf(stderr, "\r%zu of %zu points", pool->done, pool->total);
	if (pool->progress && pool->done == pool->total)
		fprintf(stderr, "\r%40s\r", "");
}

static int job_start(struct pool *pool, struct perf_result *result)
{
	struct job *job = &pool->jobs[pool->running];
	int fds[2];

	if (pipe(fds))
		return -errno;
	fflush(NULL);
	job->pid = child_start();
	if (job->pid < 0) {
		int rc = -errno;

		close(fds[0]);
		close(fds[1]);
		return rc;
	}
	if (!job->pid) {
		close(fds[0]);
		perf_row_run(result->point, pool->row, fds[1]);
	}
	close(fds[1]);
	job->fd = fds[0];
	job->result = result;
	pool->running++;
	return 0;
}

/* Reads the answer of a process: a double, then its counters. */
static void job_read(struct job *job)
{
	FILE *in = fdopen(job->fd, "r");
	size_t size = 0;

	if (!in) {
		close(job->fd);
		return;
	}
	if (fread(&job->result->simulated, sizeof(double), 1, in) == 1 &&
	    getdelim(&job->result->stats, &size, 0, in) > 0)
		job->result->valid = isfinite(job->result->simulated);
	fclose(in);
}

static int job_end(struct pool *pool)
{
	int status;
	const pid_t pid = child_wait(0, &status);

	if (pid < 0)
		return pid;
	for (unsigned i = 0; i < pool->running; i++) {
		struct job *job = &pool->jobs[i];

		if (job->pid != pid)
			continue;
		job_read(job);
		if (!WIFEXITED(status) || WEXITSTATUS(status))
			job->result->valid = false;
		if (WIFSIGNALED(status))
			fprintf(stderr, "%s:%u: %s: ended by signal %d\n", job->result->point->file,
				job->result->point->line, job->result->point->id, WTERMSIG(status));
		pool->done++;
		*job = pool->jobs[--pool->running];
		break;
	}
	progress(pool);
	return 0;
}

static int run_all(struct perf_results *results, const struct perf_row_options *row, unsigned jobs)
{
	struct pool pool = {
		.row = row,
		.room = jobs,
		.total = results->count,
		.progress = isatty(STDERR_FILENO),
	};
	int rc = 0;

	pool.jobs = calloc(pool.room, sizeof(*pool.jobs));
	if (!pool.jobs)
		return -ENOMEM;
	children_begin();
	for (size_t i = 0; i < results->count && !rc; i++) {
		if (pool.running == pool.room)
			rc = job_end(&pool);
		if (!rc)
			rc = job_start(&pool, &results->results[i]);
	}
	while (pool.running && !job_end(&pool))
		;
	children_end();
	free(pool.jobs);
	return rc;
}

static bool is_wanted(const char *only, const char *id)
{
	const size_t len = strlen(id);

	if (!only)
		return true;
	for (const char *at = only; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		const size_t n = strcspn(at, ",");

		if (n && at[n - 1] == '*' ? n - 1 <= len && !strncmp(at, id, n - 1)
					  : n == len && !strncmp(at, id, n))
			return true;
	}
	return false;
}

static int choose(struct perf_results *results, const struct perf_points *points, const char *only)
{
	results->results = calloc(points->count, sizeof(*results->results));
	if (!results->results)
		return -ENOMEM;
	for (size_t i = 0; i < points->count; i++)
		if (is_wanted(only, points->points[i].id))
			results->results[results->count++].point = &points->points[i];
	if (results->count)
		return 0;
	fprintf(stderr, "hcasim: --only %s: no such point in %s\n", only, points->file);
	return -ENOENT;
}

static enum exit_status report(const struct perf_results *results, const struct run_options *run,
			       const struct perf_options *options)
{
	int rc = 0;

	perf_table_print(results, stdout);
	perf_means_print(results, stdout);
	if (options->stats)
		perf_stats_print(results, stdout);
	if (run->dir)
		rc = perf_file_write(results, run->dir, perf_csv_write, stderr);
	if (!rc && options->stats_file)
		rc = perf_file_write(results, options->stats_file, perf_stats_write, stderr);
	if (!rc && options->plot)
		rc = perf_plot(results, options->plot, stderr);
	for (size_t i = 0; i < results->count && !rc; i++)
		if (!results->results[i].valid)
			rc = -EIO;
	return rc ? EXIT_FAILED : EXIT_RIGHT;
}

enum exit_status perf(const struct run_options *run, const struct perf_options *options)
{
	const struct perf_row_options row = {.run = run, .profile = options->profile};
	struct perf_results results = {.count = 0};
	enum exit_status status = EXIT_INPUT;
	struct perf_points points;

	if (options->points ? perf_points_load(&points, options->points, stderr)
			    : perf_points_ask(&points, options->workload, options->words,
					      options->word_count, stderr))
		return EXIT_INPUT;
	if (choose(&results, &points, options->only))
		goto out;
	if ((run->dir && outdir_file_check(run->dir, stderr)) ||
	    (options->stats_file && outdir_file_check(options->stats_file, stderr)))
		goto out;
	for (size_t i = 0; i < results.count; i++)
		if (perf_row_check(results.results[i].point, &row))
			goto out;
	if (run_all(&results, &row, options->jobs))
		status = EXIT_FAILED;
	else
		status = report(&results, run, options);
out:
	for (size_t i = 0; i < results.count; i++)
		free(results.results[i].stats);
	free(results.results);
	perf_points_free(&points);
	return status;
}

void perf_help(FILE *out)
{
	fprintf(out, "\nworkloads\n");
#define W(name, quantity, many, run, meaning) fprintf(out, "  %-18s %s\n", #name, meaning);
	PERF_WORKLOADS(W)
#undef W
	fprintf(out, "\nkeys; several values (KEY=A,B) measure every combination\n");
#define N(name, meaning)                                                                           \
	fprintf(out, "  %-18s %s\n", strcmp(#name, "inlined") ? #name : "inline", meaning);
	PERF_NUMBERS(N)
#undef N
	fprintf(out, "  %-18s %s\n  %-18s %s\n  %-18s %s\n", "op",
		"of a rate: write, read, send, fetch_add or cmp_swap", "transport", "rc, uc or ud",
		"SECTION.KEY", "a parameter of the simulation");
}
