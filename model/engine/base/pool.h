/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects of one size that come and go all the time, such as the reads that a stage has under way.
 * Their memory comes from memory_take(). An object that is given back is used again; pool_trim()
 * gives memory back to the process.
 */
#ifndef MODEL_ENGINE_POOL_H
#define MODEL_ENGINE_POOL_H

#include <stddef.h>
#include <stdint.h>

struct hca;
struct pool_item;

struct pool {
	struct hca *hca;
	const char *what; /* names the objects where memory is used up: a static text */
	size_t size;      /* bytes of an object */
	uint32_t in_use, made;
	struct pool_item *free, *all;
};

void pool_init(struct pool *pool, struct hca *hca, size_t size, const char *what);
/* Never NULL. The bytes are those of its last use: the caller fills in what it needs. */
void *pool_take(struct pool *pool);
void pool_give(struct pool *pool, void *object);
/* A bug when an object is in use: at a reset all have been given back. */
void pool_expect_unused(struct pool *pool);
/* Every object is given back: those who used them have forgotten them. */
void pool_reset(struct pool *pool);
/* Calls visit() for every object, in use or not. */
void pool_each(const struct pool *pool, void (*visit)(struct hca *hca, void *object));
/* Gives the memory back when no object is in use. */
void pool_trim(struct pool *pool);
/* The same, whatever is in use: its users are gone. */
void pool_free(struct pool *pool);
size_t pool_footprint(const struct pool *pool);

#endif
