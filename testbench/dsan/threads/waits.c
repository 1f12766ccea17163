// SPDX-License-Identifier: Apache-2.0
/*
 * Who sleeps in a wait queue, and who wakes. A thread looks at memory, finds that what it waits for
 * has not come, and sleeps. It must have looked in the turn in which it falls asleep: else what it
 * waits for may come between the look and the sleep. Who changes what a sleeper has looked at must
 * wake it before it sleeps itself: else it may sleep for ever. And it must change it first: who was
 * woken may look at once, find nothing, and sleep again.
 */
#include "testbench/dsan/hear/chain.h"
#include "testbench/dsan/threads/threads_impl.h"
#include "testbench/os/symbols.h"

#include <string.h>

enum { SEATS = 1 << 12 /* a power of two */, LAST = 8, INLINED = 8, JUDGED = 64 };

static struct sleeping *sleepers;
static unsigned long ids;
static uint16_t looked[SEATS]; /* at how many places with this hash sleepers have looked */

static uint16_t *seat_of(uintptr_t at)
{
	return &looked[(at >> 3 ^ at >> 15) % SEATS];
}

/* Few places are larger than 8 bytes; their first ones stand for them. */
static uint64_t value_of(const struct access *a)
{
	uint64_t value = 0;

	memcpy(&value, (const void *)a->at, a->bytes < sizeof(value) ? a->bytes : sizeof(value));
	return value;
}

static void seats_add(const struct sleeping *s, int more)
{
	for (unsigned i = 0; i < accesses_kept(&s->looks); i++) {
		uint16_t *seat = seat_of(s->looks.newest[i].at);

		*seat = (uint16_t)(*seat + more);
	}
}

/* An inline function of a header says nothing of who looks, or sleeps: its caller does. In the layers above
 * mlx4 it is a function like others. */
bool waits_of_header(const void *pc)
{
	struct symbol s[INLINED];
	const size_t n = symbols_find(pc, s, INLINED);
	const size_t length = n ? strlen(s[n - 1].file) : 0;

	return length > 2 && !strcmp(s[n - 1].file + length - 2, ".h");
}

static const void *looker(const struct access *look)
{
	return look->caller && waits_of_header(look->pc) ? code_pc(look->caller) : look->pc;
}

static const void *sleeps_in(const void *pc)
{
	struct calls calls;

	if (!waits_of_header(pc))
		return pc;
	chain_take(&calls);
	for (unsigned i = 0; i + 1 < calls.n; i++)
		if (calls.pc[i] == pc)
			return calls.pc[i + 1];
	return pc;
}

/* --- sleeping --- */

static void looks_forget(struct accesses *looks, uintptr_t at, size_t bytes)
{
	for (unsigned i = 0; i < accesses_kept(looks); i++)
		if (access_touches(&looks->newest[i], at, bytes))
			looks->newest[i].bytes = 0; /* touches nothing */
}

static void looks_before_forget(struct accesses *looks, const struct access *store)
{
	for (unsigned i = 0; i < accesses_kept(looks); i++)
		if (access_touches(&looks->newest[i], store->at, store->bytes) &&
		    (int32_t)(looks->newest[i].nth - store->nth) < 0)
			looks->newest[i].bytes = 0;
}

void waits_sleep(struct sleeping *s, struct runner *r, const struct platform_waitq *q,
		 const void *pc)
{
	r->woken.watched = false;
	s->id = ++ids;
	s->r = r;
	s->q = q;
	s->pc = sleeps_in(pc);
	s->looks = r->loads;
	for (unsigned i = 0; i < accesses_kept(&r->stores); i++) /* it does not wait for itself */
		looks_before_forget(&s->looks, &r->stores.newest[i]);
	for (unsigned i = 0; i < accesses_kept(&s->looks); i++)
		s->values[i] = value_of(&s->looks.newest[i]);
	seats_add(s, 1);
	s->next = sleepers;
	sleepers = s;
}

void waits_end(struct sleeping *s)
{
	struct sleeping **at = &sleepers;

	while (*at && *at != s)
		at = &(*at)->next;
	if (!*at)
		return;
	*at = s->next;
	seats_add(s, -1);
}

void waits_awake(struct sleeping *s)
{
	struct woken *w = &s->r->woken;

	waits_end(s);
	w->watched = s->woken;
	w->looks = s->looks;
	w->stores = s->stores;
	w->pc = s->pc;
}

/* What it has changed so far is told with this. */
static void changes_told(struct runner *r, const struct platform_waitq *q)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < r->n_changes; i++)
		if (r->changes[i].q != q)
			r->changes[kept++] = r->changes[i];
	r->n_changes = kept;
}

void waits_wake(struct runner *r, const struct platform_waitq *q)
{
	if (r)
		changes_told(r, q);
	for (struct sleeping *s = sleepers; s; s = s->next) {
		if (s->q != q || s->woken)
			continue;
		s->woken = true;
		s->waker = r;
		s->waker_turn = r ? r->turn : 0;
		if (r)
			s->stores = r->stores;
	}
}

void waits_queue_gone(struct checker *c, const struct platform_waitq *q, const void *pc)
{
	for (const struct sleeping *s = sleepers; s; s = s->next)
		if (q && s->q == q)
			c->tell(c, &(struct breach){RULE_freed_in_use, {0}, pc, s->pc},
				"a wait queue is freed while a thread %s in it",
				s->woken ? "wakes up" : "sleeps");
}

void waits_memory_gone(struct runner *r, uintptr_t at, size_t bytes)
{
	looks_forget(&r->loads, at, bytes);
	looks_forget(&r->woken.looks, at, bytes);
	for (struct sleeping *s = sleepers; s; s = s->next)
		looks_forget(&s->looks, at, bytes);
}

/* --- what a sleeper has looked at changes --- */

static const struct sleeping *sleeper_find(unsigned long id)
{
	const struct sleeping *s = sleepers;

	while (s && s->id != id)
		s = s->next;
	return s;
}

/* In this turn: it has not run since. */
static bool woken_by(const struct sleeping *s, const struct runner *r)
{
	return s->waker == r && s->waker_turn == r->turn;
}

static bool is_last(const struct sleeping *s, unsigned look)
{
	return (s->looks.n - 1 - look) % ACCESSES < LAST;
}

static void change_note(struct runner *r, const struct sleeping *s, unsigned look, const void *pc)
{
	for (unsigned i = 0; i < r->n_changes; i++)
		if (r->changes[i].sleeper == s->id &&
		    r->changes[i].look.at == s->looks.newest[look].at) {
			if ((int32_t)(s->looks.newest[look].nth - r->changes[i].look.nth) > 0) {
				r->changes[i].look = s->looks.newest[look];
				r->changes[i].last = is_last(s, look);
			}
			return;
		}
	if (r->depth > 1 && r->depth <= DEPTH && waits_of_header(pc))
		pc = code_pc(r->in[r->depth - 2]);
	if (r->n_changes < CHANGES)
		r->changes[r->n_changes++] = (struct change){.sleeper = s->id,
							     .q = s->q,
							     .late = s->woken,
							     .depth = r->depth,
							     .look = s->looks.newest[look],
							     .last = is_last(s, look),
							     .was = s->values[look],
							     .pc = pc,
							     .sleeps = s->pc};
}

/* What it waited for is not looked at before it is changed. */
static void unseen_check(struct runner *r, uintptr_t at, size_t bytes, const void *pc)
{
	struct woken *w = &r->woken;

	if (!accesses_find(&w->looks, at, bytes) || !accesses_find(&w->stores, at, bytes))
		return;
	r->c->tell(r->c, &(struct breach){RULE_wait_unchecked, {0}, pc, NULL},
		   "a thread that was woken goes on without another look at what it waited "
		   "for, which others may have taken");
}

void waits_store(struct runner *r, uintptr_t at, size_t bytes, const void *pc)
{
	if (r->woken.watched) {
		unseen_check(r, at, bytes, pc);
		r->woken.watched = false; /* it goes on */
	}
	if (!*seat_of(at))
		return;
	for (const struct sleeping *s = sleepers; s; s = s->next) {
		if ((s->woken && !woken_by(s, r)) || s->r == r)
			continue;
		for (unsigned i = 0; i < accesses_kept(&s->looks); i++)
			if (access_touches(&s->looks.newest[i], at, bytes))
				change_note(r, s, i, pc);
	}
}

bool waits_are_near(const void *pc, const void *other, bool same_file)
{
	struct symbol a[INLINED], b[INLINED];
	const size_t n = symbols_find(pc, a, INLINED), m = symbols_find(other, b, INLINED);

	return n && m && !strcmp(a[n - 1].file, b[m - 1].file) &&
	       (same_file || !strcmp(a[n - 1].name, b[m - 1].name));
}

/* A thread looks at more than what it waits for. Its condition is what the function looks at that
 * sleeps, or what a function of the same file looked at last; of what was changed right behind a wake-up,
 * whatever a function of the file looked at. */
static bool is_condition(const struct change *c)
{
	static struct {
		const void *look, *sleeps;
		uint32_t caller;
		bool same_file, is;
	} judged[JUDGED];
	static unsigned n;
	const bool same_file = c->last || c->late;

	for (unsigned i = 0; i < JUDGED; i++)
		if (judged[i].look == c->look.pc && judged[i].sleeps == c->sleeps &&
		    judged[i].caller == c->look.caller && judged[i].same_file == same_file)
			return judged[i].is;
	judged[n % JUDGED].look = c->look.pc;
	judged[n % JUDGED].sleeps = c->sleeps;
	judged[n % JUDGED].caller = c->look.caller;
	judged[n % JUDGED].same_file = same_file;
	judged[n % JUDGED].is = waits_are_near(looker(&c->look), c->sleeps, same_file);
	return judged[n++ % JUDGED].is;
}

/* --- at the end of a turn --- */

/* Of the changes that came behind a wake-up those are kept that their sleeper will not have seen. */
void waits_others_run(struct runner *r)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < r->n_changes; i++) {
		struct change *c = &r->changes[i];
		const struct sleeping *s;

		if (c->late && !c->unseen) {
			s = sleeper_find(c->sleeper);
			if (!s || value_of(&c->look) == c->was || !is_condition(c))
				continue;
			c->unseen = true;
		}
		r->changes[kept++] = *c;
	}
	r->n_changes = kept;
}

/* A wake-up that comes in a later turn is for another look of the sleeper. */
void waits_tell_unseen(struct runner *r, unsigned depth)
{
	unsigned kept = 0;

	waits_others_run(r);
	for (unsigned i = 0; i < r->n_changes; i++) {
		const struct change *c = &r->changes[i];

		if (!c->unseen || c->depth < depth)
			r->changes[kept++] = *c;
		else if (r->c)
			r->c->tell(
				r->c,
				&(struct breach){RULE_wake_missing, {0}, c->pc, looker(&c->look)},
				"a thread wakes another one, and changes only then what that one "
				"sleeps for");
	}
	r->n_changes = kept;
}

void waits_turn_ends(struct runner *r)
{
	waits_tell_unseen(r, 0);
	for (unsigned i = 0; i < r->n_changes; i++) {
		const struct change *c = &r->changes[i];
		const struct sleeping *s = sleeper_find(c->sleeper);

		if (!s || s->woken || value_of(&c->look) == c->was || !is_condition(c))
			continue;
		r->c->tell(r->c, &(struct breach){RULE_wake_missing, {0}, c->pc, looker(&c->look)},
			   "a thread changes what another one sleeps for, and does not wake it");
	}
	r->n_changes = 0;
}

/* --- awake --- */

/* True also when there were more of them than are kept. */
static bool waker_changed_looks(const struct woken *w)
{
	if (w->looks.n > ACCESSES || w->stores.n > ACCESSES)
		return true;
	for (unsigned i = 0; i < accesses_kept(&w->stores); i++)
		if (accesses_find(&w->looks, w->stores.newest[i].at, w->stores.newest[i].bytes))
			return true;
	return false;
}

/* The first look behind the sleep at what the waker has changed: there should have been one before
 * the sleep, too. */
void waits_load(struct runner *r, uintptr_t at, size_t bytes)
{
	struct woken *w = &r->woken;
	const struct access *load;

	if (!accesses_find(&w->stores, at, bytes))
		return;
	w->watched = false;
	if (waker_changed_looks(w))
		return;
	load = accesses_find(&r->loads, at, bytes);
	if (!waits_are_near(w->pc, load->pc, false))
		return;
	r->c->tell(r->c, &(struct breach){RULE_wait_unchecked, {0}, w->pc, load->pc},
		   "a thread sleeps without a look at what it waits for since others ran last: "
		   "that may have come already");
}
