// SPDX-License-Identifier: Apache-2.0
/* See history.h. */
#include "testbench/dsan/hear/history.h"

#include "testbench/dsan/bucket.h"
#include "testbench/dsan/checker_impl.h"
#include "testbench/dsan/threads/threads_impl.h"

enum { HOSTS = 2, SLOT_BITS = 11, SLOTS = 1 << SLOT_BITS, PLACES = 224 + OF_CALL };

/* The newest places of the trail, as code_offset(): taking them must be quick. */
struct places {
	uint32_t n, functions, at[PLACES]; /* the functions are its last ones */
};

/* Of an object; a newer one takes the slot of an older one with the same hash. */
static struct object_history {
	const struct checker *c;
	struct guest_object object;
	struct places made, changed;
} histories[SLOTS];

/* Of the tables in ICM of each host. */
static struct table_history {
	const struct checker *c;
	struct places made;
} tables[HOSTS];

static struct object_history *slot_of(const struct checker *c, struct guest_object object)
{
	const uint64_t key = (uint64_t)object.number << 8 | (unsigned)object.kind << 1 |
			     (c->host.platform->host & 1);

	return &histories[bucket_number(key, SLOT_BITS)];
}

static bool is_of(const struct object_history *h, const struct checker *c,
		  struct guest_object object)
{
	return h->c == c && h->object.kind == object.kind && h->object.number == object.number;
}

static struct object_history *history_of(const struct checker *c, struct guest_object object)
{
	struct object_history *h = slot_of(c, object);

	if (is_of(h, c, object))
		return h;
	h->c = c;
	h->object = object;
	h->made.n = h->changed.n = 0;
	return h;
}

static void places_take(struct places *p)
{
	const struct runner *r = runner_now();

	for (p->n = 0; r && p->n < PLACES - OF_CALL && r->n_trail - p->n != r->trail_from; p->n++)
		p->at[p->n] = r->trail[(r->n_trail - 1 - p->n) % TRAIL];
	/* those that a long call has pushed out of its trail */
	p->functions = r ? r->n_of_call : 0;
	for (uint32_t n = p->functions; n; n--)
		p->at[p->n++] = r->of_call[n - 1];
}

static bool has(const struct ran *ran, const void *pc)
{
	for (unsigned i = 0; i < ran->n; i++)
		if (ran->pc[i] == pc)
			return true;
	return false;
}

static void places_give(const struct places *p, struct ran *ran)
{
	const uint32_t places = p->n - p->functions;

	ran->n = 0;
	for (unsigned i = 0; i < p->n; i++)
		if (!has(ran, code_pc(p->at[i])) &&
		    ran->n < (i < places ? RAN_MAX - p->functions : RAN_MAX))
			ran->pc[ran->n++] = code_pc(p->at[i]);
}

void history_made(const struct checker *c, enum guest_object_kind kind, uint32_t number)
{
	struct object_history *h = c ? history_of(c, guest_object(kind, number)) : NULL;

	if (!h)
		return;
	places_take(&h->made);
	h->changed.n = 0;
}

void history_table_made(const struct checker *c)
{
	struct table_history *t;

	if (!c)
		return;
	t = &tables[c->host.platform->host % HOSTS];
	t->c = c;
	places_take(&t->made);
}

void history_table_find(const struct checker *c, struct ran *made)
{
	const struct table_history *t = &tables[c->host.platform->host % HOSTS];

	made->n = 0;
	if (t->c == c)
		places_give(&t->made, made);
}

void history_changed(const struct checker *c, enum guest_object_kind kind, uint32_t number)
{
	if (c)
		places_take(&history_of(c, guest_object(kind, number))->changed);
}

void history_about(enum guest_object_kind kind, uint32_t number)
{
	struct runner *r = runner_now();

	if (!r)
		return;
	r->subject = guest_object(kind, number);
	r->subject_call = r->call;
}

struct guest_object history_subject(void)
{
	const struct runner *r = runner_now();

	return r && r->subject_call == r->call ? r->subject : guest_object(GUEST_NONE, 0);
}

void history_find(const struct checker *c, struct guest_object object, struct ran *made,
		  struct ran *changed)
{
	const struct object_history *h = slot_of(c, object);

	made->n = changed->n = 0;
	if (!is_of(h, c, object))
		return;
	places_give(&h->made, made);
	places_give(&h->changed, changed);
}
