/* SPDX-License-Identifier: Apache-2.0 */
/*
 * READ, SEND, atomic, WRITE, READ are posted in one list. Their responses leave in the order of the
 * requests, and the MSN counts the messages. A WRITE behind a slow READ is not answered before the
 * READ.
 */
/* behaviours: RESP-1 RESP-13 */
#include "testbench/services.h"

enum { MTU = 256 };

SCENARIO(resp_order, "answers leave in the order of requests; MSN counts messages",
	 .mtu = IBV_MTU_256)
{
	post_recv(b, .wr_id = 1, .len = 64);
	set_word(b, 800, 1);
	rdma_read(a, .wr_id = 1, .len = 2 * MTU);
	post_send(a, .wr_id = 2, .len = 64);
	fetch_add(a, .wr_id = 3, .target = 800, .compare = 4, .dst = 2000);
	rdma_write(a, .wr_id = 4, .dst = 1000, .len = 64);
	rdma_read(a, .wr_id = 5, .dst = 3000, .len = 10);
	expect_pkt(a_to_b, RC_READ_REQUEST, .psn = 0xfffffe);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 0);
	expect_pkt(a_to_b, RC_FETCH_ADD, .psn = 1);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .psn = 2);
	expect_pkt(a_to_b, RC_READ_REQUEST, .psn = 3);
	expect_pkt(b_to_a, RC_READ_RESP_FIRST, .psn = 0xfffffe, .msn = 1);
	expect_pkt(b_to_a, RC_READ_RESP_LAST, .psn = 0xffffff, .msn = 1);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0, .msn = 2);
	expect_pkt(b_to_a, RC_ATOMIC_ACKNOWLEDGE, .psn = 1, .msn = 3);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 2, .msn = 4);
	expect_pkt(b_to_a, RC_READ_RESP_ONLY, .psn = 3, .msn = 5);
	for (unsigned i = 1; i <= 5; i++)
		expect_cqe(a, .wr_id = i);
	expect_cqe(b, .wr_id = 1);
	expect_data(b, .len = 64);
	expect_data(b, .dst = 1000, .len = 64);
	expect_data(a, .len = 2 * MTU);
	expect_data(a, .dst = 3000, .len = 10);
	expect_word(a, 2000, 1);
	expect_word(b, 800, 5);
}
