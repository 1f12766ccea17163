/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of a thousand packets whose PSNs wrap in the middle, with each of the three operations.
 * The capture checks CRCs and order; this scenario counts packets and checks that every byte
 * arrives once and nothing is sent twice.
 */
/* behaviours: REQ-11 */
#include "testbench/scenario.h"

enum { LONG = 2 << 20 };

SCENARIO(rc_large, "2 MiB by SEND, WRITE and READ, MTU 2048, the PSN wraps in the middle",
	 .memory = 2 << 20, .mtu = IBV_MTU_2048, .a_psn = 0xfffe00, .b_psn = 0xffff00,
	 .any_packets = true)
{
	phase("SEND");
	post_recv(b, .wr_id = 1, .len = LONG);
	post_send(a, .wr_id = 2, .len = LONG);
	expect_cqe(b, .wr_id = 1, .byte_len = LONG);
	expect_cqe(a, .wr_id = 2);
	expect_data(b, .len = LONG);
	phase("WRITE");
	rdma_write(b, .wr_id = 3, .len = LONG);
	expect_cqe(b, .wr_id = 3);
	expect_data(a, .len = LONG);
	phase("READ");
	rdma_read(a, .wr_id = 4, .len = LONG - 1, .src = 1, .dst = 0);
	expect_cqe(a, .wr_id = 4, .byte_len = LONG - 1);
	expect_data(a, .len = LONG - 1, .src = 1);
	expect_stat(a, retry, retransmitted, 0);
	expect_stat(b, retry, retransmitted, 0);
	expect_stat(a, requester, packets, LONG / 2048 + 1);
	expect_stat(b, requester, packets, LONG / 2048);
	expect_stat(b, responder, read_responses, LONG / 2048);
}
