/* SPDX-License-Identifier: Apache-2.0 */
/* The commands that a device answered with a status other than OK, with the driver's calls. */
#ifndef TESTBENCH_REFUSALS_H
#define TESTBENCH_REFUSALS_H

#include "testbench/machine/acts.h"

enum { REFUSALS_KEPT = 4 };

struct refusal {
	unsigned host;
	uint64_t time_ps;
	uint32_t opcode, op_mod, in_mod;
	uint8_t status;
	struct act act; /* that gave the command */
	struct ran ran; /* before it, in the driver */
};

/* The last ones. */
struct refusals {
	uint64_t count;
	struct refusal kept[REFUSALS_KEPT]; /* number n stands at n % REFUSALS_KEPT */
};

struct trace;
struct machine;
struct host;

/* What the device of a host lacked first: a verb that its driver refused, or what a scenario asked for.
 * NULL: nothing. */
const char *host_lacked(const struct host *host);
/* Calls this at that moment. */
void host_listen_lacks(struct host *host, void (*lacks)(void *arg, unsigned host, const char *what),
		       void *arg);

/* Starts to record those of this machine. 0 or -errno. */
int refusals_listen(struct machine *m, struct trace *trace);

#endif
