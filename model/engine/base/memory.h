/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of a device whose amount depends on what software does: work under way, cache lines, the
 * map of ICM. The parameter hca.memory limits it for each device. A device that exceeds the limit,
 * or for which the host has no more, stops by a catastrophic error that names what the memory was
 * for; it sends the event, then gives all of its memory back. Other devices and the process go on.
 * The caller still gets what it asked for, from a reserve if need be, so it need not stop in the
 * middle of its work.
 */
#ifndef MODEL_ENGINE_MEMORY_H
#define MODEL_ENGINE_MEMORY_H

#include "model/engine/base/event_core.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hca;

struct memory {
	struct event ev;  /* stops the device, then gives the memory back */
	const char *what; /* what exceeded the limit, a static text; NULL: nothing has */
	uint64_t bytes;
	void *reserve;
};

/* For what is made with a device or a simulation and lives as long: `count` elements, zeroed. Where
 * the host has no memory the process ends by one line that names `what`. */
void *memory_create(size_t count, size_t size, const char *what);
/* Ends the process by that line. */
_Noreturn void memory_missing(const char *what);
/* The same memory with room for `count`, which need not be zeroed, of a simulation as a whole. */
void *memory_grow(void *p, size_t count, size_t size, const char *what);

void memory_init(struct hca *hca);
void memory_free(struct hca *hca);
/* After the device's reset, which has forgotten all that was under way, and given back all that was
 * held when `what` is set. */
void memory_reset(struct hca *hca);

/* Zeroed, never NULL. `what`: a static text for the user. */
void *memory_take(struct hca *hca, size_t size, const char *what);
void memory_give(struct hca *hca, void *p, size_t size);

#endif
