/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands as a caller fills them: mailboxes as long as there are and longer ones, an immediate input, and
 * refusals, which give a status and no result, also one that no driver knows. What is refused changes
 * nothing, and the same command works afterwards. A command's time begins when the device has got it. A
 * device that does not answer in that time is dead, whether the command has a time of its own or not, and
 * however often its thread is woken meanwhile for the sake of others. While it is reset, nobody looks at it:
 * neither who waits for the command register nor who watches for its death.
 */
/* behaviours: CMD-arguments */
#include "host_driver/mlx4/mlx4_internal.h"
#include "testbench/harm.h"

enum {
	OLD = 0x5a5a,
	LATE_S = 4,
	SHORT_S = 2,
	HANG_S = 8,
	RESET_BIT = 1,
	SETTLE_MS = 10,
	WAKE_MS = 50,
	WATCH_MS = 20,
};

static const uint8_t group[DRV_GID_BYTES] = {0xff, 0x12, 0xa0, 0x1b, [14] = 3, [15] = 9};

#define HASH(...)                                                                                  \
	(struct drv_raw_cmd)                                                                       \
	{                                                                                          \
		.op = HCR_MGID_HASH, .in = group, .in_len = DRV_GID_BYTES, .out_imm = true,        \
		__VA_ARGS__                                                                        \
	}

static void lengths(struct tb *tb, struct drv_device *dev)
{
	static uint8_t box[HCR_MBOX_SIZE + 1];
	const struct {
		const char *name;
		size_t in, out;
		int rc;
	} rows[] = {
		{"the longest input", HCR_MBOX_SIZE, 0, 0},
		{"a longer input", HCR_MBOX_SIZE + 1, 0, -EINVAL},
		{"the longest output", 0, HCR_MBOX_SIZE, 0},
		{"a longer output", 0, HCR_MBOX_SIZE + 1, -EINVAL},
	};

	for_each_row(i, rows) {
		struct drv_raw_cmd cmd = HASH(.in = box, .in_len = rows[i].in);

		name_row("%s", rows[i].name);
		memset(box, 0, sizeof(box));
		memcpy(box, group, sizeof(group));
		if (rows[i].out) {
			memset(box, OLD & UINT8_MAX, sizeof(box));
			cmd = (struct drv_raw_cmd){
				.op = HCR_QUERY_FW, .out = box, .out_len = rows[i].out};
		}
		must_fail(rows[i].rc, drv_cmd(dev, &cmd));
		if (rows[i].out)
			expect_equal(box[HCR_MBOX_SIZE - 1], rows[i].rc ? OLD & UINT8_MAX : 0);
		expect_equal(dev->cmd.mailboxes, 0);
	}
}

/* The asynchronous events that the driver uses are mapped to where they are. */
static void immediate(struct tb *tb, struct drv_device *dev)
{
	struct drv_raw_cmd cmd = {.op = HCR_MAP_EQ,
				  .in_mod = dev->eqs[0].eqn,
				  .in_param = UINT64_C(1) << EVENT_COMM_EST};

	must(drv_cmd(dev, &cmd));
	/* its result is of no interest, and may be asked for */
	cmd.out_imm = true;
	must(drv_cmd(dev, &cmd));
}

static void refusals(struct tb *tb, struct tb_end *a, struct drv_device *dev)
{
	static const struct {
		uint8_t status;
		int rc;
	} rows[] = {
		{HCR_STATUS_INTERNAL_ERR, -EIO},
		{HCR_STATUS_BAD_OP, -EPERM},
		{HCR_STATUS_RESOURCE_BUSY, -EBUSY},
		{HCR_STATUS_EXCEED_LIM, -ENOMEM},
		{HCR_STATUS_LAM_NOT_PRE, -EAGAIN},
		{HCR_STATUS_MULTI_FUNC_REQ, -EACCES},
		{0x07, -EIO},
		{0x51, -EIO},
		{0xfe, -EIO},
	};
	struct drv_raw_cmd right = HASH();
	uint64_t out;

	must(drv_cmd(dev, &right));
	for_each_row(i, rows) {
		struct drv_raw_cmd cmd = HASH(.out_param = OLD);

		name_row("status 0x%x", rows[i].status);
		refuse_command(a, 1, rows[i].status);
		must_fail(rows[i].rc, drv_cmd(dev, &cmd));
		expect_equal(cmd.status, rows[i].status);
		expect_equal(cmd.out_param, OLD);
		out = OLD;
		refuse_command(a, 1, rows[i].status);
		must_fail(rows[i].rc, drv_cmd_imm(dev, HCR_SENSE_PORT, 1, 0, &out));
		expect_equal(out, OLD);
		must(drv_cmd(dev, &cmd));
		expect_equal(cmd.status, HCR_STATUS_OK);
		expect_equal(cmd.out_param, right.out_param);
	}
}

/* --- time --- */

struct worker {
	struct drv_device *dev;
	int rc;
	bool done;
};

static void worker(void *arg)
{
	struct worker *w = arg;

	w->rc = drv_cmd(w->dev, &HASH());
	w->done = true;
}

static void begin(struct tb_end *end, struct worker *w)
{
	*w = (struct worker){.dev = end->dev};
	end->platform->ops->thread_start(end->platform, "worker", worker, w);
}

/* The register is taken for longer than the command may take. */
static void waits(struct tb *tb, struct tb_end *a)
{
	static struct worker w[2];
	struct drv_raw_cmd cmd = HASH(.timeout_ps = CFG_S(SHORT_S));
	const uint64_t begun = tb_now(tb);

	late_read(a, "firmware", CFG_S(LATE_S));
	for (unsigned i = 0; i < 2; i++)
		begin(a, &w[i]);
	pass_time(CFG_MS(1));
	must(drv_cmd(a->dev, &cmd));
	expect_that(tb_now(tb) - begun, >=, CFG_S(LATE_S));
	pass_time(CFG_MS(1));
	for (unsigned i = 0; i < 2; i++) {
		expect_true(w[i].done);
		expect_equal(w[i].rc, 0);
	}
}

/* As the ends of other commands do. */
static void waker(void *arg)
{
	struct tb_end *end = arg;
	struct platform *p = end->platform;

	for (unsigned i = 0; i < HANG_S * 1000 / WAKE_MS && !drv_is_dead(end->dev); i++) {
		p->ops->sleep_ps(p, CFG_MS(WAKE_MS));
		p->ops->waitq_wake_all(p, end->dev->cmd.waitq);
	}
}

/* A queue that the device does not give back is destroyed all the same. The device is reset once. */
static void is_dead_after(struct tb *tb, struct tb_end *end, uint64_t own_ps, struct drv_cq *cq)
{
	static struct worker waits; /* for the command register */
	struct drv_raw_cmd cmd = HASH(.timeout_ps = own_ps);
	const uint64_t begun = tb_now(tb);

	must(drv_catas_watch(end->dev, CFG_MS(WATCH_MS)));
	late_read(end, "firmware", CFG_S(HANG_S));
	end->platform->ops->thread_start(end->platform, "waker", waker, end);
	begin(end, &waits);
	if (cq)
		must(drv_cq_destroy(cq));
	else
		must_fail(-ETIMEDOUT, drv_cmd(end->dev, &cmd));
	expect_that(tb_now(tb) - begun, >=, CFG_S(SHORT_S));
	/* the reset takes a second */
	expect_that(tb_now(tb) - begun, <, CFG_S(SHORT_S + 2));
	expect_true(drv_is_dead(end->dev));
	expect_true(waits.done && waits.rc == -EIO);
	must_fail(-EIO, drv_cmd(end->dev, &(struct drv_raw_cmd){.op = HCR_NOP}));
	pass_time(CFG_S(HANG_S));
}

static void dies(struct tb *tb, struct tb_end *end, uint64_t own_ps, struct drv_cq *cq)
{
	is_dead_after(tb, end, own_ps, cq);
	ignore_events(end);
	drv_raw_mmio_write32(end->dev, HCA_BAR_REGS, BAR0_RESET, RESET_BIT);
	pass_time(CFG_MS(SETTLE_MS));
	abandon(end);
}

SCENARIO(cmd_raw, "lengths, immediate values, refusals and times of commands", .no_qps = true,
	 .stays_up = true, .any_packets = true, .of_mlx4 = "commands",
	 .settings = {"hca.fw.watchdog=60s", "sim.time_limit=100s"})
{
	struct drv_cq *cq = NULL;

	must(drv_cq_create(b->dev, 1, 0, &cq));
	lengths(tb, a->dev);
	immediate(tb, a->dev);
	refusals(tb, a, a->dev);
	waits(tb, a);
	if (!still_right())
		return;
	ignore_events(a);
	ignore_events(b);
	phase("a time of its own");
	dies(tb, a, CFG_S(SHORT_S), NULL);
	phase("the time of all");
	b->dev->options.command_timeout_ps = CFG_S(SHORT_S);
	dies(tb, b, 0, cq);
}
