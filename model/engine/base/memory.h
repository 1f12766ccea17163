/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of a device whose amount depends on what software does: work under way, cache lines, the
 * map of ICM. The parameter hca.memory limits it for each device. A device that exceeds the limit,
 * or that the host has no more memory for, stops with a catastrophic error that names what the
 * memory was for. It sends the event, then gives all of its memory back. Other devices and the
 * process go on. The caller still gets the memory that it asked for, if need be from a reserve, so
 * it does not have to stop in the middle of its work.
 */
#ifndef MODEL_ENGINE_MEMORY_H
#define MODEL_ENGINE_MEMORY_H

#include "model/engine/base/event_core.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hca;

struct memory {
	struct event ev;  /* first stops the device, then gives its memory back */
	const char *what; /* what exceeded the limit (a static text), or NULL */
	uint64_t bytes;
	void *reserve;
};

/* For objects that live as long as a device or a simulation: `count` elements, zeroed. If the host
 * has no memory, prints one line that names `what` and ends the process. */
void *memory_create(size_t count, size_t size, const char *what);
/* Prints that line and ends the process. */
_Noreturn void memory_missing(const char *what);
/* The same for an array that grows: makes room for `count` elements. New elements are not
 * zeroed. */
void *memory_grow(void *p, size_t count, size_t size, const char *what);

void memory_init(struct hca *hca);
void memory_free(struct hca *hca);
/* Call it after the device's reset has forgotten all work under way (and given back all memory, if
 * `what` is set). */
void memory_reset(struct hca *hca);

/* Zeroed, never NULL. `what` is a static text for the user. */
void *memory_take(struct hca *hca, size_t size, const char *what);
void memory_give(struct hca *hca, void *p, size_t size);

#endif
