/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which scenario shows which behaviour of the specification, and how it went. A scenario says so in
 * a comment of one line, "behaviours: ID ID"; make collects them.
 */
#ifndef TESTBENCH_BEHAVIOURS_H
#define TESTBENCH_BEHAVIOURS_H

#include <stdio.h>

/*
 * A line a pair, ordered by id: id TAB scenario TAB pass, fail or not-run; the last as the lines
 * "pass NAME", "fail NAME" of the file `results` say, which make test writes and which may be
 * missing. 0 or -EIO.
 */
int behaviours_print(FILE *out, const char *results);

#endif
