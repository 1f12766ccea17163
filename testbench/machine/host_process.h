/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A simulated process from the outside: what the words of scenarios (language/processes.c) make of
 * it. What a program in it can do is said in process.h.
 */
#ifndef TESTBENCH_HOST_PROCESS_H
#define TESTBENCH_HOST_PROCESS_H

#include "host_driver/uverbs/process.h"
#include "testbench/host.h"

struct host_process {
	struct uv_process uv;
	/* said by whoever makes it */
	struct kernel *kernel;
	const char *name;
	int (*main)(void *arg);
	void *arg;
	struct drv_list *oob_names; /* out-of-band channels that wait for their other end */
	void (*over)(void *arg);    /* called when the last of its threads has ended */
	void *over_arg;
	/* its life */
	struct drv_list threads, oobs;
	unsigned live; /* threads */
	bool ends;     /* its status is known */
	bool done;     /* everything of it is gone */
	int status;
};

/* A process without a thread. 0 or -ENOMEM. */
int host_process_init(struct host_process *p, struct uv_host *host);
/* Its first thread runs main(arg). 0 or -ENOMEM. */
int host_process_run(struct host_process *p);
/* All its threads end, each where it waits. The first reason to end is the process' status. */
void host_process_end(struct host_process *p, int status);
/* That of the calling thread, NULL: none. */
struct host_process *host_process_current(void);

/* oob.c: closes the end of a channel that has this link in its process' list. */
void oob_end(struct drv_list *link);

#endif
