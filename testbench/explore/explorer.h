/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows a schedule during one run: counts the points that the run comes by, and says at each one
 * how long to hold. It can also write down the points, for the plan of further schedules.
 */
#ifndef TESTBENCH_EXPLORE_EXPLORER_H
#define TESTBENCH_EXPLORE_EXPLORER_H

#include "testbench/explore/schedule.h"

#include <stddef.h>

enum { EXPLORER_PARTIES = 256 };

struct point {
	enum turn_kind kind;
	unsigned party;
	unsigned host;
	bool store;       /* of an access or a register */
	bool woken;       /* of a wake: somebody or something has ended the wait, not time */
	uintptr_t at;     /* of an access or DMA; of a register its BAR and offset; a vector */
	uint64_t place;   /* in the driver: equal for points that the same code makes */
	const char *what; /* of a DMA: "cqe", ...; a string constant */
	uint64_t now_ps;
};

/* A point, or an access by the device, as it is written down. */
struct noted {
	uint64_t now_ps;
	uintptr_t at;
	uint64_t place;
	uint32_t bytes; /* of the device's access */
	uint32_t nth;
	uint8_t kind; /* enum turn_kind, NOTED_DEVICE for the device */
	uint8_t party, host;
	bool store, woken;
};

enum { NOTED_DEVICE = TURN_KIND_COUNT };

struct notes {
	size_t n, room;
	struct noted *noted;
};

enum { STRUCK_CALLS = 14, STRUCK_NAME = 24 };

/* A turn that has struck: who was held, where, and in which calls. */
struct struck {
	bool yes;
	struct point at;
	char thread[STRUCK_NAME];
	unsigned n_calls;
	const void *calls[STRUCK_CALLS]; /* return addresses, the innermost first */
};

struct explorer {
	struct schedule schedule;
	struct struck *struck; /* one for each turn; of whoever explores */
	struct struck *newest; /* of these; NULL: none has struck */
	struct notes *notes;   /* NULL: nothing is written down */
	bool on;
	uint32_t counts[TURN_KIND_COUNT][EXPLORER_PARTIES];
};

/* From now on points are counted. */
void explorer_begin(struct explorer *e);
/* The run has come to this point. Returns how long to hold there. */
uint64_t explorer_point(struct explorer *e, const struct point *p);
/* Who it is that is held at the point that the run came to last. */
void explorer_name(struct explorer *e, const char *thread, const void *const *calls, unsigned n);
/* The device reads or writes memory of a host. */
void explorer_device(struct explorer *e, unsigned host, uintptr_t at, size_t bytes, bool store,
		     uint64_t now_ps);

#endif
