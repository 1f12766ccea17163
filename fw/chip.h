/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way to the chip's registers (model/interface/fwregs.h), and nothing else: on the processor
 * loads and stores, in a test on the build machine functions of a fake chip.
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

/* What was stored to RAM before is there for a helper that this write starts. */
static inline void fw_write(uint32_t reg, uint32_t value)
{
	__asm__ volatile("" ::: "memory");
	*(volatile uint32_t *)(FW_REG_BASE + reg) = value;
}

/* RAM as the chip's helpers address it. */
static inline uint32_t fw_ram_address(const void *ram)
{
	return (uint32_t)(uintptr_t)ram;
}

/* Until a cause that is enabled is pending. */
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
