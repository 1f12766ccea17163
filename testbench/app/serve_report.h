/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report at the end of serve. It lists guest errors, each with its rule, time, text, the driver's
 * calls where those are known, and the register accesses before it; commands that the firmware
 * refused; and everything that the driver used but the model does not have: registers, commands,
 * attributes of management packets, configuration space.
 */
#ifndef TESTBENCH_SERVE_REPORT_H
#define TESTBENCH_SERVE_REPORT_H

#include "model/vfio_user/device.h"
#include "model/vfio_user/guest_clock.h"

#include <stdio.h>

enum {
	REPORT_NOTES = 128,
	REPORT_NOTE_ACCESSES = 8,
	REPORT_LINES = 64,
	REPORT_LIMITS = 16,
	REPORT_TEXT = 200,
};

struct report_note {
	unsigned hca;
	uint64_t time_ps;
	enum guest_rule rule;
	struct guest_object object;
	char text[REPORT_TEXT];
	char calls[GUEST_CALLS_TEXT];
	unsigned accesses;
	struct vfu_access access[REPORT_NOTE_ACCESSES]; /* oldest first */
};

struct report_line {
	char text[REPORT_TEXT];
	uint64_t count;
};

/* Lines with how often each came. */
struct report_tally {
	struct report_line lines[REPORT_LINES];
	unsigned count;
	uint64_t lost; /* of further lines */
};

struct serve_report {
	struct report_note notes[REPORT_NOTES]; /* the first ones; guest_errors counts all */
	uint64_t guest_errors, catastrophes, limits;
	struct report_tally lacks, refused;
	char limit[REPORT_LIMITS][REPORT_TEXT];
};

/* `calls`: from guest_clock_calls(), or empty. */
void report_guest_error(struct serve_report *report, const struct vfu_device *device,
			const struct guest_error *error, const char *calls);
/* A limit of the model or of this machine was reached; that is no error of the driver. */
void report_limit(struct serve_report *report, const struct vfu_device *device, const char *text);
void report_access(struct serve_report *report, const struct vfu_device *device,
		   const struct vfu_access *access);
/* Starts to record commands. 0 or -errno. */
int report_listen(struct serve_report *report, struct trace *trace);
void report_print(const struct serve_report *report, FILE *out);

#endif
