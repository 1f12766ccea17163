/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One receive more than the SRQ holds is refused with ENOMEM, and nothing is corrupted. All posted
 * receives are used in order, and after a refill the same number again, with the counters wrapping.
 */
/* behaviours: SRQ-5 */
#include "testbench/services.h"

enum { WANTED = 30, ROUNDS = 5, LEN = 32 };

SCENARIO(srq_full, "an SRQ filled to the brim: the next receive is refused")
{
	struct drv_srq *srq = new_srq(b, .max_wr = WANTED);
	struct drv_qp *x = new_qp(a), *y = new_qp(b, .srq = srq);
	unsigned max_wr = 0, limit;

	ignore_packets();
	connect_two(x, y);
	if (!still_right())
		return;
	must(drv_srq_query(srq, &max_wr, &limit));
	expect_that(max_wr, >=, WANTED);
	for (unsigned round = 0; round < ROUNDS && still_right(); round++) {
		recv_srq(b, srq, .wr_id = round * 1000, .len = LEN, .repeat = max_wr);
		recv_srq(b, srq, .wr_id = 1, .len = LEN, .result = -ENOMEM);
		for (unsigned i = 0; i < max_wr && still_right(); i++) {
			send_on(a, x, .wr_id = i, .src = round * 5000 + i * LEN, .len = LEN);
			expect_cqe(b, .wr_id = round * 1000 + i, .on = y, .byte_len = LEN);
			expect_cqe(a, .wr_id = i);
			expect_data(b, .dst = i * LEN, .src = round * 5000 + i * LEN, .len = LEN);
		}
	}
	destroy_qp(y);
	destroy_qp(x);
	destroy_srq(srq);
}
