// SPDX-License-Identifier: Apache-2.0
/*
 * Who sleeps in a wait queue, and who wakes. A thread looks at memory, finds that what it waits for
 * has not come, and sleeps. It must have looked in the turn in which it falls asleep: else what it
 * waits for may come between the look and the sleep. Who changes what a sleeper has looked at must
 * wake it before it sleeps itself: else it may sleep for ever.
 */
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
	s->pc = pc;
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

void waits_wake(struct runner *r, const struct platform_waitq *q)
{
	for (struct sleeping *s = sleepers; s; s = s->next) {
		if (s->q != q || s->woken)
			continue;
		s->woken = true;
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

static void change_note(struct runner *r, const struct sleeping *s, unsigned look, const void *pc)
{
	for (unsigned i = 0; i < r->n_changes; i++)
		if (r->changes[i].sleeper == s->id &&
		    r->changes[i].look.at == s->looks.newest[look].at)
			return;
	if (r->n_changes < CHANGES)
		r->changes[r->n_changes++] =
			(struct change){s->id,
					s->looks.newest[look],
					(s->looks.n - 1 - look) % ACCESSES < LAST,
					s->values[look],
					pc,
					s->pc};
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
		if (s->woken || s->r == r)
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
 * sleeps, or what a function of the same file looked at last. */
static bool is_condition(const struct change *c)
{
	static struct {
		const void *look, *sleeps;
		bool is;
	} judged[JUDGED];
	static unsigned n;

	for (unsigned i = 0; i < JUDGED; i++)
		if (judged[i].look == c->look.pc && judged[i].sleeps == c->sleeps)
			return judged[i].is;
	judged[n % JUDGED].look = c->look.pc;
	judged[n % JUDGED].sleeps = c->sleeps;
	judged[n % JUDGED].is = waits_are_near(c->look.pc, c->sleeps, c->last);
	return judged[n++ % JUDGED].is;
}

void waits_turn_ends(struct runner *r)
{
	for (unsigned i = 0; i < r->n_changes; i++) {
		const struct change *c = &r->changes[i];
		const struct sleeping *s = sleeper_find(c->sleeper);

		if (!s || s->woken || value_of(&c->look) == c->was || !is_condition(c))
			continue;
		r->c->tell(r->c, &(struct breach){RULE_wake_missing, {0}, c->pc, c->look.pc},
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
