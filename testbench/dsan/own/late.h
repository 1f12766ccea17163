/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores of the driver that the device sees late, and not in their order: host.memory_order. What a
 * write barrier orders stays in order. So a driver that lacks a barrier fails as it would on such a
 * processor, instead of being reported only.
 *
 * A store has a time at which it becomes visible, drawn from the seed. A barrier makes all earlier
 * stores visible. Two stores to the same bytes keep their order.
 *   x86          all stores keep their order; a register write comes behind them
 *   arm64        between two barriers any order
 *   adversarial  as arm64, and as late as can be
 * Loads are not delayed.
 */
#ifndef TESTBENCH_DSAN_OWN_LATE_H
#define TESTBENCH_DSAN_OWN_LATE_H

#include "model/sim/units.h"

#include <stddef.h>
#include <stdint.h>

struct late;

/* NULL: no memory. */
struct late *late_create(enum cfg_memory_order order, uint64_t seed);
void late_destroy(struct late *l);

/* A store is about to be made. */
void late_store(struct late *l, uintptr_t at, size_t bytes, uint64_t now_ps);
void late_fence(struct late *l);
/* A register write is about to be made. */
void late_register(struct late *l);
/* The device is about to write there: what was stored is visible. */
void late_device_writes(struct late *l, uintptr_t at, size_t bytes);
/* The device has read these bytes: puts in what it does not see yet. */
void late_device_reads(struct late *l, uintptr_t at, uint8_t *bytes, size_t len, uint64_t now_ps);

#endif
