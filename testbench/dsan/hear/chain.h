/* SPDX-License-Identifier: Apache-2.0 */
/* Call chains of the driver as text, for reports that tell of an earlier act: who did it, and for whom. */
#ifndef TESTBENCH_DSAN_HEAR_CHAIN_H
#define TESTBENCH_DSAN_HEAR_CHAIN_H

#include "testbench/os/calls.h"

#include <stddef.h>

enum { CHAIN_BYTES = 200 };

/* The calls of the running thread. */
void chain_take(struct calls *calls);
/* The functions of the driver in them, the innermost first; "nobody" if there are none. */
void chain_format(const struct calls *calls, char *text, size_t size);

#endif
