/* SPDX-License-Identifier: Apache-2.0 */
/* C text that is compiled and loaded at run time: scenarios of the user's own, and programs. */
#ifndef TESTBENCH_COMPILE_H
#define TESTBENCH_COMPILE_H

#include <stddef.h>
#include <stdio.h>

/*
 * Compiles with the compiler and flags of this build, against the source tree it was made from;
 * `words` are further arguments of the compiler, source files among them. What comes is loaded with
 * names of its own, every time anew: *so is for dlsym and dlclose. 0; or -EINVAL, with the
 * compiler's words and one line of ours, which begins with `name`, printed to err; or -errno.
 * Nothing is left on disk.
 */
int compile_and_load(const char *name, const char *const *words, size_t n, void **so, FILE *err);

/* A source file's path: `path` itself, or else that of the source tree. NULL: in neither. */
const char *compile_find(const char *path, char *buf, size_t size);

#endif
