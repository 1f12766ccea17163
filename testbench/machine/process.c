/* SPDX-License-Identifier: Apache-2.0 */
/* Simulated processes: threads, exit, and the functions for programs. See host_process.h and the
 * second half of process.h. */
#include "testbench/machine/host_process.h"

#include "model/interface/macros.h"
#include "model/sim/cfg.h"
#include "testbench/machine/host_impl.h"
#include "testbench/process.h"

#include <errno.h>
#include <stdlib.h>

struct process_thread {
	struct host_thread host; /* must be first: it is the kernel thread's owner */
	struct drv_list link;
	struct host_process *process;
	struct kernel_thread *kernel;
	void (*fn)(void *arg), (*ended)(void *arg);
	void *arg;
};

static struct process_thread *current_thread(void)
{
	struct kernel_thread *t = kernel_thread_running();

	return t ? kernel_thread_owner(t) : NULL;
}

struct host_process *host_process_current(void)
{
	struct process_thread *t = current_thread();

	return t ? t->process : NULL;
}

/* --- what host_driver/uverbs/process.h requires --- */

struct uv_process *uv_process_current(void)
{
	struct host_process *p = host_process_current();

	return p ? &p->uv : NULL;
}

void uv_kernel_enter(void)
{
	struct process_thread *t = current_thread();

	if (t)
		t->host.in_kernel++;
}

void uv_kernel_leave(void)
{
	struct process_thread *t = current_thread();

	if (t && !--t->host.in_kernel && t->host.killed)
		kernel_thread_unwind();
}

/* --- threads --- */

void host_process_end(struct host_process *p, int status)
{
	if (!p->ends)
		p->status = status;
	p->ends = true;
	for (struct drv_list *l = p->threads.next; l != &p->threads; l = l->next) {
		struct process_thread *t = container_of(l, struct process_thread, link);

		t->host.killed = true;
		kernel_thread_wake(t->kernel);
	}
}

static void run_thread(void *arg)
{
	struct process_thread *t = arg;

	if (t->host.killed)
		kernel_thread_unwind();
	t->fn(t->arg);
}

/* Ends a thread. The last thread of the process cleans up, and can no longer be killed. */
static void thread_main(void *arg)
{
	struct process_thread *t = arg;
	struct host_process *p = t->process;

	kernel_thread_protect(run_thread, t);
	t->host.in_kernel++;
	kernel_thread_set_owner(t->kernel, NULL);
	drv_list_del(&t->link);
	if (t->ended)
		t->ended(t->arg);
	free(t);
	if (--p->live)
		return;
	while (!drv_list_empty(&p->oobs))
		oob_end(p->oobs.next);
	uv_process_exit(&p->uv);
	p->done = true;
	p->over(p->over_arg);
}

static struct process_thread *thread_start(struct host_process *p, const char *name,
					   void (*fn)(void *arg), void (*ended)(void *arg),
					   void *arg)
{
	struct process_thread *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->process = p;
	t->fn = fn;
	t->ended = ended;
	t->arg = arg;
	t->kernel = kernel_thread_start(p->kernel, name, thread_main, t);
	kernel_thread_set_owner(t->kernel, t);
	drv_list_add(&p->threads, &t->link);
	p->live++;
	return t;
}

/* --- start and end --- */

int host_process_init(struct host_process *p, struct uv_host *host)
{
	drv_list_init(&p->threads);
	drv_list_init(&p->oobs);
	return uv_process_init(&p->uv, host);
}

static void run_main(void *arg)
{
	struct host_process *p = arg;

	host_process_end(p, p->main(p->arg));
}

int host_process_run(struct host_process *p)
{
	return thread_start(p, p->name, run_main, NULL, p) ? 0 : -ENOMEM;
}

/* --- for the process --- */

void *process_memory(size_t bytes)
{
	struct uv_process *p = uv_process_current();

	return p ? uv_pages_alloc(p, bytes) : NULL;
}

void process_memory_free(void *addr)
{
	struct uv_process *p = uv_process_current();

	if (p)
		uv_pages_free(p, addr);
}

int process_thread(const char *name, void (*fn)(void *arg), void *arg)
{
	return process_spawn(name, fn, NULL, arg) ? 0 : -ENOMEM;
}

struct process_thread *process_spawn(const char *name, void (*fn)(void *arg),
				     void (*ended)(void *arg), void *arg)
{
	return thread_start(host_process_current(), name, fn, ended, arg);
}

void *process_thread_arg(void (*fn)(void *arg))
{
	const struct process_thread *t = current_thread();

	return t && t->fn == fn ? t->arg : NULL;
}

void process_thread_end(void)
{
	kernel_thread_unwind();
}

void process_thread_cancel(struct process_thread *t)
{
	t->host.killed = true;
	kernel_thread_wake(t->kernel);
}

void process_exit(int status)
{
	host_process_end(host_process_current(), status);
	kernel_thread_unwind();
}

void process_sleep_us(uint64_t us)
{
	host_sleep_calm(uv_process_current()->host->platform, CFG_US(us));
}

uint64_t process_now_ns(void)
{
	struct platform *p = uv_process_current()->host->platform;

	return p->ops->now_ps(p) / 1000;
}

int process_open(const char *path, int flags)
{
	return uv_open(uv_process_current(), path, flags);
}

static int minus_one(int error)
{
	if (!error)
		return 0;
	errno = error;
	return -1;
}

int process_close(int fd)
{
	return minus_one(uv_close(uv_process_current(), fd));
}

int process_nonblock(int fd, bool on)
{
	return minus_one(uv_set_nonblock(uv_process_current(), fd, on));
}

int process_poll(int fd, int timeout_ms)
{
	struct uv_process *p = uv_process_current();
	struct platform *platform = p->host->platform;
	int rc = uv_wait_readable(p, fd,
				  timeout_ms < 0 ? UINT64_MAX
						 : platform->ops->now_ps(platform) +
							   (uint64_t)timeout_ms * CFG_MS(1));

	return rc < 0 ? minus_one(EBADF) : rc;
}
