/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A schedule: where a run differs from the run that nobody disturbs. Each turn holds one party back
 * at one point, and so lets the others go first. A run with the same schedule is the same run.
 */
#ifndef TESTBENCH_EXPLORE_SCHEDULE_H
#define TESTBENCH_EXPLORE_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * T(NAME, word, party, what is done): the points of each kind are counted by themselves, for each
 * thread or host, from 0.
 */
#define TURN_KINDS(T)                                                                              \
	T(ACCESS, "access", "thread",                                                              \
	  "the host of the thread stands still before a load or store")                            \
	T(REGISTER, "register", "thread", "the thread waits before it reads or writes a register") \
	T(AFTER, "after", "thread", "the thread waits after it has read or written a register")    \
	T(WAKE, "wake", "thread", "the thread goes on later after a wait")                         \
	T(INTERRUPT, "interrupt", "host", "an interrupt message arrives later")                    \
	T(SPURIOUS, "spurious", "host", "an interrupt comes once more, without a message")         \
	T(READ, "read", "host", "a DMA read of the device takes longer; others overtake it")       \
	T(WRITE, "write", "host",                                                                  \
	  "a DMA write of the device lands later; later ones and messages wait behind it")         \
	T(DOORBELL, "doorbell", "thread",                                                          \
	  "a register write reaches the device later; the thread goes on")

enum turn_kind {
#define T(NAME, word, party, what) TURN_##NAME,
	TURN_KINDS(T)
#undef T
		TURN_KIND_COUNT
};

struct turn_kind_row {
	const char *word, *party, *what;
};
extern const struct turn_kind_row turn_kinds[TURN_KIND_COUNT];

enum { SCHEDULE_TURNS_MAX = 32, SCHEDULE_NAME_CHARS = 256 };

struct turn {
	enum turn_kind kind;
	unsigned party; /* number of a thread or a host */
	uint32_t nth;   /* point of that kind of that party */
	uint64_t ps;    /* how long */
};

struct schedule {
	char scenario[SCHEDULE_NAME_CHARS];
	uint64_t sim_seed; /* of the run */
	bool from_start;   /* points are counted from power-on, not from the scenario's body */
	unsigned n;
	struct turn turns[SCHEDULE_TURNS_MAX];
};

/* 0 or -EIO. */
int schedule_write(const struct schedule *s, FILE *out);
/* 0; or -errno after one line to err that names the file and the line. */
int schedule_read(struct schedule *s, const char *path, FILE *err);

#endif
