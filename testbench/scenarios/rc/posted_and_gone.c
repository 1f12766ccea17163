/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queue pairs end right behind a request: before the port has come to them, in the middle of a long message,
 * with READs that are to be answered, and in an RNR wait. What they had is gone with them, and others, also
 * those that get their place, send as if they had never been.
 */
/* behaviours: IBA-10.3.1-gone */
#include "testbench/services.h"

enum { MTU = 256, LONG = 32 << 10, LEN = 64, ROUNDS = 3, QPS = 3 };

static void begin(struct tb *tb, struct tb_end *a, struct tb_end *b, struct drv_qp *x,
		  struct drv_qp *y, unsigned kind)
{
	connect_two(x, y);
	if (kind == 0)
		send_on(a, x, .opcode = IBV_WR_RDMA_WRITE, .dst = LONG / 2, .len = LONG);
	else if (kind == 1)
		send_on(b, y, .opcode = IBV_WR_RDMA_READ, .dst = LONG / 2, .len = LONG);
	else
		send_on(a, x, .len = LEN, .repeat = 2); /* no receive */
}

SCENARIO(posted_and_gone, "queue pairs that end right behind a request", .mtu = IBV_MTU_256,
	 .any_packets = true)
{
	static const uint64_t later_ps[ROUNDS] = {0, CFG_US(5), CFG_US(20)};

	ignore_discarded(a);
	ignore_discarded(b);
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct drv_qp *x[QPS], *y[QPS];

		for (unsigned i = 0; i < QPS; i++) {
			x[i] = new_qp(a);
			y[i] = new_qp(b);
			begin(tb, a, b, x[i], y[i], i);
		}
		pass_time(later_ps[round]);
		for (unsigned i = 0; i < QPS; i++) {
			destroy_qp(x[i]);
			move_qp(y[i], IBV_QPS_RESET);
			destroy_qp(y[i]);
		}
		rdma_write(a, .wr_id = round, .len = LEN);
		rdma_read(b, .wr_id = round, .dst = LEN, .len = LEN);
		expect_cqe(a, .wr_id = round);
		expect_cqe(b, .wr_id = round);
		expect_data(b, .len = LEN);
		expect_data(b, .dst = LEN, .len = LEN);
	}
	ignore_data(a, .dst = LONG / 2, .len = LONG);
	ignore_data(b, .dst = LONG / 2, .len = LONG);
}
