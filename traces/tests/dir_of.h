/* SPDX-License-Identifier: Apache-2.0 */
/* A fresh folder for one test's files. */
#ifndef TRACES_TESTS_DIR_OF_H
#define TRACES_TESTS_DIR_OF_H

#include "model/interface/macros.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct test_dir {
	char path[64];
	char file[96];
};

static inline const char *test_dir_file(struct test_dir *d, const char *name)
{
	snprintf(d->file, sizeof(d->file), "%s/%s", d->path, name);
	return d->file;
}

static inline int test_dir_make(void **state)
{
	struct test_dir *d = calloc(1, sizeof(*d));

	snprintf(d->path, sizeof(d->path), "/tmp/hcasim-trace-XXXXXX");
	*state = d;
	return mkdtemp(d->path) ? 0 : -1;
}

static inline int test_dir_remove(void **state)
{
	static const char *const names[] = {"run.log",      "run.records", "packets.pcapng",
					    "other.pcapng", "waves.vcd",   "timeline.json"};
	struct test_dir *d = *state;
	int ret;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		unlink(test_dir_file(d, names[i]));
	ret = rmdir(d->path);
	free(d);
	return ret;
}

#endif
