/* SPDX-License-Identifier: Apache-2.0 */
/* See place.h. */
#include "testbench/os/place.h"

#include "testbench/build_info.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { PATH_CHARS = 4096 };

#define INSTALLED_DATA "../share/hcasim"

/* Paths from the folder that the executable is in. */
static const struct {
	const char *what, *installed, *built;
} places[] = {
	[PLACE_FIRMWARE] = {"firmware", INSTALLED_DATA "/fw", "fw"},
	[PLACE_DATA] = {"file", INSTALLED_DATA, BUILD_SOURCE_DIR},
	[PLACE_HEADERS] = {"header", "../include/hcasim", BUILD_SOURCE_DIR},
	[PLACE_GENERATED] = {"header", "../include/hcasim", "gen"},
	[PLACE_TEST_LOGS] = {"test result", INSTALLED_DATA "/test-logs", "test-logs"},
	[PLACE_VM_RESULTS] = {"test result", INSTALLED_DATA "/vm-test", "vm-test"},
};

int place_executable(char *buf, size_t size)
{
	const ssize_t n = readlink("/proc/self/exe", buf, size - 1);

	if (n < 0)
		return -errno;
	if ((size_t)n == size - 1)
		return -ENAMETOOLONG;
	buf[n] = 0;
	return strchr(buf, '/') ? 0 : -EINVAL;
}

static int executable_folder(char *buf, size_t size)
{
	const int rc = place_executable(buf, size);

	if (!rc)
		*strrchr(buf, '/') = 0;
	return rc;
}

/* Makes folder/path/name, without the ".." at its front. */
static int put_together(const char *folder, const char *path, const char *name, char *buf,
			size_t size)
{
	size_t n = strlen(folder);

	while (!strncmp(path, "..", 2) && (path[2] == '/' || !path[2])) {
		while (n && folder[--n] != '/')
			;
		path += path[2] ? 3 : 2;
	}
	n = (size_t)snprintf(buf, size, "%.*s%s%s%s%s", (int)n, folder, *path ? "/" : "", path,
			     *name ? "/" : "", name);
	return n < size ? 0 : -ENAMETOOLONG;
}

int place_find(enum place place, const char *name, char *buf, size_t size, FILE *err)
{
	char folder[PATH_CHARS], built[PATH_CHARS];
	int rc = executable_folder(folder, sizeof(folder));

	if (!rc)
		rc = put_together(folder, places[place].installed, name, buf, size);
	if (!rc && !access(buf, F_OK))
		return 0;
	if (!rc)
		rc = put_together(folder, places[place].built, name, built, sizeof(built));
	if (rc) {
		if (err)
			fprintf(err, "hcasim: /proc/self/exe: %s\n", strerror(-rc));
		return rc;
	}
	if (access(built, F_OK)) {
		if (err)
			fprintf(err, "hcasim: %s not found: tried %s (installed) and %s (built)\n",
				places[place].what, buf, built);
		return -ENOENT;
	}
	return snprintf(buf, size, "%s", built) < (int)size ? 0 : -ENAMETOOLONG;
}

int place_firmware(const char *fw, char *buf, size_t size)
{
	if (!fw)
		return place_find(PLACE_FIRMWARE, "hcasim-fw.elf", buf, size, stderr);
	return snprintf(buf, size, "%s", fw) < (int)size ? 0 : -ENAMETOOLONG;
}

int place_runs(char *buf, size_t size)
{
	char folder[PATH_CHARS], installed[PATH_CHARS];
	int rc = executable_folder(folder, sizeof(folder));

	if (!rc)
		rc = put_together(folder, INSTALLED_DATA, "", installed, sizeof(installed));
	if (rc)
		return rc;
	if (access(installed, F_OK))
		return put_together(folder, "traces", "", buf, size);
	return snprintf(buf, size, "hcasim-traces") < (int)size ? 0 : -ENAMETOOLONG;
}
