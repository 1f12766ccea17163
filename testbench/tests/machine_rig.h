/* SPDX-License-Identifier: Apache-2.0 */
/* For tests that run a machine: `thread` runs on it until it stops, then the test checks what
 * happened. */
#ifndef TESTBENCH_TESTS_MACHINE_RIG_H
#define TESTBENCH_TESTS_MACHINE_RIG_H

#include "model/sim/cfg.h"
#include "testbench/machine.h"
#include "traces/trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static int machine_tests_run(struct machine *machine, void (*thread)(void *arg),
			     const struct CMUnitTest *tests, size_t n)
{
	static struct config config;
	struct trace *trace = trace_create();
	const char *build = getenv("O");
	char fw_path[512], err[256];
	const struct machine_options mo = {.config = &config, .fw_path = fw_path, .trace = trace};
	int rc;

	snprintf(fw_path, sizeof(fw_path), "%s/fw/hcasim-fw.elf", build ? build : "build");
	cfg_defaults(&config);
	config.sim.sim_time_limit = 0;
	if (machine_create(machine, &mo, err, sizeof(err))) {
		fprintf(stderr, "%s\n", err);
		return 1;
	}
	kernel_thread_start(machine->kernel, "host0", thread, NULL);
	if (machine_run(machine) != KERNEL_STOPPED)
		return 1;
	rc = _cmocka_run_group_tests("tests", tests, n, NULL, NULL);
	machine_destroy(machine);
	trace_close(trace);
	return rc;
}

#endif
