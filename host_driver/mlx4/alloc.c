// SPDX-License-Identifier: Apache-2.0
/* See alloc.h. */
#include "host_driver/mlx4/alloc.h"

#include <errno.h>
#include <stdlib.h>

/* Not in mem.c, which tests replace. */
bool (*drv_calloc_fails)(void);

enum { WORD_BITS = 64 };

static bool bit_test(const uint64_t *words, uint32_t n)
{
	return words[n / WORD_BITS] >> (n % WORD_BITS) & 1;
}

static void bit_set(uint64_t *words, uint32_t n)
{
	words[n / WORD_BITS] |= UINT64_C(1) << (n % WORD_BITS);
}

static void bit_clear(uint64_t *words, uint32_t n)
{
	words[n / WORD_BITS] &= ~(UINT64_C(1) << (n % WORD_BITS));
}

static uint64_t *bits_alloc(uint32_t n)
{
	return drv_calloc((n + WORD_BITS - 1) / WORD_BITS, sizeof(uint64_t));
}

int drv_bitmap_init(struct drv_bitmap *b, uint32_t size, uint32_t mask, uint32_t reserved_low,
		    uint32_t reserved_high)
{
	*b = (struct drv_bitmap){.words = bits_alloc(size), .size = size, .mask = mask};
	if (!b->words)
		return -ENOMEM;
	for (uint32_t i = 0; i < reserved_low && i < size; i++)
		bit_set(b->words, i);
	for (uint32_t i = 0; i < reserved_high && i < size; i++)
		bit_set(b->words, size - 1 - i);
	return 0;
}

void drv_bitmap_cleanup(struct drv_bitmap *b)
{
	free(b->words);
	b->words = NULL;
}

/* First clear bit at or after `from`, or size. */
static uint32_t bitmap_find(const struct drv_bitmap *b, uint32_t from)
{
	for (uint32_t i = from; i < b->size;) {
		const uint64_t free_bits = ~b->words[i / WORD_BITS] >> (i % WORD_BITS);

		if (free_bits) {
			i += (uint32_t)__builtin_ctzll(free_bits);
			return i < b->size ? i : b->size;
		}
		i += WORD_BITS - i % WORD_BITS;
	}
	return b->size;
}

int drv_bitmap_alloc(struct drv_bitmap *b, uint32_t *number)
{
	uint32_t n = bitmap_find(b, b->last);

	if (n == b->size) {
		b->top = (b->top + b->size) & b->mask;
		n = bitmap_find(b, 0);
		if (n == b->size)
			return -ENOMEM;
	}
	bit_set(b->words, n);
	b->used++;
	b->last = n + 1 == b->size ? 0 : n + 1;
	*number = n | b->top;
	if (!b->last)
		b->top = (b->top + b->size) & b->mask;
	return 0;
}

void drv_bitmap_free(struct drv_bitmap *b, uint32_t number)
{
	bit_clear(b->words, number & (b->size - 1));
	b->used--;
}

int drv_buddy_init(struct drv_buddy *b, unsigned max_order)
{
	*b = (struct drv_buddy){.max_order = max_order};
	b->bits = drv_calloc(max_order + 1, sizeof(*b->bits));
	b->n_free = drv_calloc(max_order + 1, sizeof(*b->n_free));
	if (!b->bits || !b->n_free)
		goto err_free;
	for (unsigned i = 0; i <= max_order; i++) {
		b->bits[i] = bits_alloc(UINT32_C(1) << (max_order - i));
		if (!b->bits[i])
			goto err_free;
	}
	bit_set(b->bits[max_order], 0);
	b->n_free[max_order] = 1;
	return 0;

err_free:
	drv_buddy_cleanup(b);
	return -ENOMEM;
}

void drv_buddy_cleanup(struct drv_buddy *b)
{
	for (unsigned i = 0; b->bits && i <= b->max_order; i++)
		free(b->bits[i]);
	free(b->bits);
	free(b->n_free);
	b->bits = NULL;
	b->n_free = NULL;
}

static uint32_t buddy_first(const struct drv_buddy *b, unsigned order)
{
	uint32_t word = 0;

	while (!b->bits[order][word])
		word++;
	return word * WORD_BITS + (uint32_t)__builtin_ctzll(b->bits[order][word]);
}

int drv_buddy_alloc(struct drv_buddy *b, unsigned order, uint32_t *first)
{
	unsigned o = order;
	uint32_t block;

	while (o <= b->max_order && !b->n_free[o])
		o++;
	if (o > b->max_order)
		return -ENOMEM;
	block = buddy_first(b, o);
	bit_clear(b->bits[o], block);
	b->n_free[o]--;
	while (o > order) {
		o--;
		block <<= 1;
		bit_set(b->bits[o], block ^ 1);
		b->n_free[o]++;
	}
	b->used += UINT32_C(1) << order;
	*first = block << order;
	return 0;
}

void drv_buddy_free(struct drv_buddy *b, uint32_t first, unsigned order)
{
	uint32_t block = first >> order;

	b->used -= UINT32_C(1) << order;
	while (order < b->max_order && bit_test(b->bits[order], block ^ 1)) {
		bit_clear(b->bits[order], block ^ 1);
		b->n_free[order]--;
		block >>= 1;
		order++;
	}
	bit_set(b->bits[order], block);
	b->n_free[order]++;
}
