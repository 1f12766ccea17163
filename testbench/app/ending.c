/* SPDX-License-Identifier: Apache-2.0 */
/* See ending.h. A process has one run and one set of signals. */
#define _GNU_SOURCE
#include "testbench/app/ending.h"

#include "model/interface/macros.h"
#include "testbench/machine.h"
#include "testbench/app/run.h"
#include "testbench/language/tb.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum {
	LINE_CHARS = 512,
	STACK_BYTES = 1 << 20, /* libdw needs some */
	CRASH_SECONDS = 10,
	ERRORS_TOLD = 4,     /* by a run that can do no more */
	ENDLESS_SECONDS = 3, /* in which a run that was asked to end leaves the driver */
	ENDLESS_LOOKS = 2,   /* before a run that is not in the driver counts as hanging, too */
	ENDLESS_CPU_SECONDS = 15, /* of CPU time, in which the driver lets simulated time pass */
};

static const int endings[] = {SIGINT, SIGTERM, SIGHUP};
static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

/* A sanitizer handles these signals itself, and calls this before it ends the process. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static struct tb *watched;
static pid_t watched_pid; /* not that of a process which a scenario forks */
static volatile sig_atomic_t asked, pipe_broken;
static uint64_t asked_ps; /* simulated time then */
static uint64_t looked_ps;
static unsigned asked_looks;

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

/* Fails the run if the driver does not come back. Nothing else can tell where it is. `since_ps`: the simulated
 * time when it was looked at last. `anyone`: also if it is not the driver. */
static void endless_check(uint64_t since_ps, bool anyone, const void *context)
{
	struct calls calls;
	bool driver;

	if (watched->machine->core.now_ps != since_ps)
		return;
	calls_of_signal(&calls, context);
	driver = tb_in_driver(&calls, RULE_driver_endless);
	if (!driver && !anyone)
		return;
	signal(SIGALRM, SIG_DFL);
	alarm(CRASH_SECONDS);
	trace_rescue();
	tell(driver ? "the driver does not come back, so the run has failed"
		    : "the run does not come back, and has failed",
	     "");
	tb_tell_crash(watched, &calls, RULE_driver_endless, stderr);
	fflush(NULL);
	watched = NULL;
	_exit(EXIT_FAILED);
}

/* The run was asked to end. It may be taken down for a while. */
static void on_endless(int number, siginfo_t *info, void *context)
{
	const uint64_t since_ps = asked_ps;

	if (getpid() != watched_pid || !watched)
		return;
	asked_ps = watched->machine->core.now_ps;
	asked_looks++;
	alarm(ENDLESS_SECONDS);
	endless_check(since_ps, asked_looks > ENDLESS_LOOKS, context);
}

/* Nobody has asked. CPU time counts, for a debugger may hold the run. */
static void on_look(int number, siginfo_t *info, void *context)
{
	const uint64_t since_ps = looked_ps;

	if (getpid() != watched_pid || !watched)
		return;
	looked_ps = watched->machine->core.now_ps;
	endless_check(since_ps, false, context);
}

static void on_ending(int number)
{
	const struct sigaction endless = {.sa_sigaction = on_endless,
					  .sa_flags = SA_SIGINFO | SA_ONSTACK};

	asked = number;
	asked_ps = watched->machine->core.now_ps;
	tell("interrupted", "; a second signal ends the run at once");
	kernel_interrupt(watched->machine->kernel);
	sigaction(SIGALRM, &endless, NULL);
	alarm(ENDLESS_SECONDS);
}

static void on_pipe(int number)
{
	pipe_broken = number;
}

/* What explains a crash takes memory, and cannot when the driver has damaged that. What was wrong before
 * has its text already. */
static void on_crash_again(int number)
{
	const struct machine *m = watched->machine;

	signal(number, SIG_DFL);
	for (unsigned i = 0; i < m->guest_errors_kept && i < ERRORS_TOLD; i++) {
		const struct guest_error_note *note = &m->guest_error_notes[i];
		char line[LINE_CHARS];
		const int n = snprintf(line, sizeof(line), "guest error %s of hca%u: %s\n",
				       note->name, note->host, note->text);

		if (write(STDERR_FILENO, line, n < LINE_CHARS ? (size_t)n : LINE_CHARS - 1) < 0)
			break;
	}
	watched = NULL;
	raise(number);
}

/* What explains a crash is not safe to print here. So it comes last, and not for ever. */
static void explain_crash(const void *context)
{
	const struct sigaction again = {.sa_handler = on_crash_again,
					.sa_flags = SA_ONSTACK | SA_NODEFER};
	struct calls calls;
	sigset_t told;

	sigemptyset(&told);
	for (size_t i = 0; i < ARRAY_SIZE(crashes); i++) {
		sigaction(crashes[i], &again, NULL);
		sigaddset(&told, crashes[i]);
	}
	sigaction(SIGALRM, &again, NULL);
	sigaddset(&told, SIGALRM);
	sigprocmask(SIG_UNBLOCK, &told, NULL);
	alarm(CRASH_SECONDS);
	calls_of_signal(&calls, context);
	tb_tell_crash(watched, &calls, RULE_driver_crashed, stderr);
	fflush(stderr);
	for (size_t i = 0; i < ARRAY_SIZE(crashes); i++)
		signal(crashes[i], SIG_DFL);
}

/* SA_RESETHAND: when this returns the signal strikes again, with its default action. */
static void on_crash(int number, siginfo_t *info, void *context)
{
	char name[32];

	if (getpid() != watched_pid)
		return;
	trace_rescue();
	snprintf(name, sizeof(name), "SIG%s", sigabbrev_np(number));
	if (!watched)
		return;
	tell(name, "; gdb --args and the same command show where");
	explain_crash(context);
}

static void on_sanitizer(void)
{
	if (getpid() == watched_pid)
		trace_rescue();
}

/* A scenario that calls exit() has not passed, whatever status it gives. */
static bool in_scenario(void)
{
	return watched && getpid() == watched_pid;
}

static _Noreturn void fail(const char *what)
{
	trace_rescue();
	tell(what, "");
	fflush(NULL);
	watched = NULL;
	_exit(EXIT_FAILED);
}

static void on_exit_in_scenario(void)
{
	if (in_scenario())
		fail("exit() was called");
}

void ending_exit(void)
{
	if (in_scenario())
		fail("_exit() was called");
}

static void handle(int number, struct sigaction action)
{
	struct sigaction before;

	action.sa_flags |= SA_RESETHAND | SA_ONSTACK;
	/* leave the handlers of a sanitizer, and what nohup ignores */
	if (!sigaction(number, NULL, &before) && before.sa_handler == SIG_DFL)
		sigaction(number, &action, NULL);
}

void ending_watch_crashes(void)
{
	static char stack[STACK_BYTES]; /* the stack of a thread may have overflowed */
	const stack_t alternative = {.ss_sp = stack, .ss_size = sizeof(stack)};

	watched_pid = getpid();
	sigaltstack(&alternative, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(crashes); i++)
		handle(crashes[i],
		       (struct sigaction){.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO});
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(on_sanitizer);
}

static void look_every(unsigned cpu_seconds)
{
	const struct sigaction look = {.sa_sigaction = on_look,
				       .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
	const struct itimerval every = {{cpu_seconds, 0}, {cpu_seconds, 0}};

	sigaction(SIGVTALRM, &look, NULL);
	setitimer(ITIMER_VIRTUAL, &every, NULL);
}

void ending_watch(struct tb *tb, bool debugged)
{
	ending_watch_crashes();
	watched = tb;
	looked_ps = UINT64_MAX;
	look_every(ENDLESS_CPU_SECONDS);
	for (size_t i = debugged ? 1 : 0; i < ARRAY_SIZE(endings); i++)
		handle(endings[i], (struct sigaction){.sa_handler = on_ending});
	handle(SIGPIPE, (struct sigaction){.sa_handler = on_pipe});
	atexit(on_exit_in_scenario);
	at_quick_exit(on_exit_in_scenario);
}

void ending_forget(void)
{
	watched = NULL;
	look_every(0);
	if (asked)
		alarm(0);
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
	/* the files are complete; a closed pipe may now end the process */
	signal(SIGPIPE, SIG_DFL);
}
