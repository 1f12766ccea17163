/* SPDX-License-Identifier: Apache-2.0 */
/* How the threads of a simulated host sleep, wait and are woken. See host_impl.h. */
#include "host_driver/mlx4/alloc.h"
#include "model/sim/params/host.h"
#include "testbench/machine/host_impl.h"

#include <stdlib.h>
#include <string.h>

/* A thread that waits for a write to memory, for a wait queue, or for a time. The structure is on
 * the waiting thread's stack. */
struct sleeper {
	struct event ev; /* the deadline, or the poll that sees the write */
	struct kernel_thread *thread;
	struct host *host;
	struct sleeper *next, **list; /* list NULL: in no list */
	uint64_t start_bus, end_bus;
	uint64_t since_ps;
	bool done, hit;
};

struct platform_waitq {
	struct sleeper *first;
};

void host_emit_wait(struct host *host, enum trace_point point, const char *why)
{
	if (trace_on(host->trace, point))
		host_emit(host, point, why, 0);
}

/* --- time --- */

static void sleeper_due(struct event *ev)
{
	struct sleeper *s = (struct sleeper *)ev;

	s->done = true;
	kernel_thread_wake(s->thread);
}

static void sleeper_start(struct host *host, struct sleeper *s)
{
	memset(s, 0, sizeof(*s));
	s->ev.job = sleeper_due;
	s->host = host;
	s->thread = kernel_thread_self(host->kernel);
	s->since_ps = host->core->now_ps;
}

/* Is also called when the stack of a killed thread unwinds. */
static void sleeper_end(struct sleeper *s)
{
	event_cancel(s->host->core, &s->ev);
	for (struct sleeper **at = s->list; at && *at; at = &(*at)->next) {
		if (*at == s) {
			*at = s->next;
			break;
		}
	}
}

#define SLEEPER __attribute__((cleanup(sleeper_end))) struct sleeper

static void sleeper_enlist(struct sleeper *s, struct sleeper **list)
{
	s->next = *list;
	s->list = list;
	*list = s;
}

static void end_if_killed(const struct sleeper *s)
{
	const struct host_thread *t = kernel_thread_owner(s->thread);

	if (t && t->killed && !t->in_kernel)
		kernel_thread_unwind();
}

static void sleeper_wait(struct host *host, struct sleeper *s, const char *why)
{
	host_emit_wait(host, TP_THREAD_WAIT, why);
	while (!s->done) {
		end_if_killed(s);
		kernel_thread_wait(host->kernel);
	}
	end_if_killed(s);
	holds_wake(host->config.holds, host->config.index, s->hit);
	host_emit_wait(host, TP_THREAD_GO, why);
}

/* A wait by a thread that has CPU time to spend first (debt_ps). That time passes during the wait;
 * if the wait is shorter, the rest is still to be spent afterwards. The sleeper is in its queue the
 * whole time, so no wake-up is missed. */
static void sleeper_wait_busy(struct host *host, struct sleeper *s, const char *why)
{
	uint64_t busy_until = host->core->now_ps + host->debt_ps;

	host->debt_ps = 0;
	sleeper_wait(host, s, why);
	if (busy_until > host->core->now_ps)
		host->debt_ps = busy_until - host->core->now_ps;
}

void host_sleep(struct platform *p, uint64_t ps)
{
	struct host *host = host_of(p);
	SLEEPER s;

	sleeper_start(host, &s);
	ps += host->debt_ps;
	host->debt_ps = 0;
	if (!ps) {
		/* it may take time */
		holds_wake(host->config.holds, host->config.index, false);
		return;
	}
	event_set(host->core, &s.ev, host->core->now_ps + ps);
	sleeper_wait(host, &s, "time");
}

void host_sleep_calm(struct platform *p, uint64_t ps)
{
	const struct host *host = host_of(p);
	const struct holds *holds = host->config.holds;
	const uint64_t held = holds_held_ps(holds), calm = holds_calm_ps(holds);
	const uint64_t now = host->core->now_ps, from = now > calm ? now : calm;
	uint64_t until = from + ps;

	host_sleep(p, until - now);
	while (host->core->now_ps < (until = from + ps + holds_held_ps(holds) - held))
		host_sleep(p, until - host->core->now_ps);
}

void host_cpu(struct platform *p, uint64_t ps)
{
	host_of(p)->debt_ps += ps;
}

uint64_t host_now(struct platform *p)
{
	return host_of(p)->core->now_ps + host_of(p)->debt_ps;
}

void host_settle(struct host *host)
{
	if (host->debt_ps)
		host_sleep(&host->platform, 0);
}

/* --- waiting for memory --- */

static uint64_t next_poll(const struct host *host, const struct sleeper *s)
{
	uint64_t seen = host->core->now_ps + host_param_host_wake_latency(host->params) -
			s->since_ps,
		 period = host_param_host_poll_interval(host->params);

	return s->since_ps + (seen + period - 1) / period * period;
}

void host_memory_written(void *ctx, uint64_t bus, size_t len)
{
	struct host *host = ctx;

	for (struct sleeper *s = host->watchers; s; s = s->next) {
		if (s->hit || bus >= s->end_bus || bus + len <= s->start_bus)
			continue;
		s->hit = true;
		event_set(host->core, &s->ev, next_poll(host, s));
	}
}

static bool wait_write(struct host *host, const void *addr, size_t len, uint64_t deadline_ps)
{
	uint64_t bus = host_memory_bus(&host->memory, addr);
	SLEEPER s;

	sleeper_start(host, &s);
	s.start_bus = bus / HOST_CACHE_LINE * HOST_CACHE_LINE;
	s.end_bus = (bus + len + HOST_CACHE_LINE - 1) / HOST_CACHE_LINE * HOST_CACHE_LINE;
	sleeper_enlist(&s, &host->watchers);
	if (deadline_ps != UINT64_MAX)
		event_set(host->core, &s.ev, deadline_ps);
	sleeper_wait_busy(host, &s, "write to memory");
	return s.hit;
}

bool host_wait_write(struct platform *p, const void *addr, size_t len, uint64_t deadline_ps)
{
	struct host *host = host_of(p);

	return holds_stood(host->config.holds) || wait_write(host, addr, len, deadline_ps);
}

/* --- wait queues and threads --- */

bool host_no_memory(void)
{
	return drv_calloc_fails && drv_calloc_fails();
}

struct platform_waitq *host_waitq_create(struct platform *p)
{
	return host_no_memory() ? NULL : calloc(1, sizeof(struct platform_waitq));
}

void host_waitq_destroy(struct platform *p, struct platform_waitq *q)
{
	free(q);
}

bool host_waitq_wait(struct platform *p, struct platform_waitq *q, uint64_t deadline_ps)
{
	struct host *host = host_of(p);
	SLEEPER s;

	sleeper_start(host, &s);
	sleeper_enlist(&s, &q->first);
	if (deadline_ps != UINT64_MAX)
		event_set(host->core, &s.ev, deadline_ps);
	sleeper_wait_busy(host, &s, "wake-up");
	return s.hit;
}

/* From the wake-up of a thread until it runs. */
static uint64_t schedule_ps(struct host *host)
{
	const uint64_t latency_ps = host_param_host_schedule_latency(host->params);

	return host->jitter_ps ? latency_ps + rng_below(&host->jitter, host->jitter_ps + 1)
			       : latency_ps;
}

void host_waitq_wake_all(struct platform *p, struct platform_waitq *q)
{
	struct host *host = host_of(p);

	for (struct sleeper *s = q->first; s; s = s->next) {
		s->list = NULL;
		s->hit = true;
		event_set(host->core, &s->ev, host->core->now_ps + schedule_ps(host));
	}
	q->first = NULL;
}

/* A thread that begins. */
struct beginning {
	struct host *host;
	void (*fn)(void *arg);
	void *arg;
};

/* Its host may stand still. */
static void thread_begins(void *arg)
{
	const struct beginning b = *(struct beginning *)arg;

	free(arg);
	holds_gate(b.host->config.holds);
	b.fn(b.arg);
}

void host_thread_start(struct platform *p, const char *name, void (*fn)(void *arg), void *arg)
{
	struct host *host = host_of(p);
	struct beginning *b = malloc(sizeof(*b));

	if (!b)
		abort();
	*b = (struct beginning){host, fn, arg};
	holds_bind(host->config.holds, kernel_thread_start(host->kernel, name, thread_begins, b),
		   host->config.index);
}
