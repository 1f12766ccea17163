/* SPDX-License-Identifier: Apache-2.0 */
/* See behaviours.h. */
#include "testbench/app/behaviours.h"

#include "model/interface/macros.h"

#include <errno.h>
#include <string.h>

enum { LINE_CHARS = 256 };

static const struct {
	const char *id, *scenario, *text;
} rows[] = {
#define B(id_, scenario_, text_) {id_, scenario_, text_},
#include "testbench/behaviours.gen.h"
#undef B
};

/* Uses the last line about the scenario. */
static const char *result_of(FILE *results, const char *scenario)
{
	const char *result = "not-run";
	char line[LINE_CHARS], verdict[LINE_CHARS], name[LINE_CHARS];

	if (!results)
		return result;
	rewind(results);
	while (fgets(line, sizeof(line), results)) {
		if (sscanf(line, "%s scenario.%s", verdict, name) != 2 || strcmp(name, scenario))
			continue;
		result = strcmp(verdict, "pass") ? "fail" : "pass";
	}
	return result;
}

int behaviours_print(FILE *out, const char *results, bool text)
{
	FILE *in = fopen(results, "r");

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		fprintf(out, "%s\t%s\t%s%s%s\n", rows[i].id, rows[i].scenario,
			result_of(in, rows[i].scenario), text ? "\t" : "",
			text ? rows[i].text : "");
	if (in)
		fclose(in);
	return ferror(out) ? -EIO : 0;
}
