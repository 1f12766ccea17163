/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Number allocators: bitmaps for objects, a buddy allocator for ranges of MTT entries. Also the
 * lists that objects are in. They use host memory only, no device, and take no time.
 */
#ifndef HOST_DRIVER_MLX4_ALLOC_H
#define HOST_DRIVER_MLX4_ALLOC_H

#include "model/interface/macros.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed memory for the driver and the layers above it; free() frees it. NULL: there is no memory.
 * Every caller must handle that, and tests make each call fail in turn. */
void *drv_calloc(size_t n, size_t size);
/* For tests: asked before each allocation; true: it finds no memory. NULL: it is as the host has it.
 * A platform asks it before it gives pages and wait queues, too. As Linux' should_failslab(). */
extern bool (*drv_calloc_fails)(void);

/*
 * Numbers below `size` (a power of two). What alloc returns has further high bits inside `mask`
 * that change each time the search wraps, so that a number is not used again soon; `number & (size
 * - 1)` is the index into the table.
 */
struct drv_bitmap {
	uint64_t *words;
	uint32_t size, mask, last, top, used;
};

/* Numbers [0, reserved_low) and [size - reserved_high, size) are never given out. 0 or -ENOMEM. */
int drv_bitmap_init(struct drv_bitmap *b, uint32_t size, uint32_t mask, uint32_t reserved_low,
		    uint32_t reserved_high);
void drv_bitmap_cleanup(struct drv_bitmap *b);
/* 0 or -ENOMEM: none is left. */
int drv_bitmap_alloc(struct drv_bitmap *b, uint32_t *number);
void drv_bitmap_free(struct drv_bitmap *b, uint32_t number);

/* Ranges of 2^order entries out of 2^max_order, naturally aligned. */
struct drv_buddy {
	uint64_t **bits;  /* bits[order]: the free blocks of that order */
	uint32_t *n_free; /* number of free blocks of each order */
	unsigned max_order;
	uint32_t used; /* entries in use */
};

int drv_buddy_init(struct drv_buddy *b, unsigned max_order);
void drv_buddy_cleanup(struct drv_buddy *b);
/* 0 or -ENOMEM: none is left. */
int drv_buddy_alloc(struct drv_buddy *b, unsigned order, uint32_t *first);
void drv_buddy_free(struct drv_buddy *b, uint32_t first, unsigned order);

/* A link of a ring. The head of a list is a link, too. */
struct drv_list {
	struct drv_list *next, *prev;
};

static inline void drv_list_init(struct drv_list *l)
{
	l->next = l->prev = l;
}

static inline void drv_list_add(struct drv_list *head, struct drv_list *l)
{
	l->next = head;
	l->prev = head->prev;
	head->prev->next = l;
	head->prev = l;
}

static inline void drv_list_del(struct drv_list *l)
{
	l->prev->next = l->next;
	l->next->prev = l->prev;
	drv_list_init(l);
}

static inline bool drv_list_empty(const struct drv_list *l)
{
	return l->next == l;
}

/* An older spelling, for scenario files that have it. */
#define DRV_CONTAINER container_of

/* Smallest n with 2^n >= v; v > 0. */
static inline unsigned drv_log2_up(uint64_t v)
{
	return v <= 1 ? 0 : 64u - (unsigned)__builtin_clzll(v - 1);
}

#endif
