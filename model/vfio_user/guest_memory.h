/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of a guest as its DMA_MAP messages give it: a sorted table of ranges of bus addresses,
 * each a part of a file (guest_file.h). from: connection (map, unmap); to: the HCA's DMA (struct
 * hca_env).
 *
 * A pointer into guest memory lives for one read or write only, so nothing outlasts an unmap. A
 * range is taken only when its file has all of it. One that is refused for a limit of this side
 * stays in the table as such, so that DMA to it is not laid to the driver's charge.
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
	enum guest_limit limit; /* refused for it; else without a file descriptor */
};

/* Zero-initialise. Ranges are sorted and never overlap. */
struct guest_memory {
	struct guest_range *ranges;
	size_t count, refused, room; /* count: also those refused */
	size_t latest;               /* where the last access was */
	enum guest_limit lost;       /* so many were refused that not all of them are here */
	struct guest_files files;
};

/* What a DMA_MAP says. fd -1: none; the descriptor stays the caller's. */
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
 * Every range in [start, start + size): none, when a client with an IOMMU clears what it may have
 * mapped. -EINVAL, and nothing is unmapped, when it would cut a range, or is empty or beyond the
 * address space.
 */
int guest_memory_unmap(struct guest_memory *m, uint64_t start, uint64_t size);
void guest_memory_unmap_all(struct guest_memory *m);

/*
 * All of [bus, bus + len) or, with -EFAULT, nothing (a file that shrinks meanwhile aside).
 *
 * A read sees memory in ascending order, so that it may meet a guest that is writing there: a work
 * request whose owner bit, in its first word, is seen to be set is seen as a whole. A write of up to
 * GUEST_ORDERED bytes, and the end of a longer one after all before it, arrives in ascending order: a
 * guest that polls the last byte, or the owner bit of an entry, sees what came before.
 */
enum { GUEST_ORDERED = 1024 };
int guest_memory_read(struct guest_memory *m, uint64_t bus, void *buf, size_t len);
int guest_memory_write(struct guest_memory *m, uint64_t bus, const void *buf, size_t len);

/* Ranges that can be reached, or came without a descriptor. */
size_t guest_memory_count(const struct guest_memory *m);

/* Why there is nothing to be read or written at this address. */
enum guest_lack {
	GUEST_LACK_UNMAPPED, /* never mapped, not for that access, or its file has become shorter */
	GUEST_LACK_FILE,     /* came without a file descriptor */
	GUEST_LACK_LIMIT,    /* refused for *limit */
};
enum guest_lack guest_memory_lack(struct guest_memory *m, uint64_t bus, enum guest_limit *limit);

#endif
