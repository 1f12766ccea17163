/* SPDX-License-Identifier: Apache-2.0 */
/* See catalog.h. */
#include "testbench/app/catalog.h"

#include "model/interface/macros.h"
#include "model/sim/near_name.h"
#include "testbench/build_info.h"
#include "testbench/dsan/hear/callout.h"
#include "testbench/os/compile.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The linker gives these names to the section that SCENARIO fills. */
extern const struct scenario *const __start_hcasim_scenarios[] __attribute__((weak));
extern const struct scenario *const __stop_hcasim_scenarios[] __attribute__((weak));

static int by_name(const void *a, const void *b)
{
	return strcmp((*(const struct scenario *const *)a)->name,
		      (*(const struct scenario *const *)b)->name);
}

#define FOR_EACH_SCENARIO(s)                                                                       \
	for (const struct scenario *const *s = __start_hcasim_scenarios;                           \
	     s != __stop_hcasim_scenarios; s++)

const struct scenario *catalog_find(const char *name)
{
	FOR_EACH_SCENARIO(s)
		if (!strcmp((*s)->name, name))
			return *s;
	return NULL;
}

void catalog_complain(const char *name, FILE *err)
{
	struct near_name near = {.wanted = name};

	FOR_EACH_SCENARIO(s)
		near_name_try(&near, (*s)->name);
	if (near.name[0])
		fprintf(err, "hcasim: no scenario '%s'; did you mean '%s'?\n", name, near.name);
	else
		fprintf(err, "hcasim: no scenario '%s'; hcasim list prints them\n", name);
}

void catalog_print(FILE *out)
{
	const size_t n = (size_t)(__stop_hcasim_scenarios - __start_hcasim_scenarios);
	const struct scenario **all = malloc((n + 1) * sizeof(*all));

	if (!all) {
		fprintf(stderr, "hcasim: out of memory for %zu scenarios\n", n);
		return;
	}
	memcpy(all, __start_hcasim_scenarios, n * sizeof(*all));
	qsort(all, n, sizeof(*all), by_name);
	for (size_t i = 0; i < n; i++)
		if (!all[i]->setup.hidden)
			fprintf(out, "%s  %s\n", all[i]->name, all[i]->shows);
	free(all);
}

/* --- FILE.c --- */

int catalog_load(const char *path, const struct scenario **scenario, FILE *err)
{
	/* the checker sees what this scenario asks the driver for, as it sees the built-in ones */
	const char *words[] = {"-DSCENARIO_EXTERNAL", path, BUILD_WRAPS};
	const struct scenario *s;
	struct stat st;
	void *so;
	int rc;

	rc = access(path, R_OK) || stat(path, &st) ? -errno : S_ISDIR(st.st_mode) ? -EISDIR : 0;
	if (rc) {
		fprintf(err, "%s: %s\n", path, strerror(-rc));
		return rc;
	}
	rc = compile_and_load(path, words, ARRAY_SIZE(words) - !callouts_built(), &so, err);
	if (rc)
		return rc;
	s = dlsym(so, "hcasim_scenario");
	if (!s) {
		fprintf(err, "%s: has no SCENARIO\n", path);
		dlclose(so);
		return -EINVAL;
	}
	if (s->interface != SCENARIO_INTERFACE) {
		fprintf(err, "%s: built for scenario interface %u, this hcasim has %d\n", path,
			s->interface, SCENARIO_INTERFACE);
		dlclose(so);
		return -EINVAL;
	}
	*scenario = s;
	return 0;
}
