/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses to addresses in BAR0 without a register are reported and have no effect. Accesses with a
 * width that a register does not support have a rule of their own. */
#include "testbench/scenario.h"

enum { NOWHERE = 0x1000 };

SCENARIO(guest_register_unknown,
	 "rules register_unknown and register_size: BAR0 where nothing is, and one byte of a "
	 "register",
	 .no_qps = true)
{
	const uint8_t byte = 1;

	drv_raw_mmio_write32(a->dev, HCA_BAR_REGS, NOWHERE, 0x12345678);
	expect_guest_error(a, register_unknown);
	drv_raw_mmio_read32(a->dev, HCA_BAR_REGS, NOWHERE);
	expect_guest_error(a, register_unknown);
	drv_raw_mmio_write(a->dev, HCA_BAR_REGS, BAR0_HCR, &byte, sizeof(byte));
	expect_guest_error(a, register_size);
}
