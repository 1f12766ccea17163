/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where scenarios come from: those that are linked in, and C files that are compiled and loaded.
 */
#ifndef TESTBENCH_CATALOG_H
#define TESTBENCH_CATALOG_H

#include "testbench/scenario.h"

#include <stdio.h>

/* By name; hidden ones too. NULL: none. */
const struct scenario *catalog_find(const char *name);
/* Prints that there is no such scenario, with the name that is most like it. */
void catalog_complain(const char *name, FILE *err);
/* A line each, by name: name, two spaces, what it shows. */
void catalog_print(FILE *out);

/*
 * Compiles FILE.c (see compile.h), loads it, and checks its interface. The scenario stays loaded. 0; or -errno, with the
 * compiler's words and one line of ours printed to err. Nothing is left on disk.
 */
int catalog_load(const char *path, const struct scenario **scenario, FILE *err);

#endif
