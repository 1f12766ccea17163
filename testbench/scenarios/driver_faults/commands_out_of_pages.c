/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host has no page left for the mailboxes of a command, while other threads wait for theirs: the
 * driver keeps a few mailboxes, and these hold them all. The command is refused, at each page that it
 * asks for in turn; what it had taken is given back, and the others get their answers.
 */
/* behaviours: FAULT-no-memory */
#include "testbench/harm.h"

enum { THREADS = 4, PORT = 1, PAGES_MAX = 10 };

static struct {
	const struct platform_ops *real;
	struct platform_ops ops;
	unsigned left; /* pages */
} host;

static void *pages_alloc(struct platform *p, size_t bytes, uint64_t *bus)
{
	return host.left && host.left-- ? host.real->pages_alloc(p, bytes, bus) : NULL;
}

struct asker {
	struct drv_device *dev;
	int rc;
	bool done;
};

static void asks(void *arg)
{
	struct asker *k = arg;
	struct drv_port_attr attr;

	k->rc = drv_query_port(k->dev, PORT, &attr);
	k->done = true;
}

/* While these threads wait for their commands, this one gives another, which gets so many pages. */
static int ask_with_pages(struct tb *tb, struct tb_end *a, unsigned pages)
{
	struct asker askers[THREADS] = {0};
	struct drv_port_attr attr;
	int rc;

	for_each_row(i, askers) {
		askers[i].dev = a->dev;
		a->platform->ops->thread_start(a->platform, "asker", asks, &askers[i]);
	}
	pass_time(CFG_NS(1));
	host.left = pages;
	a->platform->ops = &host.ops;
	rc = drv_query_port(a->dev, PORT, &attr);
	a->platform->ops = host.real;
	for_each_row(i, askers) {
		for (unsigned ms = 0; !askers[i].done && ms < 100; ms++)
			pass_time(CFG_MS(1));
		name_row("asker %zu", (size_t)i);
		expect_true(askers[i].done);
		expect_equal(askers[i].rc, 0);
	}
	return rc;
}

SCENARIO(commands_out_of_pages, "a command gets no page for a mailbox while others wait: it is "
				"refused, and nothing is lost")
{
	int rc = -ENOMEM;
	unsigned pages;

	host.real = a->platform->ops;
	host.ops = *host.real;
	host.ops.pages_alloc = pages_alloc;
	for (pages = 0; rc == -ENOMEM && pages < PAGES_MAX && still_right(); pages++)
		rc = ask_with_pages(tb, a, pages);
	expect_equal(rc, 0);
	/* none, one, and, where a MAD asks, two: it has an input and an output mailbox */
	expect_equal(pages, a->ethernet ? 2 : 3);
}
