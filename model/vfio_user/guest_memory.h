/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guest's memory, made from its DMA_MAP messages: a sorted table of ranges of bus addresses. Each
 * range is part of a file (guest_file.h). from: connection (map, unmap); to: the HCA's DMA (struct
 * hca_env).
 *
 * A pointer into guest memory is used for one read or write only, so none survives an unmap. A
 * range is accepted only if its file contains all of it. A range that is refused because of a limit
 * of this server stays in the table, marked as refused, so that DMA to it does not count as an
 * error of the driver.
 */
#ifndef MODEL_VFIO_USER_GUEST_MEMORY_H
#define MODEL_VFIO_USER_GUEST_MEMORY_H

#include "model/vfio_user/guest_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct guest_range {
	uint64_t start, size;    /* bus addresses */
	struct guest_file *file; /* NULL: it cannot be reached */
	uint64_t offset;
	bool readable, writable;
	enum guest_limit limit; /* why it was refused; NONE: it came without a file descriptor */
};

/* Zero-initialise. Ranges are sorted and never overlap. */
struct guest_memory {
	struct guest_range *ranges;
	size_t count, refused, room; /* count: also those refused */
	size_t latest;               /* where the last access was */
	enum guest_limit lost;       /* too many were refused to keep them all */
	struct guest_files files;
};

/* A DMA_MAP request. fd -1: none. The descriptor stays the caller's. */
struct guest_map {
	uint64_t start, size, offset;
	int fd;
	bool readable, writable;
};

/*
 * Adds a range. 0, or -EINVAL: empty, not of whole pages, beyond the address space or the end of
 * the file; -EEXIST: overlaps; what guest_file_get() gives; with *limit, where it is not NONE:
 * -ENOSPC and the like.
 */
int guest_memory_map(struct guest_memory *m, const struct guest_map *map, enum guest_limit *limit);
/*
 * Unmaps every range in [start, start + size). There may be none: a client with an IOMMU clears
 * whatever it may have mapped. -EINVAL, and nothing is unmapped, if a range would be cut, or if the
 * area is empty or beyond the address space.
 */
int guest_memory_unmap(struct guest_memory *m, uint64_t start, uint64_t size);
void guest_memory_unmap_all(struct guest_memory *m);

/*
 * Transfers all of [bus, bus + len), or nothing and returns -EFAULT (unless a file shrinks during
 * the transfer).
 *
 * A read sees memory in ascending order, so that it may meet a guest that is writing there: a work
 * request whose owner bit, in its first word, is seen to be set is seen as a whole. A write of up
 * to GUEST_ORDERED bytes, and the end of a longer one after all before it, arrives in ascending
 * order: a guest that polls the last byte, or the owner bit of an entry, sees what came before.
 */
enum { GUEST_ORDERED = 1024 };
int guest_memory_read(struct guest_memory *m, uint64_t bus, void *buf, size_t len);
int guest_memory_write(struct guest_memory *m, uint64_t bus, const void *buf, size_t len);

/* The number of ranges, without those refused because of a limit. */
size_t guest_memory_count(const struct guest_memory *m);

/* Why this address cannot be read or written. */
enum guest_lack {
	GUEST_LACK_UNMAPPED, /* not mapped, not for this access, or its file has shrunk */
	GUEST_LACK_FILE,     /* came without a file descriptor */
	GUEST_LACK_LIMIT,    /* refused because of *limit */
};
enum guest_lack guest_memory_lack(struct guest_memory *m, uint64_t bus, enum guest_limit *limit);

#endif
