// SPDX-License-Identifier: Apache-2.0
/* See entered.h. */
#include "testbench/dsan/hear/entered.h"

#include "model/interface/rows.h"
#include "testbench/dsan/hear/callout.h"
#include "testbench/dsan/hear/trail.h"
#include "testbench/dsan/threads/threads_impl.h"
#include "testbench/os/symbols.h"

#include <stdio.h>
#include <string.h>

enum {
	LATEST = 4,
	FIRST_CHARS = 420,
	OTHER_CHARS = 200,
	SETTERS_CHARS = 200,
	TITLE_CHARS = 400,
	BEGIN = 16,
	BEGIN_CHARS = 160,
	LOOP = 24
};

/* The threads that have entered a function last, the newest first. */
static struct runner *latest[LATEST];

static void move_to_front(struct runner *r)
{
	unsigned n = 0;

	while (n < LATEST - 1 && latest[n] != r)
		n++;
	memmove(&latest[1], &latest[0], n * sizeof(struct runner *));
	latest[0] = r;
}

/* A loop enters the same functions again and again: they must not push out what came before it. */
static bool is_recent(const struct entered *e, uint32_t at)
{
	for (uint32_t n = 1; n <= LOOP && n <= e->n; n++)
		if (e->at[(e->n - n) % ENTERED] == at)
			return true;
	return false;
}

static bool note(struct runner *r, struct entered *e, const void *pc)
{
	const uint32_t at = code_offset(pc);

	if (r->ends || is_recent(e, at))
		return false;
	e->at[e->n++ % ENTERED] = at;
	return true;
}

void entered_note(struct runner *r, const void *pc)
{
	if (note(r, &r->entered, pc) && latest[0] != r)
		move_to_front(r);
}

void entered_note_visit(struct runner *r, const void *pc)
{
	note(r, &r->visited, pc);
}

static void on_enter(void *ctx, const void *pc)
{
	struct runner *r = runner_now();

	if (r)
		entered_note(r, pc);
}

static struct callout_listener names_only = {.enter = on_enter};
static unsigned unchecked; /* hosts */

void entered_hear(void)
{
	if (!unchecked++)
		callout_listen(&names_only);
}

void entered_leave(void)
{
	if (--unchecked)
		return;
	callout_leave(&names_only);
	entered_forget();
}

void entered_process_ends(bool ends)
{
	struct runner *r = runner_now();

	if (r)
		r->ends = ends;
}

bool entered_process_is_ending(void)
{
	const struct runner *r = runner_now();

	return r && r->ends;
}

/* An inline function of a header, or one that only passes a call on to the device's driver: its name
 * tells the reader nothing. */
static bool is_plumbing(const void *pc)
{
	struct symbol s;
	const size_t n = symbols_find(pc, &s, 1) ? strlen(s.file) : 0;

	return n > 2 && (!strcmp(s.file + n - 2, ".h") || strstr(s.file, "host_driver/drv/drv.c"));
}

static unsigned names_of(const struct entered *e, char *names, size_t size)
{
	const void *pcs[ENTERED];
	unsigned n = 0;

	for (uint32_t at = e->n; at && e->n - at < ENTERED; at--) {
		const void *pc = code_pc(e->at[(at - 1) % ENTERED]);

		if (!is_plumbing(pc))
			pcs[n++] = pc;
	}
	checker_functions(pcs, n, names, size);
	return n;
}

void entered_format_lowest(char *text, size_t size)
{
	const struct runner *r = runner_now();

	*text = 0;
	if (r)
		names_of(&r->visited, text, size);
}

static void begin_of(const struct runner *r, char *names, size_t size)
{
	const void *first[BEGIN], *pcs[BEGIN];
	const unsigned all = trail_first_of(r, first, BEGIN);
	unsigned n = 0;

	for (unsigned i = 0; i < all; i++)
		if (!is_plumbing(first[i]))
			pcs[n++] = first[i];
	checker_functions(pcs, n, names, size);
}

void entered_format(char text[ENTERED_CHARS])
{
	const struct runner *r = runner_now();

	static const char before[] = "; what they read was set by ";
	char setters[SETTERS_CHARS - sizeof(before)];

	*text = 0;
	if (!r)
		return;
	names_of(&r->entered, text, ENTERED_CHARS - SETTERS_CHARS);
	setters_format(r, text, setters, sizeof(setters));
	if (*setters)
		snprintf(text + strlen(text), ENTERED_CHARS - strlen(text), "%s%s", before,
			 setters);
}

/* A thread that has entered none says nothing. The first one stands behind the title, and is told with where
 * its last call began, which a long call has pushed out of the latest ones, and with those that set what it
 * read. */
static bool thread_tell(const struct runner *r, const char *title, FILE *out)
{
	const size_t size = title ? FIRST_CHARS : OTHER_CHARS;
	char above[FIRST_CHARS], driver[FIRST_CHARS], setters[FIRST_CHARS], begin[BEGIN_CHARS];
	const unsigned n_above = names_of(&r->entered, above, size);
	const unsigned n_driver = names_of(&r->visited, driver, size);

	if (!n_above && !n_driver)
		return false;
	if (title)
		fputs(title, out);
	if (r->c)
		fprintf(out, "    host %u:   ", r->c->host.platform->host);
	else
		fprintf(out, "    a thread: ");
	fprintf(out, "%s%s%s%s\n", above, n_above && n_driver ? "; " : "",
		n_driver ? "in mlx4: " : "", driver);
	if (!title)
		return true;
	begin_of(r, begin, sizeof(begin));
	if (*begin)
		fprintf(out, "    its last call began with %s\n", begin);
	setters_format(r, above, setters, sizeof(setters));
	if (*setters)
		fprintf(out, "    what it read last was set by %s\n", setters);
	return true;
}

bool checkers_tell_calls(FILE *out)
{
	const struct guest_rule_row *rule = &guest_rules[RULE_call_unexplained];
	char title[TITLE_CHARS];
	unsigned told = 0;

	snprintf(title, sizeof(title), "%s: %s. By thread, the latest first:\n", rule->name,
		 rule->meaning);
	for (unsigned i = 0; i < LATEST && latest[i]; i++)
		told += thread_tell(latest[i], told ? NULL : title, out);
	if (told)
		fprintf(out, "    look at:  %s\n", rule->look);
	return told > 0;
}

void checkers_forget_calls(void)
{
	for (unsigned i = 0; i < LATEST && latest[i]; i++)
		latest[i]->entered.n = latest[i]->visited.n = 0;
	entered_forget();
}

void entered_forget(void)
{
	memset(latest, 0, sizeof(latest));
}
