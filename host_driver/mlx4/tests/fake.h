/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host without a device, for unit tests of the driver. Memory comes from the C library and has
 * made-up bus addresses. Time passes only in sleeps. Register accesses go to a hook.
 */
#ifndef HOST_DRIVER_MLX4_TESTS_FAKE_H
#define HOST_DRIVER_MLX4_TESTS_FAKE_H

#include "host_driver/mlx4/mlx4_internal.h"

#include <stdlib.h>
#include <string.h>

struct fake {
	struct platform p; /* must be the first member */
	struct platform_ops ops;
	uint64_t now_ps;
	uint64_t next_bus;
	unsigned pages;
	struct { /* the registers that were written last */
		unsigned bar;
		uint64_t offset;
		uint8_t bytes[64];
		unsigned size;
	} writes[64];
	unsigned n_writes;
	/* HCR: the words as written, and the number of reads until GO clears */
	uint8_t hcr[HCR_DWORDS * 4];
	unsigned busy_reads;
	uint8_t status;
	uint64_t out_param;
	unsigned commands;
};

static inline struct fake *fake_of(struct platform *p)
{
	return (struct fake *)p;
}

static inline void *fake_pages_alloc(struct platform *p, size_t bytes, uint64_t *bus)
{
	struct fake *f = fake_of(p);
	void *addr = aligned_alloc(PLATFORM_PAGE_SIZE, bytes);

	memset(addr, 0xa5, bytes);
	*bus = f->next_bus;
	f->next_bus += bytes;
	f->pages += (unsigned)(bytes / PLATFORM_PAGE_SIZE);
	return addr;
}

static inline void fake_pages_free(struct platform *p, void *addr, size_t bytes)
{
	fake_of(p)->pages -= (unsigned)(bytes / PLATFORM_PAGE_SIZE);
	free(addr);
}

static inline void fake_mmio_write(struct platform *p, unsigned bar, uint64_t offset,
				   const void *bytes, unsigned size)
{
	struct fake *f = fake_of(p);

	if (f->n_writes < 64) {
		f->writes[f->n_writes].bar = bar;
		f->writes[f->n_writes].offset = offset;
		f->writes[f->n_writes].size = size;
		memcpy(f->writes[f->n_writes].bytes, bytes, size);
		f->n_writes++;
	}
	if (bar == HCA_BAR_REGS && offset >= BAR0_HCR &&
	    offset + size <= BAR0_HCR + sizeof(f->hcr)) {
		memcpy(f->hcr + (offset - BAR0_HCR), bytes, size);
		f->commands += offset == BAR0_HCR + 4 * (HCR_DWORDS - 1);
	}
}

/* A device that executes a command after busy_reads reads: GO clears, the toggle bit stays, status
 * and output appear. */
static inline void fake_mmio_read(struct platform *p, unsigned bar, uint64_t offset, void *bytes,
				  unsigned size)
{
	struct fake *f = fake_of(p);
	struct hcr *h = (struct hcr *)(void *)f->hcr;

	memset(bytes, 0, size);
	if (bar != HCA_BAR_REGS || offset < BAR0_HCR || offset + size > BAR0_HCR + sizeof(f->hcr))
		return;
	if (hcr_get_go(h) && f->busy_reads)
		f->busy_reads--;
	else if (hcr_get_go(h)) {
		hcr_set_go(h, 0);
		hcr_set_status(h, f->status);
		hcr_set_out_param(h, f->out_param);
	}
	memcpy(bytes, f->hcr + (offset - BAR0_HCR), size);
}

static inline void fake_mmio_copy64(struct platform *p, unsigned bar, uint64_t offset,
				    const void *line)
{
	fake_mmio_write(p, bar, offset, line, 64);
}

static inline uint32_t fake_config_read(struct platform *p, unsigned offset, unsigned size)
{
	return 0;
}

static inline void fake_config_write(struct platform *p, unsigned offset, unsigned size,
				     uint32_t value)
{
}

static inline uint64_t fake_now(struct platform *p)
{
	return fake_of(p)->now_ps;
}

static inline void fake_sleep(struct platform *p, uint64_t ps)
{
	fake_of(p)->now_ps += ps;
}

static inline bool fake_trace_on(struct platform *p)
{
	return false;
}

static inline struct platform_waitq *fake_waitq_create(struct platform *p)
{
	return malloc(1);
}

static inline void fake_waitq_destroy(struct platform *p, struct platform_waitq *q)
{
	free(q);
}

static inline void fake_waitq_wake(struct platform *p, struct platform_waitq *q)
{
}

static inline bool fake_waitq_wait(struct platform *p, struct platform_waitq *q,
				   uint64_t deadline_ps)
{
	fake_of(p)->now_ps = deadline_ps;
	return false;
}

static inline void fake_init(struct fake *f, struct drv_device *dev)
{
	memset(f, 0, sizeof(*f));
	memset(dev, 0, sizeof(*dev));
	f->next_bus = UINT64_C(0x123000000);
	f->ops = (struct platform_ops){.pages_alloc = fake_pages_alloc,
				       .pages_free = fake_pages_free,
				       .mmio_write = fake_mmio_write,
				       .mmio_read = fake_mmio_read,
				       .mmio_copy64 = fake_mmio_copy64,
				       .config_read = fake_config_read,
				       .config_write = fake_config_write,
				       .now_ps = fake_now,
				       .sleep_ps = fake_sleep,
				       .cpu_ps = fake_sleep,
				       .trace_on = fake_trace_on,
				       .waitq_create = fake_waitq_create,
				       .waitq_destroy = fake_waitq_destroy,
				       .waitq_wait = fake_waitq_wait,
				       .waitq_wake_all = fake_waitq_wake};
	f->p.ops = &f->ops;
	dev->p = &f->p;
}

/* A buffer of pages without MTT entries. */
static inline void fake_buf(struct fake *f, struct drv_buf *buf, unsigned pages)
{
	*buf = (struct drv_buf){.n = pages};
	buf->pages = calloc(pages, sizeof(*buf->pages));
	buf->bus = calloc(pages, sizeof(*buf->bus));
	for (unsigned i = 0; i < pages; i++)
		buf->pages[i] = fake_pages_alloc(&f->p, PLATFORM_PAGE_SIZE, &buf->bus[i]);
}

#endif
