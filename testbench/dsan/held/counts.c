// SPDX-License-Identifier: Apache-2.0
/* See counts.h. */
#include "testbench/dsan/held/counts.h"

#include "testbench/dsan/bucket.h"
#include "testbench/dsan/checker_impl.h"
#include "testbench/dsan/held/heap.h"

#include <stdlib.h>

enum { HOSTS = 2, BUCKET_BITS = 10, BUCKETS = 1 << BUCKET_BITS, PLACES = 12, NAMES_BYTES = 260 };

/* What a live object has counted. */
struct counted {
	struct counted *next;
	const void *object;
	unsigned n;
	struct count of[COUNTS_MAX];
};

/* One process runs one simulation. */
static struct counted *buckets[BUCKETS];

static struct counted **place_of(const void *object)
{
	struct counted **at = &buckets[bucket_number((uintptr_t)object, BUCKET_BITS)];

	while (*at && (*at)->object != object)
		at = &(*at)->next;
	return at;
}

static void remove_at(struct counted **at)
{
	struct counted *is = *at;

	*at = is->next;
	free(is);
}

/* Calls of a host's thread that begin or end, with none of another thread between them, are one turn. */
static uint64_t turn_now(const struct checker *c)
{
	static struct {
		const struct kernel_thread *last;
		uint64_t n;
	} turns[HOSTS];
	const unsigned host = c ? c->host.platform->host % HOSTS : 0;

	if (kernel_thread_running() != turns[host].last)
		turns[host].n++;
	turns[host].last = kernel_thread_running();
	return turns[host].n;
}

void counts_begin(struct counts *n, struct checker *c, const char *call)
{
	*n = (struct counts){.c = c,
			     .call = strncmp(call, WRAP, strlen(WRAP)) ? call : call + strlen(WRAP),
			     .turn = turn_now(c)};
}

void counts_use(struct counts *n, const void *of, const unsigned *counter, const char *what)
{
	if (!of || n->n == COUNTS_MAX)
		return;
	for (unsigned i = 0; i < n->n; i++)
		if (n->of[i].counter == counter)
			return;
	n->of[n->n++] = (struct count){of, counter, *counter, COUNTS_SOME, what};
}

/* Other calls have begun or ended meanwhile. */
static bool alone(struct counts *n)
{
	return n->c && n->turn == turn_now(n->c);
}

/* The functions that wrote last into the new object and into those that it uses. */
static void report(struct counts *n, const struct count *wrong, const void *object, int asked,
		   const char *how)
{
	const void *pcs[PLACES];
	char names[NAMES_BYTES];
	unsigned k = heap_writers(wrong->counter, sizeof(*wrong->counter), pcs, PLACES / 2);

	if (object)
		k += heap_writers(object, 1, pcs + k, PLACES - k);
	checker_functions(pcs, k, names, sizeof(names));
	n->c->tell(n->c, &(struct breach){RULE_users_differ, {0}, NULL, NULL},
		   "%s %s: the users of the %s were %u and are %u, %s%d more are right; last "
		   "written by %s",
		   n->call, how, wrong->what, wrong->before, *wrong->counter,
		   asked == COUNTS_SOME ? "at least " : "", asked == COUNTS_SOME ? 1 : asked,
		   names);
}

void counts_made(struct counts *n, const void *object)
{
	struct counted *is;

	/* what stood at this address before is no more */
	if (object)
		counts_freed(object);
	if (!alone(n))
		return;
	for (unsigned i = 0; i < n->n; i++) {
		struct count *k = &n->of[i];
		const int more = (int)(*k->counter - k->before);

		if (object ? more < 1 : more)
			report(n, k, object, object ? COUNTS_SOME : 0,
			       object ? "has made an object" : "has failed");
		k->more = more;
	}
	if (!object)
		return;
	is = calloc(1, sizeof(*is));
	if (!is)
		abort();
	is->object = object;
	is->n = n->n;
	memcpy(is->of, n->of, sizeof(is->of));
	is->next = *place_of(object);
	*place_of(object) = is;
}

void counts_leave(struct counts *n, const void *object)
{
	const struct counted *is = *place_of(object);

	for (unsigned i = 0; is && i < is->n; i++) {
		n->of[n->n] = is->of[i];
		n->of[n->n].more = -is->of[i].more;
		n->of[n->n].before = *is->of[i].counter;
		n->n++;
	}
}

/* It is no more: nobody looks at its counter. */
static void object_gone(const void *object)
{
	counts_freed(object);
	for (unsigned b = 0; b < BUCKETS; b++)
		for (struct counted *is = buckets[b]; is; is = is->next)
			for (unsigned i = 0; i < is->n;)
				if (is->of[i].of == object)
					is->of[i] = is->of[--is->n];
				else
					i++;
}

void counts_left(struct counts *n, const void *object, bool gone)
{
	const bool judged = alone(n);

	for (unsigned i = 0; judged && i < n->n; i++) {
		const struct count *k = &n->of[i];
		const int asked = gone ? k->more : 0;

		if ((int)(*k->counter - k->before) != asked)
			report(n, k, gone ? NULL : object, asked,
			       gone ? "has destroyed an object" : "has failed");
	}
	if (gone)
		object_gone(object);
}

void counts_freed(const void *at)
{
	if (*place_of(at))
		remove_at(place_of(at));
}

void counts_forget(void)
{
	for (unsigned i = 0; i < BUCKETS; i++)
		while (buckets[i])
			remove_at(&buckets[i]);
}
