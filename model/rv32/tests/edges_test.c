/* SPDX-License-Identifier: Apache-2.0 */
/* What RV_EDGE tells to a program that includes the interpreter: each jump and each branch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

static struct {
	uint32_t from, to;
} told[16];
static size_t told_count;

static void tell(uint32_t from, uint32_t to)
{
	assert_true(told_count < sizeof(told) / sizeof(told[0]));
	told[told_count].from = from;
	told[told_count++].to = to;
}
#define RV_EDGE(from, to) tell(from, to)
#include "model/rv32/execute.c"

enum { BASE = 0x1000, SIZE = 0x2000 };

/* Encodings as the assembler produces them. */
static const uint32_t code[] = {
	0x00000463, /* 1000: beq zero,zero,1008 */
	0x00000013, /* 1004: nop */
	0x00001463, /* 1008: bne zero,zero,1010, not taken */
	0x008000ef, /* 100c: jal ra,1014 */
	0x0000006f, /* 1010: j 1010 */
	0x00008067, /* 1014: ret */
};

static const uint32_t edges[][2] = {
	{0x1000, 0x1008}, {0x1008, 0x100c}, {0x100c, 0x1014}, {0x1014, 0x1010}, {0x1010, 0x1010}};

static void check(const struct rv_call_watch *watch)
{
	enum { EDGES = sizeof(edges) / sizeof(edges[0]) };
	struct rv_core *core = rv_core_create(BASE, SIZE, NULL);
	uint64_t retired;

	told_count = 0;
	memcpy(rv_core_ram(core, NULL, NULL), code, sizeof(code));
	assert_false(rv_core_watch_calls(core, watch));
	assert_int_equal(rv_core_run(core, EDGES, &retired), RV_STOP_BUDGET);
	assert_int_equal(told_count, EDGES);
	assert_memory_equal(told, edges, sizeof(edges));
	rv_core_destroy(core);
}

static void each_edge_is_told(void **state)
{
	check(NULL);
}

static void nobody_called(void *ctx, bool enter, const char *function, const char *caller,
			  unsigned depth, uint64_t done)
{
}

static void jumps_that_may_be_calls_are_told(void **state)
{
	check(&(struct rv_call_watch){.called = nobody_called});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_edge_is_told),
		cmocka_unit_test(jumps_that_may_be_calls_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
