/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which function of the driver stored what into its own memory, such as a context that it fills on
 * its stack before it copies it to a mailbox. The newest stores are kept while somebody wants them.
 */
#ifndef TESTBENCH_DSAN_HEAR_WROTE_H
#define TESTBENCH_DSAN_HEAR_WROTE_H

#include <stddef.h>
#include <stdint.h>

/* Calls may be nested. */
void wrote_begin(void);
void wrote_end(void);
/* Who stored last into any of these bytes; NULL: nobody, or it is too long ago. */
const void *wrote_find(uintptr_t at, size_t bytes);
/* How many stores there were so far; and who stored last into any of these bytes behind so many: a place on a
 * stack has had other users. */
unsigned long wrote_count(void);
const void *wrote_find_since(uintptr_t at, size_t bytes, unsigned long since);

#endif
