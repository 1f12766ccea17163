// SPDX-License-Identifier: Apache-2.0
/*
 * Handlers that a part of the driver has registered with another one. They are called with memory of
 * the part: before it frees that, it takes them back. A handler that is left is a mistake even if no
 * event comes any more in this run.
 */
#include "testbench/dsan/threads/threads_impl.h"

enum { HANDLERS = 256 };

static struct registered {
	const char *kind; /* NULL: free */
	const void *with;
	unsigned number;
	uintptr_t memory;
	const void *pc;
} handlers[HANDLERS];

void handlers_add(const char *kind, const void *with, unsigned number, const void *memory,
		  const void *pc)
{
	struct registered *h = handlers;

	while (h < handlers + HANDLERS && h->kind)
		h++;
	if (h < handlers + HANDLERS)
		*h = (struct registered){kind, with, number, (uintptr_t)memory, pc};
}

void handlers_remove(const void *with, unsigned number)
{
	for (struct registered *h = handlers; h < handlers + HANDLERS; h++)
		if (h->kind && h->with == with && h->number == number)
			*h = (struct registered){0};
}

void handlers_memory_gone(struct runner *r, uintptr_t at, size_t bytes, const void *pc)
{
	for (struct registered *h = handlers; h < handlers + HANDLERS; h++) {
		if (!h->kind || h->memory - at >= bytes)
			continue;
		r->c->tell(r->c, &(struct breach){RULE_freed_in_use, {0}, pc, h->pc},
			   "memory is freed, and a handler of %s is registered that works on it",
			   h->kind);
		*h = (struct registered){0};
	}
}

void handlers_forget(void)
{
	for (struct registered *h = handlers; h < handlers + HANDLERS; h++)
		*h = (struct registered){0};
}
