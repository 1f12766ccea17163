// SPDX-License-Identifier: Apache-2.0
/*
 * Who works on memory that another thread may end says so with a flag, or a count, in that memory: it
 * sets the flag, works, and clears it. Who ends the memory waits until the flag is clear. So the flag
 * is cleared last: a thread that lets others run behind that, and then goes on with the memory, may
 * find it freed. This is judged where the flag is cleared too soon, whether or not somebody waits for it.
 */
#include "testbench/dsan/bucket.h"
#include "testbench/dsan/held/heap.h"
#include "testbench/dsan/threads/threads_impl.h"

#include <string.h>

enum { OF_FLAG = 1, OF_COUNT = 4, FUNCTION_BYTES = 4096, GUARD_BITS = 8, GUARDS = 1 << GUARD_BITS };

/* Flags behind which others ran while they were set; 0: none. Who looked at it last. */
static struct guard {
	uintptr_t at;
	const void *pc;              /* where it was cleared */
	uint32_t in;                 /* the function, as in struct runner */
	const struct runner *setter; /* the thread that cleared it */
	bool interrupt;              /* a handler of interrupts did */
	const struct runner *looker;
	uint32_t returns; /* of that one */
} guards[GUARDS];

static struct guard *guard_of(uintptr_t at)
{
	return &guards[bucket_number(at, GUARD_BITS)];
}

static uint32_t value_at(uintptr_t at, unsigned bytes)
{
	uint32_t value = 0;

	memcpy(&value, (const void *)at, bytes);
	return value;
}

/* Only the layers above mlx4 say where a function begins and ends. Whether the store is one of the
 * function that was entered last is looked up where it matters. */
static bool may_be_of(uint32_t in, const void *pc)
{
	return in && code_offset(pc) - in < FUNCTION_BYTES;
}

static uint32_t innermost(const struct runner *r)
{
	return r->depth <= DEPTH ? r->in[r->depth - 1] : 0;
}

static void forget(struct runner *r, unsigned n)
{
	r->busy[n] = r->busy[--r->n_busy];
}

static struct busy *find(struct runner *r, uintptr_t at)
{
	for (unsigned i = 0; i < r->n_busy; i++)
		if (r->busy[i].at == at)
			return &r->busy[i];
	return NULL;
}

void busy_store(struct runner *r, uintptr_t at, size_t bytes, const void *pc)
{
	if ((bytes != OF_FLAG && bytes != OF_COUNT) || on_own_stack(at) || !r->depth)
		return;
	r->counting = (struct counting){at, (unsigned)bytes, value_at(at, (unsigned)bytes), pc};
}

/* The store is made. */
void busy_stored(struct runner *r)
{
	const struct counting s = r->counting;
	const uint32_t value = value_at(s.at, s.bytes);
	struct busy *b = find(r, s.at);

	r->counting.at = 0;
	if (value == s.was + 1) {
		if (b)
			forget(r, (unsigned)(b - r->busy));
		if (r->n_busy < BUSY && may_be_of(innermost(r), s.pc))
			r->busy[r->n_busy++] = (struct busy){
				.at = s.at, .depth = r->depth, .turn = r->turn, .in = innermost(r)};
	} else if (b && value == s.was - 1 && !b->cleared && b->depth == r->depth) {
		b->cleared = true;
		if (b->turn != r->turn) {
			struct guard *g = guard_of(s.at);

			if (g->at != s.at)
				*g = (struct guard){.at = s.at};
			g->pc = s.pc;
			g->in = b->in;
			g->setter = r;
			g->interrupt = r->interrupts;
			g->looker = r;
			g->returns = r->returns;
		}
		b->pc = s.pc;
		b->turn = r->turn;
	} else if (b && value != s.was) {
		forget(r, (unsigned)(b - r->busy));
	}
}

/* Who has freed the memory himself was its end. */
void busy_leave(struct runner *r)
{
	for (unsigned i = r->n_busy; i--;) {
		const struct busy b = r->busy[i];

		if (b.depth <= r->depth)
			continue;
		forget(r, i);
		if (b.used && r->c && waits_are_near(code_pc(b.in), b.pc, false))
			r->c->tell(
				r->c, &(struct breach){RULE_freed_in_use, {0}, b.pc, b.used},
				"a thread clears the flag, or counts down the count, that keeps "
				"others from freeing memory, lets them run, and goes on with it");
	}
}

void busy_access(struct runner *r, uintptr_t at, const void *pc)
{
	for (unsigned i = 0; i < r->n_busy; i++) {
		struct busy *b = &r->busy[i];

		/* a list leads to the neighbours of what is taken out of it */
		if (b->cleared && !b->used && b->turn != r->turn && heap_same(b->at, at) &&
		    !waits_of_header(pc))
			b->used = pc;
	}
}

void busy_load(struct runner *r, uintptr_t at)
{
	struct guard *g = guard_of(at);

	if (g->at != at)
		return;
	g->looker = r;
	g->returns = r->returns;
}

void busy_memory_gone(struct runner *r, uintptr_t at, size_t bytes, const void *pc)
{
	for (unsigned i = 0; i < GUARDS; i++) {
		struct guard *g = &guards[i];

		if (!g->at || g->at - at >= bytes)
			continue;
		/* a call of a program has its memory for itself, and who has seen its thread end, too */
		if (r->c && (g->interrupt || (g->setter->depth && g->setter != r)) && !r->ends &&
		    (g->looker != r || g->returns != r->returns) &&
		    waits_are_near(code_pc(g->in), g->pc, false))
			r->c->tell(r->c, &(struct breach){RULE_freed_in_use, {0}, pc, g->pc},
				   "memory is freed without a look at the flag with which a thread "
				   "says that it works on it");
		*g = (struct guard){0};
	}
	if (r->counting.at - at < bytes)
		r->counting.at = 0;
	for (unsigned i = r->n_busy; i--;)
		if (r->busy[i].at - at < bytes)
			forget(r, i);
}

void busy_forget(void)
{
	for (unsigned i = 0; i < GUARDS; i++)
		guards[i] = (struct guard){0};
}
