/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The credit code of an ACK stands for the largest value in the table that does not exceed the
 * number of free receives. All receives are posted first, and each SEND takes one, down to none.
 * behaviours: CRED-1
 */
#include "model/interface/macros.h"
#include "testbench/scenario.h"

enum { RECEIVES = 127 };

/*
 * The number of free receives from which each code is given (IBA table 45), up to the queue's size.
 */
static const unsigned steps[] = {0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96};

SCENARIO(credits_code, "credit codes of ACKs for each number of free receives")
{
	unsigned code = ARRAY_SIZE(steps) - 1;

	post_recv(b, .wr_id = 1, .len = 8, .repeat = RECEIVES);
	for (unsigned left = RECEIVES; left-- > 0 && still_right();) {
		while (steps[code] > left)
			code--;
		post_send(a, .wr_id = 2, .len = 8);
		expect_pkt(a_to_b, RC_SEND_ONLY);
		expect_pkt(b_to_a, RC_ACKNOWLEDGE, .ack_credits = code);
		expect_cqe(a, .wr_id = 2);
		expect_cqe(b, .wr_id = RECEIVES - left);
	}
	expect_equal(code, 0);
	expect_data(b, .len = 8);
}
