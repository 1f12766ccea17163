/* SPDX-License-Identifier: Apache-2.0 */
/* See matrix.h. */
#include "testbench/app/matrix.h"

#include "model/interface/macros.h"
#include "model/sim/cfg.h"
#include "model/sim/params.h"
#include "testbench/scenario.h"

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

/* Whether the scenario's file includes the inside of the driver of mlx4. */
static bool looks_inside(const struct scenario *scenario)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strcmp(rows[i].scenario, scenario->name))
			return rows[i].inside_mlx4;
	return false;
}

const char *matrix_lacks(const struct scenario *scenario, const struct config *config)
{
	bool software = false, two_ports = false, ethernet = false;

	for (size_t i = 0; i < ARRAY_SIZE(config->hca); i++) {
		software |= config->hca[i].hca_personality == CFG_PERSONALITY_ipath;
		two_ports |= config->hca[i].hca_ports > 1;
		ethernet |= config->hca[i].port1_type != CFG_PORT_IB;
	}
	if (!software)
		return NULL;
	if (two_ports)
		return "second port";
	if (ethernet)
		return "Ethernet port";
	if (scenario->setup.data_vls > 1)
		return "second data VL";
	if (looks_inside(scenario))
		return "inside of the driver of mlx4, which the scenario looks into";
	return scenario->setup.of_mlx4;
}
