// SPDX-License-Identifier: Apache-2.0
/* See schedule.h. The file has one statement a line; '#' begins a comment. */
#include "testbench/explore/schedule.h"

#include "model/interface/macros.h"
#include "model/sim/file.h"
#include "model/sim/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const struct turn_kind_row turn_kinds[TURN_KIND_COUNT] = {
#define T(NAME, word, party, what) [TURN_##NAME] = {word, party, what},
	TURN_KINDS(T)
#undef T
};

enum { FILE_BYTES_MAX = 1 << 16 };

static const char first_line[] = "hcasim schedule 1";

int schedule_write(const struct schedule *s, FILE *out)
{
	fprintf(out, "%s\nscenario %s\nseed %" PRIu64 "\n", first_line, s->scenario, s->sim_seed);
	if (s->from_start)
		fprintf(out, "from start\n");
	for (unsigned i = 0; i < s->n; i++) {
		const struct turn *t = &s->turns[i];

		fprintf(out, "%s %s %u nth %" PRIu32 " for %" PRIu64 "ps\n",
			turn_kinds[t->kind].word, turn_kinds[t->kind].party, t->party, t->nth,
			t->ps);
	}
	return ferror(out) ? -EIO : 0;
}

static bool turn_read(struct schedule *s, const char *line)
{
	char word[16], party[16], time[32], rest;
	struct turn *t = &s->turns[s->n];

	if (s->n == SCHEDULE_TURNS_MAX)
		return false;
	if (sscanf(line, "%15s %15s %u nth %" SCNu32 " for %31s %c", word, party, &t->party,
		   &t->nth, time, &rest) != 5)
		return false;
	if (cfg_value_parse(CFG_TIME, time, &t->ps))
		return false;
	for (unsigned k = 0; k < TURN_KIND_COUNT; k++)
		if (!strcmp(turn_kinds[k].word, word) && !strcmp(turn_kinds[k].party, party)) {
			t->kind = (enum turn_kind)k;
			s->n++;
			return true;
		}
	return false;
}

static bool line_read(struct schedule *s, const char *line)
{
	char rest;

	if (!strcmp(line, "from start")) {
		s->from_start = true;
		return true;
	}
	if (sscanf(line, "scenario %255[^\n]", s->scenario) == 1)
		return true;
	if (sscanf(line, "seed %" SCNu64 " %c", &s->sim_seed, &rest) == 1)
		return true;
	return turn_read(s, line);
}

int schedule_read(struct schedule *s, const char *path, FILE *err)
{
	char *text, *line, *rest;
	size_t len;
	unsigned number = 0;
	int rc = file_text(&text, &len, path, FILE_ANY, FILE_BYTES_MAX, err);

	if (rc)
		return rc;
	*s = (struct schedule){0};
	rest = text;
	while (!rc && (line = strsep(&rest, "\n"))) {
		number++;
		line[strcspn(line, "#")] = 0;
		for (size_t n = strlen(line); n && (line[n - 1] == ' ' || line[n - 1] == '\r'); n--)
			line[n - 1] = 0;
		if (number == 1 ? !strcmp(line, first_line) : !*line || line_read(s, line))
			continue;
		fprintf(err, "%s:%u: expected %s, got '%.60s'\n", path, number,
			number == 1
				? "'hcasim schedule 1'"
				: "'WORD thread|host N nth N for TIME', as hcasim explore writes",
			line);
		rc = -EINVAL;
	}
	if (!rc && !*s->scenario) {
		fprintf(err, "%s:%u: expected a line 'scenario NAME'\n", path, number);
		rc = -EINVAL;
	}
	free(text);
	return rc;
}
