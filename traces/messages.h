/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the time of each message of a run went: from the driver's post to the driver's poll, as
 * tracker.h finds it in the records of the run, and the commands.
 */
#ifndef TRACES_MESSAGES_H
#define TRACES_MESSAGES_H

#include "traces/run_files.h"
#include "traces/tracker.h"

struct messages {
	struct message **messages; /* as their WQEs were fetched */
	size_t count, room;
	struct command *commands; /* as posted */
	size_t command_count, command_room;
};

/* 0 or -ENOMEM. */
int messages_find(struct messages *all, const struct run_files *run);
void messages_free(struct messages *all);

/* The stage's time; false when its end or every point before it did not occur. */
bool message_stage(const struct message *m, enum message_point end, uint64_t *ps);
const char *message_stage_word(enum message_point end);
const char *message_stage_meaning(enum message_point end);

/* A line a message: its stages in ns, and their sum; then the mean. phase: only messages fetched in
 * it; NULL: in all but bring-up and tear-down. */
void messages_print(const struct messages *all, const struct run_files *run, const char *phase,
		    FILE *out);

#endif
