/* SPDX-License-Identifier: Apache-2.0 */
/* See child.h. A process has one set of children. */
#define _GNU_SOURCE
#include "testbench/os/child.h"

#include "model/interface/macros.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { GRACE_S = 5 };

static const int endings[] = {SIGINT, SIGTERM, SIGHUP};

static pid_t children[CHILDREN_MAX];
static unsigned count;
static sigset_t before, held; /* held: the endings and SIGCHLD */
static int asked;

void children_begin(void)
{
	struct sigaction action;

	asked = 0;
	sigemptyset(&held);
	sigaddset(&held, SIGCHLD);
	/* what nohup ignores stays ignored */
	for (unsigned i = 0; i < ARRAY_SIZE(endings); i++)
		if (!sigaction(endings[i], NULL, &action) && action.sa_handler != SIG_IGN)
			sigaddset(&held, endings[i]);
	sigprocmask(SIG_BLOCK, &held, &before);
}

pid_t child_start(void)
{
	const pid_t parent = getpid();
	pid_t pid;

	if (count == CHILDREN_MAX) {
		errno = EAGAIN;
		return -1;
	}
	pid = fork();
	if (pid > 0) {
		setpgid(pid, pid); /* the child does the same; either may be first */
		children[count++] = pid;
	}
	if (pid)
		return pid;
	count = 0;
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent) /* the parent ended before the line above */
		_exit(1);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return 0;
}

/* A child that has ended: `wanted`, or any when it is 0. Returns 0 when none has. */
static pid_t reap(pid_t wanted, int *status)
{
	for (unsigned i = 0; i < count; i++) {
		const pid_t pid = children[i];

		if ((wanted && pid != wanted) || waitpid(pid, status, WNOHANG) != pid)
			continue;
		children[i] = children[--count];
		return pid;
	}
	return 0;
}

static void kill_all(int number)
{
	for (unsigned i = 0; i < count; i++)
		kill(-children[i], number);
}

/* Gives the children GRACE_S to finish their files. A second signal kills them at once. */
static void end_all(void)
{
	struct timespec now, end;
	int status, came;

	kill_all(SIGTERM);
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += GRACE_S;
	while (count) {
		const struct timespec left = {.tv_sec = 1};

		if (reap(0, &status))
			continue;
		came = sigtimedwait(&held, NULL, &left);
		clock_gettime(CLOCK_MONOTONIC, &now);
		if ((came > 0 && came != SIGCHLD) || now.tv_sec >= end.tv_sec)
			kill_all(SIGKILL);
	}
}

pid_t child_wait(pid_t wanted, int *status)
{
	pid_t pid;

	while (!asked && count) {
		int came;

		pid = reap(wanted, status);
		if (pid)
			return pid;
		came = sigwaitinfo(&held, NULL);
		if (came > 0 && came != SIGCHLD)
			asked = came;
	}
	if (!asked)
		return -ECHILD;
	end_all();
	return -EINTR;
}

void children_end(void)
{
	const struct timespec none = {0};
	int came;

	while ((came = sigtimedwait(&held, NULL, &none)) > 0)
		if (came != SIGCHLD)
			asked = came;
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (asked)
		raise(asked);
}
