/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the instruction tests (*.S) with rv32run, and checks what rv32run prints for those that
 * fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <sys/wait.h>

#include "model/rv32/tests/beside.h"

/* Returns the exit status; the output goes to @out. */
static int run(const char *arguments, char *out, size_t size)
{
	char command[3 * PATH_MAX], program[PATH_MAX], folder[PATH_MAX];
	FILE *pipe;
	size_t n;

	snprintf(command, sizeof(command), "cd %s && %s %s 2>&1", beside(folder, "."),
		 beside(program, "../../../rv32run"), arguments);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	n = fread(out, 1, size - 1, pipe);
	out[n] = '\0';
	return WEXITSTATUS(pclose(pipe));
}

static void passes(void **state)
{
	char out[1024], want[256];
	const char *elf = *state;

	snprintf(want, sizeof(want), "%s: pass\n", elf);
	if (run(elf, out, sizeof(out)))
		fail_msg("%s", out);
	assert_string_equal(out, want);
}

struct refusal {
	const char *arguments;
	int status;
	const char *text;
};

static void refuses(void **state)
{
	const struct refusal *refusal = *state;
	char out[1024];

	assert_int_equal(run(refusal->arguments, out, sizeof(out)), refusal->status);
	assert_non_null(strstr(out, refusal->text));
	assert_ptr_equal(strchr(out, '\n'), out + strlen(out) - 1);
}

static struct refusal fails = {"fails.elf", 1, "fails.elf: fail: test 5\n"};
static struct refusal hangs = {"hangs.elf --max-instructions 5000", 1,
			       "hangs.elf: fail: tohost not written; pc 0x800000"};
static struct refusal traps = {"traps.elf", 1,
			       "illegal instruction (value 0xffffffff) at 0x8000001a without a "
			       "handler; pc 0x8000001a (broken+0x0)"};
static struct refusal no_file = {"none.elf", 2, "none.elf: No such file or directory\n"};
static struct refusal no_elf = {"/dev/null", 2, "/dev/null: not a regular file\n"};
static struct refusal host_elf = {"isa_test", 2, "isa_test: not a 32-bit little-endian ELF file\n"};
static struct refusal usage = {"alu.elf --max-instructions x", 2, "usage: rv32run FILE.elf"};

#define PASSES(elf)                                                                                \
	{                                                                                          \
		elf, passes, NULL, NULL, elf                                                       \
	}
#define REFUSES(which)                                                                             \
	{                                                                                          \
#which, refuses, NULL, NULL, &which                                                \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PASSES("alu.elf"),        PASSES("muldiv.elf"),   PASSES("memory.elf"),
		PASSES("compressed.elf"), PASSES("csr.elf"),      PASSES("trap.elf"),
		PASSES("interrupt.elf"),  PASSES("debuggee.elf"), REFUSES(fails),
		REFUSES(hangs),           REFUSES(traps),         REFUSES(no_file),
		REFUSES(no_elf),          REFUSES(host_elf),      REFUSES(usage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
