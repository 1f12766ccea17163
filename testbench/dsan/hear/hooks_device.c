// SPDX-License-Identifier: Apache-2.0
/* As hooks.c: the device, from its probe to its removal. */
#include "testbench/dsan/asked/buffers.h"
#include "testbench/dsan/checker_impl.h"
#include "testbench/dsan/device/caps.h"
#include "testbench/dsan/device/dead.h"
#include "testbench/dsan/device/function.h"
#include "testbench/dsan/device/given.h"
#include "testbench/dsan/hear/entered.h"
#include "testbench/dsan/hear/hooks.h"
#include "testbench/dsan/held/heap.h"
#include "testbench/dsan/held/taken.h"
#include "testbench/dsan/mads/mads.h"
#include "testbench/dsan/mads/told.h"
#include "testbench/dsan/own/cq_waits.h"
#include "testbench/dsan/own/receives.h"

#include "host_driver/drv/ops.h"
#include "host_driver/mlx4/mlx4_internal.h"

enum { HOSTS = 2 };

W(int, drv_probe, struct platform *p, const struct drv_options *options, struct drv_device **dev)
{
	ASK a;
	int rc;

	ask_begin(&a, ASK_OTHER, __func__, p, 0);
	if (a.c)
		function_begin(a.c);
	if (a.c)
		a.c->watcher = &hooks_watcher;
	heap_driver_begins();
	rc = __real_drv_probe(p, options, dev);
	if (rc && a.c)
		dead_begin(a.c, NULL);
	if (rc)
		heap_driver_ends(checker_of_software(p->host));
	if (!rc) {
		given_up_check(&a, *dev, options && options->no_ports);
		caps_used_check(&a, *dev);
	}
	return hooks_made(&a, rc, rc ? NULL : *dev);
}

W(int, drv_cmd_use_events, struct drv_device *dev, unsigned max_commands)
{
	const int rc = __real_drv_cmd_use_events(dev, max_commands);

	if (!rc)
		caps_contexts_check(dev);
	return rc;
}

W(int, drv_query_device, struct drv_device *dev, struct drv_device_attr *attr)
{
	ASK a;
	int rc;

	ask_begin(&a, ASK_OTHER, __func__, drv_platform(dev), 0);
	rc = __real_drv_query_device(dev, attr);
	if (!rc)
		caps_told_check(&a, dev, attr);
	return rc;
}

static void event_came(void *arg, const struct drv_event *event)
{
	told_event(arg, event);
	dead_event(arg, event);
}

W(void, drv_event_register, struct drv_device *dev,
  void (*fn)(void *arg, const struct drv_event *event), void *arg)
{
	struct checker *c = checker_of_host(drv_platform(dev)->host);

	struct checker *software = checker_of_software(drv_platform(dev)->host);

	if (c) {
		dead_listener(c, fn, arg);
		__real_drv_event_register(dev, event_came, c);
	} else if (software) {
		software->link.fn = fn;
		software->link.arg = arg;
		__real_drv_event_register(dev, fn ? link_event : NULL, &software->link);
	} else {
		__real_drv_event_register(dev, fn, arg);
	}
}

W(void, drv_raw_mmio_write32, struct drv_device *dev, unsigned bar, uint64_t offset, uint32_t value)
{
	struct checker *c = checker_of_host(drv_platform(dev)->host);

	if (c)
		function_raw(c, true);
	__real_drv_raw_mmio_write32(dev, bar, offset, value);
	if (c)
		function_raw(c, false);
}

W(int, drv_catas_watch, struct drv_device *dev, uint64_t period_ps)
{
	const int rc = __real_drv_catas_watch(dev, period_ps);
	struct checker *c = checker_of_host(drv_platform(dev)->host);

	if (!rc && c)
		dead_watched(c, true);
	return rc;
}

W(void, drv_catas_unwatch, struct drv_device *dev)
{
	struct checker *c = checker_of_host(drv_platform(dev)->host);

	if (c)
		dead_watched(c, false);
	__real_drv_catas_unwatch(dev);
}

/* How many mailboxes of commands were in use when a call ended last, and where the last call has come by that
 * left more of them. */
static struct mailboxes {
	unsigned n;
	struct ran by;
} mailboxes[HOSTS];

void hooks_call_ends(const struct checker *c)
{
	struct mailboxes *m = &mailboxes[c->host.platform->host % HOSTS];
	const unsigned n = c->dead.dev ? c->dead.dev->cmd.mailboxes : 0;

	if (n > m->n)
		checkers_ran(c->host.platform->host, &m->by);
	m->n = n;
}

static void mailboxes_check(struct checker *c, unsigned left)
{
	const struct mailboxes *m = &mailboxes[c->host.platform->host % HOSTS];
	char names[ENTERED_CHARS];

	if (!left || left != m->n)
		return;
	entered_rank(m->by.pc, m->by.n, names, sizeof(names));
	checker_report(c, &(struct breach){RULE_not_given_back, {0}, NULL, NULL},
		       "the driver goes, and %u mailboxes that drv_mailbox_get and drv_mailbox_put "
		       "count are in use; the last call that left one more: %s",
		       left, names);
}

static void device_gone(struct ask *a)
{
	if (a->c)
		dead_begin(a->c, NULL);
}

static void device_forgotten(struct ask *a, const struct drv_device *dev, unsigned host)
{
	made_forget(a->c);
	mads_forget(a->c);
	receives_gone(a->c, 0);
	cq_waits_forget(a->c);
	buffers_forget(a->c);
	hooks_gone(a, 0, dev, "the device");
	if (a->c)
		taken_gone(a, a->call, a->c);
	heap_driver_ends(checker_of_software(host));
}

W(struct drv_leftovers, drv_remove, struct drv_device *dev)
{
	const unsigned host = drv_platform(dev)->host;
	struct drv_leftovers left;
	ASK a;

	ask_begin(&a, ASK_OTHER, __func__, drv_platform(dev), 0);
	a.object = dev;
	left = __real_drv_remove(dev);
	if (a.c)
		mailboxes_check(a.c, left.mailboxes);
	device_gone(&a);
	function_left_check(&a);
	device_forgotten(&a, dev, host);
	return left;
}

W(struct drv_leftovers, drv_abandon, struct drv_device *dev)
{
	const unsigned host = drv_platform(dev)->host;
	struct drv_leftovers left;
	ASK a;

	ask_begin(&a, ASK_OTHER, __func__, drv_platform(dev), 0);
	a.object = dev;
	left = __real_drv_abandon(dev);
	if (a.c)
		mailboxes_check(a.c, left.mailboxes);
	device_gone(&a);
	device_forgotten(&a, dev, host);
	return left;
}
