/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that hold a guest's memory. Each is mapped once and whole, even if it holds many ranges
 * of bus addresses: a client with an IOMMU sends a descriptor of the same file with every page.
 * from: guest_memory.
 *
 * The client may be hostile. It can truncate a file that is not sealed at any time. A
 * mapping of it then gives SIGBUS, so each copy from or to such a file is ready for that.
 * Linux gives a process 65,530 mappings and 128 TiB of addresses. Each client gets a share of both,
 * so that it cannot take those of its neighbours.
 */
#ifndef MODEL_VFIO_USER_GUEST_FILE_H
#define MODEL_VFIO_USER_GUEST_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * L(NAME, number, "what is limited"): what a client can have at a time. DMA to a range that was
 * refused because of a limit fails, and that is not the driver's fault.
 */
#define GUEST_LIMITS(L)                                                                            \
	L(MAPS, 65535, "ranges of bus addresses (max_dma_maps)")                                   \
	L(FILES, 4096, "memory files of a client")                                                 \
	L(FILE_GIB, 16384, "GiB of memory files of a client")                                      \
	L(HOST, 0, "what the host lets this process have (memory, addresses, mappings)")

enum guest_limit {
	GUEST_LIMIT_NONE,
#define L(name, number, meaning) GUEST_LIMIT_##name,
	GUEST_LIMITS(L)
#undef L
};

enum {
#define L(name, number, meaning) GUEST_MAX_##name = number,
	GUEST_LIMITS(L)
#undef L
};

/* Writes such as "limit 4096 memory files of a client" to text[]. */
void guest_limit_text(enum guest_limit limit, char *text, unsigned size);

struct guest_file {
	struct guest_file *next;
	dev_t device;
	ino_t inode;
	uint8_t *base;
	uint64_t size; /* mapped */
	uint64_t used; /* no range ends beyond it */
	uint32_t ranges;
	bool writable;
	bool careful; /* its pages may disappear or fail to load: do not follow pointers into it */
};

struct releaser;

/* Zero-initialise. */
struct guest_files {
	struct releaser *releaser; /* or NULL */
	struct guest_file *first;
	unsigned count;
	uint64_t bytes; /* mapped */
};

/*
 * The file of the descriptor, mapped at least to `end`, with one more range in it. The descriptor
 * stays the caller's. 0 and *file, or -errno; *limit then says what was not enough, NONE when the
 * request itself is wrong: -EBADF, -EACCES the descriptor does not allow it, -EINVAL no regular
 * file or shorter than `end`, -EOPNOTSUPP a file whose pages come from another process or machine.
 */
int guest_file_get(struct guest_files *files, int fd, uint64_t end, bool writable,
		   struct guest_file **file, enum guest_limit *limit);
/* Drops one range; the last one removes the mapping. */
void guest_file_put(struct guest_files *files, struct guest_file *file);

#endif
