// SPDX-License-Identifier: Apache-2.0
/* See catalog.h. */
#include "testbench/catalog.h"

#include "testbench/compile.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SCENARIOS_MAX = 512, NEAR_ENOUGH = 3, NAME_CHARS = 64 };

/* The linker's names of the section that SCENARIO fills. */
extern const struct scenario *const __start_hcasim_scenarios[] __attribute__((weak));
extern const struct scenario *const __stop_hcasim_scenarios[] __attribute__((weak));

static int by_name(const void *a, const void *b)
{
	return strcmp((*(const struct scenario *const *)a)->name,
		      (*(const struct scenario *const *)b)->name);
}

static size_t collect(const struct scenario **all)
{
	size_t n = 0;

	for (const struct scenario *const *s = __start_hcasim_scenarios;
	     s != __stop_hcasim_scenarios && n < SCENARIOS_MAX; s++)
		all[n++] = *s;
	qsort(all, n, sizeof(*all), by_name);
	return n;
}

const struct scenario *catalog_find(const char *name)
{
	const struct scenario *all[SCENARIOS_MAX];
	size_t n = collect(all);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(all[i]->name, name))
			return all[i];
	return NULL;
}

static unsigned distance(const char *a, const char *b)
{
	unsigned row[NAME_CHARS + 1], na = (unsigned)strlen(a), nb = (unsigned)strlen(b);

	if (na > NAME_CHARS || nb > NAME_CHARS)
		return NAME_CHARS;
	for (unsigned j = 0; j <= nb; j++)
		row[j] = j;
	for (unsigned i = 1; i <= na; i++) {
		unsigned diagonal = row[0];

		row[0] = i;
		for (unsigned j = 1; j <= nb; j++) {
			unsigned best = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[nb];
}

const char *catalog_nearest(const char *name)
{
	const struct scenario *all[SCENARIOS_MAX];
	size_t n = collect(all);
	unsigned best = NEAR_ENOUGH + 1;
	const char *nearest = NULL;

	for (size_t i = 0; i < n; i++) {
		unsigned d = distance(name, all[i]->name);

		if (d < best) {
			best = d;
			nearest = all[i]->name;
		}
	}
	return nearest;
}

void catalog_print(FILE *out)
{
	const struct scenario *all[SCENARIOS_MAX];
	size_t n = collect(all);

	for (size_t i = 0; i < n; i++)
		if (!all[i]->setup.hidden)
			fprintf(out, "%s  %s\n", all[i]->name, all[i]->shows);
}

/* --- FILE.c --- */

int catalog_load(const char *path, const struct scenario **scenario, FILE *err)
{
	const char *words[] = {"-DSCENARIO_EXTERNAL", path};
	const struct scenario *s;
	void *so;
	int rc;

	if (access(path, R_OK)) {
		rc = -errno;
		fprintf(err, "%s: %s\n", path, strerror(-rc));
		return rc;
	}
	rc = compile_and_load(path, words, sizeof(words) / sizeof(words[0]), &so, err);
	if (rc)
		return rc;
	s = dlsym(so, "hcasim_scenario");
	if (!s) {
		fprintf(err, "%s: has no SCENARIO\n", path);
		dlclose(so);
		return -EINVAL;
	}
	if (s->interface != SCENARIO_INTERFACE) {
		fprintf(err, "%s: scenario interface %u, this hcasim has %d\n", path, s->interface,
			SCENARIO_INTERFACE);
		dlclose(so);
		return -EINVAL;
	}
	*scenario = s;
	return 0;
}
