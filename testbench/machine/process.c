// SPDX-License-Identifier: Apache-2.0
/* Simulated processes: their threads, their end, what they find around them. See process.h. */
#include "model/sim/cfg.h"
#include "testbench/process.h"

#include "model/interface/macros.h"
#include "testbench/language/tb.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

enum { EXIT_LIMIT_S = 1000, TEXT_CHARS = 200 };

struct process {
	struct uv_process uv; /* first */
	struct drv_list link; /* of the scenario's */
	struct tb *tb;
	struct tb_end *end;
	const char *name;
	int (*main)(void *arg);
	void *arg;
	struct drv_list threads, oobs;
	unsigned live;
	bool ends, done; /* ends: its status is known */
	int status;
	/* a worker's present step */
	int (*step)(void *arg);
	void *step_arg;
	bool stepping, leaves;
	int step_result;
};

struct process_thread {
	struct host_thread host; /* first: the kernel thread's owner */
	struct drv_list link;
	struct process *process;
	struct kernel_thread *kernel;
	void (*fn)(void *arg), (*ended)(void *arg);
	void *arg;
};

static struct process_thread *current_thread(void)
{
	struct kernel_thread *t = kernel_thread_running();

	return t ? kernel_thread_owner(t) : NULL;
}

static struct process *current(void)
{
	struct process_thread *t = current_thread();

	return t ? t->process : NULL;
}

/* --- what user verbs ask for --- */

struct uv_process *uv_process_current(void)
{
	struct process *p = current();

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

/* The first reason to end is the process' status. */
static void end_process(struct process *p, int status)
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

/* The last one clears up; nobody can kill it any more. */
static void thread_main(void *arg)
{
	struct process_thread *t = arg;
	struct process *p = t->process;

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
	tb_poke(p->tb);
}

static struct process_thread *thread_start(struct process *p, const char *name,
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
	t->kernel = kernel_thread_start(p->tb->machine->kernel, name, thread_main, t);
	kernel_thread_set_owner(t->kernel, t);
	drv_list_add(&p->threads, &t->link);
	p->live++;
	return t;
}

static void run_main(void *arg)
{
	struct process *p = arg;

	end_process(p, p->main(p->arg));
}

/* --- for scenarios --- */

struct uv_host *tb_uv_host(struct tb *tb, struct tb_end *end)
{
	return &tb->uv[end->host_index];
}

struct ib_device *tb_ib_device(struct tb *tb, const char *here, struct tb_end *end)
{
	struct uv_host *uv = tb_uv_host(tb, end);
	struct ib_device *device;

	if (!tb_go(tb, here))
		return NULL;
	if (uv->n_devices)
		return uv->devices[0];
	if (!end->dev) {
		tb_fail(tb, here, "a host that is up", NULL);
		return NULL;
	}
	if (!tb_must(tb, here, "ib_device_create",
		     ib_device_create(end->dev, "mlx4_0", tb_event_came,
				      &tb->events[end->host_index], &device),
		     0))
		return NULL;
	if (!tb_must(tb, here, "uv_host_init", uv_host_init(uv, end->platform), 0))
		return NULL;
	if (!tb_must(tb, here, "drv_catas_watch",
		     drv_catas_watch(end->dev, tb->config->host[end->host_index].host_catas_poll),
		     0))
		return NULL;
	uv->devices[uv->n_devices++] = device;
	return device;
}

struct process *tb_start_process(struct tb *tb, const char *here, struct tb_end *end,
				 const char *name, int (*main)(void *arg), void *arg)
{
	struct process *p;

	if (!tb_ib_device(tb, here, end))
		return NULL;
	p = calloc(1, sizeof(*p));
	if (!tb_must(tb, here, "memory for a process", p ? 0 : -ENOMEM, 0))
		return NULL;
	p->tb = tb;
	p->end = end;
	p->name = name;
	p->main = main;
	p->arg = arg;
	drv_list_init(&p->threads);
	drv_list_init(&p->oobs);
	if (!tb_must(tb, here, "a process", uv_process_init(&p->uv, tb_uv_host(tb, end)), 0)) {
		free(p);
		return NULL;
	}
	p->uv.poll.first_ps = tb->config->host[end->host_index].host_poll_interval;
	p->uv.poll.max_ps = tb->config->host[end->host_index].host_poll_backoff;
	drv_list_add(&tb->processes, &p->link);
	tb_must(tb, here, "its thread", thread_start(p, name, run_main, NULL, p) ? 0 : -ENOMEM, 0);
	return p;
}

static bool is_done(struct tb *tb, void *arg)
{
	return ((struct process *)arg)->done;
}

bool has_exited(const struct process *p)
{
	return p->done;
}

static void process_free(struct process *p)
{
	drv_list_del(&p->link);
	free(p);
}

int tb_await_exit(struct tb *tb, const char *here, struct process *p)
{
	char expected[TEXT_CHARS];
	int status;

	if (!tb_go(tb, here))
		return INT_MIN;
	if (!tb_wait(tb, is_done, p, tb_now(tb) + CFG_S(EXIT_LIMIT_S))) {
		snprintf(expected, sizeof(expected), "%s at %s ends", p->name, p->end->name);
		tb_fail(tb, here, expected, "it does not");
		return INT_MIN;
	}
	status = p->status;
	process_free(p);
	return status;
}

void tb_expect_exit(struct tb *tb, const char *here, struct process *p, int status)
{
	char expected[TEXT_CHARS], got[TEXT_CHARS];
	int is;

	if (!tb_go(tb, here))
		return;
	snprintf(expected, sizeof(expected), "%s at %s ends with %d", p->name, p->end->name,
		 status);
	is = tb_await_exit(tb, here, p);
	snprintf(got, sizeof(got), "%d", is);
	if (is != status)
		tb_fail(tb, here, expected, got);
}

/* --- workers --- */

static int worker_main(void *arg)
{
	struct process *p = current();
	struct platform *platform = p->uv.host->platform;

	while (!p->leaves) {
		if (!p->stepping) {
			platform->ops->waitq_wait(platform, p->uv.waitq, UINT64_MAX);
			continue;
		}
		p->step_result = p->step(p->step_arg);
		p->stepping = false;
		tb_poke(p->tb);
	}
	return 0;
}

struct process *tb_start_worker(struct tb *tb, const char *here, struct tb_end *end)
{
	return tb_start_process(tb, here, end, "worker", worker_main, NULL);
}

static void worker_wake(struct process *p)
{
	struct platform *platform = p->uv.host->platform;

	if (!p->done)
		platform->ops->waitq_wake_all(platform, p->uv.waitq);
}

static bool step_done(struct tb *tb, void *arg)
{
	const struct process *p = arg;

	return !p->stepping || p->done;
}

void tb_run_in(struct tb *tb, const char *here, struct process *p, const char *name,
	       int (*fn)(void *arg), void *arg, int result)
{
	char expected[TEXT_CHARS], got[TEXT_CHARS];

	if (!tb_go(tb, here) || !p)
		return;
	p->step = fn;
	p->step_arg = arg;
	p->stepping = true;
	worker_wake(p);
	snprintf(expected, sizeof(expected), "%s at %s gives %d", name, p->end->name, result);
	if (!tb_wait(tb, step_done, p, tb_now(tb) + CFG_S(EXIT_LIMIT_S)) || p->done) {
		tb_fail(tb, here, expected, p->done ? "the process has ended" : "it does not end");
		return;
	}
	snprintf(got, sizeof(got), "%d", p->step_result);
	if (p->step_result != result)
		tb_fail(tb, here, expected, got);
}

void tb_end_worker(struct tb *tb, const char *here, struct process *p)
{
	if (!tb_go(tb, here) || !p)
		return;
	p->leaves = true;
	worker_wake(p);
	tb_expect_exit(tb, here, p, 0);
}

void tb_kill_process(struct tb *tb, const char *here, struct process *p)
{
	if (tb_go(tb, here) && p)
		end_process(p, PROCESS_KILLED);
}

static bool host_is_quiet(struct tb *tb, void *arg)
{
	const struct tb_end *end = arg;

	for (struct drv_list *l = tb->processes.next; l != &tb->processes; l = l->next) {
		const struct process *p = container_of(l, struct process, link);

		if (p->end->host_index == end->host_index && !p->done)
			return false;
	}
	return true;
}

static void kernel_verbs_down(struct tb *tb, const char *here, struct tb_end *end)
{
	struct uv_host *uv = tb_uv_host(tb, end);
	char got[TEXT_CHARS];

	tb_stop_cm(tb, here, end);
	if (!uv->n_devices)
		return;
	snprintf(got, sizeof(got), "%u contexts, %u objects", uv->files,
		 ib_device_objects(uv->devices[0]));
	if (!uv_host_is_clean(uv) || ib_device_destroy(uv->devices[0]))
		tb_fail(tb, here, "nothing left of any process or of kernel verbs", got);
	uv_host_cleanup(uv);
	uv->n_devices = 0;
}

void tb_processes_abandon(struct tb *tb, const char *here, struct tb_end *end)
{
	for (struct drv_list *l = tb->processes.next; l != &tb->processes; l = l->next) {
		struct process *p = container_of(l, struct process, link);

		if (p->end->host_index == end->host_index && !p->done)
			end_process(p, PROCESS_KILLED);
	}
	if (!tb_wait(tb, host_is_quiet, end, tb_now(tb) + CFG_S(EXIT_LIMIT_S)))
		tb_fail(tb, here, "the end of all processes of a dead device's host", NULL);
	kernel_verbs_down(tb, here, end);
}

void tb_processes_down(struct tb *tb, const char *here, struct tb_end *end)
{
	char got[TEXT_CHARS];

	for (struct drv_list *l = tb->processes.next; l != &tb->processes; l = l->next) {
		const struct process *p = container_of(l, struct process, link);

		if (p->end->host_index != end->host_index)
			continue;
		snprintf(got, sizeof(got), "%s at %s", p->name, p->end->name);
		tb_fail(tb, here, "no process that nobody waits for", got);
		return;
	}
	kernel_verbs_down(tb, here, end);
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
	return thread_start(current(), name, fn, ended, arg);
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
	end_process(current(), status);
	kernel_thread_unwind();
}

void process_sleep_us(uint64_t us)
{
	struct platform *p = uv_process_current()->host->platform;

	p->ops->sleep_ps(p, CFG_US(us));
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

struct drv_list *process_oobs(void)
{
	return &current()->oobs;
}

struct drv_list *process_oob_names(void)
{
	return &current()->tb->oob_names;
}
