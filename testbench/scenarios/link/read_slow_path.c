/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A READ response on a slow path does not fetch its data over PCIe before its turn to leave. So a
 * small READ of another queue pair, whose contexts and translations also come over PCIe, is as fast
 * as when it is alone.
 * behaviours: IBA-9.11-static-rate
 */
#include "testbench/services.h"

enum { RATE_2_5 = 2, PAIRS = 3, LONG = 128 << 10, TINY = 8 };

static void connect_slow(struct tb *tb, struct drv_qp *x, const struct tb_end *to, struct drv_qp *y)
{
	struct drv_rc_path path = path_to(to, drv_qp_num(y));

	path.static_rate = RATE_2_5;
	must(drv_qp_connect(x, &path));
}

static uint64_t tiny_read_takes(struct tb *tb, struct tb_end *a, unsigned wr_id)
{
	const uint64_t from = tb_now(tb);

	rdma_read(a, .wr_id = wr_id, .dst = LONG, .len = TINY);
	expect_cqe(a, .wr_id = wr_id);
	expect_data(a, .dst = LONG, .len = TINY);
	return tb_now(tb) - from;
}

SCENARIO(read_slow_path, "READ responses over slow paths hold up no other queue pair",
	 .any_packets = true, .memory = LONG + 4096)
{
	struct drv_qp *x[PAIRS], *y[PAIRS];
	uint64_t first, beside;

	for (unsigned i = 0; i < PAIRS; i++) {
		x[i] = new_qp(a);
		y[i] = new_qp(b);
		connect_slow(tb, x[i], b, y[i]);
		connect_slow(tb, y[i], a, x[i]);
	}
	first = tiny_read_takes(tb, a, 1); /* contexts and translations are not cached yet */
	for (unsigned i = 0; i < PAIRS; i++)
		send_on(a, x[i], .opcode = IBV_WR_RDMA_READ, .wr_id = 10, .len = LONG);
	pass_time(CFG_US(40));
	beside = tiny_read_takes(tb, a, 2);
	/* at most two packets of the slow path are ahead of its response at the port */
	expect_that(beside, <, first + CFG_US(2));
	for (unsigned i = 0; i < PAIRS; i++)
		expect_cqe(a, .wr_id = 10);
	expect_data(a, .len = LONG);
	for (unsigned i = 0; i < PAIRS; i++) {
		destroy_qp(x[i]);
		destroy_qp(y[i]);
	}
}
