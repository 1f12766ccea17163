/* SPDX-License-Identifier: Apache-2.0 */
/* Wrong calls of a process, in a function that returns its line if one of them is not refused as it should
 * be. */
#ifndef TESTBENCH_SCENARIOS_PROGRAMS_REFUSES_H
#define TESTBENCH_SCENARIOS_PROGRAMS_REFUSES_H

#include <errno.h>

/* A call that returns NULL and sets errno. */
#define REFUSED(call, error)                                                                       \
	do {                                                                                       \
		errno = 0;                                                                         \
		if ((call) || errno != (error))                                                    \
			return __LINE__;                                                           \
	} while (0)

/* A call that returns -1 and sets errno. */
#define FAILS(call, error)                                                                         \
	do {                                                                                       \
		errno = 0;                                                                         \
		if ((call) != -1 || errno != (error))                                              \
			return __LINE__;                                                           \
	} while (0)

/* A call that returns the error. */
#define GIVES(call, error)                                                                         \
	do {                                                                                       \
		if ((call) != (error))                                                             \
			return __LINE__;                                                           \
	} while (0)

#endif
