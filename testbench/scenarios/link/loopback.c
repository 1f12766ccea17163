/* SPDX-License-Identifier: Apache-2.0 */
/* An HCA sends to its own LID. The packets are looped back inside the port; everything else works
 * as between two HCAs. Both queue pairs belong to one device. */
#include "testbench/scenario.h"

SCENARIO(loopback, "two queue pairs of one HCA: SEND, WRITE and READ to its own LID",
	 .loopback = true)
{
	post_recv(b, .wr_id = 1, .len = 64);
	post_send(a, .wr_id = 7, .len = 64);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 0xfffffe, .dlid = a->lid, .slid = a->lid);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .dlid = a->lid);
	expect_cqe(a, .wr_id = 7);
	expect_cqe(b, .wr_id = 1, .byte_len = 64);
	expect_data(b, .len = 64);
	ignore_packets();
	rdma_write(b, .wr_id = 2, .len = 20000);
	expect_cqe(b, .wr_id = 2);
	expect_data(a, .len = 20000);
	rdma_read(b, .wr_id = 3, .len = 20000, .dst = 1000);
	expect_cqe(b, .wr_id = 3);
	expect_data(b, .len = 20000, .dst = 1000);
	/* nothing of it goes over the cable */
	expect_stat(a, port1, rcv_pkts, 0);
}
