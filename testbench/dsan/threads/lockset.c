// SPDX-License-Identifier: Apache-2.0
/*
 * What a lock protects, in the manner of Eraser (Savage and others, 1997). A thread is not preempted
 * here, so an access beside the lock does no harm if no turn ends there; on a real kernel it does.
 *
 * A lock belongs to the file whose functions take it. A word into which they store with the lock held,
 * in several calls, is protected by it. Then a store of that file into it without the lock is a mistake,
 * and so is a load by a function that takes the lock. Functions of other files may have their reasons
 * to go without it, and so do handlers of interrupts. Who makes an object has it for himself: nothing
 * is known of it then. Who ends it has it for himself again: what a call has done is judged when it
 * ends, and forgotten if the memory or the lock is gone by then.
 */
#include "testbench/dsan/hear/chain.h"
#include "testbench/dsan/threads/threads_impl.h"
#include "testbench/os/symbols.h"

#include <string.h>

enum {
	WORDS = 1 << 10, /* that are protected; a power of two */
	CALLS = 2,       /* that have to show it */
	TAKERS = 4,
	BARE = 8,
	INLINED = 8,
	JUDGED = 1 << 9, /* a power of two */
};

static uintptr_t words[WORDS]; /* of guarded[]; 0: none */
static struct guarded {
	const void *lock;           /* NULL: none after all */
	const void *takers[TAKERS]; /* where it was taken */
	const void *pc;             /* the last store with it held */
	struct calls by;
	unsigned calls; /* that have stored with it held */
	unsigned thread;
	uint32_t call; /* of that thread: the last one of them */
	bool told;
} guarded[WORDS];
static unsigned n_words;

/* Accesses without the lock, in calls that have not ended. */
static struct bare {
	uintptr_t at;
	const struct runner *r;
	unsigned depth;
	bool store;
	const void *pc;
	struct calls by;
} bare[BARE];
static unsigned n_bare;

static unsigned word_of(uintptr_t at)
{
	return (unsigned)((at >> 2 ^ at >> 12) % WORDS);
}

static uint32_t call_of(const struct runner *r)
{
	return r->calls + r->returns;
}

/* --- whose lock it is --- */

enum nearness { FAR, SAME_FILE, SAME_FUNCTION, PASSED_ON /* of the checker itself */ };

static enum nearness compare(const void *pc, const void *taker)
{
	struct symbol here[INLINED], there;
	enum nearness near = FAR;
	const size_t n = symbols_find(pc, here, INLINED);

	if (!symbols_find(taker, &there, 1))
		return FAR;
	if (n && strstr(here[n - 1].file, "testbench/dsan/"))
		return PASSED_ON;
	for (size_t i = 0; i < n; i++) {
		if (strcmp(here[i].file, there.file))
			continue;
		if (!strcmp(here[i].name, there.name))
			return SAME_FUNCTION;
		near = SAME_FILE;
	}
	return near;
}

static enum nearness nearness_of(const void *pc, const void *taker)
{
	static struct {
		const void *pc, *taker;
		enum nearness near;
	} judged[JUDGED];
	const unsigned n = (code_offset(pc) * 31 + code_offset(taker)) % JUDGED;

	if (judged[n].pc != pc || judged[n].taker != taker) {
		judged[n].near = compare(pc, taker);
		judged[n].pc = pc;
		judged[n].taker = taker;
	}
	return judged[n].near;
}

/* The function that makes the access, or the one that has called it: a helper serves many. */
static enum nearness near(const struct calls *calls, const void *pc, const void *taker)
{
	enum nearness nearest = nearness_of(pc, taker);
	unsigned i = 0;

	if (nearest != FAR)
		return nearest;
	while (i < calls->n && calls->pc[i] != pc)
		i++;
	do
		nearest = ++i < calls->n ? nearness_of(calls->pc[i], taker) : FAR;
	while (nearest == PASSED_ON);
	return nearest;
}

static const struct held *held_near(const struct runner *r, const struct calls *calls,
				    const void *pc)
{
	for (unsigned i = 0; i < r->n_held; i++)
		if (near(calls, pc, r->held[i].pc) != FAR)
			return &r->held[i];
	return NULL;
}

static const struct held *held_find(const struct runner *r, const void *lock)
{
	for (unsigned i = 0; i < r->n_held; i++)
		if (r->held[i].lock == lock)
			return &r->held[i];
	return NULL;
}

/* --- with it --- */

static void word_remove(unsigned n)
{
	n_words -= !!words[n];
	words[n] = 0;
}

static void taker_add(struct guarded *p, const void *taker)
{
	unsigned i = 0;

	while (i < TAKERS && p->takers[i] && p->takers[i] != taker)
		i++;
	if (i < TAKERS)
		p->takers[i] = taker;
}

static void locked_note(struct guarded *p, const struct runner *r, const struct held *h,
			const void *pc)
{
	taker_add(p, h->pc);
	if (p->calls && p->thread == r->number && p->call == call_of(r))
		return;
	p->calls++;
	p->thread = r->number;
	p->call = call_of(r);
	p->pc = pc;
	chain_take(&p->by);
}

static void word_add(uintptr_t at, const struct runner *r, const void *pc)
{
	const unsigned n = word_of(at);
	const struct held *h;
	struct calls calls;

	chain_take(&calls);
	h = held_near(r, &calls, pc);
	if (!h)
		return;
	n_words += !words[n];
	words[n] = at;
	guarded[n] = (struct guarded){.lock = h->lock};
	locked_note(&guarded[n], r, h, pc);
}

/* --- without it --- */

static void bare_note(const struct runner *r, uintptr_t at, bool store, const void *pc)
{
	struct guarded *p = &guarded[word_of(at)];
	enum nearness nearest = FAR;
	struct calls calls;

	if (p->calls < CALLS || !p->lock || p->told)
		return;
	chain_take(&calls);
	for (unsigned i = 0; i < TAKERS && p->takers[i]; i++) {
		const enum nearness here = near(&calls, pc, p->takers[i]);

		nearest = here > nearest ? here : nearest;
	}
	if (store && held_near(r, &calls, pc))
		p->lock = NULL; /* it has several, so none of them protects it */
	else if (nearest >= (store ? SAME_FILE : SAME_FUNCTION) && n_bare < BARE)
		bare[n_bare++] = (struct bare){at, r, r->depth, store, pc, calls};
}

static void tell(struct checker *c, const struct bare *b)
{
	struct guarded *p = &guarded[word_of(b->at)];
	char with[CHAIN_BYTES], without[CHAIN_BYTES];

	if (words[word_of(b->at)] != b->at || !p->lock || p->told)
		return;
	p->told = true;
	chain_format(&p->by, with, sizeof(with));
	chain_format(&b->by, without, sizeof(without));
	c->tell(c, &(struct breach){RULE_lock_missing, {0}, b->pc, p->pc},
		"memory of the driver is %s without a lock in %s; it is written with one in %s",
		b->store ? "written" : "read", without, with);
}

void lockset_call_ends(const struct runner *r, unsigned depth)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < n_bare; i++) {
		if (bare[i].r != r || bare[i].depth < depth)
			bare[kept++] = bare[i];
		else if (r->c)
			tell(r->c, &bare[i]);
	}
	n_bare = kept;
}

/* --- what is heard --- */

void lockset_load(const struct runner *r, uintptr_t at, const void *pc)
{
	const unsigned n = word_of(at);

	if (words[n] == at && !r->interrupts && !held_find(r, guarded[n].lock))
		bare_note(r, at, false, pc);
}

void lockset_store(const struct runner *r, uintptr_t at, const void *pc)
{
	const unsigned n = word_of(at);
	const struct held *h;

	if (r->interrupts || (words[n] != at && !r->n_held) || on_own_stack(at))
		return;
	if (words[n] != at) {
		word_add(at, r, pc);
		return;
	}
	h = held_find(r, guarded[n].lock);
	if (h)
		locked_note(&guarded[n], r, h, pc);
	else
		bare_note(r, at, true, pc);
}

void lockset_lock_gone(const void *lock)
{
	for (unsigned i = 0; i < WORDS && n_words; i++)
		if (words[i] && guarded[i].lock == lock)
			word_remove(i);
}

void lockset_memory_gone(uintptr_t at, size_t bytes)
{
	for (unsigned i = 0; i < WORDS && n_words; i++)
		if (words[i] - at < bytes)
			word_remove(i);
}

void lockset_forget(void)
{
	memset(words, 0, sizeof(words));
	n_words = n_bare = 0;
}
