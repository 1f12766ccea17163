/* SPDX-License-Identifier: Apache-2.0 */
/* The scenario's body plays the responder. The queue pair of b is in RESET and silent, and every
 * response is made here. */
#include "testbench/services.h"

enum { NAK = 3 << 5, NO_CREDITS = 31 };

SCENARIO(answer_by_hand, "a WRITE is refused once by a sequence NAK, then acknowledged",
	 .timeout = 18)
{
	move_qp(b->qp[0], IBV_QPS_RESET);
	rdma_write(a, .wr_id = 7, .len = 64);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .psn = 0xfffffe, .dma_len = 64, .ack_req = 1);
	inject(a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .syndrome = NAK | NAK_PSN_SEQUENCE);
	expect_pkt_after(a_to_b, WINDOW(0, CFG_US(10)), RC_WRITE_ONLY, .psn = 0xfffffe,
			 .transmission = 2);
	inject(a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .syndrome = NO_CREDITS, .bad_icrc = true);
	expect_no_more(CFG_US(20)); /* an ACK with a wrong CRC has no effect */
	inject(a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .syndrome = NO_CREDITS, .msn = 1);
	expect_cqe(a, .wr_id = 7);
	expect_stat(a, port1, rcv_errors, 1);
}
