/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A simulated process from the outside, for the verbs of scenarios (language/processes.c). The
 * functions for programs inside the process are in process.h.
 */
#ifndef TESTBENCH_HOST_PROCESS_H
#define TESTBENCH_HOST_PROCESS_H

#include "host_driver/uverbs/process.h"
#include "testbench/host.h"

struct host_process {
	struct uv_process uv;
	/* set by the caller of host_process_init() */
	struct kernel *kernel;
	const char *name;
	int (*main)(void *arg);
	void *arg;
	struct drv_list *oob_names; /* out-of-band channels that wait for their other end */
	void (*over)(void *arg);    /* called when the last of its threads has ended */
	void *over_arg;
	/* state */
	struct drv_list threads, oobs;
	unsigned live; /* threads */
	bool ends;     /* it is ending: its status is known */
	bool done;     /* the process and all it had are gone */
	int status;
};

/* Creates a process without a thread. 0 or -ENOMEM. */
int host_process_init(struct host_process *p, struct uv_host *host);
/* Starts its first thread, which runs main(arg). 0 or -ENOMEM. */
int host_process_run(struct host_process *p);
/* Ends all its threads, each in its present or next wait. If the process is already ending, its
 * status stays the first one. */
void host_process_end(struct host_process *p, int status);
/* The process of the calling thread; NULL: none. */
struct host_process *host_process_current(void);

/* oob.c: closes a channel end, given its link in the process' list. */
void oob_end(struct drv_list *link);

#endif
