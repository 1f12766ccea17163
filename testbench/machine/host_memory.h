/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of a simulated host: pages, and which of them the device may reach (the IOMMU map).
 */
#ifndef TESTBENCH_HOST_MEMORY_H
#define TESTBENCH_HOST_MEMORY_H

#include <stddef.h>
#include <stdint.h>

struct host_memory {
	unsigned char *base;
	uint64_t bus; /* of base */
	size_t pages;
	size_t next; /* where the next search begins */
	size_t pages_used, pages_mapped;
	uint8_t *used;      /* a byte a page */
	uint16_t *mappings; /* how often a page is mapped */
};

/*
 * Address space only: pages take room when they are touched; at address `at` of this process when
 * that is free, so that pointers are the same in every run. 0 or -ENOMEM.
 */
int host_memory_create(struct host_memory *m, uint64_t bytes, uint64_t bus, void *at);
void host_memory_destroy(struct host_memory *m);

/* Whole pages in one piece, filled with a pattern: memory is not zero when it is given out. NULL
 * when there is none. */
void *host_memory_alloc(struct host_memory *m, size_t bytes);
void host_memory_free(struct host_memory *m, void *addr, size_t bytes);

/* Every page that [addr, addr + bytes) touches; a page may be mapped several times. Returns the bus
 * address of addr, 0 when it is not the host's. */
uint64_t host_memory_map(struct host_memory *m, const void *addr, size_t bytes);
void host_memory_unmap(struct host_memory *m, uint64_t bus, size_t bytes);

/* What the device does: 0, or -EFAULT and nothing moved when any page is not mapped. */
int host_memory_read(const struct host_memory *m, uint64_t bus, void *buf, size_t len);
int host_memory_write(struct host_memory *m, uint64_t bus, const void *buf, size_t len);
/* The run of mapped pages around bus: *start, *end (last byte), *ptr of *start; or -EFAULT. */
int host_memory_range(const struct host_memory *m, uint64_t bus, uint64_t *start, uint64_t *end,
		      unsigned char **ptr);

uint64_t host_memory_bus(const struct host_memory *m, const void *addr);

#endif
