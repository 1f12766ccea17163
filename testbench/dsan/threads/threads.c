// SPDX-License-Identifier: Apache-2.0
/* See threads.h: turns of threads, and their loads and stores. */
#include "testbench/dsan/threads/threads_impl.h"

#include "testbench/dsan/held/counts.h"
#include "testbench/dsan/hear/entered.h"
#include "testbench/dsan/hear/trail.h"
#include "testbench/dsan/held/heap.h"

#include <stdlib.h>

enum { HOSTS = 2, RUNNERS = 1 << 12 /* a power of two */ };

/* Memory of the driver belongs to no host, and one process runs one simulation. */
static struct runner *runners[RUNNERS]; /* by number of the thread */
/* Events of the simulation have no thread: software without a device, such as host_driver/iwarp, runs in them. */
static struct runner of_events;
static struct {
	struct checker *c;
	const struct platform_ops *ops; /* the host's own */
	struct runner *told;            /* who wrote a register last */
} hosts[HOSTS];
static const struct kernel_thread *newest;
static struct runner *newest_runner;

static const struct platform_ops *own(const struct platform *p)
{
	return hosts[p->host].ops;
}

/* --- accesses --- */

static void accesses_add(const struct runner *r, struct accesses *a, uintptr_t at, size_t bytes,
			 const void *pc)
{
	static uint32_t count;
	const unsigned depth = r->depth < DEPTH ? r->depth : 0;

	a->newest[a->n++ % ACCESSES] =
		(struct access){at, (uint32_t)bytes, ++count, pc, depth > 1 ? r->in[depth - 2] : 0};
}

const struct access *accesses_find(const struct accesses *a, uintptr_t at, size_t bytes)
{
	for (unsigned n = accesses_kept(a), i = 1; i <= n; i++)
		if (access_touches(&a->newest[(a->n - i) % ACCESSES], at, bytes))
			return &a->newest[(a->n - i) % ACCESSES];
	return NULL;
}

/* --- threads --- */

/* Threads whose numbers are far apart share a runner: what the older one did is forgotten. */
static struct runner *runner_of(const struct kernel_thread *thread)
{
	const unsigned number = kernel_thread_number(thread);
	struct runner **r = &runners[number % RUNNERS];

	if (!*r)
		*r = calloc(1, sizeof(**r));
	if (!*r)
		abort();
	if ((*r)->number != number)
		**r = (struct runner){.number = number,
				      .outermost = (uintptr_t)kernel_thread_outermost(thread)};
	return *r;
}

const struct runner *runners_from(unsigned from, unsigned *next)
{
	while (from < RUNNERS && !runners[from])
		from++;
	*next = from + 1;
	return from < RUNNERS ? runners[from] : NULL;
}

bool runners_stack(uintptr_t at)
{
	for (unsigned i = 0; i < RUNNERS; i++)
		if (runners[i] && runners[i]->outermost - at <= KERNEL_THREAD_STACK_BYTES)
			return true;
	return false;
}

struct runner *runner_now(void)
{
	const struct kernel_thread *thread = kernel_thread_running();

	if (!thread)
		return NULL;
	if (thread != newest || newest_runner->number != kernel_thread_number(thread)) {
		newest = thread;
		newest_runner = runner_of(thread);
	}
	return newest_runner;
}

struct checker *threads_checker(const struct runner *r)
{
	if (r && r->c)
		return r->c;
	return hosts[0].c ? hosts[0].c : hosts[1].c;
}

/* The thread calls this platform. */
static struct runner *runner_on(const struct platform *p)
{
	struct runner *r = runner_now();

	if (r)
		r->c = hosts[p->host].c;
	return r;
}

struct runner *runner_told(unsigned host)
{
	return host < HOSTS ? hosts[host].told : NULL;
}

/* The thread writes a register. */
static struct runner *runner_tells(struct platform *p)
{
	struct runner *r = runner_on(p);

	if (r) {
		hosts[p->host].told = r;
		r->told = r->n_trail;
		r->told_from = r->trail_from;
	}
	return r;
}

static void turn_ends(struct runner *r)
{
	if (!r)
		return;
	if (r->n_changes)
		waits_others_run(r);
	r->turn++;
	r->loads.n = r->stores.n = 0;
}

/* --- what it loads and stores --- */

/* The store that was heard last is made now. */
static void stored(struct runner *r)
{
	if (r->pointer)
		locals_stored(r);
	if (r->counting.at)
		busy_stored(r);
}

/* A transport in software has no locks, and its threads sleep until anything at all may have changed, and look then. */
static bool threads_are_judged(const struct runner *r)
{
	return !r->c || !r->c->memory_only;
}

static void on_load(void *ctx, uintptr_t at, size_t bytes, const void *pc)
{
	struct runner *r = runner_now();

	if (!r) {
		freed_check(NULL, at, bytes, false, pc);
		return;
	}
	stored(r);
	trail_add(r, pc);
	freed_check(r, at, bytes, false, pc);
	locals_load(r, at, pc);
	busy_load(r, at);
	if (r->n_busy)
		busy_access(r, at, pc);
	heap_load(r->c, at, bytes, pc,
		  r->depth > 1 && r->depth <= DEPTH ? code_pc(r->in[r->depth - 2]) : NULL,
		  r->handler);
	accesses_add(r, &r->loads, at, bytes, pc);
	/* an interrupt of another host may have come in between, and the look counts */
	if (r->woken.watched)
		waits_load(r, at, bytes);
	if (!threads_are_judged(r))
		return;
	locks_load(r, at, pc);
	lockset_load(r, at, pc);
}

static void thread_stores(struct runner *r, uintptr_t at, size_t bytes, const void *pc)
{
	locks_store(r, at, pc);
	lockset_store(r, at, pc);
	waits_store(r, at, bytes, pc);
	flags_store(r, at, bytes, pc);
	if (r->n_busy)
		busy_access(r, at, pc);
	busy_store(r, at, bytes, pc);
}

static void on_store(void *ctx, uintptr_t at, size_t bytes, const void *pc)
{
	struct runner *r = runner_now();

	if (!r) {
		freed_check(NULL, at, bytes, true, pc);
		return;
	}
	stored(r);
	if (bytes == sizeof(void *) && at % sizeof(void *) == 0 && !on_own_stack(at))
		r->pointer = at;
	trail_add(r, pc);
	freed_check(r, at, bytes, true, pc);
	heap_store(r->c, at, bytes, pc);
	setters_store(r, at, bytes, pc);
	if (threads_are_judged(r))
		thread_stores(r, at, bytes, pc);
	accesses_add(r, &r->stores, at, bytes, pc);
}

static void on_enter(void *ctx, const void *pc)
{
	struct runner *r = runner_now();

	if (!r) {
		entered_note(&of_events, pc);
		return;
	}
	stored(r);
	if (!r->asked)
		trail_begin();
	trail_add(r, pc); /* a function that only computes accesses no memory */
	if (r->depth < DEPTH)
		r->in[r->depth] = code_offset(pc);
	r->depth++;
	entered_note(r, pc);
}

static void on_leave(void *ctx, const void *frame)
{
	struct runner *r = runner_now();

	if (!r || !r->depth)
		return;
	stored(r);
	locals_end(r, (uintptr_t)frame);
	r->depth--;
	if (r->n_busy)
		busy_leave(r);
	if (!r->depth)
		r->returns++;
	if (!r->depth && r->n_changes)
		waits_tell_unseen(r, 1);
	if (!r->interrupts)
		locks_leave(r);
	if (r->armed_depth > r->depth)
		r->armed_depth = r->depth;
}

static void on_visit(void *ctx, const void *pc)
{
	struct runner *r = runner_now();

	if (!r)
		return;
	trail_add(r, pc);
	entered_note_visit(r, pc);
}

static void on_beyond(void *ctx, const char *what, const void *pc)
{
	struct checker *c = threads_checker(runner_now());

	if (c)
		c->tell(c, &(struct breach){RULE_range_exceeded, {0}, pc, NULL}, "%s", what);
}

static struct callout_listener listener = {.elsewhere = on_store,
					   .elsewhere_load = on_load,
					   .enter = on_enter,
					   .leave = on_leave,
					   .visit = on_visit,
					   .beyond = on_beyond};

/* --- where others may run --- */

static uint32_t op_config_read(struct platform *p, unsigned offset, unsigned size)
{
	turn_ends(runner_on(p));
	return own(p)->config_read(p, offset, size);
}

static void op_config_write(struct platform *p, unsigned offset, unsigned size, uint32_t value)
{
	turn_ends(runner_on(p));
	own(p)->config_write(p, offset, size, value);
}

static void op_mmio_read(struct platform *p, unsigned bar, uint64_t offset, void *bytes,
			 unsigned size)
{
	turn_ends(runner_on(p));
	own(p)->mmio_read(p, bar, offset, bytes, size);
}

static void op_mmio_write(struct platform *p, unsigned bar, uint64_t offset, const void *bytes,
			  unsigned size)
{
	turn_ends(runner_tells(p));
	own(p)->mmio_write(p, bar, offset, bytes, size);
}

static void op_mmio_copy64(struct platform *p, unsigned bar, uint64_t offset, const void *line)
{
	turn_ends(runner_tells(p));
	own(p)->mmio_copy64(p, bar, offset, line);
}

static void sleeps(struct platform *p, const char *how, const void *pc)
{
	struct runner *r = runner_on(p);

	if (r && r->interrupts)
		r->c->tell(r->c, &(struct breach){RULE_interrupt_sleeps, {0}, pc, NULL},
			   "a handler of interrupts %s", how);
	turn_ends(r);
}

static void op_sleep(struct platform *p, uint64_t ps)
{
	sleeps(p, ps ? "sleeps" : "lets others run", __builtin_return_address(0));
	own(p)->sleep_ps(p, ps);
}

static bool op_wait_write(struct platform *p, const void *addr, size_t len, uint64_t deadline_ps)
{
	sleeps(p, "waits for a write", __builtin_return_address(0));
	return own(p)->wait_write(p, addr, len, deadline_ps);
}

static bool op_waitq_wait(struct platform *p, struct platform_waitq *q, uint64_t deadline_ps)
{
	struct runner *r = runner_on(p);
	__attribute__((cleanup(waits_end))) struct sleeping s = {0};
	bool woken;

	if (r) {
		waits_turn_ends(r);
		flags_turn_ends(r);
		waits_sleep(&s, r, q, __builtin_return_address(0));
	}
	if (r && deadline_ps == UINT64_MAX)
		flags_sleep(r, __builtin_return_address(0));
	sleeps(p, "waits in a wait queue", __builtin_return_address(0));
	woken = own(p)->waitq_wait(p, q, deadline_ps);
	if (r)
		waits_awake(&s);
	return woken;
}

/* Its caller has left, and the others have not got their answers. */
static void late_answer_wakes(const struct runner *r, const void *pc)
{
	if (r && r->c && r->interrupts && r->c->late_answer.is)
		r->c->tell(
			r->c, &(struct breach){RULE_command_answer, {0}, pc, NULL},
			"the answer with token 0x%04x is that of a command that was given up, and "
			"it wakes those that wait for others",
			r->c->late_answer.token);
}

static void op_waitq_wake_all(struct platform *p, struct platform_waitq *q)
{
	late_answer_wakes(runner_on(p), __builtin_return_address(0));
	waits_wake(runner_on(p), q);
	own(p)->waitq_wake_all(p, q);
}

void threads_queue_destroy(struct platform *p, struct platform_waitq *q, const void *pc)
{
	waits_queue_gone(hosts[p->host].c, q, pc);
	own(p)->waitq_destroy(p, q);
}

static void op_waitq_destroy(struct platform *p, struct platform_waitq *q)
{
	threads_queue_destroy(p, q, __builtin_return_address(0));
}

struct checker *threads_interruptible(void)
{
	const struct runner *r = runner_now();

	return r && !r->interrupts && !r->n_held ? r->c : NULL;
}

void threads_interrupt(void *interrupt)
{
	const struct interrupt *i = interrupt;
	struct runner *r = runner_now();
	const void *before;

	if (!r) {
		i->handler(i->arg);
		return;
	}
	r->c = i->c;
	turn_ends(r);
	before = r->handler;
	r->handler = i->arg;
	r->interrupts++;
	i->handler(i->arg);
	flags_interrupt_ends(r);
	flags_turn_ends(r);
	r->interrupts--;
	r->handler = before;
	waits_turn_ends(r);
	turn_ends(r);
}

/* --- life --- */

void threads_hear(struct checker *c, struct platform *p)
{
	static struct platform_ops ops; /* the host's but for these; one kind of host */

	ops = *p->ops;
	ops.config_read = op_config_read;
	ops.config_write = op_config_write;
	ops.mmio_read = op_mmio_read;
	ops.mmio_write = op_mmio_write;
	ops.mmio_copy64 = op_mmio_copy64;
	ops.sleep_ps = op_sleep;
	ops.wait_write = op_wait_write;
	ops.waitq_wait = op_waitq_wait;
	ops.waitq_wake_all = op_waitq_wake_all;
	ops.waitq_destroy = op_waitq_destroy;
	if (!hosts[!p->host].c)
		callout_listen(&listener);
	hosts[p->host].c = c;
	hosts[p->host].ops = p->ops;
	p->ops = &ops;
}

void threads_call(const struct platform *p)
{
	runner_on(p);
}

bool threads_stored(const void *at, size_t bytes)
{
	const struct runner *r = runner_now();

	return !r || r->stores.n > ACCESSES || accesses_find(&r->stores, (uintptr_t)at, bytes);
}

void threads_leave(struct platform *p)
{
	p->ops = hosts[p->host].ops;
	hosts[p->host].c = NULL;
	hosts[p->host].told = NULL;
	if (hosts[!p->host].c)
		return;
	callout_leave(&listener);
	entered_forget();
	lockset_forget();
	flags_forget();
	busy_forget();
	handlers_forget();
	freed_forget();
	locals_forget();
	heap_forget();
	counts_forget();
	setters_forget();
	newest = NULL;
	of_events = (struct runner){0};
	for (unsigned i = 0; i < RUNNERS; i++) {
		free(runners[i]);
		runners[i] = NULL;
	}
}
