/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Return addresses of this process as functions, files and lines, from its debug information
 * (libdw). Without libdw, or in a stripped program, only names of functions that are not static.
 */
#ifndef TESTBENCH_SYMBOLS_H
#define TESTBENCH_SYMBOLS_H

#include <stddef.h>

enum { SYMBOL_NAME = 64, SYMBOL_FILE = 128 };

struct symbol {
	char name[SYMBOL_NAME];
	char file[SYMBOL_FILE]; /* as the compiler was told; empty: not known */
	int line;
};

/*
 * The functions that a call at this return address was in: the innermost inlined one first. Returns
 * how many of them there are, at most `room`; 0: not known.
 */
size_t symbols_find(const void *return_address, struct symbol *symbols, size_t room);

#endif
