/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of the simulator that software can make a device hold more and more of: what is under way,
 * and the map of ICM. hca.memory is a device's share of it. Where that is used up, or the host has
 * no more, the device stops by a catastrophic error with a name, tells it by its event, and then
 * lets go of all that it has; other devices and the process go on. Nobody who asks has to give up
 * in the middle of his work for that: what he asks for is still there, at the worst from a reserve.
 */
#ifndef MODEL_ENGINE_MEMORY_H
#define MODEL_ENGINE_MEMORY_H

#include "model/engine/base/event_core.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hca;

struct memory {
	struct event ev;  /* to stop, then to let go */
	const char *what; /* was one too many: a static text; NULL: nothing was */
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
