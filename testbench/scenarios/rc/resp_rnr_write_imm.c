/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A WRITE with immediate finds no receive: the RNR NAK carries the packet's PSN and the QP's timer
 * code. Of three packets only the last one needs the receive, and only that one is sent again. A
 * plain WRITE needs no receive.
 */
/* behaviours: RESP-11 */
#include "testbench/services.h"

enum { MTU = 256, TIMER = 5 };

SCENARIO(resp_rnr_write_imm, "WRITE with immediate without a receive: RNR NAK at its last packet",
	 .exact = true, .mtu = IBV_MTU_256, .min_rnr_timer = TIMER)
{
	rdma_write(a, .wr_id = 6, .dst = 5000, .len = 8);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .psn = 0xfffffe);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .ack_credits = 0);
	expect_cqe(a, .wr_id = 6);
	expect_data(b, .dst = 5000, .len = 8);
	rdma_write(a, .wr_id = 7, .len = 64, .with_imm = true, .imm = 3);
	expect_pkt(a_to_b, RC_WRITE_ONLY_IMM, .psn = 0xffffff, .transmission = 1);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xffffff, .rnr = TIMER, .msn = 1);
	post_recv(b, .wr_id = 1);
	expect_pkt_after(a_to_b, RNR_DELAY(b), RC_WRITE_ONLY_IMM, .psn = 0xffffff,
			 .transmission = 2);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xffffff, .msn = 2);
	expect_cqe(a, .wr_id = 7);
	expect_cqe(b, .wr_id = 1, .byte_len = 64, .imm = 3);
	expect_data(b, .len = 64);
	ignore_packets();
	rdma_write(a, .wr_id = 8, .len = 2 * MTU + 4, .with_imm = true, .imm = 4);
	pass_time(CFG_US(20));
	post_recv(b, .wr_id = 2);
	expect_cqe(a, .wr_id = 8);
	expect_cqe(b, .wr_id = 2, .byte_len = 2 * MTU + 4, .imm = 4);
	expect_data(b, .len = 2 * MTU + 4);
	expect_stat(a, retry, retransmitted, 2); /* only the last packet of each message */
}
