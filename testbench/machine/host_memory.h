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
	uint64_t bus; /* bus address of base */
	size_t pages;
	size_t next; /* where the next search begins */
	size_t pages_used, pages_mapped;
	uint8_t *used;      /* one byte per page */
	uint16_t *mappings; /* per page, how often it is mapped */
};

/*
 * Reserves address space only; a page takes memory when it is first touched. The address is `at` if
 * that is free, so that pointers are the same in every run. 0 or -ENOMEM.
 */
int host_memory_create(struct host_memory *m, uint64_t bytes, uint64_t bus, void *at);
void host_memory_destroy(struct host_memory *m);

/*
 * Allocates consecutive whole pages. They are filled with a pattern, not with zeros. NULL: no memory.
 * While there is room, two allocations do not adjoin. So a driver cannot take several of them for one,
 * and who goes beyond the end of one, by DMA, too, reaches nothing.
 */
void *host_memory_alloc(struct host_memory *m, size_t bytes);
void host_memory_free(struct host_memory *m, void *addr, size_t bytes);

/* Maps every page that [addr, addr + bytes) touches; a page may be mapped several times. Returns the
 * bus address of addr; 0 if it is not in this memory. */
uint64_t host_memory_map(struct host_memory *m, const void *addr, size_t bytes);
void host_memory_unmap(struct host_memory *m, uint64_t bus, size_t bytes);

/* DMA by the device. 0; or -EFAULT, without copying anything, if any of the pages is not mapped. */
int host_memory_read(const struct host_memory *m, uint64_t bus, void *buf, size_t len);
int host_memory_write(struct host_memory *m, uint64_t bus, const void *buf, size_t len);
/* Finds the consecutive mapped pages around bus: *start and *end are bus addresses of the first and
 * last byte, *ptr points to the first. 0 or -EFAULT. */
int host_memory_range(const struct host_memory *m, uint64_t bus, uint64_t *start, uint64_t *end,
		      unsigned char **ptr);

uint64_t host_memory_bus(const struct host_memory *m, const void *addr);

#endif
