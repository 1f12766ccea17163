/* SPDX-License-Identifier: Apache-2.0 */
/* What a failure tells about guest errors: rule, object, and the calls of the driver that led to it. */
#include "model/interface/macros.h"
#include "model/interface/rows.h"
#include "model/systemc/kernel.h"
#include "testbench/dsan/checker.h"
#include "testbench/machine/refusals.h"
#include "testbench/machine/stall.h"
#include "testbench/language/tb.h"
#include "testbench/os/symbols.h"

#include <inttypes.h>
#include <string.h>

enum {
	STALL_LINES = 12,
	TOLD_MAX = 4,
	NOTES_READ = 1024,
	CALLS_SHOWN = 12,
	LINE_CHARS = 160,
	LINE_FULL = 90, /* then another function of the same file has a line of its own */
	CALLS_SHORT = 3,
	SYMBOLS_MAX = 8,
	WAITING_CALLS = 5,
	RAN_SHOWN = 24,
	CRASH_NEWEST = 6, /* a function that has just returned is often the guilty one */
	RAN_KNOWN = 128,
	SET_SHOWN = 12,
	FILES = 3,
	RAN_CHARS = 600,
	RAN_TOLD = RAN_CHARS + 2 * SYMBOL_NAME, /* the last one may go beyond */
	OBJECT_CHARS = 64,
	PS_PER_US = 1000000
};

/* --- call chains --- */

/* The path below the source folder: `a` is a path of this tree, such as "host_driver/mlx4/post.c". */
static const char *path_in_tree(const char *file)
{
	static const char *const folders[] = {"host_driver/", "testbench/", "model/"};

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		const char *at = strstr(file, folders[i]);

		if (at)
			return at;
	}
	return file;
}

/* The functions of the platform, the checker and the device begin a chain, and those that run the
 * scenario end it. What is left is the driver, and the scenario that called it. */
static bool is_frame_of_bench(const struct symbol *s)
{
	return strstr(s->file, "testbench/machine/") || strstr(s->file, "testbench/dsan/") ||
	       strstr(s->file, "testbench/language/tb.c") || strstr(s->file, "model/") ||
	       strstr(s->file, "/sysc/");
}

/* One line: functions of one file that call each other, the innermost first. */
struct told_line {
	char file[SYMBOL_FILE], functions[LINE_CHARS], lines[LINE_CHARS];
};

static void line_print(struct told_line *l, const char *label, FILE *out)
{
	fprintf(out, "    %-8s  %s", label, l->functions);
	if (l->file[0])
		fprintf(out, "  %s:%s", path_in_tree(l->file), l->lines);
	fprintf(out, "\n");
	*l = (struct told_line){0};
}

static void line_add(struct told_line *l, const struct symbol *s)
{
	const size_t functions = strlen(l->functions), lines = strlen(l->lines);

	snprintf(l->file, sizeof(l->file), "%s", s->file);
	snprintf(l->functions + functions, sizeof(l->functions) - functions, "%s%s()",
		 functions ? ", " : "", s->name);
	snprintf(l->lines + lines, sizeof(l->lines) - lines, "%s%d", lines ? "," : "", s->line);
}

/* Prints at most `room` functions. A short list leaves out how commands are given. */
void tb_tell_calls(const struct calls *calls, const char *label, unsigned room, FILE *out)
{
	const bool brief = room == CALLS_SHORT;
	struct symbol symbols[SYMBOLS_MAX];
	char last[SYMBOL_NAME] = "";
	struct told_line line = {0};

	for (unsigned i = 0; i < calls->n; i++) {
		const size_t n = symbols_find(calls->pc[i], symbols, ARRAY_SIZE(symbols));

		for (size_t k = 0; k < n && room; k++, room--) {
			const struct symbol *s = &symbols[k];

			if (is_frame_of_bench(s) || !strcmp(s->name, last) ||
			    (brief && strstr(s->file, "host_driver/mlx4/cmd.c"))) {
				room++;
				continue;
			}
			memcpy(last, s->name, sizeof(last));
			if (line.functions[0] &&
			    (strcmp(s->file, line.file) ||
			     strlen(line.functions) + strlen(s->name) > LINE_FULL)) {
				line_print(&line, label, out);
				label = "";
			}
			line_add(&line, s);
		}
	}
	if (line.functions[0])
		line_print(&line, label, out);
}

/* A place in the driver: not one where calls are passed on to it, traced or locked. */
static bool is_telling(const struct symbol *s, bool commands)
{
	static const char *const passing[] = {"drv/drv.c", "drv/ops.h", "drv/trace.h", "devices.c",
					      "mlx4/lock.c"};

	for (size_t i = 0; i < ARRAY_SIZE(passing); i++)
		if (strstr(s->file, passing[i]))
			return false;
	return strstr(s->file, "host_driver/") && !strstr(s->file, "mlx4/cmd.c") == !commands;
}

/* Functions, each once. Those that run all the time stand further back. */
struct ran_names {
	struct ran_name {
		char name[SYMBOL_NAME];
		unsigned place;
	} all[RAN_KNOWN];
	unsigned n;
	unsigned newest; /* these come first, and stand there */
};

static bool ran_names_have(const struct ran_names *names, const char *name)
{
	for (unsigned i = 0; i < names->n; i++)
		if (!strcmp(names->all[i].name, name))
			return true;
	return false;
}

static void ran_name_add(struct ran_names *names, const char *name)
{
	const unsigned place =
		names->n < names->newest ? names->n : names->n + checkers_run_often(name);
	unsigned at = names->n;

	if (ran_names_have(names, name) || names->n == RAN_KNOWN)
		return;
	for (; at && names->all[at - 1].place > place; at--)
		names->all[at] = names->all[at - 1];
	names->all[at].place = place;
	snprintf(names->all[at].name, SYMBOL_NAME, "%.*s", SYMBOL_NAME - 1, name);
	names->n++;
}

/* Returns how many were printed: a long list is cut. */
static unsigned ran_names_print(const struct ran_names *names, const char *label, FILE *out)
{
	unsigned chars = 0, i;

	if (names->n)
		fprintf(out, "    %-8s  ", label);
	for (i = 0; i < names->n && i < RAN_SHOWN && chars < RAN_CHARS; i++)
		chars += (unsigned)fprintf(out, "%s%s", i ? ", " : "", names->all[i].name);
	if (names->n)
		fprintf(out, "\n");
	return i;
}

/* Files of the driver. */
struct files {
	char names[FILES][SYMBOL_FILE];
	unsigned n;
};

static bool files_have(const struct files *files, const char *name)
{
	for (unsigned i = 0; i < files->n; i++)
		if (!strcmp(files->names[i], name))
			return true;
	return false;
}

/* Those of places that tell something. */
static void files_add(struct files *files, const void *pc)
{
	struct symbol symbols[SYMBOLS_MAX];
	const size_t n = symbols_find(pc, symbols, ARRAY_SIZE(symbols));

	for (size_t k = 0; k < n && files->n < FILES; k++)
		if (is_telling(&symbols[k], false) && !files_have(files, symbols[k].file))
			snprintf(files->names[files->n++], SYMBOL_FILE, "%s", symbols[k].file);
}

/* `files`: only functions of these; NULL: of all. */
static void ran_names_add(struct ran_names *names, const struct ran *ran, bool commands,
			  const struct files *files)
{
	struct symbol symbols[SYMBOLS_MAX];

	for (unsigned i = 0; i < ran->n; i++) {
		const size_t n = symbols_find(ran->pc[i], symbols, ARRAY_SIZE(symbols));

		for (size_t k = 0; k < n; k++)
			if (is_telling(&symbols[k], commands) &&
			    (!files || files_have(files, symbols[k].file)))
				ran_name_add(names, symbols[k].name);
	}
}

static struct ran ran_cut(const struct ran *ran, unsigned n)
{
	struct ran cut = *ran;

	cut.n = n < ran->n ? n : ran->n;
	return cut;
}

/* Without those that are under way: these are told, too. */
static void ran_without(const struct ran *ran, const struct calls *now, struct ran *others)
{
	struct symbol under_way, symbol;

	others->n = 0;
	for (unsigned i = 0; i < ran->n; i++) {
		bool is = false;

		for (unsigned k = 0; k < now->n && !is; k++)
			is = symbols_find(now->pc[k], &under_way, 1) &&
			     symbols_find(ran->pc[i], &symbol, 1) &&
			     !strcmp(under_way.name, symbol.name);
		if (!is)
			others->pc[others->n++] = ran->pc[i];
	}
}

/* The functions of the driver that ran before, the latest first: those of the files whose functions are
 * under way, then the others, then those that give commands, which come by in most calls. As many as `newest`
 * stand before all others, however often they run. Returns those that are printed. */
static struct ran_names tell_ran(const struct ran *ran, const struct calls *now, unsigned newest,
				 FILE *out)
{
	struct ran_names names = {.newest = newest};
	struct files files = {.n = 0};
	const struct ran first = ran_cut(ran, newest);

	for (unsigned i = 0; now && i < now->n; i++)
		files_add(&files, now->pc[i]);
	ran_names_add(&names, &first, false, NULL);
	ran_names_add(&names, ran, false, &files);
	ran_names_add(&names, ran, false, NULL);
	ran_names_add(&names, ran, true, NULL);
	names.n = ran_names_print(&names, "before:", out);
	return names;
}

/* What the threads of transports in software have done, but for what stands above. */
static void tell_software(const struct ran_names *above, FILE *out)
{
	char told[RAN_TOLD] = "";

	for (unsigned i = 0; i < above->n; i++)
		snprintf(told + strlen(told), RAN_TOLD - strlen(told), "%s%s", i ? ", " : "",
			 above->all[i].name);
	checkers_tell_software(told, out);
}

/* Functions that have done something to the object. `told`: those of the list before, which do not
 * stand here again; NULL: none. Returns those that are printed. */
static struct ran_names tell_made(const char *label, const struct ran *ran,
				  const struct ran_names *told, FILE *out)
{
	struct ran_names names = {0}, others = {0};
	struct files files = {.n = 0};

	/* it begins and ends in the file of such objects */
	if (ran->n)
		files_add(&files, ran->pc[0]);
	if (ran->n)
		files_add(&files, ran->pc[ran->n - 1]);
	ran_names_add(&names, ran, false, &files);
	ran_names_add(&names, ran, false, NULL);
	for (unsigned i = 0; i < names.n; i++)
		if (!told || !ran_names_have(told, names.all[i].name))
			others.all[others.n++] = names.all[i];
	others.n = ran_names_print(&others, label, out);
	return others;
}

static bool ran_has(const struct ran *ran, const char *name)
{
	struct symbol symbols[SYMBOLS_MAX];

	for (unsigned i = 0; i < ran->n; i++)
		for (size_t n = symbols_find(ran->pc[i], symbols, ARRAY_SIZE(symbols)); n--;)
			if (!strcmp(symbols[n].name, name))
				return true;
	return false;
}

/* Who has set what was read, but for those that ran themselves before. */
static void tell_set(const struct ran *set, const struct ran *ran, FILE *out)
{
	struct ran_names names = {0}, others = {0};

	ran_names_add(&names, set, false, NULL);
	for (unsigned i = 0; i < names.n && others.n < SET_SHOWN; i++)
		if (!ran_has(ran, names.all[i].name))
			ran_name_add(&others, names.all[i].name);
	ran_names_print(&others, "set by:", out);
}

static void print_act(uint64_t now_ps, const struct act *act, const char *what, unsigned room,
		      FILE *out)
{
	const uint64_t ago = now_ps - act->time_ps;

	if (!act->calls.n)
		return;
	fprintf(out, "    %s %" PRIu64 ".%03" PRIu64 " us before\n", what, ago / PS_PER_US,
		ago % PS_PER_US / 1000);
	tb_tell_calls(&act->calls, "in:", room, out);
}

/* The last doorbell and the last command; the later of them first, the earlier one short. */
static void print_acts(const struct guest_error_note *note, FILE *out)
{
	const bool rung_later = note->doorbell.time_ps > note->command.time_ps;
	const struct hcr_row *command = hcr_row_find(note->command.opcode);
	const char *rung = "the last doorbell was rung";
	char given[OBJECT_CHARS];

	snprintf(given, sizeof(given), "the last command, %s, was given",
		 command ? command->name : "unknown");
	print_act(note->time_ps, &note->unmapper, "the address was unmapped", CALLS_SHOWN, out);
	print_act(note->time_ps, &note->configured, "configuration space was written", CALLS_SHOWN,
		  out);
	if (rung_later)
		print_act(note->time_ps, &note->doorbell, rung, CALLS_SHOWN, out);
	print_act(note->time_ps, &note->command, given, rung_later ? CALLS_SHORT : CALLS_SHOWN,
		  out);
	if (!rung_later)
		print_act(note->time_ps, &note->doorbell, rung, CALLS_SHORT, out);
}

/* --- guest errors --- */

/* whole: with what the other threads of a transport in software have done */
static void print_note(const struct tb *tb, const struct guest_error_note *note, unsigned again,
		       bool whole, FILE *out)
{
	const struct guest_rule_row *rule = &guest_rules[note->rule];
	char object[OBJECT_CHARS];
	struct ran_names before, makers;

	guest_object_format(note->object, object, sizeof(object));
	fprintf(out, "guest error %s of hca%u%s%s at %" PRIu64 ".%06" PRIu64 " us", rule->name,
		note->host, *object ? ", " : "", object, note->time_ps / PS_PER_US,
		note->time_ps % PS_PER_US);
	if (again)
		fprintf(out, ", and %u times more", again);
	fprintf(out, "\n    what:     %s\n    means:    %s\n", note->text, rule->meaning);
	before = tell_ran(&note->ran, &note->now, 0, out);
	tell_set(&note->set, &note->ran, out);
	tell_made("stored:", &note->wrote, NULL, out);
	makers = tell_made("made by:", &note->made, NULL, out);
	tell_made("changed:", &note->changed, &makers, out);
	if (whole && tb_in_software(&tb->ends[note->host]))
		tell_software(&before, out);
	tb_tell_calls(&note->now, "in:", CALLS_SHOWN, out);
	print_acts(note, out);
	fprintf(out, "    look at:  %s\n", rule->look);
}

static bool is_like(const struct guest_error_note *a, const struct guest_error_note *b)
{
	return a->host == b->host && a->rule == b->rule && a->object.kind == b->object.kind &&
	       a->object.number == b->object.number;
}

/* Whether no verb of the scenario has taken it. */
static bool is_left(const struct tb *tb, unsigned i)
{
	const struct guest_error_note *note = &tb->machine->guest_error_notes[i];

	return i >= tb->guest_errors_taken[note->host];
}

void tb_tell_guest_errors(struct tb *tb, FILE *out)
{
	const struct machine *m = tb->machine;
	const struct guest_error_note *notes = m->guest_error_notes;
	const unsigned n = m->guest_errors_kept < NOTES_READ ? m->guest_errors_kept : NOTES_READ;
	unsigned told = 0, left = 0;

	if (tb->explained) {
		fputs(tb->explained, out);
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		unsigned again = 0;
		bool before = false;

		for (unsigned k = 0; k < i && !before; k++)
			before = is_left(tb, k) && is_like(&notes[k], &notes[i]);
		if (!is_left(tb, i) || before)
			continue;
		if (told == TOLD_MAX) {
			left++;
			continue;
		}
		for (unsigned k = i + 1; k < n; k++)
			again += is_like(&notes[k], &notes[i]);
		print_note(tb, &notes[i], again, !told, out);
		told++;
	}
	if (left)
		fprintf(out, "and %u more guest errors: see run.log\n", left);
}

bool tb_has_guest_errors(const struct tb *tb)
{
	bool left = tb->explained;

	for (unsigned i = 0; i < tb->machine->guest_errors_kept; i++)
		left = left || is_left(tb, i);
	return left;
}

/* --- refused commands --- */

static void print_refusal(const struct refusal *r, FILE *out)
{
	const struct hcr_row *row = hcr_row_find(r->opcode);
	const struct hcr_status_row *status = hcr_status_find(r->status);

	fprintf(out, "  refused:  %s of hca%u, modifier 0x%x: status %s, %s; see the rule %s\n",
		row ? row->name : "unknown command", r->host, r->in_mod,
		status ? status->name : "unknown", status ? status->meaning : "no such status",
		guest_rules[RULE_command_refused].name);
	tell_ran(&r->ran, &r->act.calls, 0, out);
	tb_tell_calls(&r->act.calls, "in:", CALLS_SHOWN, out);
}

static void tell_refusals(const struct tb *tb, FILE *out)
{
	const struct refusals *all = &tb->machine->refusals;
	const uint64_t first = all->count < REFUSALS_KEPT ? 0 : all->count - REFUSALS_KEPT;

	for (uint64_t n = all->count; n-- > first;)
		print_refusal(&all->kept[n % REFUSALS_KEPT], out);
}

/* What a driver refused for lack of it, when the run failed for that: then the scenario is not for this
 * device. scripts/matrix.sh looks for this line. */
static void tell_lacks(const struct tb *tb, FILE *out)
{
	for (unsigned i = 0; i < MACHINE_HOSTS; i++) {
		const char *verb = host_lacked(tb->machine->hosts[i]);

		if (verb && tb->refused)
			fprintf(out, "  lacks:    %s has no %s\n",
				hca_personality(host_hca(tb->machine->hosts[i])), verb);
	}
}

/* --- why nothing happens --- */

/* The driver's functions in which a thread waits, innermost first, in one line. */
static void tell_waiting(const struct kernel_thread *thread, FILE *out)
{
	struct symbol symbols[SYMBOLS_MAX];
	unsigned shown = 0;
	struct calls calls;

	calls_of_waiting(&calls, thread);
	for (unsigned i = 0; i < calls.n; i++) {
		const size_t n = symbols_find(calls.pc[i], symbols, ARRAY_SIZE(symbols));

		for (size_t k = 0; k < n && shown < WAITING_CALLS; k++) {
			if (!strstr(symbols[k].file, "host_driver/"))
				continue;
			if (shown++)
				fprintf(out, ", %s()", symbols[k].name);
			else
				fprintf(out, "    thread %s waits in %s() %s:%d",
					kernel_thread_name(thread), symbols[k].name,
					path_in_tree(symbols[k].file), symbols[k].line);
		}
	}
	if (shown)
		fprintf(out, "\n");
}

static void tell_threads(const struct tb *tb, FILE *out)
{
	const struct kernel_thread *thread;

	for (unsigned n = 1; (thread = kernel_thread_numbered(tb->machine->kernel, n)); n++)
		tell_waiting(thread, out);
}

static void tell_stall(const struct tb *tb, FILE *out)
{
	fprintf(out, "  what the devices and the driver wait for:\n");
	tell_threads(tb, out);
	for (unsigned i = 0; i < MACHINE_HOSTS; i++)
		stall_print(host_hca(tb->machine->hosts[i]), "    ", STALL_LINES, out);
}

void tb_tell_waits(struct tb *tb, FILE *out)
{
	tell_refusals(tb, out);
	tell_lacks(tb, out);
	if (tb->timed_out)
		tell_stall(tb, out);
}

/* --- after the failure --- */

bool tb_in_driver(const struct calls *calls, enum guest_rule rule)
{
	struct symbol symbols[SYMBOLS_MAX];

	for (unsigned i = 0; i < calls->n; i++) {
		const size_t n = symbols_find(calls->pc[i], symbols, ARRAY_SIZE(symbols));

		for (size_t k = 0; k < n; k++) {
			if (is_frame_of_bench(&symbols[k]))
				continue;
			if (strstr(symbols[k].file, "host_driver/"))
				return true;
			/* the checker may follow a list of the driver that has no end */
			if (rule == RULE_driver_endless &&
			    strstr(symbols[k].file, "testbench/dsan/"))
				continue;
			if (strstr(symbols[k].file, "testbench/"))
				return false;
		}
	}
	return false;
}

void tb_tell_crash(struct tb *tb, const struct calls *calls, enum guest_rule rule, FILE *out)
{
	const struct guest_rule_row *row = &guest_rules[rule];
	const bool in_driver = tb_in_driver(calls, rule);
	struct ran_names before;
	struct ran ran, others;

	/* what went wrong before is often the cause */
	tb_tell_guest_errors(tb, out);
	if (in_driver)
		fprintf(out, "guest error %s\n    means:    %s\n", row->name, row->meaning);
	tb_tell_calls(calls, "in:", CALLS_SHOWN, out);
	if (in_driver) {
		checkers_ran(0, &ran);
		ran_without(&ran, calls, &others);
		before = tell_ran(&others, calls, CRASH_NEWEST, out);
		if (!tb_has_guest_errors(tb))
			tell_software(&before, out);
		fprintf(out, "    look at:  %s\n", row->look);
	}
}

void tb_tell_consequences(struct tb *tb, FILE *out)
{
	const struct machine *m = tb->machine;
	unsigned n = 0;

	for (unsigned i = 0; i < m->guest_errors_kept; i++)
		n += m->guest_error_notes[i].consequence;
	if (n)
		fprintf(out,
			"  %u more guest errors came after the failure, while the driver was taken "
			"down: they are its consequences\n",
			n);
}
