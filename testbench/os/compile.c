/* SPDX-License-Identifier: Apache-2.0 */
/* See compile.h. */
#include "testbench/os/compile.h"

#include "testbench/build_info.h"
#include "testbench/os/child.h"
#include "testbench/os/place.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ARGS_MAX = 128, PATH_CHARS = 4096, NO_COMPILER = 127 };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const cflags[] = {BUILD_CFLAGS};
/* The folders that -I names in this build; the last is that of the headers that the build makes. */
static const char *const include_dirs[] = {BUILD_INCLUDE_DIRS ""};

enum { INCLUDE_DIRS = COUNT(include_dirs) };

struct arguments {
	char *words[ARGS_MAX + 1];
	size_t n;
	bool too_many;
};

static void add(struct arguments *args, const char *const *words, size_t n)
{
	args->too_many |= n > ARGS_MAX - args->n;
	for (size_t i = 0; i < n && !args->too_many; i++)
		args->words[args->n++] = (char *)words[i];
}

/* The -I options, of the headers where they are now. 0 or -errno, printed to err. */
static int find_headers(char options[][PATH_CHARS], FILE *err)
{
	int rc = 0;

	for (size_t i = 0; i < INCLUDE_DIRS && !rc; i++) {
		strcpy(options[i], "-I");
		rc = place_find(i == INCLUDE_DIRS - 1 ? PLACE_GENERATED : PLACE_HEADERS,
				include_dirs[i], options[i] + 2, PATH_CHARS - 2, err);
	}
	return rc;
}

/* Runs the compiler; its exit status, or -errno. */
static int run_compiler(char *const *argv)
{
	int status;
	pid_t pid;

	pid = child_start();
	if (!pid) {
		execvp(argv[0], argv);
		fprintf(stderr, "hcasim: the C compiler %s: %s\n", argv[0], strerror(errno));
		_exit(NO_COMPILER);
	}
	pid = pid < 0 ? -errno : child_wait(pid, &status);
	if (pid < 0)
		return pid;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -EINTR;
}

/* 0; or -errno, with what is wrong printed to err. */
static int compile(const char *name, const char *const *words, size_t n, const char *object,
		   FILE *err)
{
	const char *const output[] = {"-fPIC", "-shared", "-o", object}, *cc = BUILD_CC;
	char options[INCLUDE_DIRS][PATH_CHARS];
	struct arguments args = {.n = 0};
	int rc = find_headers(options, err);

	if (rc)
		return rc;
	add(&args, &cc, 1);
	add(&args, cflags, COUNT(cflags));
	for (size_t i = 0; i < INCLUDE_DIRS; i++)
		add(&args, &(const char *){options[i]}, 1);
	add(&args, output, COUNT(output));
	add(&args, words, n);
	rc = args.too_many ? -E2BIG : run_compiler(args.words);
	if (rc == -EINTR)
		fprintf(err, "%s: interrupted\n", name);
	else if (rc < 0)
		fprintf(err, "%s: cannot be compiled: %s\n", name, strerror(-rc));
	else if (rc && rc != NO_COMPILER)
		fprintf(err, "%s: does not compile\n", name);
	return rc ? -EINVAL : 0;
}

int compile_and_load(const char *name, const char *const *words, size_t n, void **so, FILE *err)
{
	const char *tmp = getenv("TMPDIR");
	char dir[PATH_CHARS], object[PATH_CHARS + 16];
	void *loaded = NULL;
	int rc;

	snprintf(dir, sizeof(dir), "%s/hcasim.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(dir)) {
		rc = -errno;
		fprintf(err, "%s: %s\n", dir, strerror(-rc));
		return rc;
	}
	snprintf(object, sizeof(object), "%s/scenario.so", dir);
	children_begin();
	rc = compile(name, words, n, object, err);
	if (rc) {
		unlink(object);
		rmdir(dir);
	}
	children_end();
	if (rc)
		return rc;
	loaded = dlopen(object, RTLD_NOW | RTLD_LOCAL);
	if (!loaded) {
		/* the message begins with the name of our temporary file: leave that out */
		const char *text = dlerror(), *colon = strchr(text, ':');

		fprintf(err, "%s: cannot be loaded%s\n", name, colon ? colon : "");
	}
	unlink(object);
	rmdir(dir);
	if (!loaded)
		return -EINVAL;
	*so = loaded;
	return 0;
}

const char *compile_find(const char *path, char *buf, size_t size)
{
	if (!access(path, R_OK))
		return path;
	return place_find(PLACE_DATA, path, buf, size, NULL) ? NULL : buf;
}
