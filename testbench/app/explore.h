/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hcasim explore: one scenario under many schedules (testbench/explore/). The scenario runs up to its
 * body once; each schedule is a child process that goes on from there. The first schedule that fails
 * is shrunk, saved and told.
 */
#ifndef TESTBENCH_APP_EXPLORE_H
#define TESTBENCH_APP_EXPLORE_H

#include "testbench/app/run.h"

struct explore_options {
	unsigned schedules, jobs;
	const char *replay; /* file of a schedule to run again; NULL: explore */
	bool from_start;    /* bring-up is explored, too */
	char **argv;        /* of the process */
};

/* run->dir is where the file of a failing schedule goes, or NULL. EXIT_FAILED when a schedule
 * failed. */
enum exit_status explore(const struct run_options *run, const struct explore_options *options);

#endif
