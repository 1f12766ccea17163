/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implements model/systemc/kernel.h without SystemC: host threads are coroutines, and one loop
 * drives the devices. A process may create several machines one after the other, as a fuzz target
 * must. Run-ahead is left out, and memory never grants direct access.
 */
#include "model/systemc/kernel.h"
#include "testbench/fuzz/rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { MMIO_MAX = 64 };

struct kernel_thread {
	struct event wake; /* must be the first member: thread_resume() casts */
	struct kernel *kernel;
	struct kernel_thread *next;
	ucontext_t context;
	void (*fn)(void *arg);
	void *arg, *stack;
	bool waiting, over;
};

struct kernel_hca {
	struct kernel *kernel;
	struct kernel_hca *next;
	struct kernel_memory memory;
	struct hca *hca;
};

struct kernel {
	struct event_core *core;
	ucontext_t loop;
	struct kernel_thread *threads, *current;
	struct kernel_hca *hcas;
	bool stopped;
};

struct kernel *kernel_create(struct event_core *core, bool run_ahead)
{
	struct kernel *k = calloc(1, sizeof(*k));

	k->core = core;
	return k;
}

/* --- threads --- */

static void thread_resume(struct event *ev)
{
	struct kernel_thread *t = (struct kernel_thread *)ev;

	if (!t->waiting)
		return;
	t->waiting = false;
	t->kernel->current = t;
	swapcontext(&t->kernel->loop, &t->context);
	t->kernel->current = NULL;
}

static void thread_main(unsigned high, unsigned low)
{
	struct kernel_thread *t = (void *)((uintptr_t)high << 32 | low);

	t->fn(t->arg);
	t->over = true;
	swapcontext(&t->context, &t->kernel->loop);
}

const char *kernel_thread_name(const struct kernel_thread *t)
{
	return "fuzz";
}

unsigned kernel_thread_number(const struct kernel_thread *t)
{
	return 1;
}

struct kernel_thread *kernel_thread_start(struct kernel *k, const char *name, void (*fn)(void *arg),
					  void *arg)
{
	struct kernel_thread *t = calloc(1, sizeof(*t));

	t->wake.job = thread_resume;
	t->wake.foreign = true;
	t->kernel = k;
	t->fn = fn;
	t->arg = arg;
	t->waiting = true;
	t->stack = malloc(KERNEL_THREAD_STACK_BYTES);
	t->next = k->threads;
	k->threads = t;
	getcontext(&t->context);
	t->context.uc_stack.ss_sp = t->stack;
	t->context.uc_stack.ss_size = KERNEL_THREAD_STACK_BYTES;
	t->context.uc_link = NULL;
	makecontext(&t->context, (void (*)(void))thread_main, 2, (unsigned)((uintptr_t)t >> 32),
		    (unsigned)(uintptr_t)t);
	kernel_thread_wake(t);
	return t;
}

/* No call chains here. */
const void *kernel_thread_outermost(const struct kernel_thread *thread)
{
	return NULL;
}

const void *kernel_thread_innermost(const struct kernel_thread *thread)
{
	return NULL;
}

const struct kernel_thread *kernel_thread_numbered(const struct kernel *kernel, unsigned number)
{
	return NULL;
}

struct kernel_thread *kernel_thread_self(struct kernel *k)
{
	return k->current;
}

void kernel_thread_wait(struct kernel *k)
{
	struct kernel_thread *self = k->current;

	self->waiting = true;
	swapcontext(&self->context, &k->loop);
}

void kernel_thread_wake(struct kernel_thread *t)
{
	if (!event_is_set(&t->wake))
		event_set(t->kernel->core, &t->wake, t->kernel->core->now_ps);
}

/* There are no processes here, so no thread has an owner and none is ended early. */
void kernel_thread_set_owner(struct kernel_thread *t, void *owner)
{
}

struct kernel_thread *kernel_thread_running(void)
{
	return NULL;
}

bool kernel_thread_protect(void (*fn)(void *arg), void *arg)
{
	fn(arg);
	return true;
}

void *kernel_thread_owner(const struct kernel_thread *t)
{
	return NULL;
}

void kernel_thread_unwind(void)
{
	abort();
}

static void threads_bury(struct kernel *k, bool all)
{
	struct kernel_thread **at = &k->threads;

	while (*at) {
		struct kernel_thread *t = *at;

		if (!t->over && !all) {
			at = &t->next;
			continue;
		}
		event_cancel(k->core, &t->wake);
		*at = t->next;
		free(t->stack);
		free(t);
	}
}

/* --- the loop --- */

enum kernel_end kernel_run(struct kernel *k, uint64_t limit_ps)
{
	const uint64_t first = k->core->executed;

	k->stopped = false;
	while (!k->stopped) {
		const struct event *next = event_core_peek(k->core);

		if (!next)
			return KERNEL_STARVED;
		if (next->at_ps > limit_ps)
			return KERNEL_LIMIT;
		if (k->core->executed - first > FUZZ_EVENTS_MAX) {
			fprintf(stderr, "fuzz: still busy after %d events\n", FUZZ_EVENTS_MAX);
			abort();
		}
		event_core_step(k->core);
	}
	threads_bury(k, false);
	return KERNEL_STOPPED;
}

void kernel_stop(struct kernel *k)
{
	k->stopped = true;
}

void kernel_destroy(struct kernel *k)
{
	threads_bury(k, true);
	while (k->hcas) {
		struct kernel_hca *kh = k->hcas;

		k->hcas = kh->next;
		hca_destroy(kh->hca);
		free(kh);
	}
	free(k);
}

/* --- devices --- */

static int env_read(void *ctx, uint64_t bus, void *buf, size_t len)
{
	struct kernel_hca *kh = ctx;

	return kh->memory.read(kh->memory.ctx, bus, buf, len);
}

static int env_write(void *ctx, uint64_t bus, const void *buf, size_t len)
{
	struct kernel_hca *kh = ctx;
	int rc = kh->memory.write(kh->memory.ctx, bus, buf, len);

	if (!rc)
		kh->memory.written(kh->memory.ctx, bus, len);
	return rc;
}

static void env_irq(void *ctx, unsigned vector, uint64_t address, uint32_t data)
{
	struct kernel_hca *kh = ctx;

	kh->memory.msi(kh->memory.ctx, address, data);
}

static void env_intx(void *ctx, bool asserted)
{
	struct kernel_hca *kh = ctx;

	kh->memory.intx(kh->memory.ctx, asserted);
}

static void env_guest_error(void *ctx, const struct guest_error *error)
{
	struct kernel_hca *kh = ctx;

	kh->memory.guest_error(kh->memory.ctx, error);
}

static void env_catastrophe(void *ctx, const char *text)
{
	struct kernel_hca *kh = ctx;

	kh->memory.catastrophe(kh->memory.ctx, text);
}

struct kernel_hca *kernel_hca_create(struct kernel *k, unsigned index,
				     const struct hca_params *params,
				     const struct host_params *host, struct trace *trace,
				     const char *fw_path, const struct kernel_memory *memory,
				     bool dmi, char *err, size_t err_size)
{
	struct kernel_hca *kh = calloc(1, sizeof(*kh));
	const struct hca_env env = {
		.ctx = kh,
		.dma_read = env_read,
		.dma_write = env_write,
		.irq_raise = env_irq,
		.intx = env_intx,
		.guest_error = env_guest_error,
		.catastrophe = env_catastrophe,
	};

	kh->kernel = k;
	kh->memory = *memory;
	kh->hca = hca_create(index, params, host, k->core, &env, trace, fw_path, err, err_size);
	if (!kh->hca) {
		free(kh);
		return NULL;
	}
	kh->next = k->hcas;
	k->hcas = kh;
	return kh;
}

struct hca *kernel_hca_device(struct kernel_hca *kh)
{
	return kh->hca;
}

void kernel_hca_unmapped(struct kernel_hca *kh, uint64_t start, uint64_t end)
{
}

struct round_trip {
	struct kernel_thread *thread;
	void *bytes;
	bool done;
};

static void read_done(void *arg, const void *bytes, unsigned size)
{
	struct round_trip *trip = arg;

	memcpy(trip->bytes, bytes, size);
	trip->done = true;
	kernel_thread_wake(trip->thread);
}

static bool burst_fits(uint64_t offset, unsigned size)
{
	return size && size <= MMIO_MAX && offset % MMIO_MAX + size <= MMIO_MAX;
}

int kernel_mmio_read(struct kernel_hca *kh, unsigned bar, uint64_t offset, void *bytes,
		     unsigned size)
{
	struct round_trip trip = {.thread = kh->kernel->current, .bytes = bytes};

	if (!burst_fits(offset, size))
		return -EINVAL;
	hca_mmio_read(kh->hca, bar, offset, size, read_done, &trip);
	while (!trip.done)
		kernel_thread_wait(kh->kernel);
	return 0;
}

int kernel_mmio_write(struct kernel_hca *kh, unsigned bar, uint64_t offset, const void *bytes,
		      unsigned size)
{
	if (!burst_fits(offset, size))
		return -EINVAL;
	hca_mmio_write(kh->hca, bar, offset, bytes, size);
	return 0;
}

uint32_t kernel_config_read(struct kernel_hca *kh, unsigned offset, unsigned size)
{
	return hca_config_read(kh->hca, offset, size);
}

void kernel_config_write(struct kernel_hca *kh, unsigned offset, unsigned size, uint32_t value)
{
	hca_config_write(kh->hca, offset, size, value);
}
