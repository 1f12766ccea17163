/*
 * The SystemC side, for C: the process that drives the event core, threads of simulated hosts, and
 * HCAs as SystemC modules.
 *
 * SystemC is the simulation kernel; the packet path does not pay its price for each step. One
 * SC_METHOD drives the event core and, with `run_ahead`, goes on to the next foreign SystemC event;
 * without, each event is one SystemC step. Both give the same traces, byte for byte: a host thread
 * is woken only by an event of the core, so what happens when is decided there.
 *
 * SystemC allows one simulation a process: one kernel, created once.
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

/*
 * Threads: coroutines; one runs until it waits or returns. Created before or during the run; starts
 * at the present time. longjmp out of one is not allowed. `fn` returning ends the thread.
 */
struct kernel_thread *kernel_thread_start(struct kernel *kernel, const char *name,
					  void (*fn)(void *arg), void *arg);
struct kernel_thread *kernel_thread_self(struct kernel *kernel);
/* For traces: its name, and its number in order of start, from 1. */
const char *kernel_thread_name(const struct kernel_thread *thread);
unsigned kernel_thread_number(const struct kernel_thread *thread);
/* Sleeps until kernel_thread_wake() of this thread; a wake-up that came while it was not sleeping
 * is not kept. */
void kernel_thread_wait(struct kernel *kernel);
/* Runs the thread after what is due now (an event of the core). From the engine or another thread;
 * more than one wake-up before it runs is one. */
void kernel_thread_wake(struct kernel_thread *thread);

/* What belongs to a thread: NULL until it is set. */
void kernel_thread_set_owner(struct kernel_thread *t, void *owner);
void *kernel_thread_owner(const struct kernel_thread *t);
/* The thread that runs now, whatever its kernel; NULL outside of threads. */
struct kernel_thread *kernel_thread_running(void);
/*
 * Runs fn(arg) in the calling thread. False when kernel_thread_unwind() ended it: every frame up to
 * here is gone, and the cleanup attributes of C frames were run, which must not wait.
 */
bool kernel_thread_protect(void (*fn)(void *arg), void *arg);
__attribute__((noreturn)) void kernel_thread_unwind(void);

enum kernel_end {
	KERNEL_STOPPED, /* kernel_stop() */
	KERNEL_STARVED, /* nothing is left to happen */
	KERNEL_LIMIT,   /* the time limit came */
	KERNEL_FAILED,  /* SystemC reported a warning or error: printed */
};
/* Runs until one of the above; once. */
enum kernel_end kernel_run(struct kernel *kernel, uint64_t limit_ps);
void kernel_stop(struct kernel *kernel);
/* The same for a signal handler: at the next event. */
void kernel_interrupt(struct kernel *kernel);

/*
 * A host's memory as the SystemC memory behind an HCA's DMA socket. read and write as in hca_env.
 * range() tells the mapped bytes around `bus` that are contiguous in both address spaces: 0 and
 * *start, *end (inclusive), *ptr for *start; -EFAULT. written() is told each range the device has
 * written.
 */
struct kernel_memory {
	void *ctx;
	int (*read)(void *ctx, uint64_t bus, void *buf, size_t len);
	int (*write)(void *ctx, uint64_t bus, const void *buf, size_t len);
	int (*range)(void *ctx, uint64_t bus, uint64_t *start, uint64_t *end, unsigned char **ptr);
	void (*written)(void *ctx, uint64_t bus, size_t len);
	void (*msi)(void *ctx, uint64_t address, uint32_t data);
	void (*intx)(void *ctx, bool asserted);
	void (*guest_error)(void *ctx, const char *rule, const char *text);
	void (*catastrophe)(void *ctx, const char *text);
};

/* An HCA module with a memory of its own bound to its DMA socket. `dmi`: the memory grants direct
 * access. NULL with err[] set when the firmware cannot be loaded. */
struct kernel_hca *kernel_hca_create(struct kernel *kernel, unsigned index,
				     const struct hca_params *params,
				     const struct host_params *host, struct trace *trace,
				     const char *fw_path, const struct kernel_memory *memory,
				     bool dmi, char *err, size_t err_size);
struct hca *kernel_hca_device(struct kernel_hca *kh);
/* Pages became unmapped or moved: direct access to [start, end] is withdrawn. */
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
