// SPDX-License-Identifier: Apache-2.0
/* See explore.h. */
#include "testbench/app/explore_impl.h"

#include "model/sim/cfg.h"
#include "model/sim/file.h"
#include "testbench/app/ending.h"
#include "testbench/dsan/hear/callout.h"
#include "testbench/explore/plan.h"
#include "testbench/os/child.h"
#include "testbench/os/place.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
	NOTES_ROOM = 4 << 20, /* address space only, until it is used */
	WALL_FACTOR = 50,     /* of the undisturbed run's time */
	WALL_LEAST_S = 20,
	SHORTER_TRIES = 6,
};

/* A schedule that runs in a child. */
struct running {
	pid_t pid;
	unsigned number; /* 0: this place is free */
	struct schedule schedule;
};

/* --- one schedule --- */

static double wall_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void interrupted(void)
{
	ending_forget();
	children_end();
	_exit(EXIT_FAILED);
}

/* Runs a schedule alone. Returns in the child, too, with *child true. */
static bool try_schedule(struct search *s, const struct schedule *schedule, struct outcome *v,
			 bool *child)
{
	const pid_t pid = explore_child_start(s, schedule, v);
	int status = 0;

	*child = !pid;
	if (!pid)
		return true;
	if (pid < 0) {
		perror("hcasim: fork");
		_exit(EXIT_FAILED);
	}
	if (child_wait(pid, &status) < 0)
		interrupted();
	return explore_child_judge(s, v, status);
}

/* --- all schedules --- */

static void progress(const struct search *s, unsigned done)
{
	if (isatty(STDERR_FILENO) && done % 10 == 0)
		fprintf(stderr, "\r\033[K%u of %u schedules", done, s->options->schedules);
}

static struct running *running_of(struct running *all, unsigned jobs, pid_t pid)
{
	for (unsigned i = 0; i < jobs; i++)
		if (all[i].number && all[i].pid == pid)
			return &all[i];
	return NULL;
}

/* Starts the next schedule in a free place. Returns true in the child. */
static bool start_next(struct search *s, const struct plan *plan, struct running *all,
		       struct schedule schedule, unsigned number)
{
	struct running *r = all;

	while (r->number)
		r++;
	plan_schedule(plan, number, &schedule);
	r->schedule = schedule;
	r->pid = explore_child_start(s, &schedule, &s->verdicts[r - all]);
	if (r->pid < 0) {
		perror("hcasim: fork");
		_exit(EXIT_FAILED);
	}
	r->number = number;
	return !r->pid;
}

/*
 * Runs all schedules, until one fails. Those before a failing one have all run then, so which one is
 * the first does not depend on how many run at a time. Returns its number with *failing and its
 * verdict; 0: none failed. *child: this is a child.
 */
static unsigned run_all(struct search *s, const struct plan *plan, struct schedule *failing,
			struct outcome *verdict, bool *child)
{
	const unsigned jobs = s->options->jobs;
	struct running *all = calloc(jobs, sizeof(*all));
	unsigned next = 1, busy = 0, done = 0, first = 0;
	const struct schedule base = *failing;

	while (busy || (next <= s->options->schedules && !first)) {
		struct running *r;
		int status;
		pid_t pid;

		if (busy < jobs && next <= s->options->schedules && !first) {
			if (start_next(s, plan, all, base, next)) {
				*child = true;
				break;
			}
			next++;
			busy++;
			continue;
		}
		pid = child_wait(0, &status);
		if (pid < 0)
			interrupted();
		r = running_of(all, jobs, pid);
		if (!r)
			continue;
		if (!explore_child_judge(s, &s->verdicts[r - all], status) &&
		    (!first || r->number < first)) {
			first = r->number;
			*failing = r->schedule;
			*verdict = s->verdicts[r - all];
		}
		s->unclear += s->verdicts[r - all].unclear;
		r->number = 0;
		busy--;
		progress(s, ++done);
	}
	free(all);
	return first;
}

/* --- shrinking --- */

static struct schedule without(const struct schedule *s, unsigned turn)
{
	struct schedule less = *s;

	memmove(&less.turns[turn], &less.turns[turn + 1],
		(less.n - turn - 1) * sizeof(less.turns[0]));
	less.n--;
	return less;
}

/* Leaves out each turn, and makes each hold shorter, as long as the run fails still. */
static void shrink(struct search *s, struct schedule *failing, struct outcome *verdict, bool *child)
{
	struct outcome *v = &s->verdicts[0];

	for (unsigned i = failing->n; i-- > 0 && failing->n > 1;) {
		const struct schedule less = without(failing, i);

		if (!try_schedule(s, &less, v, child)) {
			*failing = less;
			*verdict = *v;
		}
		if (*child)
			return;
	}
	for (unsigned i = 0; i < failing->n; i++) {
		for (unsigned tries = 0; tries < SHORTER_TRIES; tries++) {
			struct schedule less = *failing;

			less.turns[i].ps /= 2;
			if (try_schedule(s, &less, v, child))
				break;
			*failing = less;
			*verdict = *v;
		}
		if (*child)
			return;
	}
}

/* --- what is said --- */

static int save(const struct search *s, const struct schedule *schedule, const struct outcome *v)
{
	struct file_out f;
	int rc = file_create(&f, s->path, stderr);

	if (rc)
		return rc;
	rc = schedule_write(schedule, f.out);
	fprintf(f.out, "# %s\n", v->failure);
	return file_finish(&f, rc, stderr);
}

static const char *again(const struct search *s, char *buf, size_t size)
{
	char self[2048];

	if (place_executable(self, sizeof(self)))
		strcpy(self, "hcasim");
	snprintf(buf, size, "%s explore %s --replay %s", self, s->run->scenario, s->path);
	return buf;
}

static void tell_failure(struct search *s, unsigned number, unsigned turns,
			 const struct schedule *failing, const struct outcome *v)
{
	char place[256] = "no schedule at all", command[3 * OUTDIR_CHARS];

	printf("%s: schedule %u of %u failed, shrunk from %u turns to %u:\n", s->run->scenario,
	       number, s->options->schedules, turns, failing->n);
	explore_tell_turns(failing, v->struck, stdout);
	for (unsigned i = 0; i < failing->n; i++)
		if (v->struck[i].yes)
			explore_place(&v->struck[i], place, sizeof(place));
	printf("  failure: %s\n", v->failure);
	if (!save(s, failing, v))
		printf("  again:   %s\n", again(s, command, sizeof(command)));
	printf("explore %s: FAILED in schedule %u, held in %s: %s\n", s->run->scenario, number,
	       place, v->failure);
}

static void tell_success(const struct search *s, const struct plan *plan, double seconds)
{
	struct plan_size size;

	plan_measure(plan, s->options->schedules, &size);
	printf("%s: %zu points in %zu places of the driver, %zu parties\n", s->run->scenario,
	       size.points, size.places, size.parties);
	printf("  places that come before a conflicting access of the device: %zu, held until "
	       "after "
	       "it: %zu\n",
	       size.conflicts, size.reversed);
	printf("  places that come after a write of the device: %zu, the write held until after "
	       "them: "
	       "%zu\n",
	       size.follow, size.preceded);
	printf("  places that let other threads go on before an interrupt or a sleep: %zu, held "
	       "until it is over: %zu\n",
	       size.yield, size.yielded);
	printf("  bound (PCT): a random schedule finds a mistake of depth 2 with 1 in %.0f, of "
	       "depth "
	       "3 with 1 in %.0f\n",
	       size.depth_2, size.depth_3);
	if (s->unclear)
		printf("  not judged: %u schedules, because the scenario goes by times\n",
		       s->unclear);
	printf("explore %s: passed, %u schedules in %.1f s\n", s->run->scenario,
	       s->options->schedules, seconds);
}

/* --- the search --- */

/* The run that nobody disturbs, whose points the plan is made of. */
static bool undisturbed(struct search *s, const struct schedule *base, bool *child)
{
	const double begin = wall_s();
	struct outcome *v = &s->verdicts[0];
	bool right;

	s->explorer.notes = s->notes;
	s->wall_s = 0;
	right = try_schedule(s, base, v, child);
	if (*child)
		return true;
	s->explorer.notes = NULL;
	s->wall_s = WALL_LEAST_S + (unsigned)((wall_s() - begin) * WALL_FACTOR);
	if (!right)
		printf("explore %s: FAILED without any schedule: %s\n", s->run->scenario,
		       v->failure);
	return right;
}

/* Returns in children only. */
static void search(struct search *s, const struct schedule *base)
{
	const double begin = wall_s();
	enum exit_status status = EXIT_FAILED;
	struct schedule failing = *base;
	struct outcome verdict;
	struct plan *plan;
	unsigned number, turns;
	bool child = false;

	children_begin();
	if (!undisturbed(s, base, &child))
		goto end;
	if (child)
		return;
	plan = plan_make(s->notes, base->sim_seed);
	if (!plan) {
		fprintf(stderr, "hcasim: out of memory\n");
		goto end;
	}
	number = run_all(s, plan, &failing, &verdict, &child);
	if (child)
		return;
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K");
	if (!number) {
		tell_success(s, plan, wall_s() - begin);
		status = EXIT_RIGHT;
		goto end;
	}
	turns = failing.n;
	shrink(s, &failing, &verdict, &child);
	if (child)
		return;
	tell_failure(s, number, turns, &failing, &verdict);
end:
	children_end();
	ending_forget();
	_exit(run_output_status(status));
}

static void begin_search(struct tb *tb, bool body)
{
	struct search *s = tb->on_begin_arg;
	struct schedule base = {.sim_seed = tb->config->sim.sim_seed,
				.from_start = s->options->from_start};

	if (body == base.from_start)
		return;
	snprintf(base.scenario, sizeof(base.scenario), "%s", s->run->scenario);
	search(s, &base);
}

static void end_search(struct tb *tb, bool right)
{
	explore_child_end(tb->on_begin_arg, tb, right);
}

/* --- replay --- */

static void begin_replay(struct tb *tb, bool body)
{
	struct search *s = tb->on_begin_arg;

	if (body != s->explorer.schedule.from_start)
		explorer_begin(&s->explorer);
}

static void end_replay(struct tb *tb, bool right)
{
	struct search *s = tb->on_begin_arg;

	printf("%s: the schedule of %s:\n", s->run->scenario, s->options->replay);
	explore_tell_turns(&s->explorer.schedule, s->explorer.struck, stdout);
	printf("explore %s: %s%s\n", s->run->scenario, right ? "passed" : "FAILED: ", tb->failure);
}

static enum exit_status replay(struct search *s)
{
	const struct run_schedule follow = {.explorer = &s->explorer,
					    .begin = begin_replay,
					    .end = end_replay,
					    .arg = s,
					    .files = true};
	struct run_options run = *s->run;
	char seed[32];

	if (schedule_read(&s->explorer.schedule, s->options->replay, stderr))
		return EXIT_INPUT;
	if (strcmp(s->explorer.schedule.scenario, run.scenario)) {
		fprintf(stderr, "%s: expected a schedule of %s, got one of %s\n",
			s->options->replay, run.scenario, s->explorer.schedule.scenario);
		return EXIT_INPUT;
	}
	snprintf(seed, sizeof(seed), "%" PRIu64, s->explorer.schedule.sim_seed);
	run.seed = seed;
	run.schedule = &follow;
	run.traces = "log,records,pcapng";
	return run_scenario(&run);
}

/* --- the command --- */

static void *shared(size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

/* The driver of this program has no call-outs: the one beside it has. Returns only if it cannot be
 * run. */
static void run_checked(char **argv)
{
	char path[OUTDIR_CHARS];

	if (place_executable(path, sizeof(path) - 16))
		return;
	strcat(path, "-checked");
	if (access(path, X_OK)) {
		fprintf(stderr, "hcasim: explore: expected the program %s, which make builds\n",
			path);
		return;
	}
	execv(path, argv);
	fprintf(stderr, "hcasim: %s: %s\n", path, strerror(errno));
}

/* Where a failing schedule is saved. 0 or -errno, printed. */
static int name_path(struct search *s)
{
	const char *slash = strrchr(s->run->scenario, '/');
	char runs[OUTDIR_CHARS / 2];
	char name[SCHEDULE_NAME_CHARS];
	struct outdir dir;
	int rc;

	snprintf(name, sizeof(name), "%.200s.schedule", slash ? slash + 1 : s->run->scenario);
	if (s->run->dir) {
		snprintf(s->path, sizeof(s->path), "%s", s->run->dir);
		return outdir_file_check(s->path, stderr);
	}
	rc = place_runs(runs, sizeof(runs));
	if (rc)
		return rc;
	outdir_name(&dir, "%s/explore", runs);
	rc = outdir_create(&dir, stderr);
	if (rc)
		return rc;
	outdir_release(&dir);
	outdir_file(&dir, name, s->path, sizeof(s->path));
	return 0;
}

static enum exit_status search_run(struct search *s)
{
	const struct run_schedule follow = {
		.explorer = &s->explorer, .begin = begin_search, .end = end_search, .arg = s};
	struct run_options run = *s->run;

	if (name_path(s))
		return EXIT_INPUT;
	s->notes = shared(sizeof(*s->notes) + NOTES_ROOM * sizeof(struct noted));
	s->verdicts = shared(s->options->jobs * sizeof(*s->verdicts));
	if (!s->notes || !s->verdicts) {
		fprintf(stderr, "hcasim: out of memory\n");
		return EXIT_FAILED;
	}
	s->notes->room = NOTES_ROOM;
	s->notes->noted = (struct noted *)(s->notes + 1);
	run.schedule = &follow;
	run.traces = "none";
	run.no_dmi = true; /* each access of the device to memory is seen */
	return run_scenario(&run);
}

enum exit_status explore(const struct run_options *run, const struct explore_options *options)
{
	struct search *s;
	enum exit_status status;
	struct struck *struck;

	if (!callouts_built()) {
		run_checked(options->argv);
		return EXIT_INPUT;
	}
	s = calloc(1, sizeof(*s));
	struck = calloc(SCHEDULE_TURNS_MAX, sizeof(*struck));
	if (!s || !struck) {
		fprintf(stderr, "hcasim: out of memory\n");
		return EXIT_FAILED;
	}
	s->explorer.struck = struck;
	s->run = run;
	s->options = options;
	status = options->replay ? replay(s) : search_run(s);
	free(struck);
	free(s);
	return status;
}
