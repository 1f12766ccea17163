/* SPDX-License-Identifier: Apache-2.0 */
/* The command register is written while the device still executes the previous command. The write
 * is refused, and the previous command completes. */
#include "model/interface/commands.h"
#include "testbench/scenario.h"

SCENARIO(guest_hcr_busy,
	 "rule hcr_busy: the command register is written while a command is pending",
	 .no_qps = true)
{
	struct drv_raw_cmd nop = {.op = HCR_NOP, .in_mod = 0x1f};
	struct hcr hcr = {{0}};
	const uint32_t last = sizeof(hcr.b) - 4;

	hcr_set_go(&hcr, 1);
	hcr_set_opcode(&hcr, HCR_NOP);
	/* in the form of polling mode, which asks for no event; with the toggle of the command before,
	 * so that the driver's next one is right */
	hcr_set_toggle(&hcr, drv_raw_mmio_read32(a->dev, HCA_BAR_REGS, BAR0_HCR + last) >> 21 & 1);
	drv_raw_mmio_write(a->dev, HCA_BAR_REGS, BAR0_HCR + last, hcr.b + last, 4);
	drv_raw_mmio_write32(a->dev, HCA_BAR_REGS, BAR0_HCR, 0x5555aaaa);
	expect_guest_error(a, command_toggle);
	expect_guest_error(a, hcr_busy);
	pass_time(CFG_MS(1));
	must(drv_cmd(a->dev, &nop));
}
