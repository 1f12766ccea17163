/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes allocations or commands of a machine fail, for tests of error paths. The nth allocation, or
 * the nth command, after `armed` is set fails. A test installs these functions in place of the
 * platform's.
 */
#ifndef TESTBENCH_TESTS_FAILURE_H
#define TESTBENCH_TESTS_FAILURE_H

#include "host_driver/mlx4/mlx4.h"
#include "host_driver/mlx4/mlx4_internal.h"
#include "model/interface/regs.h"

#include <stdlib.h>
#include <string.h>

enum failing { FAIL_ALLOCATION, FAIL_COMMAND, KINDS };

/* A global, because platform functions have no room for a context of ours. */
static struct {
	struct platform_ops ops;
	const struct platform_ops *real;
	bool armed, fired;
	enum failing kind;
	unsigned count, nth;
} failure;

static inline bool fails(enum failing kind)
{
	if (!failure.armed || kind != failure.kind || ++failure.count != failure.nth)
		return false;
	failure.fired = true;
	return true;
}

/* Replaces drv_calloc() of host_driver/mlx4/mem.c. */
void *drv_calloc(size_t n, size_t size)
{
	return fails(FAIL_ALLOCATION) ? NULL : calloc(n, size);
}

static inline void *failing_pages(struct platform *p, size_t bytes, uint64_t *bus)
{
	return fails(FAIL_ALLOCATION) ? NULL : failure.real->pages_alloc(p, bytes, bus);
}

static inline struct platform_waitq *failing_waitq(struct platform *p)
{
	return fails(FAIL_ALLOCATION) ? NULL : failure.real->waitq_create(p);
}

static inline uint64_t failing_map(struct platform *p, void *addr, size_t bytes)
{
	return fails(FAIL_ALLOCATION) ? 0 : failure.real->dma_map(p, addr, bytes);
}

/* Replaces the command's opcode by one that no device has, so that the firmware refuses the
 * command. Commands that destroy something are left alone; the scenario destroy_refused covers
 * them. */
static inline void failing_write(struct platform *p, unsigned bar, uint64_t offset,
				 const void *bytes, unsigned size)
{
	uint8_t word[8];

	memcpy(word, bytes, size);
	if (bar == HCA_BAR_REGS && offset == BAR0_HCR + 4 * (HCR_DWORDS - 1) &&
	    !drv_cmd_is_closing((uint16_t)((word[2] & 0xf) << 8 | word[3])) &&
	    fails(FAIL_COMMAND)) {
		word[2] &= 0xf0;
		word[3] = 0xee;
	}
	failure.real->mmio_write(p, bar, offset, word, size);
}

#endif
