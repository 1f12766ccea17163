/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares two runs: finds the first difference, and where their times differ.
 *
 * Streams (run_files.h) are compared item by item, without times. Of the streams that differ, the
 * one that differs earliest is shown with the items before the difference; each of the others gets
 * one line. Times are compared for each message and stage (messages.h) and for each command.
 */
#ifndef TRACES_COMPARE_H
#define TRACES_COMPARE_H

#include "traces/run_files.h"

struct compare_options {
	const char *a, *b;   /* folders of runs; one of them may be a golden trace */
	uint32_t classes;    /* 0: all */
	const char *phase;   /* NULL: all */
	bool by_qp;          /* of packets and WQEs only the order on each QP counts */
	bool no_times;       /* compares order and content, but no times */
	double threshold_ps; /* a difference of a stage's mean counts if it is larger than this */
	double threshold_percent; /* and larger than this part of the mean */
};

/* 0: equal; 1: different; 2: an error, which has been printed to stderr. */
int compare_runs(const struct compare_options *options, FILE *out);

/* Parses "10ns", "5%" or "none". False: it is none of these. */
bool compare_threshold_parse(struct compare_options *options, const char *text);

#endif
