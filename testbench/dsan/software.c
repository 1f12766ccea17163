// SPDX-License-Identifier: Apache-2.0
/*
 * The checker of a host whose device leaves the transport to software, such as the QLogic 6120. Its interface is not
 * known as mlx4's is, so only what any software must not do is judged: what it does to its memory (held/heap.c,
 * threads/freed.c), the order of its loads from the header queue (own/headers.c), and what it tells of the link
 * (own/link.c).
 */
#include "testbench/dsan/checker_impl.h"
#include "testbench/dsan/held/heap.h"
#include "testbench/dsan/threads/threads_impl.h"

#include "model/engine/hca.h"

#include <stdlib.h>

/* --- what is heard --- */

static void interrupt(void *arg)
{
	const struct interrupt *i = arg;

	link_handler_begins(&i->c->link);
	threads_interrupt(arg);
	link_handler_ends(i->c, &i->c->link);
}

static int op_irq_request(struct platform *p, unsigned vector, void (*handler)(void *arg),
			  void *arg)
{
	struct checker *c = checker_of_software(p->host);
	struct interrupt *i = vector < FUNCTION_VECTORS ? &c->interrupts[vector] : NULL;
	int rc;

	if (!i)
		return c->ops->irq_request(p, vector, handler, arg);
	*i = (struct interrupt){c, handler, arg};
	link_begin(&c->link);
	rc = c->ops->irq_request(p, vector, interrupt, i);
	if (!rc)
		heap_handler(arg, true);
	return rc;
}

static void op_irq_free(struct platform *p, unsigned vector)
{
	struct checker *c = checker_of_software(p->host);

	c->ops->irq_free(p, vector);
	if (vector < FUNCTION_VECTORS)
		heap_handler(c->interrupts[vector].arg, false);
}

static void op_mmio_read(struct platform *p, unsigned bar, uint64_t offset, void *bytes,
			 unsigned size)
{
	struct checker *c = checker_of_software(p->host);

	c->ops->mmio_read(p, bar, offset, bytes, size);
	if (!bar)
		link_read(&c->link, offset, bytes, size, __builtin_return_address(0));
}

static void on_dma(void *ctx, const struct hca_dma_seen *dma)
{
	struct checker *c = ctx;

	headers_dma(c, &c->headers, dma);
}

static void on_load(void *ctx, uintptr_t at, size_t bytes, const void *pc)
{
	struct checker *c = ctx;

	headers_load(c, &c->headers, at, bytes, pc);
}

static void on_fence(void *ctx, unsigned fence, const void *pc)
{
	struct checker *c = ctx;

	headers_fence(&c->headers, fence);
}

/* --- life --- */

static void hear(struct checker *c)
{
	static struct platform_ops ops; /* one kind of host */

	checker_hear_platform(c, &ops);
	ops.irq_request = op_irq_request;
	ops.irq_free = op_irq_free;
	ops.mmio_read = op_mmio_read;
	c->monitor = (struct hca_monitor){.ctx = c, .dma = on_dma};
	hca_monitor_set(c->host.hca, &c->monitor);
	c->listener = (struct callout_listener){.ctx = c, .load = on_load, .fence = on_fence};
	callouts_watch(c->host.memory, c->host.bytes);
	callout_listen(&c->listener);
}

struct checker *checker_create_software(const struct checker_host *host)
{
	struct checker *c = checker_new(host);

	if (!c)
		return NULL;
	c->memory_only = true;
	if (!checker_shadow(c)) {
		checker_free(c);
		return NULL;
	}
	hear(c);
	return c;
}
