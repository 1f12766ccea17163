/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A response of a READ is lost, and so is the request for it, which only the timer tells. Behind the timeout
 * the same response is lost again: the requester asks for it at once, because the answers to the former
 * question are no longer under way.
 */
/* behaviours: REQ-9 */
#include "testbench/services.h"

enum { MTU = 256, LEN = 16 * MTU, LOST = 2, MASK = 0xffffff };

SCENARIO(read_lost_again, "READ responses lost before and behind a timeout", .mtu = IBV_MTU_256,
	 .timeout = 10, .any_packets = true)
{
	const uint32_t first = 0xfffffe;

	drop_next(b_to_a, RC_READ_RESP_MIDDLE, .psn = (first + LOST) & MASK);
	drop_next(a_to_b, RC_READ_REQUEST, .psn = (first + LOST) & MASK);
	drop_next(b_to_a, RC_READ_RESP_FIRST, .psn = (first + LOST) & MASK);
	rdma_read(a, .wr_id = 1, .len = LEN);
	expect_cqe(a, .wr_id = 1, .byte_len = LEN);
	expect_data(a, .len = LEN);
	expect_stat(a, retry, ack_timeouts, 1);
}
