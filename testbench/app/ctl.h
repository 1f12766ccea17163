/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control socket of hcasim serve: a line in, a line out. An answer begins with "ok" or "error";
 * `help` names the commands.
 */
#ifndef TESTBENCH_CTL_H
#define TESTBENCH_CTL_H

#include "model/vfio_user/server.h"
#include "testbench/app/run.h"

#include <stdbool.h>
#include <stdio.h>

struct fault_plan;
struct hca;
struct trace;

/* What commands act on. Outlives the socket. */
struct ctl_target {
	struct event_core *core;
	struct vfu_server *server;
	struct vfu_device *devices;
	unsigned device_count;
	struct fault_plan *plan;
	uint64_t seed;
	struct trace *trace;
	bool traced;     /* into files */
	uint32_t points; /* trace->kinds as it was at the start */
	uint32_t quiet;  /* and with "trace off": what the report at the end needs */
	const char *dir; /* for files that a command writes */
	bool *stop;      /* set by quit */
};

struct ctl;

/* NULL with a line in err[]. */
struct ctl *ctl_open(const struct ctl_target *target, const char *path, char *err, size_t err_size);
void ctl_close(struct ctl *ctl);

/* Carries out a line (it is changed) and writes the answer, without newline. */
void ctl_command(const struct ctl_target *target, char *line, FILE *answer);

/* hcasim ctl: sends the words as a line, prints the answer. EXIT_FAILED when it is an error. */
enum exit_status ctl_send(const char *path, const char *const *words, unsigned count);

#endif
