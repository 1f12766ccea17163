/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contexts of both devices by number, decoded, at a time or when the scenario fails: hcasim dump.
 */
#ifndef TESTBENCH_DUMP_H
#define TESTBENCH_DUMP_H

#include "testbench/language/tb.h"

struct dump {
	struct event at;
	struct tb *tb;
	bool done;
};

/* Arms it; it prints to stdout and ends the run. */
void dump_at(struct dump *dump, struct tb *tb, uint64_t time_ps);

#endif
