/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers, MTT entries, doorbell records and pages that functions of the driver hand out and take back:
 * what each call changes in their books must be what it was called for. So a mistake is told in the
 * call that makes it, and not in the one that meets it later.
 */
#ifndef TESTBENCH_DSAN_HELD_COUNTED_H
#define TESTBENCH_DSAN_HELD_COUNTED_H

#include "host_driver/mlx4/mlx4_internal.h"

struct checker;

/* drv_bitmap_init has made it: of these at both ends none may be given out. */
void counted_numbers_made(const struct drv_bitmap *b, uint32_t low, uint32_t high, const void *pc);
/* Behind a call: `used` is what the book said before, `pc` who called. */
void counted_buddy_taken(const struct drv_buddy *b, uint32_t used, unsigned order, uint32_t first,
			 const void *pc);
void counted_buddy_back(const struct drv_buddy *b, uint32_t used, unsigned order, uint32_t first,
			const void *pc);
void counted_number_taken(const struct drv_bitmap *b, uint32_t used, uint32_t number,
			  const void *pc);
void counted_number_back(const struct drv_bitmap *b, uint32_t used, uint32_t number,
			 const void *pc);
void counted_record_taken(const struct drv_device *dev, unsigned used, const struct drv_db *db,
			  const void *pc);
/* bus: where it was. */
void counted_record_back(const struct drv_device *dev, unsigned used, const struct drv_db *db,
			 uint64_t bus, const void *pc);
/* The buffer of a queue, which must be cleared. */
void counted_buffer_taken(const struct drv_device *dev, const struct drv_buf *buf, size_t bytes,
			  const void *pc);
/* Where the driver finds an entry of a table that is mapped. */
void counted_entry_found(const struct drv_icm_table *t, uint32_t entry, const void *at,
			 const void *pc);

#endif
