/* SPDX-License-Identifier: Apache-2.0 */
/* RDMA WRITE needs no receive and makes no completion at the responder; with immediate data it uses
 * a receive. The offsets are odd, so alignment does not matter. */
#include "testbench/scenario.h"

SCENARIO(rc_write, "RDMA WRITE: one packet, three packets, with immediate data")
{
	rdma_write(a, .wr_id = 1, .len = 64, .src = 5, .dst = 11);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .psn = 0xfffffe, .len = 64, .dma_len = 64);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe);
	expect_cqe(a, .wr_id = 1, .opcode = IBV_WC_RDMA_WRITE);
	expect_data(b, .len = 64, .src = 5, .dst = 11);

	rdma_write(a, .wr_id = 2, .len = 8195, .dst = 4099);
	expect_pkt(a_to_b, RC_WRITE_FIRST, .psn = 0xffffff, .len = 4096, .dma_len = 8195);
	expect_pkt(a_to_b, RC_WRITE_MIDDLE, .psn = 0, .len = 4096);
	expect_pkt(a_to_b, RC_WRITE_LAST, .psn = 1, .len = 3, .ack_req = 1);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 1, .msn = 2);
	expect_cqe(a, .wr_id = 2);
	expect_data(b, .len = 8195, .dst = 4099);

	post_recv(b, .wr_id = 3);
	rdma_write(a, .wr_id = 4, .len = 1, .dst = 0, .with_imm = true, .imm = 77);
	expect_pkt(a_to_b, RC_WRITE_ONLY_IMM, .psn = 2, .len = 1, .imm = 77);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 2, .msn = 3);
	expect_cqe(a, .wr_id = 4);
	expect_cqe(b, .wr_id = 3, .opcode = IBV_WC_RECV_RDMA_WITH_IMM, .imm = 77);
	expect_data(b, .len = 1);
}
