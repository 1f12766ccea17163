/* SPDX-License-Identifier: Apache-2.0 */
/* The driver fills the mailbox of a command again while the device works on it. */
#include "host_driver/mlx4/mlx4_internal.h"
#include "model/interface/commands.h"
#include "testbench/services.h"

SCENARIO(guest_mailbox_changed, "rule mailbox_changed: a mailbox is written after GO",
	 .no_qps = true)
{
	struct drv_mailbox *m = drv_mailbox_get(a->dev);
	struct drv_hcr cmd = {.op = HCR_WRITE_MTT, .in_param = m->bus, .in_mod = 0};
	struct hcr regs;

	drv_hcr_words(&cmd, 0xffff, false, a->dev->cmd.toggle, &regs);
	a->dev->cmd.toggle ^= 1;
	for (unsigned i = 0; i < HCR_DWORDS; i++)
		drv_raw_mmio_write(a->dev, HCA_BAR_REGS, BAR0_HCR + 4 * i, regs.b + 4 * i, 4);
	pass_time(CFG_NS(400));
	((uint8_t *)m->bytes)[100] ^= 1;
	pass_time(CFG_MS(1));
	drv_mailbox_put(a->dev, m);
	expect_guest_error(a, mailbox_changed);
}
