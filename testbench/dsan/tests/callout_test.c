// SPDX-License-Identifier: Apache-2.0
/* What listeners hear of the driver's accesses. */
#include "testbench/dsan/hear/callout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

void __tsan_read4(void *at);
void __tsan_write8(void *at);
void __tsan_atomic_thread_fence(int order);
void __tsan_func_entry(void *caller);
void __tsan_func_exit(void);
void __ubsan_handle_out_of_bounds(const void *said, uintptr_t index);
void __ubsan_handle_shift_out_of_bounds(const void *said, uintptr_t value, uintptr_t by);
void *callout_memcpy(void *to, const void *from, size_t bytes);

static struct {
	unsigned loads, stores, fences, fence, depth;
	uintptr_t at;
	size_t bytes;
	char beyond[128];
} heard;

static void hear_load(void *ctx, uintptr_t at, size_t bytes, const void *pc)
{
	assert_non_null(pc);
	heard.loads++;
	heard.at = at;
	heard.bytes = bytes;
}

static void hear_store(void *ctx, uintptr_t at, size_t bytes, const void *pc)
{
	assert_ptr_equal(ctx, &heard);
	heard.stores++;
	heard.at = at;
	heard.bytes = bytes;
}

static void hear_fence(void *ctx, unsigned fence, const void *pc)
{
	heard.fences++;
	heard.fence = fence;
}

static void hear_enter(void *ctx, const void *pc)
{
	assert_non_null(pc);
	heard.depth++;
}

static void hear_leave(void *ctx, const void *frame)
{
	heard.depth--;
}

static void hear_beyond(void *ctx, const char *what, const void *pc)
{
	assert_non_null(pc);
	snprintf(heard.beyond, sizeof(heard.beyond), "%s", what);
}

static uint64_t memory[8];
static struct callout_listener listener = {.ctx = &heard,
					   .load = hear_load,
					   .store = hear_store,
					   .fence = hear_fence,
					   .enter = hear_enter,
					   .leave = hear_leave,
					   .beyond = hear_beyond};

static int begin(void **state)
{
	memset(&heard, 0, sizeof(heard));
	callouts_watch(memory, sizeof(memory));
	callout_listen(&listener);
	return 0;
}

static int end(void **state)
{
	callout_leave(&listener);
	return 0;
}

static void functions_are_entered_and_left(void **state)
{
	__tsan_func_entry(NULL);
	__tsan_func_entry(NULL);
	assert_int_equal(heard.depth, 2);
	__tsan_func_exit();
	assert_int_equal(heard.depth, 1);
}

static void only_watched_memory_is_heard_of(void **state)
{
	uint64_t local = 0;

	__tsan_write8(&local);
	assert_int_equal(heard.stores, 0);
	__tsan_write8(&memory[1]);
	assert_int_equal(heard.stores, 1);
	assert_int_equal(heard.at, (uintptr_t)&memory[1]);
	assert_int_equal(heard.bytes, 8);
	__tsan_read4(&memory[7]);
	assert_int_equal(heard.loads, 1);
	assert_int_equal(heard.bytes, 4);
}

static void a_copy_is_a_load_and_a_store(void **state)
{
	uint64_t local[2] = {1, 2};

	callout_memcpy(memory, local, sizeof(local));
	assert_int_equal(heard.loads, 0);
	assert_int_equal(heard.stores, 1);
	assert_int_equal(heard.bytes, sizeof(local));
	assert_int_equal(memory[1], 2);
	callout_memcpy(&memory[2], memory, 8);
	assert_int_equal(heard.loads, 1);
	assert_int_equal(heard.stores, 2);
	callout_memcpy(&memory[2], memory, 0);
	assert_int_equal(heard.loads, 1);
}

static void a_fence_says_what_it_orders(void **state)
{
	__tsan_atomic_thread_fence(__ATOMIC_RELEASE);
	assert_int_equal(heard.fence, CALLOUT_FENCE_STORES);
	__tsan_atomic_thread_fence(__ATOMIC_ACQUIRE);
	assert_int_equal(heard.fence, CALLOUT_FENCE_LOADS);
	__tsan_atomic_thread_fence(__ATOMIC_SEQ_CST);
	assert_int_equal(heard.fence, CALLOUT_FENCE_LOADS | CALLOUT_FENCE_STORES);
	__tsan_atomic_thread_fence(__ATOMIC_RELAXED);
	assert_int_equal(heard.fences, 3);
}

/* What gcc hands over for `table[index]` and `value << by`. */
static const struct type_said {
	uint16_t kind, info;
	char name[16];
} char_said = {0, 3 << 1 | 1, "'signed char'"}, int_said = {0, 5 << 1 | 1, "'int'"},
  long_said = {0, 6 << 1, "'long'"}, table_said = {UINT16_MAX, 0, "'int [3]'"};
static const struct {
	const char *file;
	uint32_t line, column;
	const struct type_said *first, *second;
} index_said = {"x.c", 1, 2, &table_said, &int_said},
  small_said = {"x.c", 1, 2, &table_said, &char_said},
  large_said = {"x.c", 1, 2, &table_said, &long_said},
  shift_said = {"x.c", 3, 4, &int_said, &int_said};

static void what_lies_beyond_is_said(void **state)
{
	__ubsan_handle_out_of_bounds(&index_said, 3);
	assert_string_equal(heard.beyond, "index 3 lies beyond an array 'int [3]'");
	__ubsan_handle_out_of_bounds(&index_said, UINT32_MAX);
	assert_string_equal(heard.beyond, "index -1 lies beyond an array 'int [3]'");
	__ubsan_handle_out_of_bounds(&small_said, 0x80);
	assert_string_equal(heard.beyond, "index -128 lies beyond an array 'int [3]'");
	__ubsan_handle_out_of_bounds(&large_said, UINT64_C(1) << 40);
	assert_string_equal(heard.beyond, "index 1099511627776 lies beyond an array 'int [3]'");
	__ubsan_handle_shift_out_of_bounds(&shift_said, 1, 32);
	assert_string_equal(heard.beyond, "a value of type 'int', 32 bits, is shifted by 32");
}

static void who_has_left_hears_nothing(void **state)
{
	callout_leave(&listener);
	__tsan_write8(&memory[1]);
	assert_int_equal(heard.stores, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(functions_are_entered_and_left, begin, end),
		cmocka_unit_test_setup_teardown(only_watched_memory_is_heard_of, begin, end),
		cmocka_unit_test_setup_teardown(a_copy_is_a_load_and_a_store, begin, end),
		cmocka_unit_test_setup_teardown(a_fence_says_what_it_orders, begin, end),
		cmocka_unit_test_setup_teardown(what_lies_beyond_is_said, begin, end),
		cmocka_unit_test_setup_teardown(who_has_left_hears_nothing, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
