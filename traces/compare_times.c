/* SPDX-License-Identifier: Apache-2.0 */
/* Where the time of two runs differs, and what was configured differently. See compare.h. */
#define _GNU_SOURCE /* qsort_r */
#include "traces/compare_impl.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/sim/file.h"
#include "traces/messages.h"

enum { HCAS = 2, PATH_CHARS = 4096, SETTINGS_SHOWN = 20 };

/* --- sums of a stage over the messages that both runs have --- */

struct sum {
	double a_ps, b_ps, worst_ps;
	size_t n;
	char worst[64];
};

static void sum_add(struct sum *s, uint64_t a, uint64_t b, const char *what)
{
	double difference = (double)b - (double)a;

	s->a_ps += (double)a;
	s->b_ps += (double)b;
	if (!s->n++ || fabs(difference) > fabs(s->worst_ps)) {
		s->worst_ps = difference;
		snprintf(s->worst, sizeof(s->worst), "%s", what);
	}
}

static bool sum_counts(const struct sum *s, const struct compare_options *o)
{
	double mean = fabs(s->b_ps - s->a_ps) / (double)(s->n ? s->n : 1),
	       worst = fabs(s->worst_ps), a = s->a_ps / (double)(s->n ? s->n : 1);

	return worst > 0 && (mean > o->threshold_ps || worst > o->threshold_ps) &&
	       mean * 100 >= o->threshold_percent * a;
}

static void sum_print(FILE *out, const char *who, const char *what, const struct sum *s)
{
	double n = (double)s->n;

	fprintf(out, "  %-4s %-14s %8zu %15.3f %15.3f %+14.3f %+14.3f  %s\n", who, what, s->n,
		s->a_ps / n / 1e3, s->b_ps / n / 1e3, (s->b_ps - s->a_ps) / n / 1e3,
		s->worst_ps / 1e3, s->worst);
}

/* --- messages, matched by their QP and number on it --- */

static int by_qp(const void *x, const void *y, void *messages)
{
	struct message *const *const all = messages;
	const struct message *a = all[*(const uint32_t *)x], *b = all[*(const uint32_t *)y];

	if (a->hca != b->hca)
		return a->hca < b->hca ? -1 : 1;
	if (a->qpn != b->qpn)
		return a->qpn < b->qpn ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static bool in_phase(const struct run_files *run, uint64_t ps, const char *phase)
{
	unsigned in = run->phase_count;

	while (in > 1 && run->phase_ps[in - 1] > ps)
		in--;
	return !phase || !strcmp(phase, run->phases[in - 1]);
}

static uint32_t *sorted(const struct messages *all, const struct run_files *run, const char *phase,
			size_t *count)
{
	uint32_t *order = malloc((all->count + 1) * sizeof(*order));
	size_t n = 0;

	for (size_t i = 0; order && i < all->count; i++)
		if (in_phase(run, all->messages[i]->at_ps[MESSAGE_WQE], phase))
			order[n++] = (uint32_t)i;
	if (order)
		qsort_r(order, n, sizeof(*order), by_qp, all->messages);
	*count = n;
	return order;
}

static int qp_order(const struct message *a, const struct message *b)
{
	if (a->hca != b->hca)
		return a->hca < b->hca ? -1 : 1;
	return a->qpn < b->qpn ? -1 : a->qpn > b->qpn;
}

static void pair_add(struct sum sums[HCAS][MESSAGE_POINT_COUNT], const struct message *a,
		     const struct message *b)
{
	char what[64];
	uint64_t x, y;

	snprintf(what, sizeof(what), "qpn 0x%x wqe %u %s", a->qpn, a->index, a->opcode);
	for (unsigned s = 0; s < MESSAGE_POINT_COUNT; s++)
		if (message_stage(a, s, &x) && message_stage(b, s, &y))
			sum_add(&sums[a->hca % HCAS][s], x, y, what);
}

static int add_messages(struct sum sums[HCAS][MESSAGE_POINT_COUNT], const struct messages all[2],
			const struct run_files runs[2], const char *phase)
{
	uint32_t *order[2];
	size_t n[2], i = 0, j = 0;
	int ret = -ENOMEM;

	order[0] = sorted(&all[0], &runs[0], phase, &n[0]);
	order[1] = sorted(&all[1], &runs[1], phase, &n[1]);
	if (!order[0] || !order[1])
		goto out;
	while (i < n[0] && j < n[1]) {
		const struct message *a = all[0].messages[order[0][i]],
				     *b = all[1].messages[order[1][j]];
		int c = qp_order(a, b);

		if (!c)
			pair_add(sums, a, b);
		i += c <= 0;
		j += c >= 0;
	}
	ret = 0;
out:
	free(order[0]);
	free(order[1]);
	return ret;
}

/* --- commands: compared in their order until the first that differs --- */

static size_t command_next(const struct messages *all, size_t i, unsigned hca,
			   const struct run_files *run, const char *phase)
{
	while (i < all->command_count &&
	       (all->commands[i].hca != hca || !in_phase(run, all->commands[i].posted_ps, phase)))
		i++;
	return i;
}

static void add_commands(struct sum *sum, const struct messages all[2],
			 const struct run_files runs[2], const char *phase, unsigned hca)
{
	size_t i = 0, j = 0;

	for (;; i++, j++) {
		const struct command *a, *b;

		i = command_next(&all[0], i, hca, &runs[0], phase);
		j = command_next(&all[1], j, hca, &runs[1], phase);
		if (i == all[0].command_count || j == all[1].command_count)
			return;
		a = &all[0].commands[i];
		b = &all[1].commands[j];
		if (a->opcode != b->opcode)
			return;
		if (a->done_ps == MESSAGE_NEVER || b->done_ps == MESSAGE_NEVER)
			continue;
		sum_add(sum, a->done_ps - a->posted_ps, b->done_ps - b->posted_ps, a->name);
	}
}

/* --- phases --- */

static uint64_t phase_takes(const struct run_files *run, unsigned i)
{
	uint64_t end = i + 1 < run->phase_count ? run->phase_ps[i + 1]
		       : run->count             ? run->items[run->count - 1].time_ps
						: run->phase_ps[i];

	return end > run->phase_ps[i] ? end - run->phase_ps[i] : 0;
}

static void add_phases(struct sum *sum, const struct run_files runs[2], const char *phase)
{
	for (unsigned i = 1; i < runs[0].phase_count && i < runs[1].phase_count; i++)
		if (!strcmp(runs[0].phases[i], runs[1].phases[i]) &&
		    (!phase || !strcmp(phase, runs[0].phases[i])))
			sum_add(sum, phase_takes(&runs[0], i), phase_takes(&runs[1], i),
				runs[0].phases[i]);
}

struct rows {
	struct sum stages[HCAS][MESSAGE_POINT_COUNT], commands[HCAS], phases;
};

static int print_rows(const struct rows *r, const struct compare_options *options, FILE *out)
{
	static const char *const names[HCAS] = {"hca0", "hca1"};
	size_t n = 0, compared = 0;

	for (unsigned pass = 0; pass < 2; pass++) {
		if (pass && n)
			fprintf(out, "times, means in ns:\n  %-19s %8s %15s %15s %14s %14s\n",
				"stage", "count", "A", "B", "difference", "worst");
		for (unsigned h = 0; h < HCAS; h++) {
			for (unsigned s = 0; s <= MESSAGE_POINT_COUNT; s++) {
				const struct sum *sum = s < MESSAGE_POINT_COUNT ? &r->stages[h][s]
										: &r->commands[h];

				compared += pass ? 0 : sum->n;
				if (!sum->n || !sum_counts(sum, options))
					continue;
				n += !pass;
				if (pass)
					sum_print(out, names[h],
						  s < MESSAGE_POINT_COUNT ? message_stage_word(s)
									  : "command",
						  sum);
			}
		}
		if (r->phases.n && sum_counts(&r->phases, options)) {
			n += !pass;
			if (pass)
				sum_print(out, "both", "phases", &r->phases);
		}
	}
	if (!n && compared)
		fprintf(out, "times are equal%s\n",
			options->threshold_ps > 0 || options->threshold_percent > 0
				? " within the threshold"
				: "");
	return n != 0;
}

int compare_times(const struct run_files runs[2], const char *phase,
		  const struct compare_options *options, FILE *out)
{
	struct rows *rows = calloc(1, sizeof(*rows));
	struct messages all[2] = {{0}};
	int ret = -ENOMEM;

	if (!rows || messages_find(&all[0], &runs[0]) || messages_find(&all[1], &runs[1]))
		goto out;
	ret = add_messages(rows->stages, all, runs, phase);
	if (ret)
		goto out;
	for (unsigned h = 0; h < HCAS; h++)
		add_commands(&rows->commands[h], all, runs, phase, h);
	add_phases(&rows->phases, runs, phase);
	ret = print_rows(rows, options, out);
out:
	if (ret == -ENOMEM)
		fprintf(stderr, "hcasim: no memory\n");
	messages_free(&all[0]);
	messages_free(&all[1]);
	free(rows);
	return ret;
}

/* --- configurations --- */

struct setting {
	char section[64], key[64], value[128];
};

/* Reads the next setting of a config.ini. */
static bool setting_next(FILE *in, struct setting *s)
{
	char line[512];

	while (fgets(line, sizeof(line), in)) {
		if (sscanf(line, "[%63[^]]]", s->section) == 1)
			continue;
		if (*line != '#' && sscanf(line, "%63[^ =] = %127[^\n]", s->key, s->value) == 2)
			return true;
	}
	return false;
}

/* All settings of a config.ini, in the order of the file and sorted by name. */
struct settings {
	struct setting *all;
	const struct setting **sorted;
	size_t count;
};

static int setting_order(const struct setting *a, const struct setting *b)
{
	const int n = strcmp(a->section, b->section);

	return n ? n : strcmp(a->key, b->key);
}

/* Of two settings with the same name, the one that is first in the file counts. */
static int by_name(const void *x, const void *y)
{
	const struct setting *a = *(const struct setting *const *)x,
			     *b = *(const struct setting *const *)y;
	const int n = setting_order(a, b);

	return n ? n : a < b ? -1 : a > b;
}

static int settings_read(struct settings *set, FILE *in)
{
	struct setting s = {.section = ""};
	size_t room = 0;

	while (setting_next(in, &s)) {
		if (set->count == room) {
			struct setting *more;

			room = room ? 2 * room : 512;
			more = realloc(set->all, room * sizeof(*more));
			if (!more)
				return -ENOMEM;
			set->all = more;
		}
		set->all[set->count++] = s;
	}
	set->sorted = malloc((set->count + 1) * sizeof(*set->sorted));
	if (!set->sorted)
		return -ENOMEM;
	for (size_t i = 0; i < set->count; i++)
		set->sorted[i] = &set->all[i];
	qsort(set->sorted, set->count, sizeof(*set->sorted), by_name);
	return 0;
}

static int settings_load(struct settings *set, const char *dir)
{
	char path[PATH_CHARS];
	FILE *in;
	int ret;

	snprintf(path, sizeof(path), "%s/config.ini", dir);
	ret = file_open(&in, path, FILE_REGULAR, NULL);
	if (ret)
		return ret;
	ret = settings_read(set, in);
	fclose(in);
	return ret;
}

/* The setting's value; NULL: it is not set. */
static const char *setting_find(const struct settings *set, const struct setting *wanted)
{
	size_t from = 0, to = set->count;

	while (from < to) {
		const size_t at = (from + to) / 2;

		if (setting_order(set->sorted[at], wanted) < 0)
			from = at + 1;
		else
			to = at;
	}
	return from < set->count && !setting_order(set->sorted[from], wanted)
		       ? set->sorted[from]->value
		       : NULL;
}

/* Prints the settings of `set` whose value is different or missing in `other`; with `absent`, only
 * those that are missing there. */
static unsigned configs_print(const struct settings *set, const struct settings *other, bool absent,
			      unsigned n, FILE *out)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct setting *s = &set->all[i];
		const char *value = setting_find(other, s);

		if (absent ? value != NULL : value && !strcmp(value, s->value))
			continue;
		value = value ? value : "(absent)";
		if (n++ < SETTINGS_SHOWN)
			fprintf(out, "  %s.%s: %s | %s\n", s->section, s->key,
				absent ? value : s->value, absent ? s->value : value);
	}
	return n;
}

void compare_configs(const char *a, const char *b, FILE *out)
{
	struct settings sets[2] = {{0}};
	FILE *text = NULL;
	char *buf = NULL;
	size_t size = 0;
	unsigned n;

	if (!settings_load(&sets[0], a) && !settings_load(&sets[1], b))
		text = open_memstream(&buf, &size);
	if (text) {
		n = configs_print(&sets[0], &sets[1], false, 0, text);
		n = configs_print(&sets[1], &sets[0], true, n, text);
		fclose(text);
		if (n)
			fprintf(out, "configured differently, A | B:\n%s", buf);
		if (n > SETTINGS_SHOWN)
			fprintf(out, "  and %u more\n", n - SETTINGS_SHOWN);
	}
	free(buf);
	for (unsigned side = 0; side < 2; side++) {
		free(sets[side].all);
		free(sets[side].sorted);
	}
}
