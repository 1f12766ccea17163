/* SPDX-License-Identifier: Apache-2.0 */
/* A READ uses as many PSNs as its response has packets; the next request continues after them. Two
 * READs are outstanding at once. */
#include "testbench/scenario.h"

SCENARIO(rc_read, "RDMA READ: one packet, three packets across the PSN wrap, two outstanding")
{
	rdma_read(a, .wr_id = 1, .len = 100, .src = 1);
	expect_pkt(a_to_b, RC_READ_REQUEST, .psn = 0xfffffe, .dma_len = 100);
	expect_pkt(b_to_a, RC_READ_RESP_ONLY, .psn = 0xfffffe, .len = 100, .msn = 1);
	expect_cqe(a, .wr_id = 1, .opcode = IBV_WC_RDMA_READ, .byte_len = 100);
	expect_data(a, .len = 100, .src = 1);

	rdma_read(a, .wr_id = 2, .len = 3 * 4096, .dst = 4096);
	rdma_read(a, .wr_id = 3, .len = 8, .src = 9, .dst = 32768);
	expect_pkt(a_to_b, RC_READ_REQUEST, .psn = 0xffffff, .dma_len = 3 * 4096);
	expect_pkt(a_to_b, RC_READ_REQUEST, .psn = 2, .dma_len = 8);
	expect_pkt(b_to_a, RC_READ_RESP_FIRST, .psn = 0xffffff, .len = 4096);
	expect_pkt(b_to_a, RC_READ_RESP_MIDDLE, .psn = 0, .len = 4096);
	expect_pkt(b_to_a, RC_READ_RESP_LAST, .psn = 1, .len = 4096);
	expect_pkt(b_to_a, RC_READ_RESP_ONLY, .psn = 2, .len = 8);
	expect_cqe(a, .wr_id = 2);
	expect_cqe(a, .wr_id = 3);
	expect_data(a, .len = 3 * 4096, .dst = 4096);
	expect_data(a, .len = 8, .src = 9, .dst = 32768);
}
