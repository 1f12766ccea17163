// SPDX-License-Identifier: Apache-2.0
/* See holds.h. */
#include "testbench/machine/holds.h"

#include "model/engine/base/event_core.h"
#include "model/systemc/kernel.h"
#include "testbench/dsan/hear/callout.h"
#include "testbench/host.h"
#include "testbench/os/calls.h"

#include <stdlib.h>

/* PLACE_CALLS reach from the platform to the driver, but not to the scenario. */
enum { HOSTS = 2, BAR_SHIFT = 60, PLACE_CALLS = 5 };

/* What the judge of a device is asked with. */
struct judged {
	struct holds *holds;
	unsigned host;
	uint64_t doorbell_ps; /* how much longer the register write that comes next takes */
	uint64_t landed_ps;   /* when the last write that was held lands */
};

struct holds {
	struct explorer *explorer;
	struct kernel *kernel;
	struct event_core *core;
	struct callout_listener listener;
	struct {
		uintptr_t base;
		uint64_t bytes;
		const struct kernel_thread *still; /* who holds the host; NULL: nobody */
		uint64_t until_ps;
	} hosts[HOSTS];
	struct judged judged[HOSTS];
	uint64_t calm_ps, held_ps;
	uint8_t host_of[EXPLORER_PARTIES]; /* by number of thread: host + 1; 0: not bound */
	bool stood[EXPLORER_PARTIES];
};

/* --- waiting --- */

struct nap {
	struct event ev;
	struct kernel_thread *thread;
	bool over;
};

static void nap_over(struct event *ev)
{
	struct nap *nap = (struct nap *)ev;

	nap->over = true;
	kernel_thread_wake(nap->thread);
}

/* Others may wake the thread meanwhile, for instance to kill it: that waits for its next wait. */
static void nap(struct holds *h, uint64_t until_ps)
{
	struct nap nap = {.ev.job = nap_over, .thread = kernel_thread_self(h->kernel)};

	event_set(h->core, &nap.ev, until_ps);
	while (!nap.over)
		kernel_thread_wait(h->kernel);
}

static void disturbed(struct holds *h, uint64_t from_ps, uint64_t ps)
{
	h->held_ps += ps;
	if (from_ps + ps > h->calm_ps)
		h->calm_ps = from_ps + ps;
}

static bool is_stopped(const struct holds *h, unsigned host, const struct kernel_thread *self)
{
	const unsigned bound = h->host_of[kernel_thread_number(self) % EXPLORER_PARTIES];

	return h->hosts[host].still && h->hosts[host].still != self &&
	       (!bound || bound == host + 1);
}

void holds_gate(struct holds *h)
{
	const struct kernel_thread *self = h ? kernel_thread_self(h->kernel) : NULL;

	if (!self)
		return;
	for (unsigned host = 0; host < HOSTS; host++)
		while (is_stopped(h, host, self))
			nap(h, h->hosts[host].until_ps);
}

/* --- points --- */

extern const char __executable_start;

static uint64_t offset_of(const void *pc)
{
	return (uint64_t)((uintptr_t)pc - (uintptr_t)&__executable_start);
}

/* The innermost calls of the running thread in one number, which is the same in every run: the
 * functions of the platform and the checker, which are always the same, and the driver's. */
static uint64_t place_of_calls(const struct holds *h)
{
	struct calls calls;
	uint64_t place = 0;

	calls_take(&calls, kernel_thread_self(h->kernel));
	for (unsigned i = 0; i < calls.n && i < PLACE_CALLS; i++)
		place = (place ^ offset_of(calls.pc[i])) * UINT64_C(0x100000001b3);
	return place;
}

/* Tells the explorer of a point of the running thread; returns how long to hold. */
static uint64_t thread_point(struct holds *h, struct point p)
{
	const struct kernel_thread *self = kernel_thread_self(h->kernel);
	struct calls calls;
	uint64_t ps;

	if (!self)
		return 0;
	p.party = kernel_thread_number(self);
	p.now_ps = h->core->now_ps;
	ps = explorer_point(h->explorer, &p);
	if (ps) {
		disturbed(h, p.now_ps, ps);
		calls_take(&calls, self);
		explorer_name(h->explorer, kernel_thread_name(self), calls.pc, calls.n);
	}
	return ps;
}

static void access_point(struct holds *h, uintptr_t at, const void *pc, bool store)
{
	const struct kernel_thread *self = kernel_thread_self(h->kernel);
	unsigned host = 0;
	uint64_t ps;

	while (host < HOSTS && at - h->hosts[host].base >= h->hosts[host].bytes)
		host++;
	if (host == HOSTS || !self)
		return;
	ps = thread_point(h, (struct point){.kind = TURN_ACCESS,
					    .host = host,
					    .store = store,
					    .at = at,
					    .place = offset_of(pc)});
	if (!ps)
		return;
	h->stood[kernel_thread_number(self) % EXPLORER_PARTIES] = true;
	h->hosts[host].still = self;
	h->hosts[host].until_ps = h->core->now_ps + ps;
	nap(h, h->hosts[host].until_ps);
	h->hosts[host].still = NULL;
}

static void heard_load(void *ctx, uintptr_t at, size_t bytes, const void *pc)
{
	access_point(ctx, at, pc, false);
}

static void heard_store(void *ctx, uintptr_t at, size_t bytes, const void *pc)
{
	access_point(ctx, at, pc, true);
}

static void thread_hold(struct holds *h, const struct point *p)
{
	const uint64_t ps = thread_point(h, *p);

	if (!ps)
		return;
	nap(h, h->core->now_ps + ps);
	holds_gate(h);
}

static struct point register_point(enum turn_kind kind, unsigned host, unsigned bar,
				   uint64_t offset, bool write, uint64_t place)
{
	return (struct point){.kind = kind,
			      .host = host,
			      .store = write,
			      .place = place,
			      .at = (uintptr_t)bar << BAR_SHIFT | offset};
}

void holds_register(struct holds *h, unsigned host, unsigned bar, uint64_t offset, bool write)
{
	struct point p;

	if (!h)
		return;
	p = register_point(TURN_REGISTER, host, bar, offset, write, place_of_calls(h));
	thread_hold(h, &p);
}

void holds_after(struct holds *h, unsigned host, unsigned bar, uint64_t offset, bool write)
{
	struct point p;

	if (!h)
		return;
	p = register_point(TURN_AFTER, host, bar, offset, write, place_of_calls(h));
	thread_hold(h, &p);
}

void holds_wake(struct holds *h, unsigned host, bool woken)
{
	if (!h)
		return;
	thread_hold(h, &(struct point){.kind = TURN_WAKE,
				       .host = host,
				       .woken = woken,
				       .place = place_of_calls(h)});
	holds_gate(h);
}

bool holds_stood(struct holds *h)
{
	const struct kernel_thread *self = h ? kernel_thread_self(h->kernel) : NULL;
	bool *stood = self ? &h->stood[kernel_thread_number(self) % EXPLORER_PARTIES] : NULL;
	const bool yes = stood && *stood;

	if (yes)
		*stood = false;
	return yes;
}

uint64_t holds_interrupt(struct holds *h, unsigned host, unsigned vector, uint64_t *again)
{
	struct point p = {
		.kind = TURN_INTERRUPT, .party = host, .host = host, .at = vector, .place = vector};
	uint64_t late;

	*again = 0;
	if (!h)
		return 0;
	p.now_ps = h->core->now_ps;
	late = explorer_point(h->explorer, &p);
	p.kind = TURN_SPURIOUS;
	*again = explorer_point(h->explorer, &p);
	if (late + *again)
		disturbed(h, p.now_ps, late + *again);
	return late;
}

void holds_doorbell(struct holds *h, unsigned host, unsigned bar, uint64_t offset)
{
	if (h)
		h->judged[host].doorbell_ps =
			thread_point(h, register_point(TURN_DOORBELL, host, bar, offset, true,
						       place_of_calls(h)));
}

/* One number for each purpose of DMA, the same in every run. */
static uint64_t place_of_dma(const char *what)
{
	uint64_t place = 0;

	for (; *what; what++)
		place = (place ^ (unsigned char)*what) * UINT64_C(0x100000001b3);
	return place;
}

static uint64_t late_ps(void *ctx, enum hca_late_way way, const char *what, uint64_t at)
{
	struct judged *j = ctx;
	struct holds *h = j->holds;
	const struct point p = {.kind = way == HCA_LATE_READ ? TURN_READ : TURN_WRITE,
				.party = j->host,
				.host = j->host,
				.store = way == HCA_LATE_WRITE,
				.what = what,
				.place = place_of_dma(what),
				.at = h->hosts[j->host].base + (at - HOST_MEMORY_BUS),
				.now_ps = h->core->now_ps};
	uint64_t ps, from = p.now_ps;

	if (way == HCA_LATE_REGISTER) {
		ps = j->doorbell_ps;
		j->doorbell_ps = 0;
		return ps;
	}
	ps = explorer_point(h->explorer, &p);
	if (!ps)
		return 0;
	/* a write waits behind those before it, and then as long */
	if (way == HCA_LATE_WRITE && j->landed_ps > from)
		from = j->landed_ps;
	if (way == HCA_LATE_WRITE)
		j->landed_ps = from + ps;
	disturbed(h, from, ps);
	return ps;
}

void holds_ask(struct holds *h, unsigned host, struct hca *hca)
{
	if (!h)
		return;
	h->judged[host] = (struct judged){.holds = h, .host = host};
	hca_late_ask(hca, &(struct hca_late_judge){.ctx = &h->judged[host], .late_ps = late_ps});
}

uint64_t holds_calm_ps(const struct holds *h)
{
	return h ? h->calm_ps : 0;
}

uint64_t holds_held_ps(const struct holds *h)
{
	return h ? h->held_ps : 0;
}

void holds_device(struct holds *h, unsigned host, uint64_t offset, size_t bytes, bool write)
{
	if (h)
		explorer_device(h->explorer, host, h->hosts[host].base + offset, bytes, write,
				h->core->now_ps);
}

/* --- whole --- */

struct holds *holds_create(struct explorer *e, struct kernel *kernel, struct event_core *core)
{
	struct holds *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->explorer = e;
	h->kernel = kernel;
	h->core = core;
	h->listener = (struct callout_listener){.ctx = h, .load = heard_load, .store = heard_store};
	callout_listen(&h->listener);
	return h;
}

void holds_destroy(struct holds *h)
{
	if (!h)
		return;
	callout_leave(&h->listener);
	free(h);
}

void holds_watch(struct holds *h, unsigned host, const void *base, uint64_t bytes)
{
	h->hosts[host].base = (uintptr_t)base;
	h->hosts[host].bytes = bytes;
	callouts_watch(base, bytes);
}

void holds_bind(struct holds *h, const struct kernel_thread *thread, unsigned host)
{
	if (h)
		h->host_of[kernel_thread_number(thread) % EXPLORER_PARTIES] = (uint8_t)(host + 1);
}
