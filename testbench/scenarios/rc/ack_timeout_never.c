/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timeout code 0 means that the timer never runs. The ACK is lost, and nothing happens for ten
 * simulated seconds; the ACK of the next request completes both. With code 8 the same loss is
 * repaired between Ttr and 4 Ttr.
 */
/* behaviours: REQ-3 */
#include "testbench/services.h"

enum { CODE = 8 };

SCENARIO(ack_timeout_never, "timeout code 0 never expires; another one between Ttr and 4 Ttr")
{
	const uint64_t ttr = (uint64_t)4096000 << CODE; /* ps */
	struct drv_rc_path path[2];
	struct drv_qp *x = new_qp(a), *y = new_qp(b);

	for (unsigned code = 0; code <= CODE && still_right(); code += CODE) {
		path[0] = path_to(b, drv_qp_num(y));
		path[1] = path_to(a, drv_qp_num(x));
		path[0].timeout = code;
		path[0].sq_psn = path[1].rq_psn = 100;
		move_qp(x, IBV_QPS_RESET);
		move_qp(y, IBV_QPS_RESET);
		must(drv_qp_connect(x, &path[0]));
		must(drv_qp_connect(y, &path[1]));
		drop_next(b_to_a, RC_ACKNOWLEDGE);
		send_on(a, x, .opcode = IBV_WR_RDMA_WRITE, .wr_id = 1, .len = 8);
		expect_pkt(a_to_b, RC_WRITE_ONLY, .psn = 100);
		if (!code) {
			expect_no_more(CFG_S(10));
			expect_empty(a->cq);
			send_on(a, x, .opcode = IBV_WR_RDMA_WRITE, .wr_id = 2, .len = 8);
			expect_pkt(a_to_b, RC_WRITE_ONLY, .psn = 101);
			expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 101, .msn = 2);
		} else {
			expect_pkt_after(a_to_b, WINDOW(ttr, 4 * ttr), RC_WRITE_ONLY, .psn = 100,
					 .transmission = 2);
			expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 100, .msn = 1);
		}
		expect_cqe(a, .wr_id = 1);
		if (!code)
			expect_cqe(a, .wr_id = 2);
	}
	expect_data(b, .len = 8);
	destroy_qp(y);
	destroy_qp(x);
}
