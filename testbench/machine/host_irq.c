/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interrupts of a simulated host: from the device's message to the handler, which runs in a thread
 * of its own. Time: [host] interrupt_latency.
 */
#include "model/interface/macros.h"
#include "model/sim/params/host.h"
#include "testbench/machine/host_impl.h"

#include <errno.h>
#include <stdlib.h>

enum { HANDLER_POLL_PS = 100000 };

struct host_irq {
	struct event arrival; /* pending between the message and the call of the handler */
	struct event again;   /* a spurious one, in a run that explores schedules */
	struct host *host;
	void (*handler)(void *arg);
	void *arg;
	bool pending;
};

static void irq_pend(struct host_irq *irq)
{
	struct host *host = irq->host;

	if (!irq->pending)
		host->irqs_pending++;
	irq->pending = true;
	if (host->irq_thread_idle)
		kernel_thread_wake(host->irq_thread);
}

static void irq_arrived(struct event *ev)
{
	irq_pend(container_of(ev, struct host_irq, arrival));
}

static void irq_came_again(struct event *ev)
{
	irq_pend(container_of(ev, struct host_irq, again));
}

static void irq_loop(void *arg)
{
	struct host *host = arg;

	for (;;) {
		for (unsigned v = 0; v < HOST_VECTORS && host->irqs_pending; v++) {
			struct host_irq *irq = &host->irqs[v];

			if (!irq->pending)
				continue;
			irq->pending = false;
			host->irqs_pending--;
			holds_gate(host->config.holds);
			if (!irq->handler)
				continue;
			if (trace_on(host->trace, TP_IRQ_ENTER))
				host_emit(host, TP_IRQ_ENTER, NULL, v);
			host->irq_running = irq;
			irq->handler(irq->arg);
			host->irq_running = NULL;
			if (trace_on(host->trace, TP_IRQ_EXIT))
				host_emit(host, TP_IRQ_EXIT, NULL, v);
		}
		if (host->irqs_pending)
			continue;
		host->irq_thread_idle = true;
		kernel_thread_wait(host->kernel);
		host->irq_thread_idle = false;
	}
}

void host_irq_message(void *ctx, uint64_t address, uint32_t data)
{
	struct host *host = ctx;
	uint64_t late, again;

	if (address != HOST_MSI_ADDRESS || data >= HOST_VECTORS)
		return;
	late = host_param_host_interrupt_latency(host->params) +
	       holds_interrupt(host->config.holds, host->config.index, data, &again);
	if (!event_is_set(&host->irqs[data].arrival))
		event_set(host->core, &host->irqs[data].arrival, host->core->now_ps + late);
	if (again && !event_is_set(&host->irqs[data].again))
		event_set(host->core, &host->irqs[data].again, host->core->now_ps + late + again);
}

void host_irq_intx(void *ctx, bool asserted)
{
	if (asserted)
		host_irq_message(ctx, HOST_MSI_ADDRESS, 0);
}

int host_irq_request(struct platform *p, unsigned vector, void (*handler)(void *arg), void *arg)
{
	struct host *host = host_of(p);

	if (vector >= p->msix_vectors)
		return -EINVAL;
	if (host->irqs[vector].handler)
		return -EBUSY;
	host->irqs[vector].handler = handler;
	host->irqs[vector].arg = arg;
	return 0;
}

void host_irq_free(struct platform *p, unsigned vector)
{
	struct host *host = host_of(p);

	if (vector >= HOST_VECTORS)
		return;
	host->irqs[vector].handler = NULL;
	/* As free_irq() of Linux: afterwards no handler runs that would use what the caller frees. */
	while (host->irq_running == &host->irqs[vector] &&
	       kernel_thread_self(host->kernel) != host->irq_thread)
		p->ops->sleep_ps(p, HANDLER_POLL_PS);
}

void host_irq_describe(struct platform *p, unsigned vector, uint64_t *address, uint32_t *data)
{
	*address = HOST_MSI_ADDRESS;
	*data = vector;
}

int host_irqs_create(struct host *host)
{
	host->irqs = calloc(HOST_VECTORS, sizeof(*host->irqs));
	if (!host->irqs)
		return -ENOMEM;
	for (unsigned v = 0; v < HOST_VECTORS; v++) {
		host->irqs[v].arrival.job = irq_arrived;
		host->irqs[v].again.job = irq_came_again;
		host->irqs[v].host = host;
	}
	return 0;
}

void host_irqs_start(struct host *host)
{
	host->irq_thread = kernel_thread_start(host->kernel, "irq", irq_loop, host);
	holds_bind(host->config.holds, host->irq_thread, host->config.index);
}

void host_irqs_destroy(struct host *host)
{
	free(host->irqs);
}
