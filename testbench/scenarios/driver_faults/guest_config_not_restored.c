/* SPDX-License-Identifier: Apache-2.0 */
/* After a software reset the driver goes on without writing configuration space again. */
#include "host_driver/mlx4/mlx4_internal.h"
#include "model/interface/commands.h"
#include "testbench/dsan/hear/callout.h"
#include "testbench/services.h"

SCENARIO(guest_config_not_restored,
	 "rule config_not_restored: a command behind a reset without the restore", .no_qps = true,
	 .stays_up = true)
{
	struct drv_hcr cmd = {.op = HCR_NOP, .in_mod = 0x1f};
	struct hcr regs;

	ignore_events(a);
	ignore_events(b);
	drv_raw_mmio_write32(a->dev, HCA_BAR_REGS, BAR0_RESET, 1);
	pass_time(CFG_S(1));
	drv_hcr_words(&cmd, 0xffff, false, 1, &regs);
	for (unsigned i = 0; i < HCR_DWORDS; i++)
		drv_raw_mmio_write(a->dev, HCA_BAR_REGS, BAR0_HCR + 4 * i, regs.b + 4 * i, 4);
	if (callouts_built()) /* its checker looks for the BARs as well */
		expect_guest_error(a, config_not_restored);
	expect_guest_error(a, config_not_restored);
	abandon(a);
	take_down(b);
}
