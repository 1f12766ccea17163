/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One error during the recovery from another. The request sent again after an RNR wait is lost (a
 * timeout follows). The request sent again after a timeout finds no receive (an RNR wait follows).
 * The packet that a NAK asks for is lost again. A READ response acknowledges the requests before it
 * implicitly, and the READ is repeated for the missing part. Everything completes, and nothing is
 * executed twice.
 */
/* behaviours: IBA-9.7.5.2.2-sequence-nak IBA-9.7.5.1.1-implied-ack IBA-9.7.6-retry-mixed */
#include "testbench/scenario.h"

SCENARIO(retry_mixed,
	 "a timeout after an RNR wait and the reverse, a loss in a resend, implied NAK",
	 .timeout = 8, .min_rnr_timer = 10)
{
	phase("RNR wait, then a loss");
	drop_next(a_to_b, RC_SEND_ONLY, .transmission = 2);
	post_send(a, .wr_id = 1, .len = 8);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 0xfffffe, .transmission = 1);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .rnr = 10);
	post_recv(b, .wr_id = 1, .len = 8, .repeat = 2);
	expect_pkt_after(a_to_b, ACK_TIMEOUT(a), RC_SEND_ONLY, .psn = 0xfffffe, .transmission = 3);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .msn = 1);
	expect_cqe(a, .wr_id = 1);
	expect_cqe(b, .wr_id = 1);
	post_send(a, .wr_id = 2, .len = 8);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 0xffffff);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xffffff, .msn = 2, .ack_credits = 0);
	expect_cqe(a, .wr_id = 2);
	expect_cqe(b, .wr_id = 2);

	phase("a timeout, then an RNR wait");
	drop_next(a_to_b, RC_SEND_ONLY);
	post_send(a, .wr_id = 3, .len = 8);
	expect_pkt_after(a_to_b, ACK_TIMEOUT(a), RC_SEND_ONLY, .psn = 0, .transmission = 2);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0, .rnr = 10);
	post_recv(b, .wr_id = 3, .len = 8);
	expect_pkt_after(a_to_b, RNR_DELAY(b), RC_SEND_ONLY, .psn = 0, .transmission = 3);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0, .msn = 3);
	expect_cqe(a, .wr_id = 3);
	expect_cqe(b, .wr_id = 3);
	expect_data(b, .len = 8);

	phase("what a NAK asks for is lost again");
	drop_next(a_to_b, RC_WRITE_ONLY, .psn = 1, .times = 2);
	rdma_write(a, .wr_id = 4, .len = 8, .repeat = 2);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .psn = 2, .transmission = 1);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 1, .nak = NAK_PSN_SEQUENCE);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .psn = 2, .transmission = 2);
	/* a NAK has already been sent, so nothing happens until the timer expires */
	expect_pkt_after(a_to_b, ACK_TIMEOUT(a), RC_WRITE_ONLY, .psn = 1, .transmission = 3);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .psn = 2, .transmission = 3);
	ignore_packets();
	expect_cqe(a, .wr_id = 4);
	expect_cqe(a, .wr_id = 5);
	pass_time(CFG_US(100));
	expect_stat(a, retry, sequence_naks, 1);
	check_packets();

	phase("a READ response acknowledges the WRITE before it");
	drop_next(b_to_a, RC_ACKNOWLEDGE);
	rdma_write(a, .wr_id = 6, .len = 8);
	rdma_read(a, .wr_id = 7, .len = 8);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .psn = 3);
	expect_pkt(a_to_b, RC_READ_REQUEST, .psn = 4);
	expect_pkt(b_to_a, RC_READ_RESP_ONLY, .psn = 4);
	expect_cqe(a, .wr_id = 6);
	expect_cqe(a, .wr_id = 7);
	expect_data(a, .len = 8);

	phase("the ACK behind a READ whose response is lost is a NAK of it");
	drop_next(b_to_a, RC_READ_RESP_ONLY);
	rdma_read(a, .wr_id = 8, .len = 8, .dst = 64);
	rdma_write(a, .wr_id = 9, .len = 8);
	expect_pkt(a_to_b, RC_READ_REQUEST, .psn = 5, .transmission = 1);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .psn = 6, .transmission = 1);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 6);
	expect_pkt_after(a_to_b, WINDOW(0, CFG_US(100)), RC_READ_REQUEST, .psn = 5,
			 .transmission = 2);
	expect_pkt(b_to_a, RC_READ_RESP_ONLY, .psn = 5);
	ignore_packets();
	expect_cqe(a, .wr_id = 8);
	expect_cqe(a, .wr_id = 9);
	expect_data(a, .len = 8, .dst = 64);
}
