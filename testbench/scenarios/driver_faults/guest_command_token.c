/* SPDX-License-Identifier: Apache-2.0 */
/* Two commands with an event in a row have the same token: an event of the first could be taken for the second. */
#include "host_driver/mlx4/mlx4_internal.h"
#include "model/interface/commands.h"
#include "testbench/scenarios/driver_faults/reset_end.h"

SCENARIO(guest_command_token, "rule command_token: the same token twice in a row", .no_qps = true,
	 .stays_up = true)
{
	struct drv_hcr cmd = {.op = HCR_NOP, .in_mod = 0x1f};
	struct hcr regs;

	for (unsigned n = 0; n < 2; n++) {
		drv_hcr_words(&cmd, 0x7777, true, a->dev->cmd.toggle, &regs);
		a->dev->cmd.toggle ^= 1;
		for (unsigned i = 0; i < HCR_DWORDS; i++)
			drv_raw_mmio_write(a->dev, HCA_BAR_REGS, BAR0_HCR + 4 * i, regs.b + 4 * i,
					   4);
		pass_time(CFG_MS(1));
	}
	expect_guest_error(a, command_token);
	reset_end(tb, a, b);
}
