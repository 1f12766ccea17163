/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver of b resets its device in the middle of traffic. Afterwards nothing from before the
 * reset may reach b's memory, and a's requests fail by timeout. Then b starts again, new queue
 * pairs are made, and data flows.
 */
/* behaviours: HCA-reset-under-load */
#include "testbench/scenario.h"

enum { RESET_BIT = 1 };

SCENARIO(reset_under_load,
	 "a device is reset under load: the peer times out, then all of it works again",
	 .timeout = 8, .retry_cnt = 2, .memory = 1 << 20, .any_packets = true)
{
	const struct drv_qp_attr reset = {.qp_state = IBV_QPS_RESET};

	phase("load");
	rdma_write(a, .wr_id = 1, .len = 1 << 20, .repeat = 8);
	expect_cqe(a, .wr_id = 1);
	drv_raw_mmio_write32(b->dev, HCA_BAR_REGS, BAR0_RESET, RESET_BIT);
	pass_time(CFG_US(10));
	phase("reset");
	ignore_events(a);
	ignore_events(b);
	abandon(b);
	for (unsigned failed = 0; failed < 7 && still_right();) {
		struct drv_wc wc;

		must(drv_cq_wait(a->cq, tb_now(tb) + CFG_S(1)));
		if (still_right() && drv_cq_poll(a->cq, 1, &wc) == 1) {
			failed++;
			expect_true(wc.status == IBV_WC_SUCCESS ||
				    wc.status == IBV_WC_RETRY_EXC_ERR ||
				    wc.status == IBV_WC_WR_FLUSH_ERR);
			if (wc.wr_id == 8)
				expect_true(wc.status == IBV_WC_WR_FLUSH_ERR);
		}
	}
	phase("again");
	must(drv_qp_modify(a->qp[0], &reset, IBV_QP_STATE));
	bring_up(b);
	activate_ports();
	make_objects(b);
	connect_qps();
	rdma_write(a, .wr_id = 9, .len = 65536);
	expect_cqe(a, .wr_id = 9);
	expect_data(b, .len = 65536);
	rdma_read(a, .wr_id = 10, .len = 65536, .src = 1);
	expect_cqe(a, .wr_id = 10);
	expect_data(a, .len = 65536, .src = 1);
}
