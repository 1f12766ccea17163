/* SPDX-License-Identifier: Apache-2.0 */
/* See messages.h. */
#include "traces/messages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct message *message_begin(void *user)
{
	struct messages *all = user;
	struct message *m;

	if (all->count == all->room) {
		size_t room = all->room ? 2 * all->room : 256;
		struct message **more = realloc(all->messages, room * sizeof(struct message *));

		if (!more)
			return NULL;
		all->messages = more;
		all->room = room;
	}
	m = calloc(1, sizeof(*m));
	if (m)
		all->messages[all->count++] = m;
	return m;
}

static void message_over(void *user, struct message *m)
{
}

static int command_posted(struct messages *all, const struct command *command)
{
	if (all->command_count == all->command_room) {
		size_t room = all->command_room ? 2 * all->command_room : 256;
		struct command *more = realloc(all->commands, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		all->commands = more;
		all->command_room = room;
	}
	all->commands[all->command_count++] = *command;
	return 0;
}

static int command_any(void *user, const struct command *command, bool is_done)
{
	struct messages *all = user;

	if (!is_done)
		return command_posted(all, command);
	for (size_t i = all->command_count; i-- > 0;) {
		struct command *c = &all->commands[i];

		if (c->hca == command->hca && c->done_ps == MESSAGE_NEVER &&
		    c->opcode == command->opcode) {
			c->done_ps = command->done_ps;
			break;
		}
	}
	return 0;
}

int messages_find(struct messages *all, const struct run_files *run)
{
	static const struct tracker_ops ops = {
		.begin = message_begin, .over = message_over, .command = command_any};
	struct tracker *t = tracker_new(&ops, all);
	int err = t ? 0 : -ENOMEM;

	*all = (struct messages){0};
	for (size_t i = 0; i < run->count && !run->golden && !err; i++) {
		struct trace_record r;

		run_item_record(run, &run->items[i], &r);
		err = tracker_record(t, &r);
	}
	tracker_free(t);
	if (err)
		messages_free(all);
	return err;
}

void messages_free(struct messages *all)
{
	for (size_t i = 0; i < all->count; i++)
		free(all->messages[i]);
	free(all->messages);
	free(all->commands);
	*all = (struct messages){0};
}
