/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The firmware hangs in a command, and others are given meanwhile: the command register is taken, so
 * one of them finds no free one for ten seconds, and declares the device dead. All of them end then, each
 * with an error: none waits for the register or for its answer for long. In polling mode one thread has
 * the register from the beginning of its command to the end, so nobody finds it taken. A queue pair that
 * leaves its group meanwhile has left it: a dead device has no groups. The driver resets the device, so
 * that it does not write into memory that is given back.
 */
/* behaviours: CMD-device-dies */
#include "testbench/harm.h"

enum { WORKERS = 4, MEMBER = 2, LATE_S = 50, LONG_S = 25 };

static const uint8_t group[DRV_GID_BYTES] = {0xff, 0x12, 0xa0, 0x1b, [15] = 7};

struct worker {
	struct drv_device *dev;
	struct drv_qp *member; /* NULL: it gives another command */
	int rc;
	bool done;
};

static void worker(void *arg)
{
	struct worker *w = arg;
	struct drv_raw_cmd cmd = {
		.op = HCR_MGID_HASH, .in = group, .in_len = DRV_GID_BYTES, .out_imm = true};

	w->rc = w->member ? drv_mcast_detach(w->member, group) : drv_cmd(w->dev, &cmd);
	w->done = true;
}

SCENARIO(commands_stuck, "the firmware hangs under several commands: none waits for long",
	 .any_packets = true, .stays_up = true, .of_mlx4 = "commands",
	 .settings = {"hca.fw.watchdog=60s", "sim.time_limit=100s"})
{
	static struct worker w[WORKERS]; /* they may outlive a scenario that fails */

	struct drv_qp *member = new_qp(a, .type = IBV_QPT_UD);

	must(drv_mcast_attach(member, group, false));
	if (!still_right())
		return;
	late_read(a, "firmware", CFG_S(LATE_S));
	for (unsigned i = 0; i < WORKERS; i++) {
		w[i] = (struct worker){.dev = a->dev, .member = i == MEMBER ? member : NULL};
		a->platform->ops->thread_start(a->platform, "worker", worker, &w[i]);
	}
	ignore_events(a);
	ignore_events(b);
	pass_time(CFG_S(LONG_S));
	expect_true(drv_is_dead(a->dev));
	for (unsigned i = 0; i < WORKERS; i++) {
		name_row("worker %u", i);
		expect_true(w[i].done);
		if (w[i].member)
			expect_equal(w[i].rc, 0);
		else
			expect_true(w[i].rc == -EIO || w[i].rc == -ETIMEDOUT);
	}
	if (!still_right())
		return;
	abandon(a);
	take_down(b);
}
