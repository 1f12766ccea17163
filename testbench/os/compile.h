/* SPDX-License-Identifier: Apache-2.0 */
/* C text that is compiled and loaded at run time: scenarios of the user's own, and programs. */
#ifndef TESTBENCH_COMPILE_H
#define TESTBENCH_COMPILE_H

#include <stddef.h>
#include <stdio.h>

/*
 * Compiles with the compiler and flags of this build, against the headers of the build tree or of
 * the installation. `words` are further arguments of the compiler, source files among them. The
 * object is loaded with names of its own, each time anew: *so is for dlsym and dlclose. 0; or
 * -errno, with the compiler's messages and one line of ours printed to err. Nothing is left on disk.
 */
int compile_and_load(const char *name, const char *const *words, size_t n, void **so, FILE *err);

/* Where a source file is: at `path`, or at `path` below the source tree or the installed data. NULL:
 * at neither. */
const char *compile_find(const char *path, char *buf, size_t size);

#endif
