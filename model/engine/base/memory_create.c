/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that the process cannot do without: see memory.h. */
#include "model/engine/base/memory.h"

#include <stdio.h>
#include <stdlib.h>

void memory_missing(const char *what)
{
	fprintf(stderr, "out of memory for %s: the host has no more\n", what);
	exit(EXIT_FAILURE);
}

void *memory_create(size_t count, size_t size, const char *what)
{
	void *p = calloc(count ? count : 1, size);

	if (!p)
		memory_missing(what);
	return p;
}

void *memory_grow(void *p, size_t count, size_t size, const char *what)
{
	void *grown = reallocarray(p, count, size);

	if (!grown)
		memory_missing(what);
	return grown;
}
