/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the executables that the build puts into the folder of the running test. */
#ifndef MODEL_RV32_TESTS_BESIDE_H
#define MODEL_RV32_TESTS_BESIDE_H

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

/* Writes the path of @name, a file relative to the folder of the running program, into @path
 * (PATH_MAX bytes). */
static inline char *beside(char *path, const char *name)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = '\0';
	if (snprintf(path, PATH_MAX, "%s/%s", dirname(self), name) >= PATH_MAX)
		path[0] = '\0';
	return path;
}

#endif
