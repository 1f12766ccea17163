// SPDX-License-Identifier: Apache-2.0
/*
 * Flags that stand for more than a value.
 *
 * A flag that a function waits for and then sets is a lock, though it is not one of mlx4/lock.c. Who
 * has set it must have cleared it when its call returns: else the next one waits for ever.
 *
 * A flag that a handler of interrupts sets asks a thread for work. The thread clears it before it arms
 * the CQ: what comes behind the arming would be cleared with it, and nobody would do it.
 */
#include "testbench/dsan/checker_impl.h"
#include "testbench/dsan/threads/threads_impl.h"

#include <string.h>

enum {
	STORED = 1 << 10, /* newest stores into flags; a power of two */
	ASKING = 1 << 8,  /* flags that handlers have set; a power of two */
	OF_FLAG = 1,      /* bytes */
	BY_BYTES = 160,
};

static struct stored_flag {
	uintptr_t at;
	struct runner *r;
	unsigned number; /* of that runner's thread, which may have ended */
	uint32_t returns;
	const void *pc;
	uint32_t by[CALLERS];
} stored[STORED];

static uintptr_t asking[ASKING];

static unsigned place_of(uintptr_t at, unsigned places)
{
	return (unsigned)((at ^ at >> 10) % places);
}

static bool is_set(uintptr_t at)
{
	return *(const uint8_t *)at;
}

/* In the function that has armed the CQ, or one that called it, without another look at the flag. */
static bool clears_late(const struct runner *r, uintptr_t at, const void *pc)
{
	return r->armed_depth && r->depth <= r->armed_depth && r->depth <= DEPTH &&
	       asking[place_of(at, ASKING)] == at && !accesses_find(&r->loads, at, OF_FLAG) &&
	       waits_are_near(code_pc(r->in[r->depth - 1]), pc, false);
}

void flags_store(struct runner *r, uintptr_t at, size_t bytes, const void *pc)
{
	struct stored_flag *f = &stored[place_of(at, STORED)];

	if (bytes != OF_FLAG)
		return;
	*f = (struct stored_flag){at, r, r->number, r->returns, pc, {0}};
	for (unsigned i = 0; i < CALLERS && i < r->depth && r->depth <= DEPTH; i++)
		f->by[i] = r->in[r->depth - 1 - i];
	if (r->interrupts && r->n_set < SET)
		r->set[r->n_set++] = at;
	if (clears_late(r, at, pc))
		r->cleared = (struct cleared){at, pc};
}

/* --- flags as locks --- */

static const struct stored_flag *stored_find(uintptr_t at)
{
	const struct stored_flag *f = &stored[place_of(at, STORED)];

	return f->at == at ? f : NULL;
}

/* The outermost function of the layers above mlx4 that has led to the store has returned. */
static bool has_returned(const struct stored_flag *f)
{
	return f->by[0] && f->r->number == f->number && f->r->returns != f->returns;
}

static void kept_tell(struct runner *r, const struct stored_flag *f, const void *pc)
{
	const void *by[CALLERS];
	char names[BY_BYTES];
	unsigned n = 0;

	while (n < CALLERS && f->by[n]) {
		by[n] = code_pc(f->by[n]);
		n++;
	}
	checker_functions(by, n, names, sizeof(names));
	r->c->tell(r->c, &(struct breach){RULE_lock_misused, {0}, pc, f->pc},
		   "a thread waits for a flag as for a lock, and the call that has set it has "
		   "returned without clearing it: set by %s",
		   names);
}

void flags_sleep(struct runner *r, const void *pc)
{
	for (unsigned i = 0; r->c && i < accesses_kept(&r->loads); i++) {
		const struct access *look = &r->loads.newest[i];
		const struct stored_flag *f = look->bytes == OF_FLAG ? stored_find(look->at) : NULL;

		if (f && has_returned(f) && is_set(f->at) && waits_are_near(look->pc, pc, false) &&
		    waits_are_near(f->pc, pc, false))
			kept_tell(r, f, pc);
	}
}

/* --- flags that ask for work --- */

void flags_interrupt_ends(struct runner *r)
{
	for (unsigned i = 0; i < r->n_set; i++)
		if (stored_find(r->set[i]) && is_set(r->set[i]))
			asking[place_of(r->set[i], ASKING)] = r->set[i];
	r->n_set = 0;
}

void flags_turn_ends(struct runner *r)
{
	const struct cleared was = r->cleared;

	r->cleared = (struct cleared){0};
	if (was.at && r->c && stored_find(was.at) && !is_set(was.at))
		r->c->tell(r->c, &(struct breach){RULE_wait_unchecked, {0}, was.pc, NULL},
			   "a thread clears what a handler of interrupts sets, behind the arming "
			   "of the CQ: an event that came between them is lost");
}

void threads_armed(void)
{
	struct runner *r = runner_now();

	if (r)
		r->armed_depth = r->depth;
}

void threads_found_empty(void)
{
	struct runner *r = runner_now();

	if (!r)
		return;
	r->armed_depth = 0;
	r->cleared = (struct cleared){0};
}

void flags_memory_gone(uintptr_t at, size_t bytes)
{
	for (unsigned i = 0; i < STORED; i++)
		if (stored[i].at - at < bytes)
			stored[i].at = 0;
	for (unsigned i = 0; i < ASKING; i++)
		if (asking[i] - at < bytes)
			asking[i] = 0;
}

void flags_forget(void)
{
	memset(stored, 0, sizeof(stored));
	memset(asking, 0, sizeof(asking));
}
