/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device stops while a thread gives it commands, one after the other. Whatever the command has come
 * to by then, the thread is told at once, and not when the time of the command is over. hcasim explore
 * lets the device be found dead at every step of a command: also when the thread has given it, and
 * does not sleep yet. Then nobody wakes it later, because no other thread gives commands. A MAD that
 * cannot be sent any more is no MAD that is waited for.
 */
/* behaviours: CMD-device-dies */
#include "model/engine/base/engine.h"
#include "testbench/harm.h"
#include "testbench/manage.h"

enum { RESET_BIT = 1, SETTLE_MS = 10, POLL_US = 100 };

static const uint8_t group[DRV_GID_BYTES] = {0xff, 0x12, 0xa0, 0x1b, [15] = 7};

struct worker {
	struct drv_device *dev;
	int rc;
	bool done;
};

static void worker(void *arg)
{
	struct worker *w = arg;

	while (!w->rc) {
		struct drv_raw_cmd cmd = {
			.op = HCR_MGID_HASH, .in = group, .in_len = DRV_GID_BYTES, .out_imm = true};

		w->rc = drv_cmd(w->dev, &cmd);
	}
	w->done = true;
}

/* A thread of its own: pass_time() would wait until a thread that is held goes on, and so would the
 * device. */
static void killer(void *arg)
{
	struct tb_end *end = arg;

	end->platform->ops->sleep_ps(end->platform, CFG_US(250));
	hca_catastrophe(host_hca(end->host), ERR_BUF_INJECTED, 0, "a test");
}

static void calls(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	const struct drv_mad_addr to = {.dlid = b->lid, .qpn = QPN_GSI, .qkey = QKEY_GSI};
	struct smp request, answer;

	request = mad_of(MAD_CLASS_PERF, MAD_METHOD_GET, SMP_ATTR_NODE_INFO);
	must_fail(-EIO, drv_mad_call(a->dev, 1, QPN_GSI, &to, &request, &answer, CFG_MS(1)));
}

/* What ends with the device is ended; nothing else can be done. Source: Linux mlx4_internal_err_ret_value */
static void closings(struct tb *tb, struct drv_device *dev)
{
	static const uint16_t ended[] = {
		HCR_CLOSE_PORT, HCR_CLOSE_HCA, HCR_HW2SW_CQ,  HCR_HW2SW_SRQ,     HCR_HW2SW_MPT,
		HCR_HW2SW_EQ,   HCR_2RST_QP,   HCR_UNMAP_ICM, HCR_UNMAP_ICM_AUX, HCR_UNMAP_FA};
	static const uint16_t refused[] = {HCR_INIT_PORT, HCR_INIT_HCA, HCR_SW2HW_CQ,
					   HCR_QUERY_CQ,  HCR_MAP_ICM,  HCR_NOP};

	for_each_row(i, ended)
		must(drv_cmd(dev, &(struct drv_raw_cmd){.op = ended[i], .in_mod = 1}));
	for_each_row(i, refused)
		must_fail(-EIO, drv_cmd(dev, &(struct drv_raw_cmd){.op = refused[i], .in_mod = 1}));
}

SCENARIO(dies_under_commands, "a device stops under commands: none waits for its answer for long",
	 .no_qps = true, .stays_up = true, .of_mlx4 = "commands")
{
	static struct worker w; /* it may outlive a scenario that fails */

	w = (struct worker){.dev = a->dev};
	lack_memory(1);
	expect_equal(drv_catas_watch(a->dev, CFG_US(POLL_US)), -ENOMEM);
	lack_memory(0);
	must(drv_catas_watch(a->dev, CFG_US(POLL_US)));
	a->platform->ops->thread_start(a->platform, "worker", worker, &w);
	a->platform->ops->thread_start(a->platform, "killer", killer, a);
	ignore_events(b);
	expect_event(a, IBV_EVENT_DEVICE_FATAL);
	expect_catastrophe(a);
	pass_time(CFG_MS(SETTLE_MS));
	expect_true(w.done);
	expect_equal(w.rc, -EIO);
	calls(tb, a, b);
	closings(tb, a->dev);
	if (!still_right())
		return;
	drv_raw_mmio_write32(a->dev, HCA_BAR_REGS, BAR0_RESET, RESET_BIT);
	pass_time(CFG_MS(SETTLE_MS));
	ignore_events(a);
	abandon(a);
	take_down(b);
}
