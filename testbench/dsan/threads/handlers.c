// SPDX-License-Identifier: Apache-2.0
/*
 * What a piece of memory has with another part of the driver: a handler that is called with it, a hold of
 * a table's entry. Before it is freed, that is taken back. What is left is a mistake even if no event
 * comes any more in this run.
 */
#include "testbench/dsan/threads/threads_impl.h"

enum { HANDLERS = 256 };

static struct had {
	const char *what; /* NULL: free */
	const void *with;
	unsigned number;
	uintptr_t memory;
	const void *pc;
} handlers[HANDLERS];

void handlers_add(const char *what, const void *with, unsigned number, const void *memory,
		  const void *pc)
{
	struct had *h = handlers;

	while (h < handlers + HANDLERS && h->what)
		h++;
	if (h < handlers + HANDLERS)
		*h = (struct had){what, with, number, (uintptr_t)memory, pc};
}

void handlers_remove(const void *with, unsigned number)
{
	for (struct had *h = handlers; h < handlers + HANDLERS; h++)
		if (h->what && h->with == with && h->number == number)
			*h = (struct had){0};
}

void handlers_memory_gone(struct runner *r, uintptr_t at, size_t bytes, const void *pc)
{
	for (struct had *h = handlers; h < handlers + HANDLERS; h++) {
		if (!h->what || h->memory - at >= bytes)
			continue;
		r->c->tell(r->c, &(struct breach){RULE_freed_in_use, {0}, pc, h->pc},
			   "memory is freed, and %s", h->what);
		*h = (struct had){0};
	}
}

void handlers_forget(void)
{
	for (struct had *h = handlers; h < handlers + HANDLERS; h++)
		*h = (struct had){0};
}
