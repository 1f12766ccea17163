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
	const char *what; /* static text: names the objects in the message of memory_take() */
	size_t size;      /* bytes of one object */
	uint32_t in_use, made;
	struct pool_item *free, *all;
};

void pool_init(struct pool *pool, struct hca *hca, size_t size, const char *what);
/* Never NULL. The bytes are left over from the last use: the caller fills in what it needs. */
void *pool_take(struct pool *pool);
void pool_give(struct pool *pool, void *object);
/* For a reset, when all objects must have been given back: it is a bug if one is in use. */
void pool_expect_unused(struct pool *pool);
/* Takes all objects back, because all their users have forgotten them. */
void pool_reset(struct pool *pool);
/* Calls visit() for every object, in use or not. */
void pool_each(const struct pool *pool, void (*visit)(struct hca *hca, void *object));
/* Gives the memory back when no object is in use. */
void pool_trim(struct pool *pool);
/* Gives the memory back even if objects are in use, because their users are gone. */
void pool_free(struct pool *pool);
size_t pool_footprint(const struct pool *pool);

#endif
