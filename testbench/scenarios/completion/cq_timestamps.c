/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A CQ with timestamps: each successful completion has the 48 low bits of the device's clock, from a
 * time between the posting and the poll. Three messages are sent before the clock leaves 32 bits,
 * and three after it. SLID and SL are then 0: the timestamp is in their place. Source: Linux mlx4
 * (struct mlx4_ts_cqe), rdma-core mlx4 (mlx4_cq_read_wc_completion_ts). An error has its syndrome where
 * the timestamp would be, and so it has none.
 */
#include "model/interface/commands.h"
#include "testbench/services.h"

enum { MESSAGES = 3, LEN = 16, ENTRIES = 8 };

static void message_stamped(struct tb *tb, struct tb_end *a, struct tb_end *b, struct drv_qp *x,
			    struct drv_cq *cq)
{
	const uint64_t before = drv_clock_read(b->dev);
	struct drv_wc wc;

	send_on(a, x, .len = LEN);
	pass_time(CFG_US(20));
	expect_equal(drv_cq_poll(cq, 1, &wc), 1);
	if (!still_right())
		return;
	expect_equal(wc.status, IBV_WC_SUCCESS);
	expect_that(wc.timestamp, >, before);
	expect_that(wc.timestamp, <, drv_clock_read(b->dev));
	expect_equal(wc.slid, 0);
	expect_equal(wc.sl, 0);
}

/* A receive that is too short, and one that is flushed behind it. */
static void error_not_stamped(struct tb *tb, struct tb_end *a, struct tb_end *b, struct drv_qp *x,
			      struct drv_qp *y, struct drv_cq *cq)
{
	static const enum ibv_wc_status statuses[] = {IBV_WC_LOC_LEN_ERR, IBV_WC_WR_FLUSH_ERR};
	struct drv_wc wc;

	recv_on(b, y, .wr_id = 8, .len = LEN - 1);
	recv_on(b, y, .wr_id = 9, .len = LEN);
	send_on(a, x, .len = LEN);
	expect_cqe(a, .status = IBV_WC_REM_INV_REQ_ERR);
	pass_time(CFG_US(20));
	for (unsigned i = 0; i < 2 && still_right(); i++) {
		expect_equal(drv_cq_poll(cq, 1, &wc), 1);
		expect_equal(wc.wr_id, 8 + i);
		expect_equal(wc.status, statuses[i]);
		expect_equal(wc.timestamp, 0);
	}
}

SCENARIO(cq_timestamps, "timestamps of completions follow the device's clock, beyond 32 bits, too",
	 .timeout = 30, .of_mlx4 = "timestamps of completions")
{
	struct init_hca hca = {{0}};
	struct drv_raw_cmd query = {.op = HCR_QUERY_HCA, .out = &hca, .out_len = sizeof(hca)};
	struct drv_cq *cq = NULL;
	struct drv_qp *x = new_qp(a), *y;
	uint64_t mhz;

	ignore_packets();
	must(drv_cq_create_stamped(b->dev, NULL, ENTRIES, DRV_CQ_POLLED, &cq));
	must(drv_cmd(b->dev, &query));
	if (!still_right())
		return;
	mhz = init_hca_get_clock_mhz(&hca);
	y = new_qp(b, .recv_cq = cq);
	connect_two(x, y);
	recv_on(b, y, .wr_id = 1, .len = LEN, .repeat = 2 * MESSAGES);
	expect_that(drv_clock_read(b->dev), <, UINT64_C(1) << 32);
	for (unsigned i = 0; i < 2 * MESSAGES && still_right(); i++) {
		if (i == MESSAGES)
			pass_time(CFG_US((UINT64_C(1) << 32) / mhz));
		message_stamped(tb, a, b, x, cq);
		expect_data(b, .dst = i * LEN, .len = LEN);
	}
	expect_cqes(a, 2 * MESSAGES);
	error_not_stamped(tb, a, b, x, y, cq);
	destroy_qp(y);
	destroy_qp(x);
	destroy_cq(cq);
}
