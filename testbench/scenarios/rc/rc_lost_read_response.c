/* SPDX-License-Identifier: Apache-2.0 */
/* The middle one of three response packets is lost. The requester repeats the READ from that PSN
 * on, for the rest only. */
/* behaviours: REQ-9 REQ-11 */
#include "testbench/scenario.h"

SCENARIO(rc_lost_read_response, "a READ response packet is lost: the READ is repeated from there",
	 .timeout = 10)
{
	drop_next(b_to_a, RC_READ_RESP_MIDDLE);
	rdma_read(a, .wr_id = 1, .len = 3 * 4096);
	expect_pkt(a_to_b, RC_READ_REQUEST, .psn = 0xfffffe, .dma_len = 3 * 4096);
	expect_pkt(b_to_a, RC_READ_RESP_FIRST, .psn = 0xfffffe);
	expect_pkt(b_to_a, RC_READ_RESP_LAST, .psn = 0);
	expect_pkt(a_to_b, RC_READ_REQUEST, .psn = 0xffffff, .dma_len = 2 * 4096);
	expect_pkt(b_to_a, RC_READ_RESP_FIRST, .psn = 0xffffff, .len = 4096);
	expect_pkt(b_to_a, RC_READ_RESP_LAST, .psn = 0, .len = 4096);
	expect_cqe(a, .wr_id = 1, .byte_len = 3 * 4096);
	expect_data(a, .len = 3 * 4096);
}
