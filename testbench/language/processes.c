/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs of process.h, which start, direct, kill and await processes. */
#include "testbench/process.h"

#include "model/interface/macros.h"
#include "model/sim/cfg.h"
#include "testbench/language/tb.h"
#include "testbench/machine/host_process.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

enum { EXIT_LIMIT_S = 1000, TEXT_CHARS = 200 };

struct process {
	struct host_process host;
	struct drv_list link; /* in the scenario's list of processes */
	struct tb *tb;
	struct tb_end *end;
	/* the current step of a worker */
	int (*step)(void *arg);
	void *step_arg;
	bool stepping, leaves;
	int step_result;
};

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
	if (end->net)
		ib_device_set_netdev(device, end->net, 1);
	uv->devices[uv->n_devices++] = device;
	return device;
}

static void process_over(void *tb)
{
	tb_poke(tb);
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
	p->host.kernel = tb->machine->kernel;
	p->host.name = name;
	p->host.main = main;
	p->host.arg = arg;
	p->host.oob_names = &tb->oob_names;
	p->host.over = process_over;
	p->host.over_arg = tb;
	if (!tb_must(tb, here, "a process", host_process_init(&p->host, tb_uv_host(tb, end)), 0)) {
		free(p);
		return NULL;
	}
	p->host.uv.poll.first_ps = tb->config->host[end->host_index].host_poll_interval;
	p->host.uv.poll.max_ps = tb->config->host[end->host_index].host_poll_backoff;
	drv_list_add(&tb->processes, &p->link);
	tb_must(tb, here, "its thread", host_process_run(&p->host), 0);
	return p;
}

static bool is_done(struct tb *tb, void *arg)
{
	return ((struct process *)arg)->host.done;
}

bool has_exited(const struct process *p)
{
	return p->host.done;
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
		snprintf(expected, sizeof(expected), "%s at %s ends", p->host.name, p->end->name);
		tb_fail(tb, here, expected, "it does not");
		return INT_MIN;
	}
	status = p->host.status;
	process_free(p);
	return status;
}

void tb_expect_exit(struct tb *tb, const char *here, struct process *p, int status)
{
	char expected[TEXT_CHARS], got[TEXT_CHARS];
	int is;

	if (!tb_go(tb, here))
		return;
	snprintf(expected, sizeof(expected), "%s at %s ends with %d", p->host.name, p->end->name,
		 status);
	is = tb_await_exit(tb, here, p);
	snprintf(got, sizeof(got), "%d", is);
	if (is != status)
		tb_fail(tb, here, expected, got);
}

/* --- workers --- */

static int worker_main(void *arg)
{
	struct process *p = container_of(host_process_current(), struct process, host);
	struct platform *platform = p->host.uv.host->platform;

	while (!p->leaves) {
		if (!p->stepping) {
			platform->ops->waitq_wait(platform, p->host.uv.waitq, UINT64_MAX);
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
	struct platform *platform = p->host.uv.host->platform;

	if (!p->host.done)
		platform->ops->waitq_wake_all(platform, p->host.uv.waitq);
}

static bool step_done(struct tb *tb, void *arg)
{
	const struct process *p = arg;

	return !p->stepping || p->host.done;
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
	if (!tb_wait(tb, step_done, p, tb_now(tb) + CFG_S(EXIT_LIMIT_S)) || p->host.done) {
		tb_fail(tb, here, expected,
			p->host.done ? "the process has ended" : "it does not end");
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
		host_process_end(&p->host, PROCESS_KILLED);
}

static bool host_is_quiet(struct tb *tb, void *arg)
{
	const struct tb_end *end = arg;

	for (struct drv_list *l = tb->processes.next; l != &tb->processes; l = l->next) {
		const struct process *p = container_of(l, struct process, link);

		if (p->end->host_index == end->host_index && !p->host.done)
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

		if (p->end->host_index == end->host_index && !p->host.done)
			host_process_end(&p->host, PROCESS_KILLED);
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
		snprintf(got, sizeof(got), "%s at %s", p->host.name, p->end->name);
		tb_fail(tb, here, "no process that nobody waits for", got);
		return;
	}
	kernel_verbs_down(tb, here, end);
}
