/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The send queue of a queue pair in ERR takes as many requests as it says, and is empty again when
 * their completions with errors were polled: so it can be filled once more.
 */
/* behaviours: IBA-10.3.1-ERR-room */
#include "testbench/services.h"

enum { ROUNDS = 3, LEN = 8 };

SCENARIO(qp_error_full, "a send queue in ERR is filled, flushed, and filled again")
{
	struct drv_qp *x = new_qp(a), *y = new_qp(b);
	struct drv_qp_attr attr = {0};

	connect_two(x, y);
	must(drv_qp_query(x, &attr));
	move_qp(x, IBV_QPS_ERR);
	for (unsigned round = 0; round < ROUNDS && still_right(); round++) {
		name_row("round %u", round);
		for (unsigned i = 0; i < attr.cap.max_send_wr; i++)
			send_on(a, x, .wr_id = i, .len = LEN);
		for (unsigned i = 0; i < attr.cap.max_send_wr; i++)
			expect_cqe(a, .wr_id = i, .status = IBV_WC_WR_FLUSH_ERR);
	}
	destroy_qp(y);
	destroy_qp(x);
}
