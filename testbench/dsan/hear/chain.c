// SPDX-License-Identifier: Apache-2.0
/* See chain.h. */
#include "testbench/dsan/hear/chain.h"

#include "model/systemc/kernel.h"
#include "testbench/os/symbols.h"

#include <stdio.h>
#include <string.h>

enum { INLINED = 8, FUNCTIONS = 8 };

void chain_take(struct calls *calls)
{
	calls_take(calls, kernel_thread_running());
}

static void format(const struct calls *calls, char *text, size_t size)
{
	char last[SYMBOL_NAME] = "";
	struct symbol s[INLINED];
	unsigned named = 0;
	size_t used = 0;

	snprintf(text, size, "nobody");
	for (unsigned i = 0; i < calls->n; i++) {
		const size_t n = symbols_find(calls->pc[i], s, INLINED);

		for (size_t k = 0; k < n && named < FUNCTIONS; k++) {
			if (!strstr(s[k].file, "host_driver/") || !strcmp(s[k].name, last) ||
			    used + strlen(s[k].name) + 3 > size)
				continue;
			used += (size_t)snprintf(text + used, size - used, "%s%s",
						 named++ ? ", " : "", s[k].name);
			snprintf(last, sizeof(last), "%s", s[k].name);
		}
	}
}

/* A driver in an endless loop asks for the same names a million times. */
static struct {
	struct calls calls;
	size_t size;
	char text[CHAIN_BYTES];
} newest;

static bool is_newest(const struct calls *calls, size_t size)
{
	return newest.size == size && newest.calls.n == calls->n &&
	       !memcmp(newest.calls.pc, calls->pc, calls->n * sizeof(calls->pc[0]));
}

void chain_format(const struct calls *calls, char *text, size_t size)
{
	if (size > sizeof(newest.text)) {
		format(calls, text, size);
		return;
	}
	if (!is_newest(calls, size)) {
		format(calls, newest.text, size);
		newest.calls = *calls;
		newest.size = size;
	}
	memcpy(text, newest.text, size);
}
