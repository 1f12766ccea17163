/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The firmware loops for ever in the middle of a command. After the time fw.watchdog the chip
 * declares the firmware dead.
 */
/* behaviours: HCA-catastrophe-watchdog */
#include "model/engine/chip/processor_impl.h"
#include "model/interface/commands.h"
#include "testbench/scenario.h"

enum {
	RESET_BIT = 1,
	REG_SP = 2,
	JUMP_TO_SELF = 0x6f,
	BELOW_STACK = 1024,
	MINE = 16,
	LAST_WORD = 4 * (HCR_DWORDS - 1),
	TOGGLE_BIT = 21
};

SCENARIO(fw_watchdog, "firmware hangs in a command: the watchdog makes it a catastrophic error",
	 .stays_up = true, .settings = {"hca.fw.watchdog=5ms"})
{
	struct hca *hca = host_hca(a->host);
	struct rv_core *core = hca->processor->core;
	const uint64_t commands = hca->stats.fw_commands, retired = hca->stats.fw_instructions;
	uint32_t words[16] = {0}, at = (rv_core_reg(core, REG_SP) & ~3u) - BELOW_STACK;
	uint8_t *loop = (uint8_t *)(uintptr_t)processor_memory(hca, at, 4);
	struct hcr hcr = {{0}};
	uint64_t began;

	expect_true(loop != NULL);
	if (!still_right())
		return;
	ignore_events(a);
	ignore_events(b);
	hcr_set_in_mod(&hcr, HCR_NOP_IM);
	hcr_set_opcode(&hcr, HCR_NOP);
	hcr_set_toggle(&hcr, !(drv_raw_mmio_read32(a->dev, HCA_BAR_REGS, BAR0_HCR + LAST_WORD) >>
				       TOGGLE_BIT &
			       1));
	hcr_set_go(&hcr, 1);
	for (unsigned i = 0; i < HCR_DWORDS; i++)
		drv_raw_mmio_write(a->dev, HCA_BAR_REGS, BAR0_HCR + 4 * i, hcr.b + 4 * i, 4);
	while (hca->stats.fw_instructions < retired + MINE && still_right())
		pass_time(CFG_NS(10));
	expect_equal(hca->stats.fw_commands, commands);
	loop[0] = JUMP_TO_SELF;
	loop[1] = loop[2] = loop[3] = 0;
	rv_core_set_pc(core, at);
	began = tb_now(tb);
	expect_catastrophe(a);
	expect_true(tb_now(tb) - began > CFG_MS(4) && tb_now(tb) - began < CFG_MS(6));
	must_fail(-EIO, drv_catas_check(a->dev, words));
	expect_equal(words[0], ERR_BUF_WATCHDOG);
	expect_equal(words[1], at);
	drv_raw_mmio_write32(a->dev, HCA_BAR_REGS, BAR0_RESET, RESET_BIT);
	pass_time(CFG_MS(10));
	abandon(a);
	take_down(b);
}
