/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checker of a guest's driver. Nothing in the guest is instrumented: what it hears is what the
 * device does with memory (struct hca_monitor), and which memory the guest's kernel maps for the
 * device and takes back. Behind an IOMMU each page that a driver gives up is taken back at once, so
 * a release is judged when it happens (claims.h), and reported as a guest error.
 *
 * In simulated time a plugin in QEMU tells of loads, stores and barriers, too. Then the parts that
 * judge these (own/) work as for a driver of this project. Nobody knows there what the driver was
 * asked for, so what compares that (asked/) is silent by itself.
 */
#ifndef TESTBENCH_DSAN_GUEST_H
#define TESTBENCH_DSAN_GUEST_H

#include "model/engine/hca.h"
#include "model/vfio_user/guest_memory.h"
#include "model/vfio_user/guest_page.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct checker;

/* read: as in struct checker_host. NULL: no memory. */
struct checker *guest_checker_create(struct hca *hca,
				     bool (*read)(void *ctx, uint64_t bus, void *buf, size_t len),
				     void *read_ctx);
/* Before the device is destroyed. */
void guest_checker_destroy(struct checker *c);

/*
 * Memory is about to be unmapped. A client unmaps whole areas, whatever is mapped there, when the device
 * leaves an address space. A driver releases less than GUEST_RELEASE_MAX at a time, and only that is
 * judged.
 */
void guest_checker_unmapped(struct checker *c, uint64_t bus, uint64_t bytes);
enum { GUEST_RELEASE_MAX = 1 << 30 };

/*
 * A driver has come and may have memory mapped for the device (on); or it lets the device go. `n` ranges are mapped
 * then. Behind an IOMMU there are none at first, so those that are left are the driver's. Without one it is the
 * whole memory, and nothing is judged. Source: Linux mlx4_remove_one: mlx4_unload_one, then mlx4_pci_disable_device.
 */
void guest_checker_mastering(struct checker *c, bool on, const struct guest_range *ranges,
			     size_t n);

/* --- a guest whose loads and stores are heard --- */

/* Before the first command. page() says of which pages they are wanted: from now on, or no longer.
 * false: no memory. */
bool guest_checker_watch(struct checker *c, void (*page)(void *ctx, uint64_t page, bool watched),
			 void *ctx);
/* Memory of the guest is mapped, at bus addresses that are those of memory. */
void guest_checker_mapped(struct checker *c, uint64_t bus, uint64_t bytes, int fd, uint64_t offset);
/* A load, or a store that is made. */
void guest_checker_access(struct checker *c, uint64_t address, uint32_t bytes, bool store,
			  const struct guest_code *code, enum guest_machine machine);
/* A register is about to be written. */
void guest_checker_register(struct checker *c, unsigned bar, uint64_t offset, const void *bytes,
			    uint32_t count, const struct guest_code *code,
			    enum guest_machine machine);

#endif
