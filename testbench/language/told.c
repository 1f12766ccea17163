/* SPDX-License-Identifier: Apache-2.0 */
/* What a failure tells about guest errors: rule, object, and the calls of the driver that led to it. */
#include "model/interface/macros.h"
#include "model/interface/rows.h"
#include "testbench/language/tb.h"
#include "testbench/os/symbols.h"

#include <inttypes.h>
#include <string.h>

enum {
	TOLD_MAX = 4,
	NOTES_READ = 1024,
	CALLS_SHOWN = 9,
	SYMBOLS_MAX = 8,
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

/* The platform's functions begin every chain, and those that run the scenario end it. */
static bool is_frame_of_bench(const struct symbol *s)
{
	return strstr(s->file, "testbench/machine/") ||
	       strstr(s->file, "testbench/language/tb.c") || strstr(s->file, "model/systemc/") ||
	       strstr(s->file, "/sysc/");
}

/* Prints one function a line, the innermost first: at most `room` of them. */
static void print_calls(const struct calls *calls, const char *label, unsigned room, FILE *out)
{
	struct symbol symbols[SYMBOLS_MAX];
	char last[SYMBOL_NAME] = "", place[SYMBOL_FILE + 16];

	for (unsigned i = 0; i < calls->n; i++) {
		const size_t n = symbols_find(calls->pc[i], symbols, ARRAY_SIZE(symbols));

		for (size_t k = 0; k < n && room; k++) {
			if (is_frame_of_bench(&symbols[k]) || !strcmp(symbols[k].name, last))
				continue;
			snprintf(last, sizeof(last), "%s", symbols[k].name);
			place[0] = 0;
			if (symbols[k].file[0])
				snprintf(place, sizeof(place), "  %s:%d",
					 path_in_tree(symbols[k].file), symbols[k].line);
			fprintf(out, "    %-8s  %s()%s\n", label, symbols[k].name, place);
			label = "";
			room--;
		}
	}
}

static void print_act(const struct guest_error_note *note, const struct act *act, const char *what,
		      FILE *out)
{
	const uint64_t ago = note->time_ps - act->time_ps;

	if (!act->calls.n)
		return;
	fprintf(out, "    %s %" PRIu64 ".%03" PRIu64 " us before\n", what, ago / PS_PER_US,
		ago % PS_PER_US / 1000);
	print_calls(&act->calls, "in:", CALLS_SHOWN, out);
}

/* The last doorbell and the last command; the later of them first. */
static void print_acts(const struct guest_error_note *note, FILE *out)
{
	const bool rung_later = note->doorbell.time_ps > note->command.time_ps;
	const struct hcr_row *command = hcr_row_find(note->command.opcode);
	char what[OBJECT_CHARS];

	print_act(note, &note->unmapper, "the address was unmapped", out);
	if (rung_later)
		print_act(note, &note->doorbell, "the last doorbell was rung", out);
	snprintf(what, sizeof(what), "the last command, %s, was given",
		 command ? command->name : "unknown");
	print_act(note, &note->command, what, out);
	if (!rung_later)
		print_act(note, &note->doorbell, "the last doorbell was rung", out);
}

/* --- guest errors --- */

static void print_note(const struct guest_error_note *note, unsigned again, FILE *out)
{
	const struct guest_rule_row *rule = &guest_rules[note->rule];
	char object[OBJECT_CHARS];

	guest_object_format(note->object, object, sizeof(object));
	fprintf(out, "guest error %s of hca%u%s%s at %" PRIu64 ".%06" PRIu64 " us", rule->name,
		note->host, *object ? ", " : "", object, note->time_ps / PS_PER_US,
		note->time_ps % PS_PER_US);
	if (again)
		fprintf(out, ", and %u times more", again);
	fprintf(out, "\n    what:     %s\n    means:    %s\n", note->text, rule->meaning);
	print_calls(&note->now, "in:", CALLS_SHOWN, out);
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
		print_note(&notes[i], again, out);
		told++;
	}
	if (left)
		fprintf(out, "and %u more guest errors: see run.log\n", left);
}
