/* SPDX-License-Identifier: Apache-2.0 */
/* Misuse of fields must not compile. Runs the compiler, from the root of the tree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* True when a file with this line compiles. */
static int compiles(const char *line)
{
	char command[1024];

	snprintf(command, sizeof(command),
		 "printf '%%s\\n' '#include \"model/interface/queues.h\"' '%s' | "
		 "gcc -std=gnu11 -I. -fsyntax-only -Wextra -Werror=incompatible-pointer-types "
		 "-Werror=enum-conversion -x c - 2>/dev/null",
		 line);
	return system(command) == 0;
}

static void test_right_use_compiles(void **state)
{
	assert_true(compiles("uint32_t f(const struct qpc *c) { return qpc_get_state(c); }"));
	assert_true(compiles("struct x { uint8_t b[4]; }; FIELD_F(x, 32, y, 0, 31, 0, 0)"));
}

static void test_field_of_another_layout(void **state)
{
	assert_false(compiles("uint32_t f(const struct qpc *c) { return cqc_get_state(c); }"));
	assert_false(compiles("void f(struct cqe *c) { cqe_err_set_syndrome(c, 1); }"));
}

static void test_row_outside(void **state)
{
	assert_false(compiles("struct x { uint8_t b[4]; }; FIELD_F(x, 32, y, 1, 31, 0, 0)"));
	assert_false(compiles("struct x { uint8_t b[4]; }; FIELD_F(x, 8, y, 0, 8, 0, 0)"));
	assert_false(compiles("struct x { uint8_t b[4]; }; FIELD_F(x, 8, y, 0, 2, 3, 0)"));
	assert_false(compiles("struct x { uint8_t b[4]; }; FIELD_B(x, y, 1, 4, 0)"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_right_use_compiles),
		cmocka_unit_test(test_field_of_another_layout),
		cmocka_unit_test(test_row_outside),
	};

	return cmocka_run_group_tests_name("field_misuse", tests, NULL, NULL);
}
