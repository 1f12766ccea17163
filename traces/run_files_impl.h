/* SPDX-License-Identifier: Apache-2.0 */
/* Between run_files.c and run_golden.c only. */
#ifndef TRACES_RUN_FILES_IMPL_H
#define TRACES_RUN_FILES_IMPL_H

#include <string.h>

#include "traces/run_files.h"

static inline bool starts(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* One more item, of no HCA; NULL without memory. */
struct run_item *run_item_add(struct run_files *run);
/* Puts an item that has its class and HCA into the stream of this number. */
void run_key_make(struct run_item *item, uint32_t number);
/* The next line of run->text, ended, and *rest behind it; NULL at the end, or with *rest before
 * the end where a zero byte stands in the line. */
char *run_line_next(const struct run_files *run, char **rest);

const char *run_class_word(enum run_class class);

/* The items of a golden trace, from run->text. 0 or -errno, printed to err. */
int run_golden_lines(struct run_files *run, FILE *err);

#endif
