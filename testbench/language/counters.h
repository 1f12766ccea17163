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
	COUNTERS_ALL,  /* as text */
	COUNTERS_JSON,
};

/* *values: all counters of one device, in the order of their rows; to be freed. How many. */
size_t counters_read(const struct hca *hca, struct stat_value **values);
/* One JSON object: "hca0.<stage>.<counter>": value, a line each. 0 or -EIO. */
int counters_write(const struct hca *const *hcas, unsigned count, FILE *out);
/* A paragraph a stage, a line a counter with a column a device and what it means; or as JSON. 0 or
 * -EIO. */
int counters_print(const struct hca *const *hcas, unsigned count, enum counters_form form,
		   FILE *out);

/* A key of that JSON object, or one with hca for any device: 0, or -ENOENT with a line that says
 * which is most like it. */
int counters_check(const char *key, FILE *err);

#endif
