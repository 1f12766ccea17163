// SPDX-License-Identifier: Apache-2.0
/* See reached.h. */
#include "testbench/dsan/hear/reached.h"

#include "testbench/dsan/hear/callout.h"
#include "testbench/os/symbols.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CHAIN_MAX = 16 };

/* The linker's names for the first byte of the program, and the first behind its code. */
extern const char __executable_start[], etext[];

static unsigned char *places; /* a bit for each byte of code */

static void note(const void *pc)
{
	const size_t at = (size_t)((const char *)pc - __executable_start);

	if (at < (size_t)(etext - __executable_start))
		places[at / CHAR_BIT] |= (unsigned char)(1 << at % CHAR_BIT);
}

static void on_access(void *ctx, uintptr_t at, size_t bytes, const void *pc)
{
	note(pc);
}

static void on_enter(void *ctx, const void *pc)
{
	note(pc);
}

int reached_begin(void)
{
	static struct callout_listener listener = {.load = on_access,
						   .store = on_access,
						   .elsewhere = on_access,
						   .elsewhere_load = on_access,
						   .enter = on_enter,
						   .visit = on_enter};

	if (!callouts_built())
		return -ENOTSUP;
	places = calloc((size_t)(etext - __executable_start) / CHAR_BIT + 1, 1);
	if (!places)
		return -ENOMEM;
	callout_listen(&listener);
	return 0;
}

/* --- names --- */

struct names {
	char (*name)[SYMBOL_NAME];
	size_t n, room;
};

static int name_add(struct names *all, const char *name)
{
	for (size_t i = all->n; i--;)
		if (!strcmp(all->name[i], name))
			return 0;
	if (all->n == all->room) {
		const size_t room = all->room ? 2 * all->room : 256;
		void *grown = realloc(all->name, room * sizeof(*all->name));

		if (!grown)
			return -ENOMEM;
		all->name = grown;
		all->room = room;
	}
	strcpy(all->name[all->n++], name);
	return 0;
}

static int names_of(struct names *all, const void *pc)
{
	struct symbol chain[CHAIN_MAX];
	const size_t n = symbols_find(pc, chain, CHAIN_MAX);
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++)
		rc = name_add(all, chain[i].name);
	return rc;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

int reached_write(FILE *out)
{
	struct names all = {0};
	int rc = 0;

	for (const char *pc = __executable_start; pc < etext && !rc; pc++) {
		const size_t at = (size_t)(pc - __executable_start);

		if (places[at / CHAR_BIT] >> at % CHAR_BIT & 1)
			rc = names_of(&all, pc);
	}
	if (all.n)
		qsort(all.name, all.n, sizeof(*all.name), by_name);
	for (size_t i = 0; i < all.n && !rc; i++)
		fprintf(out, "%s\n", all.name[i]);
	free(all.name);
	return rc ? rc : ferror(out) ? -EIO : 0;
}
