/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sender without end-to-end credits. At first it has none: one SEND goes out and asks for an ACK,
 * and the next one waits for that ACK. Of a longer message only the first packet goes out. READs
 * and WRITEs need no credit and take none from SENDs behind them; a WRITE with immediate needs one
 * like a SEND. Once the sender has credits, all of them go out at once.
 * behaviours: CRED-3
 */
#include "testbench/scenario.h"

SCENARIO(credits_sender, "no credits: one SEND asks, READ and WRITE go on; credits let all go",
	 .mtu = IBV_MTU_1024)
{
	phase("at first");
	post_recv(b, .wr_id = 1, .len = 2048, .repeat = 3);
	delay_next(b_to_a, RC_ACKNOWLEDGE, .by_ps = CFG_US(50));
	post_send(a, .wr_id = 4, .len = 2048);
	post_send(a, .wr_id = 5, .len = 64);
	expect_pkt(a_to_b, RC_SEND_FIRST, .psn = 0xfffffe, .ack_req = 1);
	/* nothing more until the delayed ACK arrives; one of 3 receives is used */
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .msn = 0);
	expect_pkt_after(a_to_b, WINDOW(CFG_US(50), CFG_US(in_software(a) ? 70 : 60)), RC_SEND_LAST,
			 .psn = 0xffffff);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 0);
	ignore_packets(); /* the responder may send one ACK for both or one for each */
	expect_cqe(a, .wr_id = 4);
	expect_cqe(a, .wr_id = 5);
	expect_cqe(b, .wr_id = 1);
	expect_cqe(b, .wr_id = 2);
	expect_data(b, .len = 2048);
	post_send(a, .wr_id = 6, .len = 64); /* takes the third receive; none is left */
	expect_cqe(a, .wr_id = 6);
	expect_cqe(b, .wr_id = 3);
	pass_time(CFG_US(50));
	check_packets();

	phase("none left");
	post_recv(b, .wr_id = 7, .len = 64,
		  .repeat = 3); /* the sender does not know of these receives */
	pass_time(CFG_US(100));
	rdma_write(a, .wr_id = 10, .len = 64);
	post_send(a, .wr_id = 11, .len = 64);
	post_send(a, .wr_id = 12, .len = 64);
	rdma_write(a, .wr_id = 13, .len = 64, .with_imm = true);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .psn = 2);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 3, .ack_req = 1);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 2);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 4);
	ignore_packets();
	for (unsigned i = 10; i < 14; i++)
		expect_cqe(a, .wr_id = i);
	for (unsigned i = 7; i < 10; i++)
		expect_cqe(b, .wr_id = i);
	expect_stat(b, responder, rnr_naks, 0);
	expect_stat(a, retry, retransmitted, 0);
	pass_time(CFG_US(50));
}
