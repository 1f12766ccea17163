/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two runs side by side: the first thing that differs, and where time differs.
 *
 * Streams (run_files.h) are compared item by item, without their times. Of the streams that differ
 * the one that differs earliest is shown with what came before, the others in a line each. Times
 * are compared by message and stage (messages.h) and by command.
 */
#ifndef TRACES_COMPARE_H
#define TRACES_COMPARE_H

#include "traces/run_files.h"

struct compare_options {
	const char *a, *b;        /* folders of runs; one of them may be a golden trace */
	uint32_t classes;         /* 0: all */
	const char *phase;        /* NULL: all */
	bool by_qp;               /* packets and WQEs in the order of each QP alone */
	bool no_times;            /* order and contents only */
	double threshold_ps;      /* a stage's mean must differ by more than this, */
	double threshold_percent; /* and by more than this part of it, to count */
};

/* 0: equal, 1: they differ, 2: trouble, printed to stderr. */
int compare_runs(const struct compare_options *options, FILE *out);

/* "10ns", "5%" or "none"; false when it is none of them. */
bool compare_threshold_parse(struct compare_options *options, const char *text);

#endif
