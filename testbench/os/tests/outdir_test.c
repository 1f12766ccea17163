/* SPDX-License-Identifier: Apache-2.0 */
#include "testbench/os/outdir.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static char base[64];

static int enter(void **state)
{
	snprintf(base, sizeof(base), "/tmp/outdir_test.XXXXXX");
	return mkdtemp(base) ? 0 : -1;
}

static int leave(void **state)
{
	return rmdir(base); /* fails if a test has left something */
}

static void touch(const struct outdir *dir, const char *name)
{
	char path[OUTDIR_CHARS + 32];
	FILE *f;

	outdir_file(dir, name, path, sizeof(path));
	f = fopen(path, "w");
	assert_non_null(f);
	fclose(f);
}

static void makes_parents_and_takes_them_away(void **state)
{
	struct outdir dir;

	outdir_name(&dir, "%s/a/b//c/", base);
	assert_int_equal(outdir_create(&dir, stderr), 0);
	assert_int_equal(access(dir.path, W_OK), 0);
	touch(&dir, "run.log");
	touch(&dir, "config.ini");
	outdir_undo(&dir);
	assert_int_not_equal(access(dir.path, F_OK), 0);
}

static void keeps_what_was_there(void **state)
{
	struct outdir first, second;
	char path[OUTDIR_CHARS + 32];

	outdir_name(&first, "%s/a", base);
	assert_int_equal(outdir_create(&first, stderr), 0);
	touch(&first, "notes.txt");
	outdir_name(&second, "%s/a/b", base);
	assert_int_equal(outdir_create(&second, stderr), 0);
	outdir_undo(&second);
	outdir_file(&first, "notes.txt", path, sizeof(path));
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(unlink(path), 0);
	outdir_undo(&first);
}

static void a_file_in_the_way_is_one_line(void **state)
{
	char text[512] = "";
	FILE *err = fmemopen(text, sizeof(text), "w");
	struct outdir file, dir;
	char path[OUTDIR_CHARS + 32];

	outdir_name(&file, "%s", base);
	touch(&file, "config.ini");
	outdir_file(&file, "config.ini", path, sizeof(path));
	outdir_name(&dir, "%s/x/y", path);
	assert_int_equal(outdir_create(&dir, err), -ENOTDIR);
	fclose(err);
	assert_int_equal(strchr(text, '\n')[1], 0);
	assert_non_null(strstr(text, "config.ini"));
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(makes_parents_and_takes_them_away, enter, leave),
		cmocka_unit_test_setup_teardown(keeps_what_was_there, enter, leave),
		cmocka_unit_test_setup_teardown(a_file_in_the_way_is_one_line, enter, leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
