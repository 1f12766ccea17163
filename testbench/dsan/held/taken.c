// SPDX-License-Identifier: Apache-2.0
/* See taken.h. */
#include "testbench/dsan/held/taken.h"

#include "testbench/dsan/asked/asked_impl.h"
#include "testbench/dsan/bucket.h"
#include "testbench/dsan/hear/history.h"
#include "testbench/dsan/hear/trail.h"
#include "testbench/os/calls.h"

#include <stdlib.h>
#include <string.h>

enum { BUCKET_BITS = 16, BUCKETS = 1 << BUCKET_BITS, NAMES_BYTES = 200, TAKERS = 4 };

struct taken {
	struct taken *next;       /* of the same hash */
	struct taken *owner_next; /* of the same hash of owners */
	enum taken_kind kind;
	const void *of;
	uint64_t number;
	const void *takers[TAKERS]; /* the function that took it, then its callers */
	uint64_t nth;               /* in order of taking */
	const struct checker *c;
	const void
		*owner; /* the call that is under way, then the object; NULL: it belongs to all */
};

/* Heap memory and numbers belong to no host's memory, and one process runs one simulation. */
static struct taken *buckets[BUCKETS], *owners[BUCKETS];
static uint64_t count;

static struct taken **bucket_of(enum taken_kind kind, const void *of, uint64_t number)
{
	return &buckets[bucket_number((uintptr_t)of + number * 2654435761u + kind, BUCKET_BITS)];
}

static bool is(const struct taken *t, enum taken_kind kind, const void *of, uint64_t number)
{
	return t->kind == kind && t->of == of && t->number == number;
}

/* Two regions may map the same memory: then that of the running call's object. */
static struct taken **place_of(enum taken_kind kind, const void *of, uint64_t number,
			       const struct ask *a)
{
	struct taken **found = NULL, **at = bucket_of(kind, of, number);

	for (; *at; at = &(*at)->next) {
		if (!is(*at, kind, of, number))
			continue;
		if (a && ((*at)->owner == a || (a->object && (*at)->owner == a->object)))
			return at;
		if (!found)
			found = at;
	}
	return found ? found : at;
}

static struct taken **owned_by(const void *owner)
{
	return &owners[bucket_number((uintptr_t)owner, BUCKET_BITS)];
}

static void owner_leave(struct taken *t)
{
	struct taken **at = owned_by(t->owner);

	while (*at != t)
		at = &(*at)->owner_next;
	*at = t->owner_next;
}

static void owner_set(struct taken *t, const void *owner)
{
	struct taken **at = owned_by(owner);

	t->owner = owner;
	t->owner_next = *at;
	*at = t;
}

/* Out of both lists, and freed. `at` is its place in its bucket. */
static void remove_at(struct taken **at)
{
	struct taken *t = *at;

	*at = t->next;
	owner_leave(t);
	free(t);
}

static void remove_taken(struct taken *t)
{
	struct taken **at = bucket_of(t->kind, t->of, t->number);

	while (*at != t)
		at = &(*at)->next;
	remove_at(at);
}

/* The calls that led to `pc`, from there on. */
static void takers_note(struct taken *t, const void *pc)
{
	struct calls calls;
	unsigned i = 0;

	calls_take(&calls, kernel_thread_running());
	while (i < calls.n && calls.pc[i] != pc)
		i++;
	for (unsigned k = 0; k < TAKERS && i < calls.n; k++)
		t->takers[k] = calls.pc[i++];
	t->takers[0] = pc;
}

static void add(const struct checker *c, const void *owner, enum taken_kind kind, const void *of,
		uint64_t number, const void *pc)
{
	struct taken **at = bucket_of(kind, of, number), *t = malloc(sizeof(*t));

	if (!t)
		abort();
	*t = (struct taken){
		.next = *at, .kind = kind, .of = of, .number = number, .nth = ++count, .c = c};
	takers_note(t, pc);
	*at = t;
	owner_set(t, owner);
}

void taken_add(enum taken_kind kind, const void *of, uint64_t number, const void *pc)
{
	struct ask *a = ask_taker();

	if (!a || !a->c)
		return;
	trail_takes();
	add(a->c, a, kind, of, number, pc);
	a->took = true;
}

void taken_add_of(const struct checker *c, enum taken_kind kind, const void *of, uint64_t number,
		  const void *pc)
{
	if (ask_taker())
		taken_add(kind, of, number, pc);
	else
		add(c, c, kind, of, number, pc);
}

void taken_back(enum taken_kind kind, const void *of, uint64_t number, const void *pc)
{
	struct ask *a = ask_taker();
	struct taken **at = place_of(kind, of, number, a), *t = *at;

	trail_undoes();
	for (; a; a = a->kind == ASK_INNER ? ask_around(a) : NULL)
		if (a->n_released < ASK_RELEASED)
			a->released[a->n_released++] = pc;
	if (t)
		remove_at(at);
}

bool taken_is(enum taken_kind kind, const void *of, uint64_t number)
{
	return *place_of(kind, of, number, NULL);
}

/* --- ends of calls --- */

static const char *name_of(enum taken_kind kind)
{
#define T(NAME, what) [TAKEN_##NAME] = what,
	static const char *const names[TAKEN_KIND_COUNT] = {TAKEN_KINDS(T)};
#undef T

	return names[kind];
}

static void report(struct ask *a, const struct taken *t, unsigned n, const char *call,
		   const char *how)
{
	char taker[NAMES_BYTES], givers[NAMES_BYTES];

	unsigned takers = 0;

	while (takers < TAKERS && t->takers[takers])
		takers++;
	checker_functions(t->takers, takers, taker, sizeof(taker));
	checker_functions(a->released, a->n_released, givers, sizeof(givers));
	checker_report(a->c, &(struct breach){RULE_not_given_back, history_subject(), NULL, NULL},
		       "%s %s, and a %s is left%s, taken by %s%s%s", call, how, name_of(t->kind),
		       n > 1 ? ", and more" : "", taker,
		       *givers ? "; the rest was given back by " : "", givers);
}

/* The oldest that the call or object has; how many there are. */
static const struct taken *oldest_of(const void *owner, unsigned *n)
{
	const struct taken *oldest = NULL;

	*n = 0;
	for (const struct taken *t = *owned_by(owner); t; t = t->owner_next) {
		if (t->owner != owner)
			continue;
		(*n)++;
		if (!oldest || t->nth < oldest->nth)
			oldest = t;
	}
	return oldest;
}

static void left_forget(const void *owner)
{
	for (struct taken *t = *owned_by(owner), *next; t; t = next) {
		next = t->owner_next;
		if (t->owner == owner)
			remove_taken(t);
	}
}

/* One is reported, and all are forgotten. */
static void left_check(struct ask *a, const void *owner, const char *call, const char *how)
{
	unsigned n;
	const struct taken *oldest = oldest_of(owner, &n);

	if (!oldest)
		return;
	report(a, oldest, n, call, how);
	left_forget(owner);
}

void taken_made(struct ask *a, const void *object)
{
	if (!a->took)
		return;
	a->took = false;
	for (struct taken *t = *owned_by(a), *next; t; t = next) {
		next = t->owner_next;
		if (t->owner != a)
			continue;
		owner_leave(t);
		owner_set(t, object);
	}
}

void taken_failed(struct ask *a, const char *call)
{
	if (a->c && a->took)
		left_check(a, a, call, "failed");
}

void taken_gone(struct ask *a, const char *call, const void *object)
{
	if (a->c)
		left_check(a, object, call, "returned");
}

int taken_inner_end(struct ask *inner, int rc, bool shared)
{
	struct ask *around = ask_around(inner);

	if (!inner->c || !inner->took)
		return rc;
	if (rc) {
		left_check(inner, inner, inner->call, "failed");
	} else if (shared || !around) {
		left_forget(inner);
	} else {
		taken_made(inner, around);
		around->took = true;
	}
	inner->took = false;
	return rc;
}

static void forget(const struct checker *c, const void *of)
{
	for (unsigned i = 0; i < BUCKETS; i++) {
		for (struct taken **at = &buckets[i]; *at;) {
			if (c ? (*at)->c != c : (*at)->of != of)
				at = &(*at)->next;
			else
				remove_at(at);
		}
	}
}

void taken_forget(const struct checker *c)
{
	forget(c, NULL);
}

void taken_forget_of(const void *of)
{
	forget(NULL, of);
}
