/* SPDX-License-Identifier: Apache-2.0 */
/* gdb-multiarch itself drives the stub: break, backtrace, step, registers, memory, continue,
 * ctrl-C, kill. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "model/rv32/rv32.h"
#include "model/rv32/tests/beside.h"

struct session {
	struct rv_core *core;
	struct rv_gdb *gdb;
	char out[16384]; /* what gdb printed */
	int killed;
};

/* Starts gdb with @commands on @elf, runs up to @max instructions, collects gdb's output. */
static void debug(struct session *s, const char *elf, const char *commands, uint64_t max)
{
	char command[PATH_MAX + 2048], path[PATH_MAX], err[256];
	uint64_t done = 0, n;
	uint32_t entry;
	FILE *pipe;

	s->core = rv_core_create(0x80000000, 1 << 20, NULL);
	assert_int_equal(rv_core_load_elf(s->core, beside(path, elf), &entry, err, sizeof(err)), 0);
	rv_core_reset(s->core, entry);
	assert_int_equal(rv_gdb_listen(s->core, 0, &s->gdb), 0);
	snprintf(command, sizeof(command),
		 "timeout 60 gdb-multiarch -nx -batch -ex 'set pagination off' "
		 "-ex 'target remote 127.0.0.1:%u' %s %s 2>&1 </dev/null",
		 rv_gdb_port(s->gdb), commands, path);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	for (int tries = 0; tries < 3000 && !rv_gdb_poll(s->gdb); tries++)
		usleep(10000);
	assert_true(rv_gdb_poll(s->gdb));
	while (done < max && !s->killed) {
		enum rv_stop stop;

		if (rv_gdb_poll(s->gdb))
			s->killed = rv_gdb_serve(s->gdb, RV_STOP_DEBUG);
		if (s->killed)
			break;
		stop = rv_core_run(s->core, 1000, &n);
		done += n;
		if (stop == RV_STOP_DEBUG)
			s->killed = rv_gdb_serve(s->gdb, stop);
	}
	rv_gdb_close(s->gdb);
	n = fread(s->out, 1, sizeof(s->out) - 1, pipe);
	s->out[n] = '\0';
	pclose(pipe);
}

static void end(struct session *s)
{
	rv_core_destroy(s->core);
}

/* Checks that these lines appear in this order. */
static void expect_lines(const struct session *s, const char *const *want)
{
	const char *at = s->out;

	for (; *want; want++) {
		const char *found = strstr(at, *want);

		if (!found)
			fail_msg("\"%s\" missing in:\n%s", *want, s->out);
		else
			at = found + strlen(*want);
	}
}

static void walk_through(void **state)
{
	static const char *const want[] = {
		"= 0x80000000",
		"Breakpoint 1 at",
		"Breakpoint 1, inner ()",
		"#0  inner ()",
		"in middle ()",
		"in outer ()",
		"in _start ()",
		"$2 = 0x7",
		"$3 = 0x8",
		"<counter>:\t0x00000041",
		"$4 = 0x1800",
		"$5 = 0x90",
		"$6 = 0x123",
		"exited normally",
		NULL,
	};
	struct session s = {0};
	uint32_t counter, base;
	uint8_t *ram;

	debug(&s, "debuggee.elf",
	      "-ex 'p/x $pc' -ex 'break in_inner' -ex continue -ex backtrace -ex 'p/x $a0' "
	      "-ex stepi -ex 'p/x $a0' -ex 'x/1xw &counter' -ex 'p/x $mstatus' "
	      "-ex 'set var *(int*)&counter=0x90' -ex 'p/x *(int*)&counter' "
	      "-ex 'set var $s5=0x123' -ex 'p/x $s5' -ex delete -ex continue",
	      100000);
	expect_lines(&s, want);
	ram = rv_core_ram(s.core, &base, NULL);
	assert_int_equal(rv_core_symbol_addr(s.core, "counter", &counter), 0);
	assert_int_equal(ram[counter - base], 0x91);
	assert_int_equal(rv_core_reg(s.core, 21), 0x123);
	assert_int_equal(s.killed, 0);
	end(&s);
}

static void finish_and_bad_address(void **state)
{
	static const char *const want[] = {
		"Temporary breakpoint 1, middle ()",
		"outer ()",
		"Cannot access memory",
		NULL,
	};
	struct session s = {0};

	debug(&s, "debuggee.elf",
	      "-ex 'tbreak middle' -ex continue -ex finish -ex 'x/1xw 0x10' -ex kill", 100000);
	expect_lines(&s, want);
	assert_int_equal(s.killed, -ECANCELED);
	end(&s);
}

/* After detach the program runs on, and a breakpoint that was still set no longer stops it. */
static void detach_leaves_no_breakpoint(void **state)
{
	struct session s = {0};

	debug(&s, "hangs.elf", "-ex 'break *$pc' -ex 'break fail' -ex detach", 5000);
	assert_int_equal(s.killed, 0);
	assert_non_null(strstr(s.out, "detached"));
	end(&s);
}

static void interrupt_halts(void **state)
{
	static const char *const want[] = {"SIGINT", "_start ()", NULL};
	struct session s = {0};

	debug(&s, "hangs.elf",
	      "-ex 'python import threading, os, signal; "
	      "threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()' "
	      "-ex continue -ex backtrace -ex kill",
	      5000000000);
	expect_lines(&s, want);
	assert_int_equal(s.killed, -ECANCELED);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(walk_through),
		cmocka_unit_test(finish_and_bad_address),
		cmocka_unit_test(detach_leaves_no_breakpoint),
		cmocka_unit_test(interrupt_halts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
