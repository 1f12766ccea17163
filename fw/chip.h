/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Access to the chip's registers (model/interface/fwregs.h). On the processor an access is a load or
 * a store. In a test on the build machine it is a function of the fake chip.
 */
#ifndef FW_CHIP_H
#define FW_CHIP_H

#include "model/interface/fwregs.h"
#include <stdint.h>

#ifdef __riscv

static inline uint32_t fw_read(uint32_t reg)
{
	uint32_t value = *(volatile uint32_t *)(FW_REG_BASE + reg);

	__asm__ volatile("" ::: "memory");
	return value;
}

/* A helper that this write starts sees everything that was stored to RAM before. */
static inline void fw_write(uint32_t reg, uint32_t value)
{
	__asm__ volatile("" ::: "memory");
	*(volatile uint32_t *)(FW_REG_BASE + reg) = value;
}

/* The address of RAM that the chip's helpers use. */
static inline uint32_t fw_ram_address(const void *ram)
{
	return (uint32_t)(uintptr_t)ram;
}

/* Waits until an enabled cause is pending. */
static inline void fw_wait(void)
{
	__asm__ volatile("wfi" ::: "memory");
}

#else

uint32_t fw_read(uint32_t reg);
void fw_write(uint32_t reg, uint32_t value);
uint32_t fw_ram_address(const void *ram);
void fw_wait(void);

#endif

#endif
