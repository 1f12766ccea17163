// SPDX-License-Identifier: Apache-2.0
/*
 * Locks. What a thread reads in one turn and writes in a later one may have changed in between. If
 * one function holds a lock from the read to the write, all others must that do the same to the same
 * thing: then it is the lock that protects it.
 */
#include "testbench/dsan/hear/chain.h"
#include "testbench/dsan/threads/threads_impl.h"
#include "testbench/os/symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	READS = 1 << 12, /* that are remembered; a power of two */
	SHARED = 256,    /* things that locks protect */
	ORDERS = 256,
	HOLDERS = 64,
	PLACES = 128,
};

/* The newest load of a place by a thread. */
static struct {
	uintptr_t at;
	unsigned thread;
	uint32_t turn;
	const void *pc;
	uint32_t calls; /* of the runner: what an older call has read does not count */
} reads[READS];

/* What is read in one turn and written in a later one. */
static struct shared {
	uintptr_t at;
	const void *locks[HELD]; /* held from the read to the write, each time so far */
	unsigned n_locks;
	bool locked;              /* a lock was held from the read to the write, at least once */
	const void *locked_write; /* the write then */
	struct calls locked_by;
	struct {
		const void *read, *write; /* NULL: never without a lock */
		struct calls by;
	} bare;
	bool memory; /* not a register or a table in the device */
	bool told;
} shared[SHARED];
static unsigned n_shared; /* ever added */
/* Places in the driver that write behind a read of an older turn, with some lock held. One that does so
 * without a lock as well works on memory that its thread has for itself: the lock is its caller's. */
static const void *locked_places[PLACES];
static unsigned n_locked_places;

/* A lock was taken while another one was held. */
static struct {
	const void *first, *then, *pc;
} orders[ORDERS];
static unsigned n_orders;

static struct holder_of {
	const void *lock;
	struct runner *r;
	const void *pc;
} holders[HOLDERS];

static uint32_t taken; /* locks, ever */

static void function_name(const void *pc, char *text, size_t size)
{
	struct symbol symbol;

	snprintf(text, size, "%s",
		 symbols_find(pc, &symbol, 1) ? symbol.name : "a function without a name");
}

/* --- holding --- */

static struct held *held_find(struct runner *r, const void *lock)
{
	for (unsigned i = 0; i < r->n_held; i++)
		if (r->held[i].lock == lock)
			return &r->held[i];
	return NULL;
}

static struct holder_of *holder_find(const void *lock)
{
	for (unsigned i = 0; i < HOLDERS; i++)
		if (holders[i].lock == lock)
			return &holders[i];
	return NULL;
}

static void misused(struct checker *c, const void *pc, const void *then, const char *what)
{
	c->tell(c, &(struct breach){RULE_lock_misused, {0}, pc, then}, "%s", what);
}

/* Locks that are taken in both orders: two threads can wait for each other for ever. */
static void order_note(struct checker *c, const void *first, const void *then, const void *pc)
{
	for (unsigned i = 0; i < n_orders; i++) {
		if (orders[i].first == first && orders[i].then == then)
			return;
		if (orders[i].first == then && orders[i].then == first)
			c->tell(c, &(struct breach){RULE_lock_order, {0}, pc, orders[i].pc},
				"two locks are taken here in one order, and there in the other");
	}
	if (n_orders == ORDERS)
		return;
	orders[n_orders].first = first;
	orders[n_orders].then = then;
	orders[n_orders++].pc = pc;
}

void locks_want(struct checker *c, const void *lock, const void *pc)
{
	struct runner *r = runner_now();
	struct held *h;

	if (!r || !c)
		return;
	r->c = c;
	h = held_find(r, lock);
	if (h)
		misused(c, pc, h->pc,
			"a thread takes a lock that it holds already, and waits for ever");
	if (r->interrupts)
		c->tell(c, &(struct breach){RULE_interrupt_sleeps, {0}, pc, NULL},
			"a handler of interrupts takes a lock that may make it sleep");
	for (unsigned i = 0; i < r->n_held; i++)
		if (r->held[i].lock != lock)
			order_note(c, r->held[i].lock, lock, pc);
	/* it may have to wait for the lock */
	r->turn++;
	r->loads.n = r->stores.n = 0;
}

void locks_got(struct checker *c, const void *lock, const void *pc)
{
	struct runner *r = runner_now();
	struct holder_of *holder;

	if (!r || !c)
		return;
	holder = holder_find(lock);
	if (holder && holder->r != r)
		misused(c, pc, holder->pc, "a thread gets a lock while another one holds it");
	if (!holder)
		holder = holder_find(NULL);
	if (holder)
		*holder = (struct holder_of){lock, r, pc};
	if (r->n_held < HELD)
		r->held[r->n_held++] = (struct held){lock, pc, r->turn, ++taken, r->depth};
}

static void held_remove(struct runner *r, const void *lock)
{
	struct held *h = held_find(r, lock);
	struct holder_of *holder = holder_find(lock);

	if (h)
		*h = r->held[--r->n_held];
	if (holder)
		*holder = (struct holder_of){0};
}

void locks_back(struct checker *c, const void *lock, const void *pc)
{
	struct runner *r = runner_now();

	if (!r || !c)
		return;
	if (!held_find(r, lock))
		misused(c, pc, NULL,
			holder_find(lock) ? "a thread gives back a lock that another one holds"
					  : "a thread gives back a lock that it does not hold");
	held_remove(r, lock);
}

unsigned locks_held(void)
{
	const struct runner *r = runner_now();

	return r ? r->n_held : 0;
}

struct lock_hold locks_newest(void)
{
	const struct runner *r = runner_now();
	const struct held *h = r && r->n_held ? &r->held[r->n_held - 1] : NULL;

	return h ? (struct lock_hold){h->lock, h->nth} : (struct lock_hold){0};
}

void locks_answer(struct checker *c, struct lock_hold held, const char *what, const void *pc)
{
	struct runner *r = runner_now();
	const struct held *h = r && held.lock ? held_find(r, held.lock) : NULL;

	if (r && held.lock && (!h || (held.nth && h->nth != held.nth)))
		checker_report(c, &(struct breach){RULE_lock_missing, {0}, pc, NULL},
			       "%s is read, and the lock was given back under which it was asked "
			       "for: another thread may have its own there by now",
			       what);
}

static void newest_kept(struct runner *r, struct checker *c, const char *call)
{
	const struct held h = r->held[r->n_held - 1];
	char who[NAMES];

	function_name(h.pc, who, sizeof(who));
	c->tell(c, &(struct breach){RULE_lock_misused, {0}, h.pc, NULL},
		"%s has returned, and still holds a lock that was taken in %s", call, who);
	held_remove(r, h.lock);
}

void locks_end(struct checker *c, const char *call, unsigned before, bool outermost)
{
	struct runner *r = runner_now();

	if (r && outermost) {
		r->calls++;
		lockset_call_ends(r, 0);
	}
	while (r && c && r->n_held > before)
		newest_kept(r, c, call);
}

void locks_leave(struct runner *r)
{
	while (r->c && r->n_held && r->held[r->n_held - 1].depth > r->depth)
		newest_kept(r, r->c, "the function that took it, or its caller,");
	if (!r->depth)
		lockset_call_ends(r, 1);
}

void locks_forget(const void *lock)
{
	struct holder_of *holder = holder_find(lock);
	unsigned kept = 0;

	lockset_lock_gone(lock);
	if (holder)
		held_remove(holder->r, lock);
	for (unsigned i = 0; i < n_orders; i++)
		if (orders[i].first != lock && orders[i].then != lock)
			orders[kept++] = orders[i];
	n_orders = kept;
	for (unsigned i = 0; i < SHARED; i++)
		for (unsigned k = 0; k < shared[i].n_locks; k++)
			if (shared[i].locks[k] == lock) {
				shared[i] = (struct shared){0};
				break;
			}
}

/* --- what locks protect --- */

static struct shared *shared_of(uintptr_t at)
{
	const unsigned n = n_shared < SHARED ? n_shared : SHARED;

	for (unsigned i = 0; i < n; i++)
		if (shared[i].at == at)
			return &shared[i];
	shared[n_shared % SHARED] = (struct shared){.at = at};
	return &shared[n_shared++ % SHARED];
}

/* The locks that were held since that turn, without a break. */
static unsigned held_since(const struct runner *r, uint32_t turn, const void *locks[HELD])
{
	unsigned n = 0;

	for (unsigned i = 0; i < r->n_held; i++)
		if ((int32_t)(turn - r->held[i].turn) >= 0)
			locks[n++] = r->held[i].lock;
	return n;
}

static void locked_place_add(const void *pc)
{
	for (unsigned i = 0; i < n_locked_places; i++)
		if (locked_places[i] == pc)
			return;
	if (n_locked_places < PLACES)
		locked_places[n_locked_places++] = pc;
}

/* The same line may stand in several places of the program, where it is inlined. */
static bool is_same_line(const void *pc, const void *other)
{
	struct symbol here, there;

	return symbols_find(pc, &here, 1) && symbols_find(other, &there, 1) &&
	       here.line == there.line && !strcmp(here.name, there.name);
}

static bool is_locked_place(const void *pc)
{
	struct symbol symbol;

	if (!symbols_find(pc, &symbol, 1))
		return true;
	for (unsigned i = 0; i < n_locked_places; i++)
		if (is_same_line(pc, locked_places[i]))
			return true;
	return false;
}

static void bare_check(struct checker *c, struct shared *s, const char *what)
{
	char locked_by[CHAIN_BYTES], bare_by[CHAIN_BYTES];

	if (!s->locked || !s->bare.write || s->told)
		return;
	s->told = true;
	if (s->memory && is_locked_place(s->bare.write))
		return;
	chain_format(&s->locked_by, locked_by, sizeof(locked_by));
	chain_format(&s->bare.by, bare_by, sizeof(bare_by));
	c->tell(c, &(struct breach){RULE_lock_missing, {0}, s->bare.read, s->bare.write},
		"%s is read, other threads may run, and it is written: without a lock in %s; with "
		"one all the while in %s",
		what, bare_by, locked_by);
}

/* Of the locks of a thing those stay that are held now, too. Returns whether one does. */
static bool locks_common(struct shared *s, const void *const *locks, unsigned n)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < s->n_locks; i++)
		for (unsigned k = 0; k < n; k++)
			if (s->locks[i] == locks[k]) {
				s->locks[kept++] = locks[k];
				break;
			}
	s->n_locks = kept;
	return kept;
}

static void other_lock(struct checker *c, struct shared *s, const char *what, const void *read,
		       const void *write)
{
	char before[CHAIN_BYTES], here[CHAIN_BYTES];
	const bool told = s->told;
	struct calls calls;

	s->told = true;
	/* one line, with the locks of its callers: they have the memory for themselves */
	if (told || (s->memory && is_same_line(write, s->locked_write)))
		return;
	chain_take(&calls);
	chain_format(&s->locked_by, before, sizeof(before));
	chain_format(&calls, here, sizeof(here));
	c->tell(c, &(struct breach){RULE_lock_missing, {0}, read, write},
		"%s is read, other threads may run, and it is written: with one lock all the while "
		"in %s, with another one in %s",
		what, here, before);
}

/* Read in that turn, and written now. */
static void span_note(struct runner *r, uintptr_t at, uint32_t turn, const void *read,
		      const void *write, const char *device)
{
	const char *what = device ? device : "memory of the driver";
	const void *locks[HELD];
	const unsigned n = held_since(r, turn, locks);
	struct shared *s = shared_of(at);

	s->memory = !device;
	if (n && !s->locked) {
		s->locked = true;
		s->n_locks = n;
		memcpy(s->locks, locks, n * sizeof(*locks));
		s->locked_write = write;
		chain_take(&s->locked_by);
	} else if (n && !locks_common(s, locks, n)) {
		other_lock(r->c, s, what, read, write);
	}
	if (n) {
		locked_place_add(write);
	} else {
		if (!s->bare.write)
			chain_take(&s->bare.by);
		s->bare.read = read;
		s->bare.write = write;
	}
	bare_check(r->c, s, what);
}

static unsigned read_place(uintptr_t at, unsigned thread)
{
	return (unsigned)((at >> 2 ^ at >> 13) + thread * 2654435761u) % READS;
}

bool on_own_stack(uintptr_t at)
{
	return at >= (uintptr_t)__builtin_frame_address(0) &&
	       at < (uintptr_t)kernel_thread_outermost(kernel_thread_running());
}

void locks_load(struct runner *r, uintptr_t at, const void *pc)
{
	const unsigned n = read_place(at, r->number);

	reads[n].at = at;
	reads[n].thread = r->number;
	reads[n].turn = r->turn;
	reads[n].pc = pc;
	reads[n].calls = r->calls;
}

/* `device`: what it is when it is not memory, else NULL. */
static void write_check(struct runner *r, uintptr_t at, const char *device, const void *pc)
{
	const unsigned n = read_place(at, r->number);

	if (reads[n].at != at || reads[n].thread != r->number)
		return;
	reads[n].at = 0; /* it knows what stands there now */
	if (r->c && reads[n].turn != r->turn && reads[n].calls == r->calls)
		span_note(r, at, reads[n].turn, reads[n].pc, pc, device);
}

void locks_store(struct runner *r, uintptr_t at, const void *pc)
{
	if (!on_own_stack(at))
		write_check(r, at, NULL, pc);
}

void locks_read(struct checker *c, uintptr_t which, const void *pc)
{
	struct runner *r = runner_now();

	if (r && c)
		locks_load(r, which, pc);
}

void locks_write(struct checker *c, uintptr_t which, const char *what, const void *pc)
{
	struct runner *r = runner_now();

	if (!r || !c)
		return;
	r->c = c;
	write_check(r, which, what, pc);
}

void locks_memory_gone(uintptr_t at, size_t bytes)
{
	for (unsigned i = 0; i < SHARED; i++)
		if (shared[i].at - at < bytes)
			shared[i] = (struct shared){0};
}
