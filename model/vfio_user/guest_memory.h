/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of a guest as its DMA_MAP messages give it: ranges of bus addresses, each mapped from
 * a file descriptor. from: connection (map, unmap); to: the HCA's DMA (struct hca_env).
 *
 * A pointer into guest memory lives for one read or write only, so nothing outlasts an unmap. The
 * client may be hostile: a range is mapped only when its file has all of it, and a file that can
 * still shrink is read and written through the kernel, which gives an error where a mapping would
 * give a SIGBUS.
 */
#ifndef MODEL_VFIO_USER_GUEST_MEMORY_H
#define MODEL_VFIO_USER_GUEST_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct guest_range {
	uint64_t start, size; /* bus addresses */
	uint8_t *base;        /* NULL: came without a file descriptor, cannot be reached */
	bool readable, writable;
	bool may_shrink;
};

/* Zero-initialise. Ranges are sorted and never overlap. */
struct guest_memory {
	struct guest_range *ranges;
	size_t count, room;
	size_t latest; /* where the last access was */
};

/*
 * Adds [start, start + size). fd -1: none. The descriptor stays the caller's. 0, or -EINVAL: empty,
 * not of whole pages, beyond the address space or the end of the file; -EEXIST: overlaps; -ENOSPC:
 * too many; or what mmap() gives.
 */
int guest_memory_map(struct guest_memory *m, uint64_t start, uint64_t size, int fd, uint64_t offset,
		     bool readable, bool writable);
/*
 * Every range in [start, start + size): none, when a client with an IOMMU clears what it may have
 * mapped. -EINVAL, and nothing is unmapped, when it would cut a range, or is empty or beyond the
 * address space.
 */
int guest_memory_unmap(struct guest_memory *m, uint64_t start, uint64_t size);
void guest_memory_unmap_all(struct guest_memory *m);

/*
 * All of [bus, bus + len) or, with -EFAULT, nothing (a file that shrinks meanwhile aside). Up to
 * GUEST_ORDERED bytes are moved in ascending order by words of 8, and the end of a longer write
 * after all before it: a guest that polls the last byte, or the owner bit of an entry, sees what
 * came before.
 */
enum { GUEST_ORDERED = 1024 };
int guest_memory_read(struct guest_memory *m, uint64_t bus, void *buf, size_t len);
int guest_memory_write(struct guest_memory *m, uint64_t bus, const void *buf, size_t len);

/* The range that has this address, or NULL. */
const struct guest_range *guest_memory_find(struct guest_memory *m, uint64_t bus);

#endif
