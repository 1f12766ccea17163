/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of the C library that this firmware has, and the chip's helpers as functions. Each
 * waits for its helper and returns the helper's result (fwregs.h).
 */
#ifndef FW_LIB_H
#define FW_LIB_H

#include "fw/chip.h"
#include "model/interface/rules.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void *memcpy(void *to, const void *from, size_t n);
void *memset(void *to, int byte, size_t n);
int memcmp(const void *a, const void *b, size_t n);

static inline uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Return FW_DMA_OK (0), FW_DMA_FAULT or FW_DMA_NO_ICM. Any length is legal. */
uint32_t fw_dma_read(uint64_t bus, void *ram, uint32_t len);
uint32_t fw_dma_write(uint64_t bus, const void *ram, uint32_t len);
uint32_t fw_dma_fill(uint64_t bus, uint8_t byte, uint32_t len);
uint32_t fw_icm_read(uint64_t va, void *ram, uint32_t len);
uint32_t fw_icm_write(uint64_t va, const void *ram, uint32_t len);

/* Posts an EQE to the EQ that its event type is routed to. */
struct eqe;
void fw_event_post(const struct eqe *eqe);

/* Reports that software broke a rule with this object; kind GUEST_NONE: with the command itself. The chip counts and traces it, and adds the command to the text. */
void fw_guest_error(enum guest_rule rule, enum guest_object_kind kind, uint32_t number,
		    const char *text);

/* Time since power-on. */
uint64_t fw_now_ns(void);

/* Writes the watchdog. The chip takes the firmware for dead if this is not called in time. */
void fw_kick(void);

#endif
