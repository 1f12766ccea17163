// SPDX-License-Identifier: Apache-2.0
/* See heap.h. */
#include "testbench/dsan/held/heap.h"

#include "testbench/dsan/bucket.h"
#include "testbench/dsan/checker_impl.h"

#include "model/interface/macros.h"

#include <stdlib.h>

enum {
	LINE = 64,
	FOLLOWED = 3072, /* bytes of a block whose stores and pointers are followed */
	LINES = FOLLOWED / LINE + 1,
	MARGIN_LINES = HEAP_MARGIN / LINE + 1,
	BUCKET_BITS = 18, /* each load and store looks in one */
	BUCKETS = 1 << BUCKET_BITS,
	TAKERS = 5,
	HOLDERS = 3,
	WRITERS = 6,
	NAMES_BYTES = 160,
	PLACES = 8,                      /* that point to a block */
	GONE = 1 << 6,                   /* blocks freed last; a power of two */
	HANDLERS = 2 * FUNCTION_VECTORS, /* of both hosts */
};

/* A block, in the list of each line of memory that it touches. */
struct line {
	struct line *next;
	uintptr_t line;
	struct block *block;
	const void *writers[WRITERS]; /* that stored into it last, each once, the newest first */
};

struct block {
	uintptr_t at;
	size_t bytes;
	const void *takers[TAKERS]; /* the function that took it, then its callers */
	const void *wrote;          /* the last store into it; NULL: none */
	const void *read[2];        /* the last load, and the caller of its function; NULL: none */
	const void *unset_by;       /* took it without setting it; NULL: it is set, or was told */
	/* the last places that freed what pointed to it, each with its caller; how many there were */
	const void *holders[HOLDERS][2];
	unsigned n_holders;
	uint64_t nth;
	const void
		*handler; /* what the last handler of interrupts that has read it is called with */
	bool lowest;      /* of the lowest layer */
	struct block *large; /* the next one of the lowest layer that is not followed whole */
	/* where the lowest layer has stored pointers into it */
	const uintptr_t *places[PLACES];
	unsigned n_replaced;
	bool is_pointed_to;
	unsigned n_lines, n_margin;
	struct line lines[LINES];
	struct line margin[MARGIN_LINES]; /* behind the newest of `lines` */
};

/* The heap belongs to no host, and one process runs one simulation. */
static struct line *buckets[BUCKETS];
static struct block *large_blocks;
/* A store is heard of before it is made: what it stored is looked at with the next one. */
static const uintptr_t *pending;

/* What pointed to blocks that are freed, until the object they were is gone. */
static struct gone {
	uintptr_t at;
	size_t bytes;
	const uintptr_t *places[PLACES];
} gone[GONE];
static unsigned n_gone;
static const void *handlers[HANDLERS]; /* what they are called with; NULL: a free place */
static bool any_unset;                 /* some block was ever taken without being set */
static unsigned drivers;
static uint64_t count;

static struct line **bucket_of(uintptr_t line)
{
	return &buckets[bucket_number(line, BUCKET_BITS)];
}

static struct line *line_of(uintptr_t at)
{
	struct line *l = *bucket_of(at / LINE);

	while (l && (l->line != at / LINE || at - l->block->at >= l->block->bytes))
		l = l->next;
	return l;
}

/* The block in whose margin `at` is; NULL: none. */
static const struct block *margin_of(uintptr_t at)
{
	const struct line *l = *bucket_of(at / LINE);

	while (l && (l->line != at / LINE || at - l->block->at - l->block->bytes >= HEAP_MARGIN))
		l = l->next;
	return l ? l->block : NULL;
}

static struct block *block_of(uintptr_t at)
{
	const struct line *l = line_of(at);

	return l ? l->block : NULL;
}

bool heap_same(uintptr_t at, uintptr_t other)
{
	const struct block *b = block_of(at);

	return b && other - b->at < b->bytes;
}

static void line_add(struct line *l, struct block *b, uintptr_t line)
{
	struct line **bucket = bucket_of(line);

	*l = (struct line){.next = *bucket, .line = line, .block = b};
	*bucket = l;
}

static void line_remove(struct line *l)
{
	struct line **at = bucket_of(l->line);

	while (*at != l)
		at = &(*at)->next;
	*at = l->next;
}

static void block_remove(struct block *b)
{
	for (unsigned i = 0; i < b->n_lines; i++)
		line_remove(&b->lines[i]);
	for (unsigned i = 0; i < b->n_margin; i++)
		line_remove(&b->margin[i]);
	for (struct block **at = &large_blocks; *at; at = &(*at)->large)
		if (*at == b) {
			*at = b->large;
			break;
		}
	free(b);
}

/* The calls that lead to `pc`, from there on. */
static unsigned callers_of(const void *pc, const void **pcs, unsigned max)
{
	struct calls calls;
	unsigned i = 0, n = 0;

	calls_take(&calls, kernel_thread_running());
	while (i < calls.n && calls.pc[i] != pc)
		i++;
	while (n < max && i < calls.n)
		pcs[n++] = calls.pc[i++];
	if (!n)
		pcs[n++] = pc;
	return n;
}

/* As block_of(), and also behind what is followed of a large block. */
static struct block *block_around(uintptr_t at)
{
	struct block *b = block_of(at);

	if (b)
		return b;
	for (b = large_blocks; b && at - b->at >= b->bytes; b = b->large)
		;
	return b;
}

/* The block of the lowest layer that has this word; NULL: none. */
static const struct block *lowest_of(const uintptr_t *word)
{
	const struct block *b = block_around((uintptr_t)word);

	return b && b->lowest ? b : NULL;
}

static bool points_into(const uintptr_t *place, uintptr_t at, size_t bytes)
{
	return place && lowest_of(place) && *place - at < bytes;
}

static void pending_note(void)
{
	const uintptr_t *place = pending;
	unsigned i = 0;
	struct block *to;

	if (!place)
		return;
	pending = NULL;
	to = block_of(*place);
	/* a list that is empty points to itself */
	if (!to || !to->lowest || (uintptr_t)place - to->at < to->bytes)
		return;
	while (i < PLACES && to->places[i] != place &&
	       points_into(to->places[i], to->at, to->bytes))
		i++;
	to->places[i < PLACES ? i : to->n_replaced++ % PLACES] = place;
	to->is_pointed_to = true;
}

void heap_taken(const void *start, size_t bytes, bool lowest, const void *pc)
{
	const uintptr_t at = (uintptr_t)start;
	struct block *b = block_of(at);

	if (b)
		block_remove(b);
	b = calloc(1, sizeof(*b));
	if (!b)
		abort();
	b->at = at;
	b->bytes = bytes ? bytes : 1;
	b->nth = ++count;
	callers_of(pc, b->takers, TAKERS);
	b->lowest = lowest;
	if (lowest && b->bytes > FOLLOWED) {
		b->large = large_blocks;
		large_blocks = b;
	}
	for (uintptr_t line = at / LINE; line <= (at + b->bytes - 1) / LINE && b->n_lines < LINES;
	     line++)
		line_add(&b->lines[b->n_lines++], b, line);
	for (uintptr_t line = (at + b->bytes) / LINE;
	     line <= (at + b->bytes + HEAP_MARGIN - 1) / LINE; line++)
		if (line != b->lines[b->n_lines - 1].line)
			line_add(&b->margin[b->n_margin++], b, line);
}

void heap_unset(const void *at, const void *pc)
{
	struct block *b = block_of((uintptr_t)at);

	if (!b)
		return;
	b->unset_by = pc;
	any_unset = true;
}

/* A structure is freed: the blocks to which it points have lost it. */
static void pointers_note(const struct block *b, const void *pc)
{
	const uintptr_t *words = (const uintptr_t *)b->at;
	const size_t n = (b->bytes < FOLLOWED ? b->bytes : FOLLOWED) / sizeof(*words);

	for (size_t i = 0; i < n; i++) {
		struct block *to = block_of(words[i]);

		if (!to || to == b)
			continue;
		memset(to->holders[to->n_holders % HOLDERS], 0, sizeof(to->holders[0]));
		callers_of(pc, to->holders[to->n_holders++ % HOLDERS], ARRAY_SIZE(to->holders[0]));
	}
}

static unsigned takers_of(const struct block *b)
{
	unsigned n = 0;

	while (n < TAKERS && b->takers[n])
		n++;
	return n;
}

static bool has_pointer(const struct block *b, uintptr_t at, size_t bytes)
{
	const uintptr_t *words = (const uintptr_t *)b->at;
	const size_t n = (b->bytes < FOLLOWED ? b->bytes : FOLLOWED) / sizeof(*words);

	for (size_t i = 0; i < n; i++)
		if (words[i] - at < bytes)
			return true;
	return false;
}

void heap_handler(const void *arg, bool installed)
{
	unsigned i = 0;

	while (i < HANDLERS && handlers[i] != (installed ? NULL : arg))
		i++;
	if (i < HANDLERS)
		handlers[i] = installed ? arg : NULL;
}

static bool is_installed(const void *handler)
{
	for (unsigned i = 0; handler && i < HANDLERS; i++)
		if (handlers[i] == handler)
			return true;
	return false;
}

/* A handler of interrupts may come, and use it. */
static void handlers_check(struct checker *c, const struct block *b, const void *pc)
{
	const struct block *from = block_of((uintptr_t)b->handler);
	char takers[NAMES_BYTES];

	if (!c || !from || !is_installed(b->handler) ||
	    (from != b && !has_pointer(from, b->at, b->bytes)))
		return;
	checker_functions(b->takers, takers_of(b), takers, sizeof(takers));
	c->tell(c, &(struct breach){RULE_freed_in_use, {0}, pc, b->read[0]},
		"a piece of memory of %zu bytes, taken by %s, is freed, and a handler of "
		"interrupts that has used it may still run and has a pointer to it",
		b->bytes, takers);
}

void heap_back(struct checker *c, const void *start, const void *pc)
{
	struct block *b = block_of((uintptr_t)start);

	pending_note();
	if (!b || b->at != (uintptr_t)start)
		return;
	handlers_check(c, b, pc);
	if (b->is_pointed_to) {
		struct gone *g = &gone[n_gone++ % GONE];

		*g = (struct gone){.at = b->at, .bytes = b->bytes};
		memcpy(g->places, b->places, sizeof(g->places));
	}
	pointers_note(b, pc);
	block_remove(b);
}

/* An access that begins behind a block, or ends there. */
static void margin_check(struct checker *c, uintptr_t at, size_t bytes, bool store, const void *pc)
{
	const struct block *b = margin_of(at + bytes - 1);
	char takers[NAMES_BYTES];

	if (!b && bytes > HEAP_MARGIN) {
		b = block_of(at);
		if (b && at + bytes <= b->at + b->bytes)
			b = NULL;
	}
	if (!b || !c)
		return;
	checker_functions(b->takers, takers_of(b), takers, sizeof(takers));
	c->tell(c, &(struct breach){RULE_heap_overrun, {0}, pc, b->takers[0]},
		"%zu bytes are %s at byte %td of a piece of memory of %zu bytes, taken by %s",
		bytes, store ? "written" : "read", (ptrdiff_t)(at - b->at), b->bytes, takers);
}

/* A short value may look unset by chance, so the word around it must do so, too. A long copy may take along what is never used. */
static bool is_unset(const struct block *b, uintptr_t at, size_t bytes)
{
	const uintptr_t from = bytes < sizeof(uint32_t) ? at & ~(uintptr_t)3 : at;
	const size_t n = bytes < sizeof(uint32_t) ? sizeof(uint32_t) : bytes;
	const unsigned char *byte = (const unsigned char *)from;

	if (bytes > sizeof(uint64_t) || from < b->at || from + n > b->at + b->bytes)
		return false;
	for (size_t i = 0; i < n; i++)
		if (byte[i] != HEAP_UNSET)
			return false;
	return true;
}

static void unset_check(struct checker *c, uintptr_t at, size_t bytes, const void *pc)
{
	struct block *b = c && any_unset ? block_around(at) : NULL;
	char taker[NAMES_BYTES];

	if (!b || !b->unset_by || !is_unset(b, at, bytes))
		return;
	checker_functions(&b->unset_by, 1, taker, sizeof(taker));
	c->tell(c, &(struct breach){RULE_memory_not_set, {0}, pc, b->unset_by},
		"%zu bytes are read at byte %td of a piece of memory that %s has taken and that "
		"nobody has set",
		bytes, (ptrdiff_t)(at - b->at), taker);
	b->unset_by = NULL;
}

void heap_load(struct checker *c, uintptr_t at, size_t bytes, const void *pc, const void *caller,
	       const void *handler)
{
	struct block *b = block_of(at);

	if (b) {
		b->read[0] = pc;
		b->read[1] = caller;
		if (handler)
			b->handler = handler;
	}
	margin_check(c, at, bytes, false, pc);
	unset_check(c, at, bytes, pc);
}

void heap_store(struct checker *c, uintptr_t at, size_t bytes, const void *pc)
{
	struct line *l = line_of(at);
	unsigned i = 0;

	pending_note();
	if (bytes == sizeof(*pending) && !(at % sizeof(*pending)) &&
	    lowest_of((const uintptr_t *)at) && checker_in_mlx4(pc))
		pending = (const uintptr_t *)at;
	margin_check(c, at, bytes, true, pc);
	if (!l)
		return;
	l->block->wrote = pc;
	if (l->writers[0] == pc)
		return;
	while (i < WRITERS - 1 && l->writers[i] != pc)
		i++;
	for (; i; i--)
		l->writers[i] = l->writers[i - 1];
	l->writers[0] = pc;
}

unsigned heap_takers(const void *at, const void **pcs, unsigned max)
{
	const struct block *b = block_of((uintptr_t)at);
	const unsigned n = b ? takers_of(b) : 0;

	for (unsigned i = 0; i < n && i < max; i++)
		pcs[i] = b->takers[i];
	return n < max ? n : max;
}

unsigned heap_writers(const void *at, size_t bytes, const void **pcs, unsigned max)
{
	unsigned n = 0;

	for (uintptr_t line = (uintptr_t)at / LINE; line <= ((uintptr_t)at + bytes - 1) / LINE;
	     line++) {
		const uintptr_t from = line * LINE;
		const struct line *l = line_of(from < (uintptr_t)at ? (uintptr_t)at : from);

		for (unsigned i = 0; l && i < WRITERS && l->writers[i] && n < max; i++)
			pcs[n++] = l->writers[i];
	}
	return n;
}

/* The oldest piece behind the nth one taken that has a pointer to these bytes; NULL: none. */
static const struct block *next_with_pointer(uint64_t nth, uintptr_t at, size_t bytes)
{
	const struct block *found = NULL;

	for (unsigned i = 0; i < BUCKETS; i++)
		for (const struct line *l = buckets[i]; l; l = l->next) {
			const struct block *b = l->block;

			if (l == &b->lines[0] && b->nth > nth && (!found || b->nth < found->nth) &&
			    b->at - at >= bytes && has_pointer(b, at, bytes))
				found = b;
		}
	return found;
}

unsigned heap_pointers(uintptr_t at, size_t bytes, const void **pcs, unsigned max)
{
	const struct block *b = NULL;
	unsigned n = 0;

	while (n < max && (b = next_with_pointer(b ? b->nth : 0, at, bytes)))
		for (unsigned k = 0; k < takers_of(b) && n < max; k++)
			pcs[n++] = b->takers[k];
	return n;
}

/* Where the lowest layer still points to it; NULL: nowhere. */
static const uintptr_t *place_left(const struct gone *g)
{
	for (unsigned i = 0; i < PLACES; i++)
		if (points_into(g->places[i], g->at, g->bytes))
			return g->places[i];
	return NULL;
}

void heap_gone(struct checker *c, const void *object, const char *what)
{
	const uintptr_t *place = NULL;
	const struct block *b;
	const void *writers[WRITERS];
	char takers[NAMES_BYTES], wrote[NAMES_BYTES];

	pending_note();
	for (unsigned i = 0; i < GONE && !place; i++)
		if (gone[i].at == (uintptr_t)object) {
			place = place_left(&gone[i]);
			gone[i].at = 0;
		}
	if (!place)
		return;
	b = lowest_of(place);
	checker_functions(b->takers, takers_of(b), takers, sizeof(takers));
	checker_functions(writers, heap_writers(place, sizeof(*place), writers, WRITERS), wrote,
			  sizeof(wrote));
	c->tell(c, &(struct breach){RULE_freed_in_use, {0}, b->takers[0], NULL},
		"%s is gone, and a pointer to it is left in a piece of memory of %zu bytes, "
		"taken by %s%s%s",
		what, b->bytes, takers, *wrote ? "; written there by " : "", wrote);
}

/* --- the end --- */

static struct block *oldest(unsigned *n)
{
	struct block *found = NULL;

	*n = 0;
	for (unsigned i = 0; i < BUCKETS; i++) {
		for (struct line *l = buckets[i]; l; l = l->next) {
			if (l != &l->block->lines[0])
				continue;
			(*n)++;
			if (!found || l->block->nth < found->nth)
				found = l->block;
		}
	}
	return found;
}

static void report(struct checker *c, const struct block *b, unsigned n)
{
	const void *freed[HOLDERS * ARRAY_SIZE(b->holders[0])];
	const void *users[3];
	char takers[NAMES_BYTES], last[NAMES_BYTES], holders[NAMES_BYTES];
	unsigned n_freed = 0, n_users = 0;

	checker_functions(b->takers, takers_of(b), takers, sizeof(takers));
	for (unsigned i = 0; i < ARRAY_SIZE(b->read); i++)
		if (b->read[i])
			users[n_users++] = b->read[i];
	if (b->wrote)
		users[n_users++] = b->wrote;
	checker_functions(users, n_users, last, sizeof(last));
	for (unsigned i = 0; i < HOLDERS; i++)
		for (unsigned k = 0; k < ARRAY_SIZE(b->holders[i]); k++)
			if (b->holders[i][k])
				freed[n_freed++] = b->holders[i][k];
	checker_functions(freed, n_freed, holders, sizeof(holders));
	c->tell(c, &(struct breach){RULE_not_given_back, {0}, NULL, NULL},
		"no driver is there any more, and a piece of memory of %zu bytes is left%s, taken "
		"by %s%s%s%s%s",
		b->bytes, n > 1 ? ", and more" : "", takers,
		*holders ? "; what pointed to it was freed by " : "", holders,
		*last ? "; it was read and written last by " : "", last);
}

void heap_forget(void)
{
	pending = NULL;
	memset(gone, 0, sizeof(gone));
	memset(handlers, 0, sizeof(handlers));
	for (unsigned i = 0; i < BUCKETS; i++)
		while (buckets[i])
			block_remove(buckets[i]->block);
	drivers = 0;
}

void heap_driver_begins(void)
{
	drivers++;
}

void heap_driver_ends(struct checker *c)
{
	const struct block *left;
	unsigned n;

	if (!drivers || --drivers)
		return;
	left = oldest(&n);
	if (left && c)
		report(c, left, n);
	heap_forget();
}
