/* SPDX-License-Identifier: Apache-2.0 */
/* The message of connection management that a device's thread handles, and the comparison of what its users are
 * told of it with what it says: a difference is the rule event_differs. */
#ifndef TESTBENCH_DSAN_HEAR_CAME_H
#define TESTBENCH_DSAN_HEAR_CAME_H

#include "testbench/dsan/checker_impl.h"

#include <rdma/ib_cm.h>

struct came {
	struct checker *c;
	struct smp *mad; /* NULL: none */
};

/* What each message is told as, and the room of its private data, with which it ends. */
struct came_kind {
	unsigned attr;
	enum ib_cm_event_type event;
	size_t room; /* bytes */
};

/* What is told of a message: a member of a structure, and the field of the message behind it. */
struct told {
	const char *name;
	const void *at;
	size_t bytes;
	uint64_t is, says;
};

#define TOLD(structure, member, said)                                                              \
	(struct told)                                                                              \
	{                                                                                          \
#member, &(structure)->member, sizeof((structure)->member),                        \
			(uint64_t)(structure)->member, said                                        \
	}

/* That of the host's device. */
struct came *came_of(const struct platform *p);
unsigned came_attr(const struct came *came);
/* NULL: a message that nobody is told of. */
const struct came_kind *came_kind(unsigned attr);
const uint8_t *came_data(const struct came *came, const struct came_kind *kind);

/* `what` of `who` is not what the message says. `at` was written by the function to name; if nobody has, the
 * functions that ran last are told. */
void came_differs(const struct came *came, const char *who, const char *what, uint64_t is,
		  uint64_t says, const void *at, size_t bytes);
/* Tells the first of n that differs. Returns whether none does. */
bool came_told(const struct came *came, const char *who, const struct told *told, size_t n);
/* The same for bytes; `at`: where they are told. */
void came_bytes_told(const struct came *came, const char *who, const char *what, const void *is,
		     const void *says, size_t bytes, const void *at);

#endif
