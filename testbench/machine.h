/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulated installation: two hosts with an HCA each, a cable between their first ports (and
 * another between their second ports, if both have two), a fault plan for the cables, and a trace.
 */
#ifndef TESTBENCH_MACHINE_H
#define TESTBENCH_MACHINE_H

#include "model/engine/base/event_core.h"
#include "model/sim/fault.h"
#include "testbench/host.h"
#include "testbench/machine/acts.h"
#include "testbench/machine/refusals.h"

enum { MACHINE_HOSTS = 2, MACHINE_GUEST_ERRORS = 1 << 16 };

struct config; /* model/sim/cfg.h */
struct explorer;
struct holds;

/* A guest error, with what the driver did: `now` if one of its threads was at work when the error was
 * noted, and its last acts with the object before. */
struct guest_error_note {
	unsigned host;
	enum guest_rule rule;
	const char *name; /* of the rule */
	struct guest_object object;
	uint64_t time_ps;
	bool consequence; /* it came after the run had failed */
	char text[400];
	struct calls now;
	struct ran ran;           /* before it, in the driver */
	struct ran made, changed; /* when the driver made the object, and changed it last */
	struct ran set;           /* who set what was read before */
	struct ran wrote;         /* the work request, where that is malformed */
	struct act doorbell, command;
	struct act unmapper;   /* of the page that a DMA did not find */
	struct act configured; /* who wrote configuration space last, where that is the matter */
};

struct machine {
	const struct config *config;
	struct event_core core;
	struct kernel *kernel;
	struct trace *trace;
	struct fault_plan plan;
	struct host *hosts[MACHINE_HOSTS];
	struct holds *holds; /* NULL but when the run follows a schedule */
	/* The first MACHINE_GUEST_ERRORS are kept; guest_errors counts all. */
	struct guest_error_note *guest_error_notes;
	unsigned guest_errors, guest_errors_kept, guest_errors_room;
	bool failed; /* the run has failed: further guest errors are consequences */
	struct refusals refusals;
	unsigned catastrophes, catastrophes_of[MACHINE_HOSTS];
};

struct machine_options {
	const struct config *config;
	const char *fw_path;
	struct trace *trace;
	struct explorer *explorer; /* NULL: the run follows no schedule */
	bool no_dmi; /* memory refuses direct access (DMI), so that every DMA is a b_transport */
};

/* 0 or -errno with one line in err[]. The machine is at power-on, its cable plugged. */
int machine_create(struct machine *m, const struct machine_options *options, char *err,
		   size_t err_size);
/* Runs until machine_stop(), until no event is left, or until the time limit of the configuration. */
enum kernel_end machine_run(struct machine *m);
void machine_stop(struct machine *m);
void machine_destroy(struct machine *m);

#endif
