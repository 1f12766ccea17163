/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the time of each message of a run went, from the driver's post to the driver's poll, as
 * tracker.h finds it in the records of the run; and the same for commands.
 */
#ifndef TRACES_MESSAGES_H
#define TRACES_MESSAGES_H

#include "traces/run_files.h"
#include "traces/tracker.h"

struct messages {
	struct message **messages; /* in the order in which their WQEs were fetched */
	size_t count, room;
	struct command *commands; /* in the order in which they were posted */
	size_t command_count, command_room;
};

/* 0 or -ENOMEM. */
int messages_find(struct messages *all, const struct run_files *run);
void messages_free(struct messages *all);

/* Computes the time of a stage. False when its end did not occur, or no point before it did. */
bool message_stage(const struct message *m, enum message_point end, uint64_t *ps);
const char *message_stage_word(enum message_point end);
const char *message_stage_meaning(enum message_point end);

/* Prints one line for each message, with its stages in ns and their sum; then the means. phase:
 * only messages whose WQEs were fetched in that phase; NULL: in any phase except bring-up and
 * tear-down. */
void messages_print(const struct messages *all, const struct run_files *run, const char *phase,
		    FILE *out);

#endif
