/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A SEND longer than its receive: the NAK is "invalid request", the receive completes with a local
 * length error, and no byte is written beyond its buffer. One message has a single packet; another
 * exceeds the buffer with its third packet.
 */
/* behaviours: RESP-5 */
#include "testbench/services.h"

enum { MTU = 256 };

SCENARIO(resp_too_long, "a SEND longer than the receive is refused", .mtu = IBV_MTU_256)
{
	post_recv(b, .wr_id = 1, .len = 63);
	post_send(a, .wr_id = 7, .len = 64);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 0xfffffe);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .nak = NAK_INVALID_REQ);
	expect_cqe(b, .wr_id = 1, .status = IBV_WC_LOC_LEN_ERR);
	expect_cqe(a, .wr_id = 7, .status = IBV_WC_REM_INV_REQ_ERR);
	reconnect(0);
	ignore_packets();
	post_recv(b, .wr_id = 2, .len = 2 * MTU + 100);
	post_recv(b, .wr_id = 3, .dst = 2000, .len = 100);
	post_send(a, .wr_id = 8, .len = 3 * MTU);
	post_send(a, .wr_id = 9, .len = 10);
	expect_cqe(b, .wr_id = 2, .status = IBV_WC_LOC_LEN_ERR);
	expect_cqe(b, .wr_id = 3, .status = IBV_WC_WR_FLUSH_ERR);
	expect_cqe(a, .wr_id = 8, .status = IBV_WC_REM_INV_REQ_ERR);
	expect_cqe(a, .wr_id = 9, .status = IBV_WC_WR_FLUSH_ERR);
	expect_data(b, .len = 2 * MTU);
}
