// SPDX-License-Identifier: Apache-2.0
/* See entered.h. */
#include "testbench/dsan/hear/entered.h"

#include "testbench/dsan/bucket.h"
#include "model/interface/rows.h"
#include "testbench/dsan/hear/callout.h"
#include "testbench/dsan/hear/history.h"
#include "testbench/dsan/hear/trail.h"
#include "testbench/dsan/threads/threads_impl.h"
#include "testbench/os/symbols.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	LATEST = 12, /* a transport in software has several threads */
	CHECKED_TOLD = 4,
	FIRST_CHARS = 720,
	OTHER_CHARS = 300,
	SOFTWARE = 512, /* functions of all such threads */
	/* characters of a list, as many as a person reads: chosen, not derived. In all; that the thread which asks has at
	 * least, and each other one; of those that ran seldom, which is so often */
	SOFTWARE_CHARS = 1800,
	FIRST_SHARE = 560,
	OTHER_SHARE = 200,
	SELDOM_CHARS = 420,
	SHORT_CHARS = 800, /* of a list beside a broken rule */
	SELDOM = 3,
	MANY = 8, /* functions of a thread that has a line of its own */
	NAMES_CHARS = 720,
	SETTERS_CHARS = 200,
	TITLE_CHARS = 400,
	BEGIN = 16,
	BEGIN_CHARS = 160,
	LOOP = 24,
	PROBES = 32,
	INLINED = 8,
	RANKED = 200,
	PLACES_MAX = 512 /* how far back the last one may stand */
};

static uint32_t entries,
	entries_before; /* of functions: in all, and before the body of the scenario */

/* Functions that were entered, since the program began. */
static struct entered_function {
	uint32_t at; /* code_offset(); 0: none */
	uint32_t count;
	uint32_t first, last; /* of all entries: the numbers of its first and its last one */
	char *name;           /* NULL: not looked up yet, because that takes long */
} functions[FUNCTIONS];

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

/* Its slot; NULL: there is no room for it. */
static struct entered_function *function_of(uint32_t at)
{
	size_t n = bucket_number(at, FUNCTIONS_LOG);

	for (unsigned i = 0; i < PROBES; i++, n = (n + 1) % FUNCTIONS) {
		if (!functions[n].at)
			functions[n].at = at;
		if (functions[n].at == at)
			return &functions[n];
	}
	return NULL;
}

static void count(struct runner *r, uint32_t at)
{
	struct entered_function *f = function_of(at);
	uint64_t *word, bit;

	if (!f)
		return;
	if (!f->count++)
		f->first = entries;
	f->last = ++entries;
	word = &r->in_call[(f - functions) / 64];
	bit = UINT64_C(1) << (f - functions) % 64;
	if (*word & bit)
		return;
	*word |= bit;
	if (r->n_of_call < OF_CALL)
		r->of_call[r->n_of_call++] = at;
}

void entered_call_begins(struct runner *r)
{
	static uint32_t calls;

	r->call = ++calls;
	r->n_of_call = 0;
	memset(r->in_call, 0, sizeof(r->in_call));
}

void entered_lately_take(struct entered_lately *lately)
{
	const struct runner *r = runner_now();

	lately->n = 0;
	for (; r && lately->n < r->visited.n && lately->n < LATELY; lately->n++)
		lately->at[lately->n] = r->visited.at[lately->n];
}

void entered_add_first(const struct runner *r, struct ran *ran, unsigned max)
{
	for (uint32_t n = r->n_of_call; n && ran->n < max; n--)
		ran->pc[ran->n++] = code_pc(r->of_call[n - 1]);
}

/* A loop enters the same functions again and again: they do not push out what came before it. Returns whether
 * it is none of a loop. */
static bool note(struct runner *r, struct entered *e, const void *pc)
{
	const uint32_t at = code_offset(pc);
	uint32_t n = 0;
	bool is_new;

	if (r->ends)
		return false;
	count(r, at);
	while (n < e->n && e->at[n] != at)
		n++;
	is_new = n == e->n || n >= LOOP;
	if (n == e->n && e->n < ENTERED)
		e->n++;
	if (n == ENTERED)
		n--;
	memmove(&e->at[1], &e->at[0], n * sizeof(e->at[0]));
	e->at[0] = at;
	return is_new;
}

void entered_note(struct runner *r, const void *pc)
{
	if (note(r, &r->entered, pc) && latest[0] != r)
		move_to_front(r);
}

void entered_note_visit(struct runner *r, const void *pc)
{
	static uint32_t visits;

	note(r, &r->visited, pc);
	r->visited_nth = ++visits;
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

static bool has_name(struct entered_function *f, const char *name)
{
	struct symbol s;

	if (f->at && !f->name)
		f->name = strdup(symbols_find(code_pc(f->at), &s, 1) ? s.name : "");
	return f->name && !strcmp(f->name, name);
}

unsigned checkers_run_often(const char *name)
{
	enum { BACK = 6 };
	uint32_t times = 0;
	unsigned log = 0;

	for (unsigned n = 0; n < FUNCTIONS; n++)
		if (has_name(&functions[n], name))
			times += functions[n].count;
	while (times >> log > 1)
		log++;
	return log * BACK;
}

struct ranked {
	char name[SYMBOL_NAME];
	unsigned place;
};

static bool is_ranked(const struct ranked *all, unsigned n, const char *name)
{
	for (unsigned i = 0; i < n; i++)
		if (!strcmp(all[i].name, name))
			return true;
	return false;
}

static void rank(struct ranked *all, unsigned n, const char *name)
{
	const unsigned place = n + checkers_run_often(name);

	for (; n && all[n - 1].place > place; n--)
		all[n] = all[n - 1];
	all[n].place = place;
	snprintf(all[n].name, sizeof(all[n].name), "%s", name);
}

/* As checker_functions_add() tells what is inlined. */
static unsigned rank_place(struct ranked *all, unsigned n, const void *pc)
{
	struct symbol s[INLINED];
	const size_t found = symbols_find(pc, s, INLINED);
	size_t i = 0;

	while (i + 1 < found && strstr(s[i].file, "model/interface/"))
		i++;
	for (; i < found && n < RANKED; i++)
		if (strncmp(s[i].name, WRAP, strlen(WRAP)) && !is_ranked(all, n, s[i].name))
			rank(all, n++, s[i].name);
	return n;
}

static unsigned rank_all(struct ranked *all, const void *const *pcs, unsigned n)
{
	unsigned ranked = 0;

	for (unsigned i = 0; i < n; i++)
		ranked = rank_place(all, ranked, pcs[i]);
	return ranked;
}

/* Those of them before `end`. Returns how many characters they take. */
static size_t ranked_format(const struct ranked *all, unsigned n, unsigned end, char *text,
			    size_t size)
{
	size_t used = 0;

	*text = 0;
	for (unsigned i = 0; i < n && all[i].place < end; i++)
		if (used + strlen(all[i].name) + sizeof(", ") <= size)
			used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
						 all[i].name);
	return used;
}

void entered_rank(const void *const *pcs, unsigned n, char *text, size_t size)
{
	struct ranked all[RANKED];

	ranked_format(all, rank_all(all, pcs, n), UINT_MAX, text, size);
}

/* An inline function of a header, or one that only passes a call on to the device's driver: its name
 * tells the reader nothing. */
static bool is_plumbing(const void *pc)
{
	struct symbol s;
	const size_t n = symbols_find(pc, &s, 1) ? strlen(s.file) : 0;

	return n > 2 && (!strcmp(s.file + n - 2, ".h") || strstr(s.file, "host_driver/drv/drv.c"));
}

unsigned entered_below_interface(const void **pcs, unsigned n)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < n; i++) {
		struct symbol s;

		if (!symbols_find(pcs[i], &s, 1) || !strstr(s.file, "host_driver/drv/") ||
		    !is_plumbing(pcs[i]))
			pcs[kept++] = pcs[i];
	}
	return kept;
}

static unsigned without_plumbing(const void **pcs, unsigned n)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < n; i++)
		if (!is_plumbing(pcs[i]))
			pcs[kept++] = pcs[i];
	return kept;
}

static unsigned functions_of(const uint32_t *at, uint32_t n, const void **pcs)
{
	for (uint32_t i = 0; i < n; i++)
		pcs[i] = code_pc(at[i]);
	return without_plumbing(pcs, n);
}

static void names_of(const struct entered *e, char *names, size_t size)
{
	const void *pcs[ENTERED];

	entered_rank(pcs, functions_of(e->at, e->n, pcs), names, size);
}

/* The names of both lists, as many as fit together. */
static void names_of_both(const struct entered *one, const struct entered *other, size_t size,
			  char one_names[NAMES_CHARS], char other_names[NAMES_CHARS])
{
	struct ranked ones[RANKED], others[RANKED];
	const void *pcs[ENTERED];
	const unsigned n_one = rank_all(ones, pcs, functions_of(one->at, one->n, pcs));
	const unsigned n_other = rank_all(others, pcs, functions_of(other->at, other->n, pcs));
	unsigned end = 0;

	do {
		end++;
	} while (ranked_format(ones, n_one, end, one_names, NAMES_CHARS) +
				 ranked_format(others, n_other, end, other_names, NAMES_CHARS) <
			 size &&
		 end < PLACES_MAX);
	ranked_format(ones, n_one, end - 1, one_names, NAMES_CHARS);
	ranked_format(others, n_other, end - 1, other_names, NAMES_CHARS);
}

void entered_lately_format(const struct entered_lately *lately, char *text, size_t size)
{
	const void *pcs[LATELY];

	entered_rank(pcs, functions_of(lately->at, lately->n, pcs), text, size);
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
	const void *pcs[BEGIN];
	const unsigned n = trail_first_of(r, pcs, BEGIN);

	checker_functions(pcs, without_plumbing(pcs, n), names, size);
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

/* Who has changed the object that the last call was about, or has made it: what a caller finds wrong there
 * was often done by a call before. */
static void tell_object(const struct runner *r, const char *besides, const char *others, FILE *out)
{
	struct ranked all[RANKED];
	char object[BEGIN_CHARS], names[OTHER_CHARS];
	struct ran made, changed, *by = &changed;
	unsigned n, kept = 0;

	if (!r->c || !r->subject.kind || r->subject_call != r->call)
		return;
	history_find(r->c, r->subject, &made, &changed);
	if (!changed.n)
		by = &made;
	n = rank_all(all, by->pc, without_plumbing(by->pc, by->n));
	for (unsigned i = 0; i < n; i++)
		if (!checker_names_have(besides, all[i].name) &&
		    !checker_names_have(others, all[i].name))
			all[kept++] = all[i];
	if (!ranked_format(all, kept, UINT_MAX, names, sizeof(names)))
		return;
	guest_object_format(r->subject, object, sizeof(object));
	fprintf(out, "    %s was %s by %s\n", object, by == &made ? "made" : "changed last", names);
}

/* --- threads of hosts with a transport in software --- */

/* A transport in software does its work in threads of its own, and that which fails is seldom the one that
 * did wrong. So the functions of all its threads have one order. */
struct software {
	struct software_function {
		const struct entered_function *f;
		const struct runner *r;
		char name[SYMBOL_NAME];
		unsigned place;
		bool told;
	} all[SOFTWARE];
	unsigned n;
};

static bool software_has(const struct software *s, const struct entered_function *f)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->all[i].f == f)
			return true;
	return false;
}

static void software_add(struct software *s, const struct runner *r, uint32_t at)
{
	struct entered_function *f = function_of(at);
	struct symbol symbol;

	if (!f || s->n == SOFTWARE || software_has(s, f) || is_plumbing(code_pc(at)) ||
	    !symbols_find(code_pc(at), &symbol, 1))
		return;
	s->all[s->n] = (struct software_function){.f = f, .r = r};
	snprintf(s->all[s->n++].name, SYMBOL_NAME, "%s", symbol.name);
}

static int by_last(const void *one, const void *other)
{
	const struct software_function *a = one, *b = other;

	return a->f->last < b->f->last ? 1 : a->f->last > b->f->last ? -1 : 0;
}

static int by_first(const void *one, const void *other)
{
	const struct software_function *a = one, *b = other;

	return a->f->first < b->f->first ? 1 : a->f->first > b->f->first ? -1 : 0;
}

static int by_place(const void *one, const void *other)
{
	const struct software_function *a = one, *b = other;

	return a->place < b->place ? -1 : a->place > b->place ? 1 : by_last(one, other);
}

static void software_take(struct software *s)
{
	s->n = 0;
	for (unsigned i = 0; i < LATEST && latest[i]; i++)
		for (uint32_t n = 0; runner_is_software(latest[i]) && n < latest[i]->entered.n; n++)
			software_add(s, latest[i], latest[i]->entered.at[n]);
	qsort(s->all, s->n, sizeof(s->all[0]), by_last);
	for (unsigned i = 0; i < s->n; i++)
		s->all[i].place = i + checkers_run_often(s->all[i].name);
}

/* Prints the name behind those before it. Returns how many characters it takes. */
static size_t software_name(struct software_function *f, bool first, FILE *out)
{
	f->told = true;
	return (size_t)fprintf(out, "%s%s", first ? "" : ", ", f->name);
}

/* What the run came by for the first time not long ago, and not often: if that is wrong, nothing has shown
 * it before. */
static void software_tell_seldom(struct software *s, FILE *out)
{
	size_t used = 0;

	qsort(s->all, s->n, sizeof(s->all[0]), by_first);
	for (unsigned i = 0; i < s->n && used < SELDOM_CHARS; i++) {
		if (s->all[i].f->count > SELDOM || s->all[i].f->first < entries_before)
			continue;
		if (!used)
			fputs("    seldom, and lately for the first time: ", out);
		used += software_name(&s->all[i], !used, out);
	}
	if (used)
		fputc('\n', out);
}

/* The place where the names that are not told yet take all characters. */
static unsigned software_end(struct software *s)
{
	size_t used = 0;

	qsort(s->all, s->n, sizeof(s->all[0]), by_place);
	for (unsigned i = 0; i < s->n; i++) {
		if (s->all[i].told)
			continue;
		used += strlen(s->all[i].name) + sizeof(", ") - 1;
		if (used > SOFTWARE_CHARS)
			return i;
	}
	return s->n;
}

static void software_tell_begin(const struct runner *r, FILE *out)
{
	char begin[BEGIN_CHARS];

	begin_of(r, begin, sizeof(begin));
	if (*begin)
		fprintf(out, "    the last call began with %s\n", begin);
}

static bool is_left(const struct software_function *f, const struct runner *r, bool asks)
{
	return !f->told && (!r || f->r == r) && (asks || f->f->last > entries_before);
}

/* Of the thread, or of all (NULL): those before `end`, and as many more that they fill the share. What ran before
 * the body of the scenario is told only of the running thread, which has asked for it. */
static void software_tell_thread(struct software *s, const char *title, const struct runner *r,
				 unsigned end, unsigned share, bool asks, FILE *out)
{
	size_t used = 0;

	for (unsigned i = 0; i < s->n && (i < end || used < share); i++) {
		if (!is_left(&s->all[i], r, asks))
			continue;
		if (!used)
			fprintf(out, "%s: ", title);
		used += software_name(&s->all[i], !used, out);
	}
	if (used)
		fputc('\n', out);
}

/* Adds the function of the driver that the thread began with and has not left, which is not told again: the loop
 * of a thread of the driver, or the call that it is in. */
static void software_add_outermost(struct software *s, const struct runner *r,
				   char title[BEGIN_CHARS])
{
	const size_t used = strlen(title);
	struct symbol symbol;

	if (!r->depth || is_plumbing(code_pc(r->in[0])) ||
	    !symbols_find(code_pc(r->in[0]), &symbol, 1) || checker_names_have(title, symbol.name))
		return;
	snprintf(title + used, BEGIN_CHARS - used, "%s%s", strstr(title, " in ") ? ", " : " in ",
		 symbol.name);
	for (unsigned i = 0; i < s->n; i++)
		s->all[i].told |= !strcmp(s->all[i].name, symbol.name);
}

static void software_tell_one(struct software *s, const struct runner *r, unsigned end,
			      unsigned share, bool asks, FILE *out)
{
	char title[BEGIN_CHARS] = "    a thread";

	software_add_outermost(s, r, title);
	software_tell_thread(s, title, r, end, share, asks, out);
}

/* Those that it has to tell, at least. */
static bool has_many(const struct software *s, const struct runner *r, unsigned end)
{
	unsigned n = 0;

	for (unsigned i = 0; i < end; i++)
		n += is_left(&s->all[i], r, false);
	return n >= MANY;
}

static struct software threads_of_software; /* too large for the stack of a thread */

static bool software_tell(const char *title, FILE *out)
{
	struct software *s = &threads_of_software;
	const struct runner *asks = runner_now();
	char others[BEGIN_CHARS] = "    other threads";
	unsigned end;

	software_take(s);
	if (!s->n)
		return false;
	if (title)
		fputs(title, out);
	if (asks && runner_is_software(asks))
		software_tell_begin(asks, out);
	software_tell_seldom(s, out);
	end = software_end(s);
	if (asks)
		software_tell_one(s, asks, end, FIRST_SHARE, true, out);
	for (unsigned i = 0; i < LATEST && latest[i]; i++) {
		if (has_many(s, latest[i], end))
			software_tell_one(s, latest[i], end, OTHER_SHARE, false, out);
		else if (latest[i] != asks && runner_is_software(latest[i]))
			software_add_outermost(s, latest[i], others);
	}
	software_tell_thread(s, others, NULL, end, 0, false, out);
	return true;
}

void checkers_tell_software(const char *told, FILE *out)
{
	struct software *s = &threads_of_software;

	software_take(s);
	software_tell_seldom(s, out);
	for (unsigned i = 0; i < s->n; i++)
		s->all[i].told |= checker_names_have(told, s->all[i].name);
	qsort(s->all, s->n, sizeof(s->all[0]), by_place);
	software_tell_thread(s, "    all threads", NULL, 0, SHORT_CHARS, false, out);
}

/* --- all threads --- */

/* A thread that has entered none says nothing. The first one stands behind the title, and is told with where
 * its last call began, which a long call has pushed out of the latest ones, with those that set what it
 * read, and those that changed what it was about. */
static bool thread_tell(const struct runner *r, const char *title, FILE *out)
{
	const size_t size = title ? FIRST_CHARS : OTHER_CHARS;
	char above[NAMES_CHARS], driver[NAMES_CHARS], setters[SETTERS_CHARS], begin[BEGIN_CHARS];

	names_of_both(&r->entered, &r->visited, size, above, driver);
	if (!*above && !*driver)
		return false;
	if (title)
		fputs(title, out);
	fprintf(out, "    host %u:   %s%s%s%s\n", r->c->host.platform->host, above,
		*above && *driver ? "; " : "", *driver ? "in mlx4: " : "", driver);
	if (!title)
		return true;
	begin_of(r, begin, sizeof(begin));
	if (*begin)
		fprintf(out, "    its last call began with %s\n", begin);
	setters_format(r, above, setters, sizeof(setters));
	if (*setters)
		fprintf(out, "    what it read last was set by %s\n", setters);
	tell_object(r, above, driver, out);
	return true;
}

/* Of the threads that have only run in mlx4, the one that did last. */
static const struct runner *lowest_latest(void)
{
	const struct runner *r, *found = NULL;

	for (unsigned i = 0; (r = runners_from(i, &i));)
		if (!runner_is_software(r) && r->visited.n && !r->entered.n &&
		    (!found || (int32_t)(r->visited_nth - found->visited_nth) > 0))
			found = r;
	return found;
}

bool checkers_tell_calls(FILE *out)
{
	const struct guest_rule_row *rule = &guest_rules[RULE_call_unexplained];
	const struct runner *lowest;
	char title[TITLE_CHARS];
	unsigned told = 0;

	snprintf(title, sizeof(title),
		 "%s: %s. By thread, the latest first, "
		 "and those that run all the time last:\n",
		 rule->name, rule->meaning);
	for (unsigned i = 0; i < LATEST && latest[i] && told < CHECKED_TOLD; i++)
		told += !runner_is_software(latest[i]) &&
			thread_tell(latest[i], told ? NULL : title, out);
	told += software_tell(told ? NULL : title, out);
	lowest = lowest_latest();
	if (told && lowest)
		thread_tell(lowest, NULL, out);
	if (told)
		fprintf(out, "    look at:  %s\n", rule->look);
	return told > 0;
}

/* A transport in software uses later what was set before. */
void checkers_forget_calls(void)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < LATEST && latest[i]; i++) {
		struct runner *r = latest[i];

		if (!runner_is_software(r))
			r->entered.n = r->visited.n = 0;
		else
			latest[kept++] = r;
	}
	while (kept < LATEST)
		latest[kept++] = NULL;
	entries_before = entries;
}

void entered_forget(void)
{
	memset(latest, 0, sizeof(latest));
}
