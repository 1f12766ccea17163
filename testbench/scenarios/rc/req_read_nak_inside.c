/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A READ response that says NAK in its AETH is no right answer. It still is a response, so what was
 * sent before the READ has arrived: the WRITE ends well, and the READ is the one that fails.
 * behaviours: IBA-9.9.2.1-bad-response IBA-9.7.5.1.1-implied-ack
 */
#include "testbench/services.h"

enum { MTU = 256, FIRST = 0xfffffe, AETH_OF_NAK = 0x60 };

/* The responder could not read the second part. Its response with the first one is lost, too. */
static void asked_again(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	phase("a NAK in the middle of a READ, behind a response that is lost");
	move_qp(b->qp[0], IBV_QPS_RESET);
	check_packets();
	rdma_read(a, .wr_id = 4, .len = 3 * MTU);
	expect_pkt(a_to_b, RC_READ_REQUEST, .psn = FIRST, .transmission = 1);
	inject(a, RC_ACKNOWLEDGE, .psn = FIRST + 1, .syndrome = AETH_OF_NAK | NAK_REM_ACCESS);
	expect_pkt(a_to_b, RC_READ_REQUEST, .psn = FIRST, .dma_len = 3 * MTU, .transmission = 2);
	inject(a, RC_READ_RESP_FIRST, .psn = FIRST, .len = MTU);
	inject(a, RC_ACKNOWLEDGE, .psn = FIRST + 1, .syndrome = AETH_OF_NAK | NAK_REM_ACCESS);
	expect_cqe(a, .wr_id = 4, .status = IBV_WC_REM_ACCESS_ERR);
	expect_data(a, .len = MTU);
}

SCENARIO(req_read_nak_inside,
	 "a READ response with a NAK inside: the READ fails, not the WRITE before it",
	 .any_packets = true, .mtu = IBV_MTU_256)
{
	move_qp(b->qp[0], IBV_QPS_RESET);
	rdma_write(a, .wr_id = 1, .len = 8);
	rdma_read(a, .wr_id = 2, .len = 8);
	rdma_write(a, .wr_id = 3, .len = 8);
	pass_time(CFG_US(10));
	inject(a, RC_READ_RESP_ONLY, .psn = 0xffffff, .syndrome = AETH_OF_NAK | NAK_REM_ACCESS,
	       .len = 8);
	expect_cqe(a, .wr_id = 1);
	expect_cqe(a, .wr_id = 2, .status = IBV_WC_BAD_RESP_ERR);
	expect_cqe(a, .wr_id = 3, .status = IBV_WC_WR_FLUSH_ERR);
	reconnect(0);
	asked_again(tb, a, b);
}
