/* SPDX-License-Identifier: Apache-2.0 */
/* An atomic on an address that is not a multiple of 8: the NAK is "invalid request", memory does
 * not change, and the responder gets a request error. */
/* behaviours: DUP-7 */
#include "testbench/services.h"

SCENARIO(atomic_misaligned, "an atomic on an odd address is refused")
{
	set_word(b, 0, 100);
	set_word(b, 8, 100);
	for (unsigned i = 1; i < 8 && still_right(); i += 3) {
		fetch_add(a, .wr_id = i, .target = i, .compare = 7, .dst = 64);
		expect_pkt(a_to_b, RC_FETCH_ADD, .psn = 0xfffffe);
		expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .nak = NAK_INVALID_REQ);
		expect_cqe(a, .wr_id = i, .status = IBV_WC_REM_INV_REQ_ERR);
		expect_event(b, IBV_EVENT_QP_REQ_ERR);
		reconnect(0);
	}
	expect_word(b, 0, 100);
	expect_word(b, 8, 100);
	fetch_add(a, .wr_id = 9, .target = 8, .compare = 7, .dst = 64);
	expect_pkt(a_to_b, RC_FETCH_ADD);
	expect_pkt(b_to_a, RC_ATOMIC_ACKNOWLEDGE);
	expect_cqe(a, .wr_id = 9);
	expect_word(b, 8, 107);
	expect_word(a, 64, 100);
}
