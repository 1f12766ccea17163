// SPDX-License-Identifier: Apache-2.0
/* See ending.h. A process has one run and one set of signals. */
#define _GNU_SOURCE
#include "testbench/ending.h"

#include "testbench/machine.h"
#include "testbench/run.h"
#include "testbench/tb.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_CHARS = 512, STACK_BYTES = 64 << 10 };

static const int endings[] = {SIGINT, SIGTERM, SIGHUP};
static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

static struct tb *watched;
static volatile sig_atomic_t asked, pipe_broken;

static void tell(const char *what, const char *further)
{
	const uint64_t now = watched->machine->core.now_ps;
	char line[LINE_CHARS];
	int n = snprintf(line, sizeof(line),
			 "%shcasim: %s in %s at %" PRIu64 ".%06" PRIu64 " us, last verb: %s%s\n",
			 watched->progress ? "\r\033[K" : "", what, watched->scenario->name,
			 now / 1000000, now % 1000000, watched->here, further);

	if (write(STDERR_FILENO, line, n < LINE_CHARS ? (size_t)n : LINE_CHARS - 1) < 0)
		return;
}

static void on_ending(int number)
{
	asked = number;
	tell("interrupted", "; a second signal ends it at once");
	kernel_interrupt(watched->machine->kernel);
}

static void on_pipe(int number)
{
	pipe_broken = number;
}

/* The signal comes again, with its default action, when this returns. */
static void on_crash(int number)
{
	char name[32];

	snprintf(name, sizeof(name), "SIG%s", sigabbrev_np(number));
	tell(name, "; gdb --args and this command show where");
}

static void on_exit_in_scenario(void)
{
	if (!watched)
		return;
	tell("exit() was called", "");
	_exit(EXIT_FAILED);
}

static void handle(int number, void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESETHAND | SA_ONSTACK};
	struct sigaction before;

	/* a sanitizer has its own, and nohup what it wants */
	if (!sigaction(number, NULL, &before) && before.sa_handler == SIG_DFL)
		sigaction(number, &action, NULL);
}

void ending_watch(struct tb *tb, bool debugged)
{
	static char stack[STACK_BYTES]; /* that of a thread may be what has overflowed */
	const stack_t alternative = {.ss_sp = stack, .ss_size = sizeof(stack)};

	watched = tb;
	sigaltstack(&alternative, NULL);
	for (size_t i = debugged ? 1 : 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		handle(endings[i], on_ending);
	for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
		handle(crashes[i], on_crash);
	handle(SIGPIPE, on_pipe);
	atexit(on_exit_in_scenario);
}

void ending_forget(void)
{
	watched = NULL;
}

bool ending_asked(void)
{
	return asked;
}

void ending_raise(void)
{
	const int held = asked ? asked : pipe_broken;

	if (held) {
		fflush(NULL);
		raise(held);
	}
	/* the files are whole: what is printed from here on may break off */
	signal(SIGPIPE, SIG_DFL);
}
