/* SPDX-License-Identifier: Apache-2.0 */
/* See matrix.h. */
#include "testbench/app/matrix.h"

#include "model/interface/macros.h"
#include "model/sim/cfg.h"
#include "model/sim/params.h"

#include <errno.h>
#include <string.h>

enum { LINE_CHARS = 256 };

static const char *const sides[] = {"hw-hw", "hw-sw", "sw-hw", "sw-sw"};

/* Every scenario, and whether its file includes the inside of the driver of mlx4. */
static const struct row {
	const char *scenario;
	bool inside_mlx4;
} rows[] = {
#define M(scenario_, inside_) {scenario_, inside_},
#include "testbench/matrix.gen.h"
#undef M
};

/* The last line about the scenario and these sides; it stays in line[]. */
static const char *result_of(FILE *in, const char *scenario, const char *side, char *line)
{
	static char kept[LINE_CHARS];
	char name[LINE_CHARS], at[LINE_CHARS];
	int n = 0;

	strcpy(kept, "not-run");
	if (!in)
		return kept;
	rewind(in);
	while (fgets(line, LINE_CHARS, in)) {
		line[strcspn(line, "\n")] = 0;
		if (sscanf(line, "%255[^\t]\t%255[^\t]\t%n", name, at, &n) == 2 && n &&
		    !strcmp(name, scenario) && !strcmp(at, side))
			strcpy(kept, line + n);
		n = 0;
	}
	return kept;
}

int matrix_print(FILE *out, const char *results)
{
	FILE *in = fopen(results, "r");
	char line[LINE_CHARS];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		fprintf(out, "%s", rows[i].scenario);
		for (size_t k = 0; k < ARRAY_SIZE(sides); k++)
			fprintf(out, "\t%s", result_of(in, rows[i].scenario, sides[k], line));
		fprintf(out, "\n");
	}
	if (in)
		fclose(in);
	return ferror(out) ? -EIO : 0;
}

const char *matrix_lacks(const char *scenario, const struct config *config)
{
	bool software = false, two_ports = false;

	for (size_t i = 0; i < ARRAY_SIZE(config->hca); i++) {
		software |= config->hca[i].hca_personality != CFG_PERSONALITY_mlx4;
		two_ports |= config->hca[i].hca_personality != CFG_PERSONALITY_mlx4 &&
			     config->hca[i].hca_ports > 1;
	}
	if (two_ports)
		return "second port";
	for (size_t i = 0; software && i < ARRAY_SIZE(rows); i++)
		if (rows[i].inside_mlx4 && !strcmp(rows[i].scenario, scenario))
			return "inside of the driver of mlx4, which the scenario looks into";
	return NULL;
}
