/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One message has begun and waits for its last packet, while another queue pair uses up all other receives of
 * the SRQ. They are posted anew, as many as there is room for, and used up again. The receive of the first
 * message is its own until that ends: its data arrives where it was posted to.
 */
/* behaviours: SRQ-1 SRQ-5 */
#include "testbench/services.h"

enum { WANTED = 6, ROUNDS = 4, LEN = 32, MTU = 256, AREA = 4096 };

SCENARIO(srq_held, "a message holds its receive while the SRQ is used up and filled again",
	 .mtu = IBV_MTU_256)
{
	struct drv_srq *srq = new_srq(b, .max_wr = WANTED);
	struct drv_qp *x = new_qp(a), *v = new_qp(a);
	struct drv_qp *y = new_qp(b, .srq = srq), *w = new_qp(b, .srq = srq);
	unsigned max_wr = 0, limit;

	ignore_packets();
	connect_two(x, y);
	connect_two(v, w);
	if (!still_right())
		return;
	must(drv_srq_query(srq, &max_wr, &limit));
	recv_srq(b, srq, .wr_id = 1, .len = 3 * MTU);
	delay_next(a_to_b, RC_SEND_LAST, .by_ps = CFG_MS(3));
	send_on(a, x, .wr_id = 10, .len = 3 * MTU);
	pass_time(CFG_US(20));
	for (unsigned round = 0; round < ROUNDS && still_right(); round++) {
		recv_srq(b, srq, .wr_id = 100, .dst = AREA, .len = LEN, .repeat = max_wr - 1);
		for (unsigned i = 0; i < max_wr - 1 && still_right(); i++) {
			send_on(a, v, .wr_id = 20, .src = 1000 + i * LEN, .len = LEN);
			expect_cqe(b, .wr_id = 100 + i, .on = w, .byte_len = LEN);
			expect_cqe(a, .wr_id = 20, .on = v);
		}
	}
	expect_cqe(b, .wr_id = 1, .on = y, .byte_len = 3 * MTU);
	expect_cqe(a, .wr_id = 10, .on = x);
	expect_data(b, .len = 3 * MTU);
	expect_data(b, .dst = AREA, .src = 1000, .len = (max_wr - 1) * LEN);
	destroy_qp(w);
	destroy_qp(y);
	destroy_qp(v);
	destroy_qp(x);
	destroy_srq(srq);
}
