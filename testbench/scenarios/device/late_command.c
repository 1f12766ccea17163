/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command is given up before the device has done it. Its answer comes while the next command
 * waits, which takes it for its own neither by its token nor in any other way: each command gets
 * its own result, the command register is not written while the device has it, and the device
 * stays alive. An answer that is very late, and not too late, is waited for.
 */
/* behaviours: CMD-late-answer */
#include "testbench/harm.h"

enum { ROUNDS = 5, LATE_S = 30 };

static const uint8_t groups[2][DRV_GID_BYTES] = {{0xff, 0x12, 0xa0, 0x1b, [15] = 7},
						 {0xff, 0x12, 0xa0, 0x1b, [14] = 3, [15] = 9}};

/* The hash of a group: an immediate result that only this command can have. */
static uint64_t hash(struct tb *tb, struct tb_end *a, const uint8_t *group)
{
	struct drv_raw_cmd cmd = {
		.op = HCR_MGID_HASH, .in = group, .in_len = DRV_GID_BYTES, .out_imm = true};

	must(drv_cmd(a->dev, &cmd));
	return cmd.out_param;
}

SCENARIO(late_command, "a command that was given up answers while the next one waits",
	 .no_qps = true, .settings = {"hca.fw.watchdog=60s", "sim.time_limit=100s"})
{
	const uint64_t right[2] = {hash(tb, a, groups[0]), hash(tb, a, groups[1])};

	unsigned given_up = 0;

	expect_true(right[0] != right[1] && right[0] && right[1]);
	for (unsigned i = 0; i < ROUNDS && still_right(); i++) {
		struct drv_raw_cmd nop = {.op = HCR_NOP,
					  .in_mod = HCR_NOP_IM,
					  .timeout_ps = CFG_NS(i % 2 ? 10 : 1000)};
		const int rc = drv_cmd(a->dev, &nop);

		/* under explore, the answer may be there before the driver begins to wait */
		expect_true(!rc || rc == -ETIMEDOUT);
		given_up += rc != 0;
		expect_equal(hash(tb, a, groups[i % 2]), right[i % 2]);
		expect_equal(hash(tb, a, groups[!(i % 2)]), right[!(i % 2)]);
	}
	expect_true(given_up > 0);
	/* a command has 60 s, as Linux gives it */
	late_write(a, "eqe", CFG_S(LATE_S));
	expect_equal(hash(tb, a, groups[0]), right[0]);
	expect_true(!drv_is_dead(a->dev));
}
