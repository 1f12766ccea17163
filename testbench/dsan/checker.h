/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checker of a host's driver. It stands between the driver and the simulated host: it hears each
 * load, store and barrier of the driver (callout.h), each register access and each change of the
 * device's memory map (platform_ops), and what the device does with memory (struct hca_monitor).
 * From these it finds breaches of the device's interface that do no harm in this run, and reports
 * them as guest errors.
 *
 * Only the program hcasim-checked has it. See README.md.
 */
#ifndef TESTBENCH_DSAN_CHECKER_H
#define TESTBENCH_DSAN_CHECKER_H

#include "host_driver/platform.h"
#include "model/engine/hca.h"
#include "model/interface/rules.h"
#include "model/sim/units.h"
#include "model/systemc/kernel.h"
#include "testbench/os/calls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct checker;

struct checker_host {
	struct kernel *kernel;
	struct platform *platform; /* its ops are replaced until checker_destroy() */
	struct hca *hca;
	void *memory; /* all of the host's, and the bus address where it begins */
	uint64_t bus, bytes;
	enum cfg_memory_order order;
	bool high_numbers; /* the driver's numbers begin with their high bits set */
	uint64_t seed;     /* for `order` */
	/* Copies memory at a bus address; false: it is not mapped. NULL: it is copied from `memory`. */
	bool (*read)(void *ctx, uint64_t bus, void *buf, size_t len);
	void *read_ctx;
};

/* NULL: no memory. */
struct checker *checker_create(const struct checker_host *host);
/* That of a device whose interface it does not know: it judges what the software does to its memory. */
struct checker *checker_create_software(const struct checker_host *host);
/* After the device is destroyed. */
void checker_destroy(struct checker *c);
/* The device has read these bytes from memory: replaces what it does not see yet. */
void checker_device_reads(struct checker *c, uint64_t bus, void *bytes, size_t len,
			  uint64_t now_ps);

/* Where the driver of a host came by before this moment: in the call that runs; when none does, in the one
 * that told the device something last. Nothing without a checker. */
void checkers_ran(unsigned host, struct ran *ran);
/* How many places further back in a list of functions one of that name stands, because it runs so often. If it
 * were wrong, the run would have failed before. */
unsigned checkers_run_often(const char *name);
/* Where the driver came by when it made that object, and in the last call that changed it. */
void checkers_made(unsigned host, struct guest_object object, struct ran *made,
		   struct ran *changed);
/* Who set what the running thread has read before this moment, in earlier calls; of ICM that is not mapped, where
 * the driver came by when it made its tables. */
void checkers_set(unsigned host, enum guest_rule rule, struct ran *set);
/* Where the driver stored the work request of that queue pair that the device fetched last: the first
 * words of its 64-byte chunks first. */
void checkers_wrote(unsigned host, struct guest_object qp, struct ran *wrote);
/* A call of the driver has failed that should not: reports it, unless something was refused to it. */
void checkers_tell_refused(const char *call, int rc);
/* A call of the driver has not failed that should with this result. */
void checkers_tell_accepted(const char *call, int result);
/* Prints what the layers above mlx4 have done last, for a failure that no broken rule explains. false:
 * they have done nothing since checkers_forget_calls(). */
bool checkers_tell_calls(FILE *out);
void checkers_forget_calls(void);
/* Prints what the threads of transports in software have done last, beside a broken rule: the thread that breaks it
 * is seldom the one that did wrong. told: names, with ", " between, that stand above already. */
void checkers_tell_software(const char *told, FILE *out);
/* At a failure: reports who waits for the answer of a dead device. After a wait in vain also events that
 * raise no interrupt, and commands that are done, and the driver still waits for them. */
void checkers_tell_waits(bool in_vain);

#endif
