/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which scenario shows which behaviour, and how it went in the last make test. A scenario cites ids
 * in its comment, "behaviours: ID ID"; testbench/BEHAVIOURS.md says what they mean. make collects
 * both (testbench/scripts/behaviours.sh).
 */
#ifndef TESTBENCH_BEHAVIOURS_H
#define TESTBENCH_BEHAVIOURS_H

#include <stdbool.h>
#include <stdio.h>

/*
 * A line for each id and scenario, ordered by id: id TAB scenario TAB pass, fail or not-run, and
 * with `text` TAB what the id means. The file `results`, which make test writes, has lines "pass
 * NAME" and "fail NAME"; it may be missing. 0 or -EIO.
 */
int behaviours_print(FILE *out, const char *results, bool text);

#endif
