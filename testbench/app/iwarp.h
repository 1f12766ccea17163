/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hcasim iwarp: one end of iWARP connections over this machine's TCP, for testing the other end:
 * Linux's siw, or a card. It prints each message and event.
 */
#ifndef TESTBENCH_IWARP_APP_H
#define TESTBENCH_IWARP_APP_H

#include "testbench/app/run.h"

/* how: listen, connect or help; words: [ADDRESS] PORT KEY=VALUE... */
enum exit_status iwarp_command(const char *how, const char *const *words, unsigned count);

/* The table of situations: row TAB scenario or test TAB judge TAB pass, fail or not-run, by the
 * last make test and the last make vm-test of a build tree. 0 or -EIO. */
int iwarp_rows_print(FILE *out);

#endif
