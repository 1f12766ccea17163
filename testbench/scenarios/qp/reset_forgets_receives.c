/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue pair is reset while receives are posted, some of them used. Connected again it has none:
 * a message finds no receive, waits, and takes the first one that is posted then.
 */
/* behaviours: ST-reset-receives */
#include "testbench/services.h"

enum { POSTED = 5, USED = 2, LEN = 16 };

SCENARIO(reset_forgets_receives, "after a reset a queue pair has none of its earlier receives",
	 .any_packets = true)
{
	struct drv_qp *x = new_qp(a), *y = new_qp(b);

	for (unsigned round = 0; round < 2 && still_right(); round++) {
		const uint64_t waits = tb_stat(a, "retry", "rnr_waits");

		connect_two(x, y);
		recv_on(b, y, .wr_id = 10, .dst = 1024, .len = LEN, .repeat = POSTED);
		send_on(a, x, .len = LEN, .repeat = USED);
		expect_cqes(a, USED);
		for (unsigned i = 0; i < USED; i++)
			expect_cqe(b, .wr_id = 10 + i, .on = y);
		move_qp(x, IBV_QPS_RESET);
		move_qp(y, IBV_QPS_RESET);
		connect_two(x, y);
		send_on(a, x, .src = 100, .len = LEN);
		pass_time(CFG_US(50));
		expect_equal(tb_stat(a, "retry", "rnr_waits") - waits, 1);
		recv_on(b, y, .wr_id = 20, .len = LEN);
		expect_cqe(a);
		expect_cqe(b, .wr_id = 20, .on = y, .byte_len = LEN);
		expect_data(b, .src = 100, .len = LEN);
		move_qp(x, IBV_QPS_RESET);
		move_qp(y, IBV_QPS_RESET);
	}
	for (unsigned i = 0; i < USED; i++)
		expect_data(b, .dst = 1024 + i * LEN, .len = LEN);
	destroy_qp(y);
	destroy_qp(x);
}
