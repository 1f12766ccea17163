// SPDX-License-Identifier: Apache-2.0
/* One schedule in a process of its own: see explore.h. */
#include "testbench/app/explore_impl.h"

#include "model/interface/macros.h"
#include "testbench/os/child.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void be_silent(void)
{
	const int none = open("/dev/null", O_RDWR);

	if (none < 0 || dup2(none, STDOUT_FILENO) < 0 || dup2(none, STDERR_FILENO) < 0)
		_exit(EXIT_FAILED);
}

pid_t explore_child_start(struct search *s, const struct schedule *schedule,
			  struct outcome *verdict)
{
	pid_t pid;

	memset(verdict, 0, sizeof(*verdict));
	fflush(NULL);
	pid = child_start();
	if (pid)
		return pid;
	s->explorer.schedule = *schedule;
	s->explorer.struck = verdict->struck;
	s->mine = verdict;
	be_silent();
	signal(SIGALRM, SIG_DFL);
	alarm(s->wall_s);
	explorer_begin(&s->explorer);
	return 0;
}

/* A guest error says more than what the scenario missed because of it. Whether there is one. */
static bool put_failure(const struct tb *tb, char *buf, size_t size)
{
	const struct machine *m = tb->machine;

	for (unsigned i = 0; i < m->guest_errors_kept; i++) {
		const struct guest_error_note *note = &m->guest_error_notes[i];

		if (i < tb->guest_errors_taken[note->host] || note->consequence)
			continue;
		snprintf(buf, size, "guest error %s: %s", note->name, note->text);
		return true;
	}
	snprintf(buf, size, "%.*s", (int)size - 1,
		 tb->failure[0] ? tb->failure : "the run did not come to its end");
	return false;
}

static bool has_any(const char *text, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strstr(text, words[i]))
			return true;
	return false;
}

/*
 * Whether the scenario compares times, or the window of a packet: a schedule changes both, so this
 * says nothing about the driver. Names of times end in _ps, constants are made by CFG_US() and the
 * like.
 */
static bool is_about_time(const char *failure)
{
	static const char *const orders[] = {" < ", " > ", " <= ", " >= "};
	static const char *const times[] = {"_ps", "CFG_NS(", "CFG_US(", "CFG_MS(", "CFG_S("};
	static const char *const spans[] = {" after the one before", "tb_now(tb) - ",
					    "expected tb_now(tb) is "};

	return has_any(failure, spans, ARRAY_SIZE(spans)) ||
	       (has_any(failure, orders, ARRAY_SIZE(orders)) &&
		has_any(failure, times, ARRAY_SIZE(times)));
}

void explore_child_end(struct search *s, struct tb *tb, bool right)
{
	struct outcome *v = s->mine;

	v->right = right;
	if (!right && !put_failure(tb, v->failure, sizeof(v->failure)))
		v->right = v->unclear = tb->setup.exact || is_about_time(v->failure);
	v->told = true;
	fflush(NULL);
	_exit(EXIT_RIGHT);
}

bool explore_child_judge(const struct search *s, struct outcome *v, int status)
{
	if (v->told)
		return v->right;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		snprintf(v->failure, sizeof(v->failure),
			 "the run does not end: it is cut after %u s", s->wall_s);
	else if (WIFSIGNALED(status))
		snprintf(v->failure, sizeof(v->failure), "the run crashed: %s",
			 strsignal(WTERMSIG(status)));
	else
		snprintf(v->failure, sizeof(v->failure), "the run crashed (exit status %d)",
			 WEXITSTATUS(status));
	return false;
}
