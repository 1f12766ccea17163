/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run as one HTML file that needs no other files: a ladder of the packets, where the time of
 * messages went, throughput and depths over time, counters, configuration.
 *
 * The page itself is in traces/report/ and is embedded when hcasim is built. The functions here
 * write the data that the page draws, as JSON in the page: columns, one array each, with times in
 * ps. The keys are those of report.c, and page.js unpacks them. The same run always gives the same
 * file.
 */
#ifndef TRACES_REPORT_H
#define TRACES_REPORT_H

#include <stdio.h>

#include "traces/run_files.h"

/* What a packet of the report is: bits of its "flags". */
#define REPORT_FLAGS(F)                                                                            \
	F(RESPONSE, 0, "from responder to requester")                                              \
	F(NAK, 1, "a negative acknowledge, RNR too")                                               \
	F(RESENT, 2, "not the first transmission")                                                 \
	F(LOST, 3, "did not arrive")                                                               \
	F(FAULT, 4, "the fault plan acted on it")                                                  \
	F(DISCARDED, 5, "arrived, and was not taken")                                              \
	F(MANAGEMENT, 6, "to QP 0 or 1")                                                           \
	F(DUPLICATE, 7, "arrived once more than it was sent")                                      \
	F(INJECTED, 8, "put on the wire by the scenario")

enum report_flag {
#define F(name, bit, meaning) REPORT_##name = 1 << (bit),
	REPORT_FLAGS(F)
#undef F
};

/* Writes the page for the run in folder dir to out. 0, or -errno after printing to err. */
int report_write(const char *dir, FILE *out, FILE *err);

#endif
