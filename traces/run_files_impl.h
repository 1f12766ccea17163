/* SPDX-License-Identifier: Apache-2.0 */
/* Only for run_files.c and run_golden.c. */
#ifndef TRACES_RUN_FILES_IMPL_H
#define TRACES_RUN_FILES_IMPL_H

#include <string.h>

#include "traces/run_files.h"

static inline bool starts(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* Adds an item without an HCA. NULL: no memory. */
struct run_item *run_item_add(struct run_files *run);
/* Puts an item whose class and HCA are set into the stream of this number. */
void run_key_make(struct run_item *item, uint32_t number);
/* Returns the next line of run->text with a terminator, and moves *rest to the line after it. NULL
 * at the end of the text. NULL with *rest before the end: the line has a zero byte. */
char *run_line_next(const struct run_files *run, char **rest);

const char *run_class_word(enum run_class class);

/* Makes the items of a golden trace from run->text. 0, or -errno after printing to err. */
int run_golden_lines(struct run_files *run, FILE *err);

#endif
