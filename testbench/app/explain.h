/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a run failed. hcasim sees the driver's registers and memory only; hcasim-checked beside it also
 * watches each access of the driver, and names the mistake where it is made (testbench/dsan/). So a
 * run that fails in hcasim is repeated once in hcasim-checked, and what that says stands first.
 */
#ifndef TESTBENCH_EXPLAIN_H
#define TESTBENCH_EXPLAIN_H

#include "testbench/language/run_options.h"

struct tb;

/* Sets tb->explain for a run with these options. Not when this program checks the driver itself, and
 * not when there is no hcasim-checked. `options` and `dir`, the folder of the run, live as long as tb. */
void explain_prepare(struct tb *tb, const struct run_options *options, const char *dir);

#endif
