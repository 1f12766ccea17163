// SPDX-License-Identifier: Apache-2.0
/* See compile.h. */
#include "testbench/app/compile.h"

#include "testbench/build_info.h"
#include "testbench/app/child.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ARGS_MAX = 128, OWN_ARGS = 10, PATH_CHARS = 4096 };

/* Runs the compiler; its exit status, or -errno. */
static int compile(const char *const *words, size_t n_words, const char *object)
{
	char flags[] = BUILD_CFLAGS;
	char *argv[ARGS_MAX], *rest;
	int n = 0, status;
	pid_t pid;

	if (n_words > ARGS_MAX / 2)
		return -E2BIG;
	argv[n++] = (char *)BUILD_CC;
	for (char *flag = strtok_r(flags, " ", &rest); flag; flag = strtok_r(NULL, " ", &rest)) {
		if (n + n_words + OWN_ARGS >= ARGS_MAX)
			return -E2BIG;
		argv[n++] = flag;
	}
	argv[n++] = (char *)"-fPIC";
	argv[n++] = (char *)"-shared";
	argv[n++] = (char *)"-I" BUILD_SOURCE_DIR;
	argv[n++] = (char *)"-I" BUILD_SOURCE_DIR "/host_driver/uverbs/include";
	argv[n++] = (char *)"-I" BUILD_SOURCE_DIR "/host_driver/core/include";
	argv[n++] = (char *)"-I" BUILD_SOURCE_DIR "/host_driver/cm/include";
	argv[n++] = (char *)"-o";
	argv[n++] = (char *)object;
	for (size_t i = 0; i < n_words; i++)
		argv[n++] = (char *)words[i];
	argv[n] = NULL;
	pid = child_start();
	if (!pid) {
		execvp(argv[0], argv);
		fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
		_exit(127);
	}
	pid = pid < 0 ? -errno : child_wait(pid, &status);
	if (pid < 0)
		return pid;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -EINTR;
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
	rc = compile(words, n, object);
	if (rc) {
		fprintf(err, "%s: %s\n", name, rc == -EINTR ? "interrupted" : "does not compile");
		unlink(object);
		rmdir(dir);
	}
	children_end();
	if (rc)
		return -EINVAL;
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
	if (snprintf(buf, size, "%s/%s", BUILD_SOURCE_DIR, path) < (int)size && !access(buf, R_OK))
		return buf;
	return NULL;
}
