/* SPDX-License-Identifier: Apache-2.0 */
/* Makes points from the words of a command line: one for each combination of values. */
#include "testbench/perf/points.h"
#include "testbench/perf/workloads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 10000 };

static unsigned values_of(const char *word)
{
	unsigned n = 1;

	for (; *word; word++)
		n += *word == ',';
	return n;
}

/* Writes the word with only the n-th of its values. */
static void put_word(FILE *out, const char *word, unsigned n)
{
	const size_t key = strcspn(word, "=") + 1;
	const char *value = word + key;

	for (; n; n--)
		value = strchr(value, ',') + 1;
	fprintf(out, "%.*s%.*s", (int)key, word, (int)strcspn(value, ","), value);
}

static void put_words(FILE *out, const char *const *words, const unsigned *choice, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		fputs(i ? ";" : "", out);
		put_word(out, words[i], choice[i]);
	}
}

/* The id of such a point is its own words. */
static void put_row(FILE *out, unsigned row, const struct perf_workload *workload,
		    const char *const *words, unsigned n)
{
	unsigned rest = row, choice[PERF_WORDS_MAX];

	/* the last word changes fastest */
	for (unsigned i = n; i-- > 0;) {
		choice[i] = rest % values_of(words[i]);
		rest /= values_of(words[i]);
	}
	if (n)
		put_words(out, words, choice, n);
	else
		fputs(workload->name, out);
	fprintf(out, ",default,%s,", workload->name);
	put_words(out, words, choice, n);
	fprintf(out, ",,%.*s,\n", (int)strcspn(perf_units(workload), ", "), perf_units(workload));
}

int perf_points_ask(struct perf_points *points, const char *name, const char *const *words,
		    unsigned n, FILE *err)
{
	const struct perf_workload *workload = perf_workload_find(name);
	unsigned rows = 1;
	char *text = NULL;
	size_t size = 0;
	FILE *out;

	if (!workload) {
		fprintf(err, "hcasim: no workload '%s'; hcasim perf --help lists them\n", name);
		return -EINVAL;
	}
	for (unsigned i = 0; i < n; i++) {
		if (!strchr(words[i], '=') || strpbrk(words[i], ";\"\n")) {
			fprintf(err, "hcasim: expected KEY=VALUE,VALUE..., got '%s'\n", words[i]);
			return -EINVAL;
		}
		rows *= values_of(words[i]);
		if (rows > ROWS_MAX) {
			fprintf(err, "hcasim: expected at most %d combinations\n", ROWS_MAX);
			return -EINVAL;
		}
	}
	out = open_memstream(&text, &size);
	if (!out)
		return -ENOMEM;
	for (unsigned row = 0; row < rows; row++)
		put_row(out, row, workload, words, n);
	if (fclose(out)) {
		free(text);
		return -ENOMEM;
	}
	return perf_points_parse(points, name, text, err);
}
