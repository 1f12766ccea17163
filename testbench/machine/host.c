/* SPDX-License-Identifier: Apache-2.0 */
/* See host.h. */
#include "model/sim/params/host.h"
#include "model/sim/params/host_pcie.h"
#include "testbench/dsan/hear/callout.h"
#include "testbench/dsan/checker.h"
#include "testbench/machine/host_impl.h"
#include "testbench/machine/refusals.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- traces --- */

static bool op_trace_on(struct platform *p)
{
	return trace_on(host_of(p)->trace, TP_DRV_ENTER);
}

/* Emits a record whose point and fields are set; adds the host, the time and the running thread. */
static void emit(struct host *host, struct trace_record *r)
{
	const struct kernel_thread *thread = kernel_thread_self(host->kernel);
	const char *name = thread ? kernel_thread_name(thread) : "";

	r->time_ps = host->core->now_ps;
	r->hca = (uint8_t)host->config.index;
	r->corr = thread ? kernel_thread_number(thread) : 0;
	r->bytes = name;
	r->len = (uint32_t)strlen(name);
	trace_advance(host->trace, host->core->now_ps);
	trace_emit(host->trace, r);
}

void host_emit(struct host *host, enum trace_point point, const char *text, uint64_t arg)
{
	emit(host, &(struct trace_record){.point = point, .args = {arg}, .text = text});
}

static void op_trace_call(struct platform *p, const struct platform_call *call)
{
	static const enum trace_point points[] = {
		[PLATFORM_CALL_ENTER] = TP_DRV_ENTER,
		[PLATFORM_CALL_POST] = TP_DRV_POST,
		[PLATFORM_CALL_POLL] = TP_DRV_POLL,
		[PLATFORM_CALL_EXIT] = TP_DRV_EXIT,
	};
	struct trace_record r = {.point = points[call->kind], .qpn = call->qpn};
	const char *args = call->args ? call->args : "";
	char text[256];

	if (!op_trace_on(p))
		return;
	snprintf(text, sizeof(text), "%s%s%s", call->name, *args ? " " : "", args);
	r.text = text;
	if (call->kind == PLATFORM_CALL_POLL)
		r.args[TRACE_ARG(DRV_POLL, cqn)] = call->cqn;
	emit(host_of(p), &r);
}

/* --- the device --- */

static uint32_t op_config_read(struct platform *p, unsigned offset, unsigned size)
{
	struct host *host = host_of(p);

	host_sleep(p, 2 * host_param_pcie_latency(host->params));
	return kernel_config_read(host->hca, offset, size);
}

static void op_config_write(struct platform *p, unsigned offset, unsigned size, uint32_t value)
{
	struct host *host = host_of(p);

	host_sleep(p, 2 * host_param_pcie_latency(host->params));
	acts_config(host->acts, host->core->now_ps, kernel_thread_self(host->kernel));
	kernel_config_write(host->hca, offset, size, value);
}

static void op_mmio_read(struct platform *p, unsigned bar, uint64_t offset, void *bytes,
			 unsigned size)
{
	struct host *host = host_of(p);

	holds_register(host->config.holds, host->config.index, bar, offset, false);
	host_settle(host);
	host_emit_wait(host, TP_THREAD_WAIT, "register read");
	if (kernel_mmio_read(host->hca, bar, offset, bytes, size))
		memset(bytes, 0xff, size);
	holds_gate(host->config.holds);
	holds_after(host->config.holds, host->config.index, bar, offset, false);
	host_emit_wait(host, TP_THREAD_GO, "register read");
}

/* The write is on its way. */
static void written(struct host *host, unsigned bar, uint64_t offset)
{
	const uint64_t hold_ps = host_param_host_write_hold(host->params);

	holds_after(host->config.holds, host->config.index, bar, offset, true);
	if (hold_ps && kernel_thread_running() != host->irq_thread)
		host_sleep(&host->platform, hold_ps);
}

static void op_mmio_write(struct platform *p, unsigned bar, uint64_t offset, const void *bytes,
			  unsigned size)
{
	struct host *host = host_of(p);

	holds_register(host->config.holds, host->config.index, bar, offset, true);
	acts_mmio(host->acts, bar, offset, bytes, size, host->core->now_ps,
		  kernel_thread_self(host->kernel));
	host_cpu(p, host_param_host_mmio_write(host->params));
	host_settle(host);
	holds_doorbell(host->config.holds, host->config.index, bar, offset);
	kernel_mmio_write(host->hca, bar, offset, bytes, size);
	written(host, bar, offset);
}

static void op_mmio_copy64(struct platform *p, unsigned bar, uint64_t offset, const void *line)
{
	struct host *host = host_of(p);

	holds_register(host->config.holds, host->config.index, bar, offset, true);
	acts_mmio(host->acts, bar, offset, line, HOST_CACHE_LINE, host->core->now_ps,
		  kernel_thread_self(host->kernel));
	host_cpu(p, host_param_host_wc_write(host->params));
	host_settle(host);
	holds_doorbell(host->config.holds, host->config.index, bar, offset);
	kernel_mmio_write(host->hca, bar, offset, line, HOST_CACHE_LINE);
	written(host, bar, offset);
}

/* --- memory --- */

static void *op_pages_alloc(struct platform *p, size_t bytes, uint64_t *bus)
{
	struct host *host = host_of(p);
	void *addr;

	if (host_no_memory() || bytes > host_param_host_largest_piece(host->params))
		return NULL;
	addr = host_memory_alloc(&host->memory, bytes);
	if (!addr)
		return NULL;
	*bus = host_memory_map(&host->memory, addr, bytes);
	return addr;
}

static void op_dma_unmap(struct platform *p, uint64_t bus, size_t bytes)
{
	struct host *host = host_of(p);

	host_memory_unmap(&host->memory, bus, bytes);
	acts_unmap(host->acts, bus, bytes, host->core->now_ps, kernel_thread_self(host->kernel));
	kernel_hca_unmapped(host->hca, bus & ~(uint64_t)(PLATFORM_PAGE_SIZE - 1),
			    (bus + bytes - 1) | (PLATFORM_PAGE_SIZE - 1));
}

static void op_pages_free(struct platform *p, void *addr, size_t bytes)
{
	struct host *host = host_of(p);

	op_dma_unmap(p, host_memory_bus(&host->memory, addr), bytes);
	host_memory_free(&host->memory, addr, bytes);
}

static void *op_user_alloc(struct platform *p, size_t bytes)
{
	return host_memory_alloc(&host_of(p)->memory, bytes);
}

static void op_user_free(struct platform *p, void *addr, size_t bytes)
{
	host_memory_free(&host_of(p)->memory, addr, bytes);
}

static uint64_t op_dma_map(struct platform *p, void *addr, size_t bytes)
{
	return host_memory_map(&host_of(p)->memory, addr, bytes);
}

static void *op_bus_memory(struct platform *p, uint64_t bus, size_t bytes)
{
	struct host *host = host_of(p);
	uint64_t start, end;
	unsigned char *ptr;

	if (!bytes || host_memory_range(&host->memory, bus, &start, &end, &ptr) ||
	    bytes - 1 > end - bus)
		return NULL;
	return ptr + (bus - start);
}

static void op_refused(struct platform *p, const char *verb)
{
	struct host *host = host_of(p);

	if (host->lacked[0])
		return;
	snprintf(host->lacked, sizeof(host->lacked), "%s", verb);
	if (host->lacks)
		host->lacks(host->lacks_arg, host->config.index, host->lacked);
}

static const struct platform_ops ops = {
	.config_read = op_config_read,
	.config_write = op_config_write,
	.mmio_read = op_mmio_read,
	.mmio_write = op_mmio_write,
	.mmio_copy64 = op_mmio_copy64,
	.pages_alloc = op_pages_alloc,
	.pages_free = op_pages_free,
	.user_alloc = op_user_alloc,
	.user_free = op_user_free,
	.dma_map = op_dma_map,
	.dma_unmap = op_dma_unmap,
	.bus_memory = op_bus_memory,
	.irq_request = host_irq_request,
	.irq_free = host_irq_free,
	.msi_message = host_irq_describe,
	.now_ps = host_now,
	.sleep_ps = host_sleep,
	.cpu_ps = host_cpu,
	.wait_write = host_wait_write,
	.thread_start = host_thread_start,
	.waitq_create = host_waitq_create,
	.waitq_destroy = host_waitq_destroy,
	.waitq_wait = host_waitq_wait,
	.waitq_wake_all = host_waitq_wake_all,
	.trace_call = op_trace_call,
	.trace_on = op_trace_on,
	.refused = op_refused,
};

/* --- callbacks of struct kernel_memory --- */

static int bus_read(void *ctx, uint64_t bus, void *buf, size_t len)
{
	struct host *host = ctx;
	const int rc = host_memory_read(&host->memory, bus, buf, len);

	holds_device(host->config.holds, host->config.index, bus - HOST_MEMORY_BUS, len, false);
	if (rc)
		host->fault_bus = bus;
	else if (host->checker)
		checker_device_reads(host->checker, bus, buf, len, host->core->now_ps);
	return rc;
}

static int bus_write(void *ctx, uint64_t bus, const void *buf, size_t len)
{
	struct host *host = ctx;
	const int rc = host_memory_write(&host->memory, bus, buf, len);

	holds_device(host->config.holds, host->config.index, bus - HOST_MEMORY_BUS, len, true);
	if (rc)
		host->fault_bus = bus;
	return rc;
}

static int bus_range(void *ctx, uint64_t bus, uint64_t *start, uint64_t *end, unsigned char **ptr)
{
	return host_memory_range(&((struct host *)ctx)->memory, bus, start, end, ptr);
}

static void bus_guest_error(void *ctx, const struct guest_error *error)
{
	struct host *host = ctx;

	if (host->config.guest_error)
		host->config.guest_error(host->config.arg, host->config.index, error);
}

static void bus_catastrophe(void *ctx, const char *text)
{
	struct host *host = ctx;

	if (host->config.catastrophe)
		host->config.catastrophe(host->config.arg, host->config.index, text);
}

/* An address for each host's memory, 1 TiB apart, and far from everything else in a 47-bit address
 * space, including the shadow memory of sanitizers. A page has other places in the huge pages of the
 * processor than in those of the bus, as behind an IOMMU. */
static void *memory_address(unsigned index)
{
	return (void *)(uintptr_t)(0x200000035000ull + ((uint64_t)index << 40));
}

static enum cfg_memory_order memory_order(const struct host *host)
{
	return (enum cfg_memory_order)host_param_host_memory_order(host->params);
}

/* The checker knows the interface of mlx4. Of others it hears only what any software must not do. */
static bool has_checked_driver(struct host *host)
{
	return !strcmp(hca_personality(host_hca(host)), "mlx4");
}

static int check_driver(struct host *host)
{
	const struct checker_host ch = {.kernel = host->kernel,
					.platform = &host->platform,
					.hca = host_hca(host),
					.memory = host->memory.base,
					.bus = host->memory.bus,
					.bytes = host->memory.pages * PLATFORM_PAGE_SIZE,
					.order = memory_order(host),
					.high_numbers = host_param_host_high_numbers(host->params),
					.seed = host->config.seed + host->config.index};

	host->checker =
		has_checked_driver(host) ? checker_create(&ch) : checker_create_software(&ch);
	return host->checker ? 0 : -ENOMEM;
}

struct host *host_create(struct kernel *kernel, struct event_core *core,
			 const struct host_config *config, char *err, size_t err_size)
{
	struct host *host = calloc(1, sizeof(*host));
	const struct kernel_memory memory = {
		.ctx = host,
		.read = bus_read,
		.write = bus_write,
		.range = bus_range,
		.written = host_memory_written,
		.msi = host_irq_message,
		.intx = host_irq_intx,
		.guest_error = bus_guest_error,
		.catastrophe = bus_catastrophe,
	};

	if (!host) {
		snprintf(err, err_size, "no memory for host %u", config->index);
		return NULL;
	}
	host->platform =
		(struct platform){.ops = &ops, .host = config->index, .msix_vectors = HOST_VECTORS};
	host->kernel = kernel;
	host->core = core;
	host->trace = config->trace;
	host->params = config->params;
	host->config = *config;
	host->acts = acts_create();
	if (!host->acts || host_irqs_create(host) ||
	    host_memory_create(&host->memory, host_param_host_memory(config->params),
			       HOST_MEMORY_BUS, memory_address(config->index))) {
		snprintf(err, err_size, "no address space for the memory of host %u",
			 config->index);
		host_destroy(host);
		return NULL;
	}
	if (memory_order(host) != CFG_ORDER_PROGRAM && !callouts_built()) {
		snprintf(err, err_size, "host.memory_order needs the program hcasim-checked");
		host_destroy(host);
		return NULL;
	}
	if (config->holds)
		holds_watch(config->holds, config->index, host->memory.base,
			    host_param_host_memory(config->params));
	host->hca = kernel_hca_create(kernel, config->index, config->hca_params, config->params,
				      config->trace, config->fw_path, &memory,
				      config->dmi && memory_order(host) == CFG_ORDER_PROGRAM, err,
				      err_size);
	if (!host->hca) {
		host_destroy(host);
		return NULL;
	}
	holds_ask(host->config.holds, config->index, host_hca(host));
	host->platform.pci_id = hca_pci_id(host_hca(host));
	if (callouts_built() && check_driver(host)) {
		snprintf(err, err_size, "no memory for the checker of host %u", config->index);
		host_destroy(host);
		return NULL;
	}
	host_irqs_start(host);
	return host;
}

void host_destroy(struct host *host)
{
	if (!host)
		return;
	checker_destroy(host->checker);
	host_memory_destroy(&host->memory);
	host_irqs_destroy(host);
	acts_destroy(host->acts);
	free(host);
}

struct platform *host_platform(struct host *host)
{
	return &host->platform;
}

const struct acts *host_acts(const struct host *host)
{
	return host->acts;
}

uint64_t host_fault_bus(const struct host *host)
{
	return host->fault_bus;
}

void host_listen_lacks(struct host *host, void (*lacks)(void *arg, unsigned host, const char *what),
		       void *arg)
{
	host->lacks = lacks;
	host->lacks_arg = arg;
}

const char *host_lacked(const struct host *host)
{
	return host->lacked[0] ? host->lacked : NULL;
}

void host_jitter(struct host *host, uint64_t seed)
{
	char stream[32];

	snprintf(stream, sizeof(stream), "host%u.schedule", host->config.index);
	rng_init(&host->jitter, seed, stream);
	host->jitter_ps = host_param_host_schedule_jitter(host->params);
	hca_jitter(host_hca(host), seed);
}

struct hca *host_hca(struct host *host)
{
	return kernel_hca_device(host->hca);
}

size_t host_pages_used(const struct host *host)
{
	return host->memory.pages_used;
}

size_t host_pages_mapped(const struct host *host)
{
	return host->memory.pages_mapped;
}

uint64_t host_bus(struct host *host, const void *addr)
{
	return host_memory_bus(&host->memory, addr);
}
