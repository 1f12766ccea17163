/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counters of a run's devices (model/engine/base/stats.h and those of the ports), as JSON and as
 * text. hcas[n] is called hca<n>.
 */
#ifndef TESTBENCH_COUNTERS_H
#define TESTBENCH_COUNTERS_H

#include "model/engine/hca.h"

#include <stdio.h>

enum { COUNTERS_DEVICES_MAX = 2 };

/* What a command does with the counters at the end of its run. */
enum counters_form {
	COUNTERS_QUIET = 0,
	COUNTERS_TEXT, /* those that are not 0 */
	COUNTERS_ALL,  /* all, as text */
	COUNTERS_JSON,
};

/* Stores all counters of one device in *values, in the order of their rows; the caller frees it.
 * Returns how many there are. */
size_t counters_read(const struct hca *hca, struct stat_value **values);
/* Writes one JSON object with a line "hca0.<stage>.<counter>": value per counter. 0 or -EIO. */
int counters_write(const struct hca *const *hcas, unsigned count, FILE *out);
/* Prints the counters: as text with one paragraph per stage and one line per counter, which has a
 * column for each device and the meaning; or as JSON. 0 or -EIO. */
int counters_print(const struct hca *const *hcas, unsigned count, enum counters_form form,
		   FILE *out);

/* Checks a key of that JSON object; a key may begin with "hca" without a number, for any device. 0;
 * or -ENOENT after one line that suggests the most similar key. */
int counters_check(const char *key, FILE *err);

#endif
