// SPDX-License-Identifier: Apache-2.0
/* Files that a user names and that are not as they should be. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "model/sim/file.h"

enum { MOST = 1 << 20 };

static char said[256];

static FILE *listen_open(void)
{
	memset(said, 0, sizeof(said));
	return fmemopen(said, sizeof(said), "w");
}

static int text_of(const char *path, enum file_kind kind, char **text, size_t *len)
{
	FILE *err = listen_open();
	const int rc = file_text(text, len, path, kind, MOST, err);

	fclose(err);
	return rc;
}

static void folder_make(char *dir)
{
	strcpy(dir, "/tmp/file_test.XXXXXX");
	assert_non_null(mkdtemp(dir));
}

static void what_is_no_file(void **state)
{
	char dir[64], pipe[80], wanted[128], *text;
	size_t len;

	folder_make(dir);
	snprintf(pipe, sizeof(pipe), "%s/pipe", dir);
	assert_int_equal(mkfifo(pipe, 0600), 0);
	assert_int_equal(text_of("/no/such", FILE_ANY, &text, &len), -ENOENT);
	assert_string_equal(said, "/no/such: No such file or directory\n");
	assert_int_equal(text_of("/", FILE_ANY, &text, &len), -EISDIR);
	assert_string_equal(said, "/: Is a directory\n");
	assert_int_equal(text_of("/dev/zero", FILE_REGULAR, &text, &len), -EINVAL);
	assert_string_equal(said, "/dev/zero: not a regular file\n");
	alarm(10); /* nobody writes to the pipe, so nothing may wait for it */
	assert_int_equal(text_of(pipe, FILE_REGULAR, &text, &len), -EINVAL);
	alarm(0);
	snprintf(wanted, sizeof(wanted), "%s: not a regular file\n", pipe);
	assert_string_equal(said, wanted);
	unlink(pipe);
	rmdir(dir);
}

static void texts(void **state)
{
	char *text, path[] = "/tmp/file_test.XXXXXX";
	const int fd = mkstemp(path);
	size_t len;

	assert_int_equal(text_of(path, FILE_REGULAR, &text, &len), 0);
	assert_int_equal(len, 0);
	assert_string_equal(text, "");
	free(text);
	for (unsigned i = 0; i < 50000; i++)
		assert_int_equal(write(fd, "0123456789", 10), 10);
	assert_int_equal(text_of(path, FILE_REGULAR, &text, &len), 0);
	assert_int_equal(len, 500000);
	assert_int_equal(strlen(text), 500000);
	free(text);
	assert_int_equal(pwrite(fd, "", 1, 1234), 1);
	assert_int_equal(text_of(path, FILE_REGULAR, &text, &len), 0);
	assert_int_equal(strlen(text), 1234);
	assert_true(len > 1234);
	free(text);
	assert_int_equal(ftruncate(fd, MOST + 1), 0);
	assert_int_equal(text_of(path, FILE_REGULAR, &text, &len), -EFBIG);
	assert_non_null(strstr(said, "expected at most 1048576 bytes\n"));
	close(fd);
	unlink(path);
	/* a file without an end */
	assert_int_equal(text_of("/dev/zero", FILE_ANY, &text, &len), 0);
	assert_int_equal(strlen(text), 0);
	assert_true(len > 0);
	free(text);
}

static void lines(void **state)
{
	static const char bytes[] = "one\n\na\0b\nlast";
	FILE *in = fmemopen((void *)bytes, sizeof(bytes) - 1, "r");
	char *line = NULL;
	size_t room = 0;

	assert_int_equal(file_line(in, &line, &room), 4);
	assert_string_equal(line, "one\n");
	assert_int_equal(file_line(in, &line, &room), 1);
	assert_int_equal(file_line(in, &line, &room), 4);
	assert_memory_equal(line, "a\0b\n", 5);
	assert_int_equal(file_line(in, &line, &room), 4);
	assert_string_equal(line, "last");
	assert_int_equal(file_line(in, &line, &room), -1);
	assert_int_equal(errno, 0);
	fclose(in);
	in = fopen("/dev/zero", "r");
	assert_int_equal(file_line(in, &line, &room), -1);
	assert_int_equal(errno, EFBIG);
	fclose(in);
	free(line);
}

/* The cause of the first failure is reported, however much is written after it. */
static void full_disk(void **state)
{
	struct file_out f;
	FILE *err = listen_open();

	assert_int_equal(file_create(&f, "/dev/full", err), 0);
	for (unsigned i = 0; i < 100000; i++)
		fprintf(f.out, "%u\n", i);
	errno = 0;
	assert_int_equal(file_finish(&f, -EIO, err), -ENOSPC);
	fclose(err);
	assert_string_equal(said, "/dev/full: No space left on device\n");
	err = listen_open();
	assert_int_equal(file_create(&f, "/no/such/file", err), -ENOENT);
	fclose(err);
	assert_string_equal(said, "/no/such/file: No such file or directory\n");
	err = listen_open();
	assert_int_equal(file_create(&f, "/dev/null", err), 0);
	assert_int_equal(file_finish(&f, -ENOMEM, err), -ENOMEM);
	fclose(err);
	assert_string_equal(said, "/dev/null: Cannot allocate memory\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_file),
		cmocka_unit_test(texts),
		cmocka_unit_test(lines),
		cmocka_unit_test(full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
