/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The firmware traps at each command of bring-up in turn, and answers nothing from then on. The driver
 * gives up after the time of that command, gives back what it had taken, and comes up the next time:
 * it begins with a reset.
 */
/* behaviours: FAULT-bring-up */
#include "model/engine/chip/processor_impl.h"
#include "model/interface/commands.h"
#include "testbench/harm.h"

enum { REG_SP = 2, NO_MEMORY = 0x40000000, COMMANDS_MAX = 200, COMMANDS_LEAST = 30, NEVER = ~0u };

/* The host's own operations, and how many commands are answered. */
static struct {
	struct host *of;
	const struct platform_ops *real;
	struct platform_ops ops;
	unsigned answered;
	bool struck;
} host;

/* The device takes a command when its last word is written. */
static void mmio_write(struct platform *p, unsigned bar, uint64_t offset, const void *bytes,
		       unsigned size)
{
	if (bar == HCA_BAR_REGS && offset + size == BAR0_HCR + sizeof(struct hcr) &&
	    host.answered != NEVER && !host.answered--) {
		rv_core_set_reg(host_hca(host.of)->processor->core, REG_SP, NO_MEMORY);
		host.answered = NEVER;
		host.struck = true;
	}
	host.real->mmio_write(p, bar, offset, bytes, size);
}

static int probe(struct tb_end *a, unsigned answered)
{
	const struct drv_options options = {.log_eq_size = 10, .comp_vectors = 2};
	struct drv_device *dev;
	int rc;

	host.answered = answered;
	host.struck = false;
	a->platform->ops = &host.ops;
	rc = drv_probe(a->platform, &options, &dev);
	host.answered = NEVER;
	if (!rc)
		drv_remove(dev);
	a->platform->ops = host.real;
	return rc;
}

SCENARIO(bring_up_silent,
	 "no answer at each command of bring-up in turn: the driver gives up, and comes up next "
	 "time",
	 .bare = true, .settings = {"sim.time_limit=0"})
{
	unsigned n = 0;

	host.of = a->host;
	host.real = a->platform->ops;
	host.ops = *host.real;
	host.ops.mmio_write = mmio_write;
	must(probe(a, NEVER));
	do {
		name_row("after %u answers", n);
		if (probe(a, n)) {
			expect_true(host.struck);
			expect_catastrophe(a);
		} else {
			expect_true(!host.struck);
		}
		expect_equal(host_pages_used(a->host), 0);
		expect_equal(host_pages_mapped(a->host), 0);
		n++;
	} while (host.struck && n < COMMANDS_MAX && still_right());
	expect_that(n, >, COMMANDS_LEAST);
}
