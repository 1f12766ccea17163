/* SPDX-License-Identifier: Apache-2.0 */
/* Messages without payload. SEND and WRITE with immediate use a receive, WRITE does not, and READ
 * is answered with an empty packet. Key and address are not checked. */
/* behaviours: RESP-9 RESP-11 */
#include "testbench/services.h"

enum { NO_KEY = 0xdeadbe00 };

SCENARIO(resp_zero_length, "SEND, WRITE and READ of no bytes")
{
	post_recv(b, .wr_id = 1, .repeat = 2);
	post_send(a, .wr_id = 1);
	rdma_write(a, .wr_id = 2, .rkey = NO_KEY, .remote_addr = 3);
	rdma_write(a, .wr_id = 3, .rkey = NO_KEY, .remote_addr = 3, .with_imm = true, .imm = 5);
	rdma_read(a, .wr_id = 4, .rkey = NO_KEY, .remote_addr = 3);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 0xfffffe, .len = 0);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .psn = 0xffffff, .len = 0, .dma_len = 0);
	expect_pkt(a_to_b, RC_WRITE_ONLY_IMM, .psn = 0, .len = 0, .imm = 5);
	expect_pkt(a_to_b, RC_READ_REQUEST, .psn = 1, .dma_len = 0);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .msn = 1);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xffffff, .msn = 2);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0, .msn = 3);
	expect_pkt(b_to_a, RC_READ_RESP_ONLY, .psn = 1, .len = 0, .msn = 4);
	for (unsigned i = 1; i <= 4; i++)
		expect_cqe(a, .wr_id = i);
	expect_cqe(b, .wr_id = 1, .byte_len = 0);
	expect_cqe(b, .wr_id = 2, .byte_len = 0, .imm = 5, .opcode = IBV_WC_RECV_RDMA_WITH_IMM);
}
