/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the driver of a host did last with each object: doorbells, commands, unmapped pages, writes of
 * configuration space, with the call chain of each. A device often finds a mistake later than the driver made it; the last act
 * tells who it was.
 */
#ifndef TESTBENCH_ACTS_H
#define TESTBENCH_ACTS_H

#include "model/interface/rules.h"
#include "testbench/os/calls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct act {
	uint64_t time_ps;
	struct calls calls; /* n 0: there was no such act */
	uint32_t opcode;    /* of a command */
};

struct acts;

/* NULL: no memory. */
struct acts *acts_create(void);
void acts_destroy(struct acts *acts);

/* The running thread writes to a BAR. */
void acts_mmio(struct acts *acts, unsigned bar, uint64_t offset, const void *bytes, unsigned size,
	       uint64_t now_ps, const struct kernel_thread *thread);
/* The running thread takes pages from the device. */
void acts_unmap(struct acts *acts, uint64_t bus, size_t bytes, uint64_t now_ps,
		const struct kernel_thread *thread);

/* The running thread writes configuration space. */
void acts_config(struct acts *acts, uint64_t now_ps, const struct kernel_thread *thread);

/* The last doorbell of the object; NULL: none is known. Valid until the next act. */
const struct act *acts_doorbell(const struct acts *acts, struct guest_object object);
/* The last command for the object. A GUEST_COMMAND, or none: the last command of all. */
const struct act *acts_command(const struct acts *acts, struct guest_object object);
/* The last write of configuration space. */
const struct act *acts_configured(const struct acts *acts);
/* Who unmapped the page of that address last. */
const struct act *acts_unmapper(const struct acts *acts, uint64_t bus);

#endif
