/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lost request is detected in two ways. If another request follows, it arrives ahead of its PSN
 * and a sequence NAK answers it at once. If nothing follows, only the timer detects the loss.
 */
/* behaviours: IBA-9.7.5.2.2-sequence-nak */
#include "testbench/scenario.h"

SCENARIO(rc_lost_request,
	 "a request is lost: sequence NAK when another follows, timeout when none does",
	 .timeout = 10)
{
	post_recv(b, .wr_id = 1, .len = 64);
	drop_next(a_to_b, RC_WRITE_ONLY);
	rdma_write(a, .wr_id = 7, .len = 64, .repeat = 2);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .psn = 0xffffff, .transmission = 1);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .nak = 0);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .psn = 0xfffffe, .transmission = 2);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .psn = 0xffffff, .transmission = 2);
	ignore_packets(); /* the responder may send one ACK for both or one for each */
	expect_cqe(a, .wr_id = 7);
	expect_cqe(a, .wr_id = 8);
	pass_time(CFG_US(20));
	check_packets();

	drop_next(a_to_b, RC_SEND_ONLY);
	post_send(a, .wr_id = 9, .len = 64);
	expect_pkt_after(a_to_b, ACK_TIMEOUT(a), RC_SEND_ONLY, .psn = 0, .transmission = 2);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0, .msn = 3);
	expect_cqe(a, .wr_id = 9);
	expect_cqe(b, .wr_id = 1);
	expect_data(b, .len = 64);
	expect_stat(b, responder, out_of_sequence, 1);
	expect_stat(a, retry, sequence_naks, 1);
	expect_stat(a, retry, ack_timeouts, 1);
}
