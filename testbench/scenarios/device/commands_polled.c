/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A driver that never leaves polling mode: it brings the device up, makes objects and takes it down, and
 * waits for each command by reading the command register. Elsewhere bring-up ends with commands that are
 * told by events. A command has the time that was asked for: the device may take long, and is given up
 * when that time is over. The driver resets it then, so it writes no answer into memory that was given
 * back.
 */
/* behaviours: CMD-polling */
#include "testbench/harm.h"

enum { ENTRIES = 4, PATIENCE_S = 30, LATE_S = 15, SHORT_S = 1, HANG_S = 5, POLL_MS = 5 };

static const uint8_t group[DRV_GID_BYTES] = {0xff, 0x12, 0xa0, 0x1b, [15] = 7};

static void use(struct tb *tb, struct drv_device *dev)
{
	const struct drv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	struct drv_qp_init init = {.type = IBV_QPT_RC,
				   .cap = {.max_send_wr = ENTRIES,
					   .max_recv_wr = ENTRIES,
					   .max_send_sge = 1,
					   .max_recv_sge = 1}};
	struct drv_qp_attr got;
	struct drv_pd *pd;
	struct drv_cq *cq;
	struct drv_qp *qp;

	must(drv_pd_alloc(dev, &pd));
	must(drv_cq_create(dev, ENTRIES, 0, &cq));
	if (!still_right())
		return;
	init.send_cq = init.recv_cq = cq;
	must(drv_qp_create(pd, &init, &qp));
	if (!still_right())
		return;
	must(drv_qp_modify(qp, &attr,
			   IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	must(drv_qp_query(qp, &got));
	expect_equal(got.qp_state, IBV_QPS_INIT);
	must(drv_qp_destroy(qp));
	must(drv_cq_destroy(cq));
	must(drv_pd_free(pd));
}

/* A command that takes LATE_S; then one that hangs for HANG_S, and has SHORT_S. */
static void wait_for(struct tb *tb, struct tb_end *a, struct drv_device *dev)
{
	struct drv_raw_cmd cmd = {
		.op = HCR_MGID_HASH, .in = group, .in_len = DRV_GID_BYTES, .out_imm = true};
	uint64_t begun = tb_now(tb);

	late_read(a, "firmware", CFG_S(LATE_S));
	must(drv_cmd(dev, &cmd));
	expect_that(tb_now(tb) - begun, >=, CFG_S(LATE_S));
	/* polls become less frequent, and not more so than this */
	expect_that(tb_now(tb) - begun, <, CFG_S(LATE_S) + CFG_MS(POLL_MS));
	late_read(a, "firmware", CFG_S(HANG_S));
	cmd.timeout_ps = CFG_S(SHORT_S);
	begun = tb_now(tb);
	must_fail(-ETIMEDOUT, drv_cmd(dev, &cmd));
	expect_that(tb_now(tb) - begun, >=, CFG_S(SHORT_S));
	/* the reset takes another second */
	expect_that(tb_now(tb) - begun, <, CFG_S(3 * SHORT_S));
	expect_true(drv_is_dead(dev));
}

SCENARIO(commands_polled, "a driver that stays in polling mode: bring-up, objects, removal",
	 .bare = true, .of_mlx4 = "commands",
	 .settings = {"hca.fw.watchdog=60s", "sim.time_limit=100s"})
{
	const struct drv_options options = {
		.log_eq_size = 8, .poll_commands = true, .command_timeout_ps = CFG_S(PATIENCE_S)};
	struct drv_leftovers left;
	struct drv_device *dev;
	int rc = drv_probe(a->platform, &options, &dev);

	must(rc);
	if (rc)
		return;
	use(tb, dev);
	left = drv_remove(dev);
	expect_equal(left.failed_commands, 0);
	expect_equal(left.mailboxes, 0);
	expect_equal(host_pages_used(a->host), 0);
	expect_equal(host_pages_mapped(a->host), 0);

	rc = drv_probe(a->platform, &options, &dev);
	must(rc);
	if (rc)
		return;
	wait_for(tb, a, dev);
	drv_abandon(dev);
	pass_time(CFG_S(HANG_S));
	expect_equal(host_pages_used(a->host), 0);
	expect_equal(host_pages_mapped(a->host), 0);
}
