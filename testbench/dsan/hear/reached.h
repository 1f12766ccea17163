/* SPDX-License-Identifier: Apache-2.0 */
/* Which functions of the driver a run reaches: what a scenario can find a mistake in. */
#ifndef TESTBENCH_DSAN_HEAR_REACHED_H
#define TESTBENCH_DSAN_HEAR_REACHED_H

#include <stdio.h>

/* Notes them from now on. -ENOTSUP: this program's driver has no call-outs; -ENOMEM. */
int reached_begin(void);
/* Writes those so far, a name a line, sorted; inlined ones are among them. A function that accesses no
 * memory is not, unless it is of a layer above mlx4. 0, -ENOMEM or -EIO. */
int reached_write(FILE *out);

#endif
