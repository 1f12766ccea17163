/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two ports pause each other's priority 3 for longer than anybody waits, as in a PFC deadlock of a ring
 * of switches: requests of both wait, and the counters of both show frames that wait. Packets of another
 * priority pass. The deadlock itself cannot arise between two cards, whose receive buffers empty into
 * memory whatever they send; so the pauses are sent by hand. When they end, all completes.
 */
#include "testbench/scenarios/ethernet/control.h"

/* LONG: more than a port has queued at a time */
enum { LEN = 64, LONG = 64 << 10, STUCK = 3, FREE = 5, TIMES = 20 };

static void pause_both(struct tb *tb, struct tb_end *a, struct tb_end *b, unsigned quanta)
{
	inject_pause(tb, a, 1u << STUCK, quanta);
	inject_pause(tb, b, 1u << STUCK, quanta);
}

SCENARIO(roce_pfc_standstill, "PFC stops a priority of both ports: counters show it, others pass",
	 .settings = {"hca.port1.type=eth"}, .qps = 0, .any_packets = true, .memory = 2 * LONG)
{
	struct drv_qp *x = new_qp(a), *y = new_qp(b), *v = new_qp(a), *w = new_qp(b);

	if (!still_right())
		return;
	obey(tb, a, false, 1u << STUCK | 1u << FREE);
	obey(tb, b, false, 1u << STUCK | 1u << FREE);
	connect_two(x, y, .sl = STUCK, .timeout = 0);
	connect_two(v, w, .sl = FREE);
	pause_both(tb, a, b, QUANTA_MAX);
	pass_time(CFG_US(1));
	send_on(a, x, .opcode = IBV_WR_RDMA_WRITE, .wr_id = 1, .len = LONG);
	send_on(b, y, .opcode = IBV_WR_RDMA_WRITE, .wr_id = 2, .len = LONG);
	for (unsigned i = 0; i < TIMES; i++) {
		pause_both(tb, a, b, QUANTA_MAX);
		pass_time(CFG_US(500));
	}
	expect_that(tb_stat(a, "port1", "tx_waited"), >, 0);
	expect_that(tb_stat(b, "port1", "tx_waited"), >, 0);
	expect_that(tb_stat(a, "port1", "rx_pause"), >, TIMES);
	expect_that(tb_stat(b, "port1", "rx_pause"), >, TIMES);
	expect_no_more(CFG_US(10));
	send_on(a, v, .opcode = IBV_WR_RDMA_WRITE, .wr_id = 3, .dst = LONG, .len = LEN);
	expect_cqe(a, .wr_id = 3, .on = v);
	expect_data(b, .dst = LONG, .len = LEN);
	pause_both(tb, a, b, 0);
	expect_cqe(a, .wr_id = 1, .on = x);
	expect_cqe(b, .wr_id = 2, .on = y);
	expect_data(b, .len = LONG);
	expect_data(a, .len = LONG);
	destroy_qp(w);
	destroy_qp(v);
	destroy_qp(y);
	destroy_qp(x);
}
