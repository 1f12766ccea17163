/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by host.c (the platform of a simulated host), host_wait.c (its threads) and host_irq.c (its
 * interrupts). */
#ifndef TESTBENCH_HOST_IMPL_H
#define TESTBENCH_HOST_IMPL_H

#include "model/sim/rng.h"
#include "testbench/host.h"
#include "testbench/machine/acts.h"
#include "testbench/machine/holds.h"
#include "testbench/machine/host_memory.h"
#include "traces/trace.h"

enum { HOST_VECTORS = 2048, HOST_CACHE_LINE = 64 };

struct sleeper;
struct host_irq;

enum { HOST_LACKED_CHARS = 96 };

struct host {
	struct platform platform; /* first: the ops cast back */
	struct kernel *kernel;
	struct event_core *core;
	struct kernel_hca *hca;
	struct trace *trace;
	const struct host_params *params;
	uint64_t jitter_ps; /* most time by which a woken thread runs later; 0: none */
	struct rng jitter;
	struct host_memory memory;
	struct host_config config;
	struct acts *acts;
	uint64_t fault_bus; /* of the last DMA that failed */
	uint64_t debt_ps;   /* CPU time charged for which no simulated time has passed yet */
	struct sleeper *watchers;
	struct host_irq *irqs; /* HOST_VECTORS of them */
	unsigned irqs_pending;
	struct kernel_thread *irq_thread;
	bool irq_thread_idle;
	const struct host_irq *irq_running; /* whose handler runs; NULL: none */
	struct checker *checker;            /* of its driver; NULL but in hcasim-checked */
	/* what the device lacked first: a verb that its driver refused, or what the scenario asked for */
	char lacked[HOST_LACKED_CHARS];
	void (*lacks)(void *arg, unsigned host, const char *what);
	void *lacks_arg;
};

static inline struct host *host_of(struct platform *p)
{
	return (struct host *)p;
}

/* Emits a trace record for the running thread. */
void host_emit(struct host *host, enum trace_point point, const char *text, uint64_t arg);

/* --- host_wait.c --- */

/* TP_THREAD_WAIT or TP_THREAD_GO, with what the thread waits for. */
void host_emit_wait(struct host *host, enum trace_point point, const char *why);
/* Lets the CPU time pass that the host has been charged for. */
void host_settle(struct host *host);
/* Whether the scenario lets the host's memory run out at this point. */
bool host_no_memory(void);
/* The device has written, for struct kernel_memory. Threads that poll these bytes see it at their next
 * poll. */
void host_memory_written(void *ctx, uint64_t bus, size_t len);
/* For struct platform_ops. */
uint64_t host_now(struct platform *p);
void host_sleep(struct platform *p, uint64_t ps);
/* Sleeps, and longer by what a schedule holds: what happens meanwhile without one has happened then, too. */
void host_sleep_calm(struct platform *p, uint64_t ps);
void host_cpu(struct platform *p, uint64_t ps);
bool host_wait_write(struct platform *p, const void *addr, size_t len, uint64_t deadline_ps);
void host_thread_start(struct platform *p, const char *name, void (*fn)(void *arg), void *arg);
struct platform_waitq *host_waitq_create(struct platform *p);
void host_waitq_destroy(struct platform *p, struct platform_waitq *q);
bool host_waitq_wait(struct platform *p, struct platform_waitq *q, uint64_t deadline_ps);
void host_waitq_wake_all(struct platform *p, struct platform_waitq *q);

/* --- host_irq.c --- */

/* 0, or -ENOMEM. */
int host_irqs_create(struct host *host);
/* Starts the thread that runs interrupt handlers. Call when the simulation kernel can start threads. */
void host_irqs_start(struct host *host);
void host_irqs_destroy(struct host *host);
/* Interrupt messages of the device, for struct kernel_memory. */
void host_irq_message(void *ctx, uint64_t address, uint32_t data);
void host_irq_intx(void *ctx, bool asserted);
/* For struct platform_ops. */
int host_irq_request(struct platform *p, unsigned vector, void (*handler)(void *arg), void *arg);
void host_irq_free(struct platform *p, unsigned vector);
void host_irq_describe(struct platform *p, unsigned vector, uint64_t *address, uint32_t *data);

#endif
