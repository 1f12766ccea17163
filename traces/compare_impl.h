/* SPDX-License-Identifier: Apache-2.0 */
/* Only for compare*.c. */
#ifndef TRACES_COMPARE_IMPL_H
#define TRACES_COMPARE_IMPL_H

#include "traces/compare.h"

/* Prints the keys of config.ini that differ, if both have one. */
void compare_configs(const char *a, const char *b, FILE *out);

/* Prints the stages and commands whose times differ by more than the threshold. 1: there are some;
 * 0: none; or -errno. */
int compare_times(const struct run_files runs[2], const char *phase,
		  const struct compare_options *options, FILE *out);

#endif
