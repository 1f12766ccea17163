/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control socket of hcasim serve. Each line is a command and gets one line as its answer, which
 * begins with "ok" or "error". The command `help` lists the commands.
 */
#ifndef TESTBENCH_CTL_H
#define TESTBENCH_CTL_H

#include "model/vfio_user/server.h"
#include "testbench/app/run.h"

#include <stdbool.h>
#include <stdio.h>

/* The largest packet that `inject` takes: MTU 1024 and all headers. A line has room for its digits. */
enum { CTL_INJECT_BYTES = 1200, CTL_LINE_CHARS = 2 * CTL_INJECT_BYTES + 160 };

struct fault_plan;
struct hca;
struct trace;

/* What commands act on. Outlives the socket. */
struct ctl_target {
	struct event_core *core;
	struct vfu_server *server;
	struct guest_clock *clock; /* NULL: the wall clock leads */
	struct vfu_device *devices;
	unsigned device_count;
	struct fault_plan *plan;
	uint64_t seed;
	struct trace *trace;
	bool traced;     /* trace files are written */
	uint32_t points; /* trace->kinds as it was at the start */
	uint32_t quiet;  /* the same after "trace off": only what the report needs */
	const char *dir; /* for files that a command writes */
	bool *stop;      /* set by quit */
};

struct ctl;

/* On failure NULL, and one line in err[]. */
struct ctl *ctl_open(const struct ctl_target *target, const char *path, char *err, size_t err_size);
void ctl_close(struct ctl *ctl);

/* Executes a line (and modifies it); writes the answer without a newline. */
void ctl_command(const struct ctl_target *target, char *line, FILE *answer);

/* hcasim ctl: sends the words as one line and prints the answer. EXIT_FAILED if it is an error. */
enum exit_status ctl_send(const char *path, const char *const *words, unsigned count);

#endif
