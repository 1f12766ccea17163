/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A port is busy with a long message of another queue pair, so its acknowledgements come late. Who has received a
 * message ends the queue pair at that moment: takes it to ERR, resets or destroys it. The message was completed, so
 * the sender must hear of it: its last acknowledgement still leaves, and nothing is sent again.
 */
/* behaviours: ST-last-acknowledgement */
#include "testbench/services.h"

enum { LEN = 64, TIMEOUT = 8, LONG = 32 << 10 };

enum end { ERROR, RESET, DESTROY, ENDS };

SCENARIO(qp_ends_at_once, "a queue pair ends when its message has come: the acknowledgement leaves")
{
	static const char *const names[] = {"to ERR", "to RESET", "destroyed"};
	struct drv_cq *cq = new_cq(b, 15, 0);
	struct drv_qp *v = new_qp(b, .send_cq = cq), *w = new_qp(a);

	connect_two(w, v);
	ignore_packets();
	for (enum end how = 0; how < ENDS && still_right(); how++) {
		struct drv_qp *x = new_qp(a), *y = new_qp(b);
		const uint64_t resent = tb_stat(a, "retry", "ack_timeouts");

		name_row("%s", names[how]);
		connect_two(x, y, .timeout = TIMEOUT, .retry_cnt = 1);
		recv_on(b, y, .wr_id = 1, .len = LEN);
		send_on(b, v, .wr_id = 3, .opcode = IBV_WR_RDMA_WRITE, .len = LONG);
		send_on(a, x, .wr_id = 2, .len = LEN);
		expect_cqe(b, .wr_id = 1, .byte_len = LEN);
		if (how == DESTROY)
			destroy_qp(y);
		else
			move_qp(y, how == ERROR ? IBV_QPS_ERR : IBV_QPS_RESET);
		expect_cqe(a, .wr_id = 2);
		expect_equal(tb_stat(a, "retry", "ack_timeouts"), resent);
		expect_data(b, .len = LEN);
		expect_cqe(b, .cq = cq, .wr_id = 3);
		expect_data(a, .len = LONG);
		destroy_qp(x);
		if (how != DESTROY)
			destroy_qp(y);
	}
	destroy_qp(v);
	destroy_qp(w);
	destroy_cq(cq);
}
