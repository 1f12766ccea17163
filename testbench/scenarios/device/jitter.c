/* SPDX-License-Identifier: Apache-2.0 */
/*
 * With sim.jitter, latencies differ each time, and stay within the bounds that the parameters state:
 * the firmware's, by equal commands that are given one after another; those of DMA and interrupts,
 * by equal messages. The device and the driver bear it.
 */
#include "model/interface/commands.h"
#include "testbench/scenario.h"

enum { ROUNDS = 24, LEN = 64 };

struct spread {
	uint64_t least_ps, most_ps;
};

static void take(struct spread *s, uint64_t ps)
{
	if (!s->least_ps || ps < s->least_ps)
		s->least_ps = ps;
	if (ps > s->most_ps)
		s->most_ps = ps;
}

/* Of 24 random numbers, the smallest and the largest are further apart than half of the bound, but
 * for one seed in 100,000. */
static void expect_spread(struct tb *tb, const struct spread *s, uint64_t bound_ps)
{
	expect_that(s->most_ps - s->least_ps, >, bound_ps / 2);
	expect_that(s->most_ps - s->least_ps, <=, bound_ps);
}

SCENARIO(jitter_firmware, "with sim.jitter, equal commands take different times, within the bound",
	 .no_qps = true,
	 .settings = {"sim.jitter=on", "host.schedule_jitter=0", "hca.fw.jitter=5us",
		      "host.pcie.read_jitter=0", "host.pcie.write_jitter=0",
		      "host.pcie.interrupt_jitter=0"})
{
	struct spread s = {0};

	for (unsigned i = 0; i < ROUNDS && still_right(); i++) {
		struct drv_raw_cmd nop = {.op = HCR_NOP};
		const uint64_t began_ps = tb_now(tb);

		must(drv_cmd(a->dev, &nop));
		take(&s, tb_now(tb) - began_ps);
	}
	expect_spread(tb, &s, CFG_US(5));
}

/* A message waits for two DMA reads before it is sent: of its WQE and of its payload. The first one
 * also waits for contexts and translations, and is not counted. */
SCENARIO(jitter_dma, "with sim.jitter, equal messages take different times, within the bounds",
	 .of_mlx4 = "DMA of payload",
	 .settings = {"sim.jitter=on", "host.schedule_jitter=0", "hca.fw.jitter=0",
		      "host.pcie.read_jitter=1us", "host.pcie.write_jitter=0",
		      "host.pcie.interrupt_jitter=0", "hca.doorbell.blueflame=off"})
{
	struct spread s = {0};

	for (unsigned i = 0; i < ROUNDS && still_right(); i++) {
		const uint64_t began_ps = tb_now(tb);

		post_send(a, .wr_id = i, .opcode = IBV_WR_RDMA_WRITE, .len = LEN);
		expect_pkt(a_to_b, RC_WRITE_ONLY);
		if (i)
			take(&s, tb_now(tb) - began_ps);
		expect_pkt(b_to_a, RC_ACKNOWLEDGE);
		expect_cqe(a, .wr_id = i);
		expect_data(b, .len = LEN);
		pass_time(CFG_US(5));
	}
	expect_that(s.most_ps - s.least_ps, >, CFG_NS(500));
	expect_that(s.most_ps - s.least_ps, <=, CFG_US(2));
}
