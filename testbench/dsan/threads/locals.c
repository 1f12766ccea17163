// SPDX-License-Identifier: Apache-2.0
/*
 * Pointers to local variables that other memory holds, such as the link of a record on the stack in a
 * list. When the variable's function ends they must be gone: whoever loads one then works on what
 * later calls have put on the stack. A pointer that is left and never loaded is no mistake.
 */
#include "testbench/dsan/threads/threads_impl.h"

#include "host_driver/mlx4/mlx4.h"
#include "model/systemc/kernel.h"
#include "testbench/dsan/hear/chain.h"

enum { LOCALS = 128 };

static struct local {
	uintptr_t at, to; /* where the pointer is; 0: none. The variable */
	unsigned owner;   /* number of the thread with the variable */
	bool ended;       /* the variable's function */
	struct calls by;  /* who stored it */
} locals[LOCALS];
static unsigned n_locals,
	n_ended; /* places in use, from the first on; of those, how many have ended */

static uintptr_t value(uintptr_t at)
{
	return *(const uintptr_t *)at;
}

static void forget(struct local *l)
{
	n_ended -= l->ended;
	*l = (struct local){0};
	while (n_locals && !locals[n_locals - 1].at)
		n_locals--;
}

/* Whose variable it is that `to` points to; 0: nobody's that is known. A thread may move a pointer to
 * another thread's variable, when it takes its own record out of a list. */
static unsigned owner_of(const struct runner *r, uintptr_t to)
{
	if (to >= (uintptr_t)__builtin_frame_address(0) && to < r->outermost)
		return r->number;
	for (const struct local *l = locals; l < locals + n_locals; l++)
		if (l->at && l->to == to && !l->ended)
			return l->owner;
	return 0;
}

void locals_stored(struct runner *r)
{
	const uintptr_t at = r->pointer, to = value(at);
	const unsigned owner = owner_of(r, to);
	struct local *l = locals;

	r->pointer = 0;
	for (struct local *old = locals; old < locals + n_locals; old++)
		if (old->at == at)
			forget(old);
	if (!owner || runners_stack(at))
		return;
	while (l < locals + LOCALS && l->at)
		l++;
	if (l == locals + LOCALS)
		return;
	*l = (struct local){.at = at, .to = to, .owner = owner};
	chain_take(&l->by);
	if (l >= locals + n_locals)
		n_locals = (unsigned)(l - locals) + 1;
}

void locals_end(const struct runner *r, uintptr_t frame)
{
	for (struct local *l = locals; l < locals + n_locals; l++) {
		if (!l->at || l->ended || l->owner != r->number || l->to >= frame)
			continue;
		if (value(l->at) != l->to) {
			forget(l);
			continue;
		}
		l->ended = true;
		n_ended++;
	}
}

/* Of a dead device, completions that nobody has read are found behind those that the driver made up for
 * the same requests: it reads their numbers, which may point to a user's variable, and throws them away. */
static bool is_dead(const struct checker *c)
{
	return c->dead.dev && drv_is_dead(c->dead.dev);
}

void locals_load(const struct runner *r, uintptr_t at, const void *pc)
{
	char names[CHAIN_BYTES];

	if (!n_ended)
		return;
	for (struct local *l = locals; l < locals + n_locals; l++) {
		if (l->at != at || !l->ended)
			continue;
		chain_format(&l->by, names, sizeof(names));
		if (value(at) == l->to && r->c && !is_dead(r->c))
			r->c->tell(r->c, &(struct breach){RULE_local_ended, {0}, pc, NULL},
				   "a pointer to a local variable of a function that has ended is "
				   "used; "
				   "it was stored by %s",
				   names);
		forget(l);
	}
}

void locals_memory_gone(uintptr_t at, size_t bytes)
{
	struct runner *r = runner_now();

	if (r && r->pointer - at < bytes)
		r->pointer = 0;
	for (struct local *l = locals; l < locals + n_locals; l++)
		if (l->at && l->at - at < bytes)
			forget(l);
}

void locals_forget(void)
{
	for (struct local *l = locals; l < locals + LOCALS; l++)
		*l = (struct local){0};
	n_locals = n_ended = 0;
}
