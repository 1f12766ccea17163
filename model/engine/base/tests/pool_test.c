/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "model/engine/base/engine.h"
#include "model/engine/base/pool.h"
#include "model/sim/params.h"

enum { OBJECT = 100, OBJECTS = 5 };

static struct event_core core;
static struct hca_params params;
static struct hca hca = {.core = &core, .params = &params};

static void setup(struct pool *pool)
{
	event_core_init(&core);
	params.hca_memory = 1 << 20;
	hca.memory = (struct memory){0};
	pool_init(pool, &hca, OBJECT, "objects");
}

static void test_used_again(void **state)
{
	struct pool pool;
	void *first, *second;

	setup(&pool);
	first = pool_take(&pool);
	second = pool_take(&pool);
	assert_true(first != second);
	memset(first, 0x55, OBJECT);
	memset(second, 0xaa, OBJECT);
	assert_int_equal(pool.in_use, 2);
	pool_give(&pool, first);
	assert_ptr_equal(pool_take(&pool), first);
	assert_int_equal(pool.made, 2);
	pool_free(&pool);
	assert_int_equal(hca.memory.bytes, 0);
}

/* All memory that the pool holds counts as the device's, in use or not. */
static void test_memory_counts(void **state)
{
	struct pool pool;
	void *objects[OBJECTS];

	setup(&pool);
	for (unsigned i = 0; i < OBJECTS; i++)
		objects[i] = pool_take(&pool);
	assert_true(hca.memory.bytes >= OBJECTS * OBJECT);
	assert_int_equal(pool_footprint(&pool), hca.memory.bytes);
	for (unsigned i = 1; i < OBJECTS; i++)
		pool_give(&pool, objects[i]);
	pool_trim(&pool);
	assert_int_equal(pool_footprint(&pool), hca.memory.bytes);
	assert_int_not_equal(hca.memory.bytes, 0);
	pool_give(&pool, objects[0]);
	pool_trim(&pool);
	assert_int_equal(hca.memory.bytes, 0);
	assert_int_equal(pool_footprint(&pool), 0);
}

static void test_limit(void **state)
{
	struct pool pool;

	setup(&pool);
	params.hca_memory = OBJECT;
	assert_non_null(pool_take(&pool)); /* exceeds the limit, because each object has a header */
	assert_string_equal(hca.memory.what, "objects");
	assert_true(event_is_set(&hca.memory.ev));
	pool_free(&pool);
	event_core_free(&core);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_used_again),
		cmocka_unit_test(test_memory_counts),
		cmocka_unit_test(test_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
