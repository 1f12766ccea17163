// SPDX-License-Identifier: Apache-2.0
/* See taken.h. */
#include "testbench/dsan/taken.h"

#include "testbench/dsan/asked_impl.h"

#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1 << 12, NAMES_BYTES = 120 };

struct taken {
	struct taken *next;       /* of the same hash */
	struct taken *owner_next; /* of the same hash of owners */
	enum taken_kind kind;
	const void *of;
	uint64_t number;
	const void *pc;
	uint64_t nth; /* in order of taking */
	const struct checker *c;
	const void
		*owner; /* the call that is under way, then the object; NULL: it belongs to all */
};

/* Heap memory and numbers belong to no host's memory, and one process runs one simulation. */
static struct taken *buckets[BUCKETS], *owners[BUCKETS];
static uint64_t count;
static unsigned shared;

static struct taken **bucket_of(enum taken_kind kind, const void *of, uint64_t number)
{
	const uint64_t key = ((uintptr_t)of >> 4) + number * 2654435761u + kind;

	return &buckets[(key ^ key >> 13) % BUCKETS];
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
	return &owners[((uintptr_t)owner >> 4) % BUCKETS];
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

void taken_shared_begin(void)
{
	shared++;
}

void taken_shared_end(void)
{
	shared--;
}

void taken_add(enum taken_kind kind, const void *of, uint64_t number, const void *pc)
{
	struct taken **at = bucket_of(kind, of, number), *t;
	struct ask *a = ask_running();

	if (!a || !a->c || shared)
		return;
	t = malloc(sizeof(*t));
	if (!t)
		abort();
	*t = (struct taken){.next = *at,
			    .kind = kind,
			    .of = of,
			    .number = number,
			    .pc = pc,
			    .nth = ++count,
			    .c = a->c};
	*at = t;
	owner_set(t, ask_outermost(a));
	ask_outermost(a)->took = true;
}

void taken_back(enum taken_kind kind, const void *of, uint64_t number, const void *pc)
{
	struct ask *a = ask_running();
	struct taken **at = place_of(kind, of, number, a ? ask_outermost(a) : NULL), *t = *at;

	if (a && a->n_released < ASK_RELEASED)
		a->released[a->n_released++] = pc;
	if (t)
		remove_at(at);
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

	checker_functions(&t->pc, 1, taker, sizeof(taker));
	checker_functions(a->released, a->n_released, givers, sizeof(givers));
	checker_report(a->c, &(struct breach){RULE_not_given_back, {0}, NULL, NULL},
		       "%s %s, and a %s that %s took is left%s%s%s", call, how, name_of(t->kind),
		       taker, n > 1 ? ", and more" : "",
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

/* One is reported, and all are forgotten. */
static void left_check(struct ask *a, const void *owner, const char *call, const char *how)
{
	unsigned n;
	const struct taken *oldest = oldest_of(owner, &n);

	if (!oldest)
		return;
	report(a, oldest, n, call, how);
	for (struct taken *t = *owned_by(owner), *next; t; t = next) {
		next = t->owner_next;
		if (t->owner == owner)
			remove_taken(t);
	}
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
