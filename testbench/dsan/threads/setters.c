// SPDX-License-Identifier: Apache-2.0
/*
 * Who has set what a call went by. A call may decide wrongly although its own functions are right: what
 * they read was set wrongly, by a function that has ended long ago.
 */
#include "testbench/dsan/bucket.h"
#include "testbench/dsan/threads/threads_impl.h"

#include <stdio.h>
#include <string.h>

enum {
	LOG_SLOTS = 15,
	SLOTS = 1 << LOG_SLOTS,
	PART = 4,
	PARTS_MAX = 64,
	FORGOTTEN_BYTES = 4096, /* of memory that is freed */
	NAMES_BYTES = 800
};

/* The store to an address that was made last, and the last one before the call that made it. Another
 * address may take its place. */
static struct setter {
	uintptr_t at;
	struct set {
		uint32_t pc, caller; /* code_offset(); 0: none is known */
		uint32_t nth;
		/* of the call that made it: its thread, and where its trail began */
		unsigned thread;
		uint32_t trail_from;
		bool copied; /* a part of a longer store */
	} last, before;
} setters[SLOTS];
static uint32_t count;

static struct setter *place_of(uintptr_t at)
{
	return &setters[bucket_number(at, LOG_SLOTS)];
}

static bool is_of_this_call(const struct set *s, const struct runner *r)
{
	return s->thread == r->number && s->trail_from == r->trail_from;
}

static void set(const struct runner *r, uintptr_t at, const void *pc, bool copied)
{
	struct setter *s = place_of(at);

	if (s->at != at)
		*s = (struct setter){.at = at};
	else if (!is_of_this_call(&s->last, r))
		s->before = s->last;
	s->last = (struct set){
		.pc = code_offset(pc),
		.caller = r->depth > 1 && r->depth <= DEPTH ? r->in[r->depth - 2] : 0,
		.nth = ++count,
		.thread = r->number,
		.trail_from = r->trail_from,
		.copied = copied,
	};
}

void setters_store(const struct runner *r, uintptr_t at, size_t bytes, const void *pc)
{
	if (on_own_stack(at))
		return;
	if (bytes <= sizeof(uint64_t)) {
		set(r, at, pc, false);
		return;
	}
	at &= ~(uintptr_t)(PART - 1);
	for (size_t n = 0; n < bytes / PART && n < PARTS_MAX; n++)
		set(r, at + n * PART, pc, true);
}

void setters_memory_gone(uintptr_t at, size_t bytes)
{
	for (size_t n = 0; n < bytes && n < FORGOTTEN_BYTES; n++) {
		struct setter *s = place_of(at + n);

		if (s->at == at + n)
			*s = (struct setter){0};
	}
}

void setters_forget(void)
{
	memset(setters, 0, sizeof(setters));
}

static const struct set *set_before(uintptr_t at, const struct runner *r)
{
	const struct setter *s = place_of(at);

	if (s->at != at)
		return NULL;
	return is_of_this_call(&s->last, r) ? &s->before : &s->last;
}

static const struct set *set_of(uintptr_t at, const struct runner *r)
{
	const struct set *alone = set_before(at, r),
			 *part = set_before(at & ~(uintptr_t)(PART - 1), r);

	if (part && part->copied && (!alone || part->nth > alone->nth))
		return part;
	return alone;
}

const void *threads_setter(const void *at)
{
	const struct setter *s = place_of((uintptr_t)at);

	return s->at == (uintptr_t)at && s->last.pc ? code_pc(s->last.pc) : NULL;
}

/* Puts it where it belongs among the n that are there, the latest store first. */
static void insert(const struct set **all, unsigned n, const struct set *s)
{
	for (; n && s->nth > all[n - 1]->nth; n--)
		all[n] = all[n - 1];
	all[n] = s;
}

void setters_take(const struct runner *r, struct ran *ran)
{
	const unsigned kept = accesses_kept(&r->loads);
	const struct set *all[ACCESSES];
	unsigned n = 0;

	for (unsigned i = 1; i <= kept; i++) {
		const struct access *load = &r->loads.newest[(r->loads.n - i) % ACCESSES];
		const struct set *s = set_of(load->at, r);

		if (s && s->pc && !on_own_stack(load->at))
			insert(all, n++, s);
	}
	ran->n = 0;
	for (unsigned i = 0; i < n && ran->n + 2 <= RAN_MAX; i++) {
		ran->pc[ran->n++] = code_pc(all[i]->pc);
		if (all[i]->caller)
			ran->pc[ran->n++] = code_pc(all[i]->caller);
	}
}

void setters_format(const struct runner *r, const char *besides, char *text, size_t size)
{
	char names[NAMES_BYTES];
	struct ran ran;
	size_t from;

	snprintf(names, sizeof(names), "%s", besides);
	from = strlen(names);
	setters_take(r, &ran);
	for (unsigned i = 0; i < ran.n; i++)
		checker_functions_add(ran.pc[i], names, sizeof(names));
	if (from && names[from])
		from += strlen(", ");
	snprintf(text, size, "%s", names + from);
}
