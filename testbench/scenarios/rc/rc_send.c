/* SPDX-License-Identifier: Apache-2.0 */
/* One message in one packet, one ACK, one completion on each side: the simplest path through the
 * whole device. Its PSNs are just before the wrap. */
#include "testbench/scenario.h"

SCENARIO(rc_send, "SEND of 64 bytes, acknowledged, completed at both ends by MSI-X",
	 .interrupts = true)
{
	post_recv(b, .wr_id = 1, .len = 256);
	post_send(a, .wr_id = 7, .len = 64);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 0xfffffe, .len = 64, .ack_req = 1,
		   .transmission = 1);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .msn = 1);
	expect_cqe(a, .wr_id = 7, .opcode = IBV_WC_SEND);
	expect_cqe(b, .wr_id = 1, .opcode = IBV_WC_RECV, .byte_len = 64);
	expect_data(b, .len = 64);

	/*
	 * with immediate data, in the other direction, 0 and 1 bytes long: padding is not payload
	 */
	post_recv(a, .wr_id = 2, .len = 64);
	post_recv(a, .wr_id = 3, .len = 64, .dst = 512);
	post_send(b, .wr_id = 8, .len = 0, .with_imm = true, .imm = 0x12345678);
	expect_pkt(b_to_a, RC_SEND_ONLY_IMM, .psn = 0xfffffd, .len = 0, .imm = 0x12345678);
	expect_pkt(a_to_b, RC_ACKNOWLEDGE, .psn = 0xfffffd, .msn = 1);
	expect_cqe(b, .wr_id = 8);
	expect_cqe(a, .wr_id = 2, .byte_len = 0, .imm = 0x12345678);
	post_send(b, .wr_id = 9, .len = 1, .src = 3);
	expect_pkt(b_to_a, RC_SEND_ONLY, .psn = 0xfffffe, .len = 1);
	expect_pkt(a_to_b, RC_ACKNOWLEDGE, .psn = 0xfffffe, .msn = 2);
	expect_cqe(b, .wr_id = 9);
	expect_cqe(a, .wr_id = 3, .byte_len = 1);
	expect_data(a, .dst = 512, .src = 3, .len = 1);
}
