/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "model/engine/base/engine.h"

static struct event_core core = {.now_ps = 1234567890};
static const struct hca hca = {.index = 1, .core = &core};

static void bug(void)
{
	hca_bug(&hca, "qpn %06x is freed twice", 0x209);
}

static void no_memory(void)
{
	memory_create(2, SIZE_MAX / 2, "queue pairs");
}

/* Runs the function in a child process, and returns what it writes to standard error and its exit
 * status. */
static void in_child(void (*run)(void), char *text, size_t size, int *status)
{
	int ends[2];
	size_t used = 0;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (!pid) {
		dup2(ends[1], STDERR_FILENO);
		signal(SIGABRT, SIG_DFL);
		run();
		_exit(0);
	}
	close(ends[1]);
	/* it may write in pieces */
	while ((n = read(ends[0], text + used, size - 1 - used)) > 0)
		used += (size_t)n;
	text[used] = 0;
	close(ends[0]);
	assert_int_equal(waitpid(pid, status, 0), pid);
}

static void test_bug_says_where_and_when(void **state)
{
	static const char file[] = "model/engine/base/tests/engine_test.c:",
			  rest[] = ": bug of the simulator: hca1 at 1234.567890 us: "
				   "qpn 000209 is freed twice\n";
	char text[4096];
	int status;

	in_child(bug, text, sizeof(text), &status);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
	assert_int_equal(strncmp(text, file, strlen(file)), 0);
	assert_true(atoi(text + strlen(file)) > 0);
	assert_non_null(strstr(text, rest));
	/* nothing follows, so it is one line */
	assert_int_equal(strlen(strstr(text, rest)), strlen(rest));
}

static void test_no_memory_ends_by_one_line(void **state)
{
	char text[4096];
	const char *line;
	int status;

	in_child(no_memory, text, sizeof(text), &status);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), EXIT_FAILURE);
	/* with SAN=1 the sanitizer has warned before it */
	line = strstr(text, "out of memory for queue pairs: ");
	assert_non_null(line);
	assert_ptr_equal(strchr(line, '\n'), text + strlen(text) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bug_says_where_and_when),
		cmocka_unit_test(test_no_memory_ends_by_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
