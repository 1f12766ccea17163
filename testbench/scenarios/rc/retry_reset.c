/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The retry counter counts losses without progress between them. Two in a row are allowed,
 * repeatedly: for message after message, inside one message, and inside a READ. The third in a row
 * ends the queue pair. A retransmitted last packet is still marked as last, and still asks for an
 * ACK.
 */
/* behaviours: REQ-5 DEFECT-resent-packet-keeps-last DEFECT-no-ack-timer */
#include "testbench/scenario.h"

enum { MTU = 1024, ROUNDS = 4 };

SCENARIO(retry_reset, "retries begin anew with progress: many losses, never more than two in a row",
	 .timeout = 8, .retry_cnt = 2, .mtu = IBV_MTU_1024, .any_packets = true)
{
	phase("message after message");
	for (unsigned i = 0; i < ROUNDS && still_right(); i++) {
		drop_next(a_to_b, RC_WRITE_ONLY, .times = 2);
		rdma_write(a, .wr_id = i, .len = 64);
		expect_cqe(a, .wr_id = i);
	}
	expect_stat(a, retry, ack_timeouts, 2 * ROUNDS);
	expect_data(b, .len = 64);

	phase("inside a message: each of its packets twice, when its turn has come");
	/* one that only acknowledges what asks for it tells of no progress there */
	if (!in_software(b)) {
		drop_next(a_to_b, RC_WRITE_FIRST, .psn = 2, .times = 2);
		drop_next(a_to_b, RC_WRITE_MIDDLE, .psn = 3, .transmission = 3);
		drop_next(a_to_b, RC_WRITE_MIDDLE, .psn = 3, .transmission = 4);
		drop_next(a_to_b, RC_WRITE_MIDDLE, .psn = 4, .transmission = 5);
		drop_next(a_to_b, RC_WRITE_MIDDLE, .psn = 4, .transmission = 6);
		drop_next(a_to_b, RC_WRITE_LAST, .psn = 5, .transmission = 7);
		drop_next(a_to_b, RC_WRITE_LAST, .psn = 5, .transmission = 8);
	}
	rdma_write(a, .wr_id = 10, .len = 4 * MTU, .dst = 4096);
	expect_cqe(a, .wr_id = 10);
	expect_data(b, .len = 4 * MTU, .dst = 4096);

	phase("a READ that gets on by a packet each time");
	drop_next(b_to_a, RC_READ_RESP_LAST, .times = 2);
	drop_next(b_to_a, RC_READ_RESP_MIDDLE);
	rdma_read(a, .wr_id = 11, .len = 3 * MTU);
	expect_cqe(a, .wr_id = 11);
	expect_data(a, .len = 3 * MTU);

	phase("the last packet");
	ignore_packets();
	check_packets();
	drop_next(a_to_b, RC_SEND_LAST);
	post_recv(b, .wr_id = 12, .len = 2 * MTU, .dst = 16384);
	post_send(a, .wr_id = 13, .len = 2 * MTU);
	expect_pkt(a_to_b, RC_SEND_FIRST, .transmission = 1);
	expect_pkt_after(a_to_b, WINDOW(CFG_US(500), CFG_MS(5)), RC_SEND_LAST, .transmission = 2,
			 .ack_req = 1, .len = MTU);
	ignore_packets();
	expect_cqe(a, .wr_id = 13);
	expect_cqe(b, .wr_id = 12, .byte_len = 2 * MTU);
	expect_data(b, .len = 2 * MTU, .dst = 16384);

	phase("three in a row");
	drop_next(a_to_b, RC_WRITE_ONLY, .times = 3);
	rdma_write(a, .wr_id = 20, .len = 64);
	expect_cqe(a, .wr_id = 20, .status = IBV_WC_RETRY_EXC_ERR);
}
