/* SPDX-License-Identifier: Apache-2.0 */
/* See counters.h. */
#include "testbench/language/counters.h"

#include "model/engine/base/stats.h"
#include "model/interface/fwregs.h"
#include "model/interface/macros.h"
#include "model/sim/near_name.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_COLUMNS = 36, VALUE_COLUMNS = 15 };

size_t counters_read(const struct hca *hca, struct stat_value **values)
{
	const size_t n = hca_stats(hca, NULL, 0);

	*values = calloc(n + 1, sizeof(**values));
	return *values ? hca_stats(hca, *values, n) : 0;
}

int counters_write(const struct hca *const *hcas, unsigned count, FILE *out)
{
	const char *separator = "{\n";

	for (unsigned h = 0; h < count; h++) {
		struct stat_value *v;
		const size_t n = counters_read(hcas[h], &v);

		for (size_t i = 0; i < n; i++, separator = ",\n")
			fprintf(out, "%s  \"hca%u.%s.%s\": %" PRIu64, separator, h, v[i].stage,
				v[i].counter, v[i].value);
		free(v);
	}
	fprintf(out, "\n}\n");
	return ferror(out) ? -EIO : 0;
}

/* Counters of all devices; a device with fewer ports has fewer rows. */
struct table {
	struct stat_value *values[COUNTERS_DEVICES_MAX], *rows;
	size_t counts[COUNTERS_DEVICES_MAX], row_count;
	unsigned devices;
};

static uint64_t value_of(const struct table *t, unsigned device, size_t row)
{
	return row < t->counts[device] ? t->values[device][row].value : 0;
}

static bool any_value(const struct table *t, size_t row)
{
	for (unsigned h = 0; h < t->devices; h++)
		if (value_of(t, h, row))
			return true;
	return false;
}

static void table_print(const struct table *t, bool zeros, FILE *out)
{
	const char *stage = "";

	fprintf(out, "%-*s", NAME_COLUMNS, "counters");
	for (unsigned h = 0; h < t->devices; h++)
		fprintf(out, "%*s%u", VALUE_COLUMNS - 1, "hca", h);
	fprintf(out, "\n");
	for (size_t i = 0; i < t->row_count; i++) {
		const struct stat_value *row = &t->rows[i];

		if (!zeros && !any_value(t, i))
			continue;
		if (strcmp(stage, row->stage))
			fprintf(out, "%s\n", row->stage);
		stage = row->stage;
		fprintf(out, "  %-*s", NAME_COLUMNS - 2, row->counter);
		for (unsigned h = 0; h < t->devices; h++)
			fprintf(out, " %*" PRIu64, VALUE_COLUMNS - 1, value_of(t, h, i));
		fprintf(out, "   %s\n", row->meaning);
	}
}

int counters_print(const struct hca *const *hcas, unsigned count, enum counters_form form,
		   FILE *out)
{
	struct table t = {.devices = count};

	if (form == COUNTERS_QUIET)
		return 0;
	if (form == COUNTERS_JSON)
		return counters_write(hcas, count, out);
	for (unsigned h = 0; h < count; h++) {
		t.counts[h] = counters_read(hcas[h], &t.values[h]);
		if (t.counts[h] <= t.row_count)
			continue;
		t.row_count = t.counts[h];
		t.rows = t.values[h];
	}
	table_print(&t, form == COUNTERS_ALL, out);
	for (unsigned h = 0; h < count; h++)
		free(t.values[h]);
	return ferror(out) ? -EIO : 0;
}

int counters_check(const char *key, FILE *err)
{
	static const char *const names[] = {
#define S(stage, counter, meaning) #stage "." #counter,
		HCA_STATS(S)
#undef S
#define P(NAME, field, meaning) "port1." #field, "port2." #field,
			FW_PORT_COUNTERS(P)
#undef P
	};
	const char *dot = strchr(key, '.');
	struct near_name near = {.wanted = dot ? dot + 1 : key};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		near_name_try(&near, names[i]);
	if (dot && !strncmp(key, "hca", 3) && !strcmp(near.name, near.wanted))
		return 0;
	fprintf(err, "--show: no counter '%s'; ", key);
	if (near.name[0])
		fprintf(err, "did you mean 'hca.%s'?\n", near.name);
	else
		fprintf(err, "stats.json of a run names them\n");
	return -ENOENT;
}
