/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hcasim dump: prints the decoded contexts of both devices at a given time, or when the scenario
 * fails.
 */
#ifndef TESTBENCH_DUMP_H
#define TESTBENCH_DUMP_H

#include "testbench/language/tb.h"

struct dump {
	struct event at;
	struct tb *tb;
	bool done;
};

/* Plans the dump. It prints to stdout and ends the run. */
void dump_at(struct dump *dump, struct tb *tb, uint64_t time_ps);

#endif
