/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SystemC for C code: the process that drives the event core, threads of simulated hosts, and HCAs
 * as SystemC modules.
 *
 * One SC_METHOD drives the event core. With `run_ahead` it runs all events up to the next event of
 * SystemC, so a packet does not pay for a SystemC step each time. Without it each event is one
 * SystemC step. Both give the same traces byte for byte, because only events of the core wake host
 * threads.
 *
 * SystemC allows one simulation per process, so there is one kernel, created once.
 */
#ifndef MODEL_SYSTEMC_KERNEL_H
#define MODEL_SYSTEMC_KERNEL_H

#include "model/engine/hca.h"

#ifdef __cplusplus
extern "C" {
#endif

struct kernel;
struct kernel_thread;
struct kernel_hca;

struct kernel *kernel_create(struct event_core *core, bool run_ahead);

/* The stack of each thread. */
enum { KERNEL_THREAD_STACK_BYTES = 1 << 20 };

/*
 * Starts a thread at the present time, before or during the run. Threads are coroutines: one runs
 * until it waits or returns. It ends when `fn` returns. It must not be left by longjmp.
 */
struct kernel_thread *kernel_thread_start(struct kernel *kernel, const char *name,
					  void (*fn)(void *arg), void *arg);
struct kernel_thread *kernel_thread_self(struct kernel *kernel);
/* For traces: its name, and its number in order of start, from 1. */
const char *kernel_thread_name(const struct kernel_thread *thread);
unsigned kernel_thread_number(const struct kernel_thread *thread);
/* The stack frame of the thread's outermost call; those of its other calls have lower addresses. */
const void *kernel_thread_outermost(const struct kernel_thread *thread);
/* The same of its innermost call, while it waits; NULL while it runs, and when it has ended. */
const void *kernel_thread_innermost(const struct kernel_thread *thread);
/* By number, also those that have ended; NULL: there are not so many. */
const struct kernel_thread *kernel_thread_numbered(const struct kernel *kernel, unsigned number);
/* Sleeps until kernel_thread_wake() is called for this thread. Earlier calls do not count. */
void kernel_thread_wait(struct kernel *kernel);
/* Makes the thread run after all events that are due now. Call it from the engine or another
 * thread. Several calls before it runs count as one. */
void kernel_thread_wake(struct kernel_thread *thread);

/* A pointer for the user of the thread; NULL until it is set. */
void kernel_thread_set_owner(struct kernel_thread *t, void *owner);
void *kernel_thread_owner(const struct kernel_thread *t);
/* The running thread of any kernel; NULL outside threads. */
struct kernel_thread *kernel_thread_running(void);
/*
 * Runs fn(arg) in the calling thread. Returns false if kernel_thread_unwind() ended it. Then all
 * its stack frames are gone, and the cleanup attributes of its C frames have run. Those must not
 * wait.
 */
bool kernel_thread_protect(void (*fn)(void *arg), void *arg);
__attribute__((noreturn)) void kernel_thread_unwind(void);

enum kernel_end {
	KERNEL_STOPPED, /* kernel_stop() */
	KERNEL_STARVED, /* no event is left */
	KERNEL_LIMIT,   /* the time limit came */
	KERNEL_FAILED,  /* SystemC reported a warning or error, which has been printed */
};
/* Runs until one of these; can be called once. */
enum kernel_end kernel_run(struct kernel *kernel, uint64_t limit_ps);
void kernel_stop(struct kernel *kernel);
/* The same for signal handlers; stops at the next event. */
void kernel_interrupt(struct kernel *kernel);

/*
 * The host memory behind an HCA's DMA socket. read and write are as in hca_env. range() finds the
 * mapped bytes around `bus` that are contiguous in both address spaces: 0 with *start, *end
 * (inclusive) and *ptr for *start, or -EFAULT. written() is called for each range that the device
 * has written.
 */
struct kernel_memory {
	void *ctx;
	int (*read)(void *ctx, uint64_t bus, void *buf, size_t len);
	int (*write)(void *ctx, uint64_t bus, const void *buf, size_t len);
	int (*range)(void *ctx, uint64_t bus, uint64_t *start, uint64_t *end, unsigned char **ptr);
	void (*written)(void *ctx, uint64_t bus, size_t len);
	void (*msi)(void *ctx, uint64_t address, uint32_t data);
	void (*intx)(void *ctx, bool asserted);
	void (*guest_error)(void *ctx, const struct guest_error *error);
	void (*catastrophe)(void *ctx, const char *text);
};

/* Creates an HCA module with this memory at its DMA socket. `dmi`: the memory grants direct access.
 * NULL with a line in err[] if the firmware cannot be loaded. */
struct kernel_hca *kernel_hca_create(struct kernel *kernel, unsigned index,
				     const struct hca_params *params,
				     const struct host_params *host, struct trace *trace,
				     const char *fw_path, const struct kernel_memory *memory,
				     bool dmi, char *err, size_t err_size);
struct hca *kernel_hca_device(struct kernel_hca *kh);
/* Withdraws direct access to [start, end], because pages were unmapped or moved. */
void kernel_hca_unmapped(struct kernel_hca *kh, uint64_t start, uint64_t end);
/* BAR accesses from a host thread through the module's TLM sockets. A read blocks the thread for
 * the round trip. 0 or -errno. */
int kernel_mmio_read(struct kernel_hca *kh, unsigned bar, uint64_t offset, void *bytes,
		     unsigned size);
int kernel_mmio_write(struct kernel_hca *kh, unsigned bar, uint64_t offset, const void *bytes,
		      unsigned size);
uint32_t kernel_config_read(struct kernel_hca *kh, unsigned offset, unsigned size);
void kernel_config_write(struct kernel_hca *kh, unsigned offset, unsigned size, uint32_t value);

/* Destroys modules and kernel after the run. */
void kernel_destroy(struct kernel *kernel);

#ifdef __cplusplus
}
#endif

#endif
