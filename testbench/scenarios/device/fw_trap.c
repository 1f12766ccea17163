/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The firmware's stack pointer is broken, so it traps at the next command. The device reports the
 * trap and its address in the error buffer, the driver's command fails, and nothing goes out on the
 * wire. A reset and a new start make it work again.
 */
/* behaviours: HCA-catastrophe-trap */
#include "model/engine/chip/processor_impl.h"
#include "model/interface/commands.h"
#include "testbench/scenario.h"

enum { RESET_BIT = 1, REG_RA = 1, REG_SP = 2, NO_MEMORY = 0x40000000, STORE_ACCESS_FAULT = 7 };

SCENARIO(fw_trap, "firmware traps: catastrophic error with its place; reset and start again",
	 .timeout = 8, .retry_cnt = 1)
{
	struct rv_core *core = host_hca(a->host)->processor->core;
	const struct drv_qp_attr reset = {.qp_state = IBV_QPS_RESET};
	struct drv_raw_cmd nop = {.op = HCR_NOP, .in_mod = HCR_NOP_IM, .timeout_ps = CFG_MS(10)};
	uint32_t words[16] = {0}, offset;
	const char *symbol;

	rv_core_set_reg(core, REG_SP, NO_MEMORY);
	ignore_events(a);
	expect_true(drv_cmd(a->dev, &nop) != 0);
	expect_catastrophe(a);
	must_fail(-EIO, drv_catas_check(a->dev, words));
	expect_equal(words[0], ERR_BUF_TRAP);
	expect_equal(words[2], STORE_ACCESS_FAULT);
	expect_equal(words[3] & ~0xfffu, NO_MEMORY - 0x1000);
	expect_equal(words[4], rv_core_reg(core, REG_RA));
	expect_equal(words[9], rv_core_trap(core).pc);
	symbol = rv_core_symbol(core, words[1], &offset);
	expect_true(symbol && !strcmp(symbol, "fw_trap"));
	/* nobody answers any more */
	post_send(b, .wr_id = 1, .len = 64);
	ignore_packets();
	expect_cqe(b, .wr_id = 1, .status = IBV_WC_RETRY_EXC_ERR);
	phase("again");
	drv_raw_mmio_write32(a->dev, HCA_BAR_REGS, BAR0_RESET, RESET_BIT);
	pass_time(CFG_MS(10));
	ignore_events(b);
	abandon(a);
	must(drv_qp_modify(b->qp[0], &reset, IBV_QP_STATE));
	bring_up(a);
	activate_ports();
	make_objects(a);
	connect_qps();
	rdma_write(a, .wr_id = 2, .len = 9000);
	expect_cqe(a, .wr_id = 2);
	expect_data(b, .len = 9000);
}
