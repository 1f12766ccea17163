/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each step of bring-up fails in turn: the device refuses a command, or the host has no memory, no
 * wait queue, no page or no interrupt. The driver says so, gives back what it had taken until then, and
 * comes up the next time. Nothing else shows whether each error path undoes just the steps before it.
 * A device whose transport is in software has no commands, and one vector.
 */
/* behaviours: FAULT-bring-up */
#include "host_driver/drv/pci_regs.h"
#include "host_driver/mlx4/alloc.h"
#include "testbench/harm.h"

enum { PLACES_MAX = 4000, PAGES_STEP = 97, PAGES_EACH = 12, NEVER = ~0u };

/* The host's own operations, and which call of each kind fails, counted from 0. */
static struct {
	const struct platform_ops *real;
	struct platform_ops ops;
	unsigned pages, irqs; /* calls until the one that fails */
	unsigned queues;      /* wait queues that are not destroyed */
	bool struck;
} host;

static bool strikes(unsigned *left)
{
	if (*left == NEVER || (*left)--)
		return false;
	*left = NEVER;
	host.struck = true;
	return true;
}

static void *pages_alloc(struct platform *p, size_t bytes, uint64_t *bus)
{
	bool (*const lacks)(void) = drv_calloc_fails;
	void *addr;

	drv_calloc_fails = NULL; /* memory() counts the heap and wait queues, not pages */
	addr = strikes(&host.pages) ? NULL : host.real->pages_alloc(p, bytes, bus);
	drv_calloc_fails = lacks;
	return addr;
}

static int irq_request(struct platform *p, unsigned vector, void (*handler)(void *arg), void *arg)
{
	return strikes(&host.irqs) ? -EBUSY : host.real->irq_request(p, vector, handler, arg);
}

static struct platform_waitq *waitq_create(struct platform *p)
{
	struct platform_waitq *q = host.real->waitq_create(p);

	host.queues += q != NULL;
	return q;
}

static void waitq_destroy(struct platform *p, struct platform_waitq *q)
{
	host.queues--;
	host.real->waitq_destroy(p, q);
}

static int come_up(struct tb_end *a, struct drv_device **dev)
{
	const struct drv_options options = {.log_eq_size = 10, .comp_vectors = 2};

	return drv_probe(a->platform, &options, dev);
}

/* The host has fewer vectors than the driver asks for. */
static void few_vectors(struct tb *tb, struct tb_end *a)
{
	const unsigned vectors = a->platform->msix_vectors;
	struct drv_device_attr attr;
	struct drv_device *dev;
	int rc;

	a->platform->msix_vectors = 2;
	rc = come_up(a, &dev);
	must(rc);
	if (!rc) {
		must(drv_query_device(dev, &attr));
		expect_equal(attr.comp_vectors, 1);
		drv_remove(dev);
	}
	a->platform->msix_vectors = 1; /* commands and completions need one each */
	must_fail(-ENOSPC, come_up(a, &dev));
	a->platform->msix_vectors = vectors;
}

static int probe(struct tb_end *a)
{
	struct drv_device *dev;
	int rc;

	a->platform->ops = &host.ops;
	rc = come_up(a, &dev);
	if (!rc)
		drv_remove(dev);
	a->platform->ops = host.real;
	return rc;
}

static uint32_t config(const struct tb_end *a, unsigned at)
{
	return a->platform->ops->config_read(a->platform, at, 2);
}

static uint32_t msix_control(const struct tb_end *a)
{
	unsigned at = config(a, PCI_CAP_POINTER) & 0xfc;

	for (unsigned n = 0; at && n < PCI_CAPS_MAX; n++, at = config(a, at) >> 8 & 0xfc)
		if ((config(a, at) & 0xff) == PCI_CAP_ID_MSIX)
			return config(a, at + MSIX_CONTROL);
	return 0;
}

/* As pci_disable_device and pci_disable_msix leave it: without DMA and interrupts, but with its BARs. */
static void all_is_back(struct tb *tb, struct tb_end *a)
{
	expect_equal(config(a, PCI_COMMAND) & (PCI_COMMAND_MASTER | PCI_COMMAND_MEMORY),
		     PCI_COMMAND_MEMORY);
	expect_equal(msix_control(a) & MSIX_ENABLE, 0);
	expect_equal(host_pages_used(a->host), 0);
	expect_equal(host_pages_mapped(a->host), 0);
	expect_equal(host.queues, 0);
}

/* What the driver can do without, as Linux's can: the size of firmware's pages, the name of each physical
 * port, and what an InfiniBand port is able to do. Returns how many commands these are. */
static unsigned dispensable(struct tb *tb, struct tb_end *a)
{
	struct drv_device_attr attr;
	struct drv_device *dev;
	unsigned n = 1;
	int rc = come_up(a, &dev);

	must(rc);
	if (rc)
		return 0;
	must(drv_query_device(dev, &attr));
	for (unsigned port = 1; port <= attr.ports; port++)
		n += drv_port_is_ethernet(dev, port) ? 1 : 2;
	drv_remove(dev);
	return n;
}

/* Without memory for mailboxes of these commands, and for the agent that asks what the port is able to do
 * and for the table from SL to VL, it does without them, too. */
enum { MEMORY_DISPENSABLE = 8 };

/* Each command is refused in turn. Returns how many there are. */
static unsigned commands(struct tb *tb, struct tb_end *a, unsigned *tolerated)
{
	struct drv_device *dev;
	unsigned nth = 0;
	bool came;
	int rc;

	do {
		name_row("command %u", ++nth);
		refuse_command(a, nth, HCR_STATUS_BAD_RESOURCE);
		rc = come_up(a, &dev);
		came = refuse_command(a, 0, 0);
		if (rc)
			expect_equal(rc, came ? -EBADF : 0);
		else
			drv_remove(dev);
		*tolerated += came && !rc;
		all_is_back(tb, a);
	} while (came && still_right());
	return nth;
}

/* Each piece of the heap and each wait queue lacks in turn. Returns how many there are. */
static unsigned memory(struct tb *tb, struct tb_end *a, unsigned *tolerated)
{
	unsigned nth = 0;
	bool came;
	int rc;

	do {
		name_row("memory %u", ++nth);
		lack_memory(nth);
		rc = probe(a);
		came = lack_memory(0);
		if (rc)
			expect_equal(rc, came ? -ENOMEM : 0);
		*tolerated += came && !rc;
		all_is_back(tb, a);
	} while (came && still_right());
	return nth;
}

/* The nth call of a kind fails until bring-up makes fewer calls than that. Where a large piece of
 * memory is not to be had, smaller ones may do. */
static unsigned calls(struct tb *tb, struct tb_end *a, unsigned *nth, int result, unsigned each,
		      unsigned step)
{
	unsigned failed = 0;

	for (unsigned n = 0; n < PLACES_MAX && still_right(); n += n < each ? 1 : step) {
		int rc;

		host.struck = false;
		*nth = n;
		rc = probe(a);
		*nth = NEVER;
		all_is_back(tb, a);
		if (!host.struck)
			break;
		if (rc || result != -ENOMEM)
			expect_equal(rc, result);
		failed += rc != 0;
	}
	return failed;
}

SCENARIO(bring_up_refused,
	 "each step of bring-up fails in turn: all is undone, and the next try succeeds",
	 .bare = true, .settings = {"sim.time_limit=0"})
{
	const bool software = in_software(a);
	unsigned tolerated = 0;

	host.pages = host.irqs = NEVER;
	host.real = a->platform->ops;
	host.ops = *host.real;
	host.ops.pages_alloc = pages_alloc;
	host.ops.irq_request = irq_request;
	host.ops.waitq_create = waitq_create;
	host.ops.waitq_destroy = waitq_destroy;
	if (!software) {
		few_vectors(tb, a);
		all_is_back(tb, a);
	}
	must(probe(a));
	all_is_back(tb, a);
	if (!software) {
		expect_that(commands(tb, a, &tolerated), >, 30);
		expect_equal(tolerated, dispensable(tb, a));
	}
	tolerated = 0;
	expect_that(memory(tb, a, &tolerated), >, software ? 20 : 150);
	expect_that(tolerated, <=, software ? 0 : MEMORY_DISPENSABLE);
	expect_that(calls(tb, a, &host.irqs, -EBUSY, PLACES_MAX, 1), >, software ? 0 : 1);
	expect_that(calls(tb, a, &host.pages, -ENOMEM, PAGES_EACH, PAGES_STEP), >, 3);
	expect_equal(probe(a), 0);
	all_is_back(tb, a);
}

/* The second port's steps undo those of the first, too. */
SCENARIO(bring_up_refused_ports,
	 "each command of bring-up fails in turn, of a device with two ports: all is undone",
	 .bare = true, .settings = {"sim.time_limit=0", "hca.ports=2"})
{
	unsigned tolerated = 0;

	host.pages = host.irqs = NEVER;
	host.real = a->platform->ops;
	host.ops = *host.real;
	expect_that(commands(tb, a, &tolerated), >, 40);
	expect_equal(tolerated, dispensable(tb, a));
	expect_equal(probe(a), 0);
	all_is_back(tb, a);
}

/* An Ethernet port cannot do without its MTU, its MAC or its GIDs. */
SCENARIO(bring_up_refused_eth,
	 "each command of bring-up fails in turn, of a device with two Ethernet ports: all is "
	 "undone",
	 .bare = true, .of_mlx4 = "Ethernet",
	 .settings = {"sim.time_limit=0", "hca.ports=2", "hca.port1.type=eth",
		      "hca.port2.type=eth"})
{
	unsigned tolerated = 0;

	host.pages = host.irqs = NEVER;
	host.real = a->platform->ops;
	host.ops = *host.real;
	expect_that(commands(tb, a, &tolerated), >, 40);
	expect_equal(tolerated, dispensable(tb, a));
	expect_equal(probe(a), 0);
	all_is_back(tb, a);
}
