/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each step of bring-up fails in turn: the device refuses a command, or the host has no page, no
 * wait queue or no interrupt. The driver says so, gives back what it had taken until then, and
 * comes up the next time. Nothing else shows whether each error path undoes just the steps before it.
 */
/* behaviours: FAULT-bring-up */
#include "testbench/harm.h"

enum { PLACES_MAX = 400, PAGES_STEP = 97, PAGES_EACH = 12, NEVER = ~0u };

/* The host's own operations, and which call of each kind fails, counted from 0. */
static struct {
	const struct platform_ops *real;
	struct platform_ops ops;
	unsigned pages, waitqs, irqs; /* calls until the one that fails */
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
	return strikes(&host.pages) ? NULL : host.real->pages_alloc(p, bytes, bus);
}

static struct platform_waitq *waitq_create(struct platform *p)
{
	return strikes(&host.waitqs) ? NULL : host.real->waitq_create(p);
}

static int irq_request(struct platform *p, unsigned vector, void (*handler)(void *arg), void *arg)
{
	return strikes(&host.irqs) ? -EBUSY : host.real->irq_request(p, vector, handler, arg);
}

static int probe(struct tb_end *a)
{
	const struct drv_options options = {.log_eq_size = 10, .comp_vectors = 2};
	struct drv_device *dev;
	int rc;

	a->platform->ops = &host.ops;
	rc = drv_probe(a->platform, &options, &dev);
	a->platform->ops = host.real;
	if (!rc)
		drv_remove(dev);
	return rc;
}

static void all_is_back(struct tb *tb, struct tb_end *a)
{
	expect_equal(host_pages_used(a->host), 0);
	expect_equal(host_pages_mapped(a->host), 0);
}

static void commands(struct tb *tb, struct tb_end *a)
{
	static const uint32_t opcodes[] = {
		HCR_QUERY_FW,        HCR_MAP_FA,        HCR_RUN_FW,      HCR_QUERY_DEV_CAP,
		HCR_QUERY_PORT,      HCR_SET_ICM_SIZE,  HCR_MAP_ICM_AUX, HCR_MAP_ICM,
		HCR_INIT_HCA,        HCR_QUERY_ADAPTER, HCR_SW2HW_MPT,   HCR_SW2HW_EQ,
		HCR_MAP_EQ,          HCR_NOP,           HCR_SET_PORT,    HCR_SW2HW_CQ,
		HCR_CONF_SPECIAL_QP, HCR_RST2INIT_QP,   HCR_INIT2RTR_QP, HCR_RTR2RTS_QP,
		HCR_INIT_PORT,
	};

	for_each_row(i, opcodes) {
		fail_command(a, opcodes[i], HCR_STATUS_BAD_RESOURCE, 1);
		expect_equal(probe(a), -EBADF);
		all_is_back(tb, a);
	}
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
	host.pages = host.waitqs = host.irqs = NEVER;
	host.real = a->platform->ops;
	host.ops = *host.real;
	host.ops.pages_alloc = pages_alloc;
	host.ops.waitq_create = waitq_create;
	host.ops.irq_request = irq_request;
	expect_equal(probe(a), 0);
	all_is_back(tb, a);
	commands(tb, a);
	expect_that(calls(tb, a, &host.waitqs, -ENOMEM, PLACES_MAX, 1), >, 3);
	expect_that(calls(tb, a, &host.irqs, -EBUSY, PLACES_MAX, 1), >, 1);
	expect_that(calls(tb, a, &host.pages, -ENOMEM, PAGES_EACH, PAGES_STEP), >, 3);
	expect_equal(probe(a), 0);
	all_is_back(tb, a);
}
