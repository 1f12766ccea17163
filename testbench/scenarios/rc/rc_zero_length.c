/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests without payload: each is one packet, completes, and uses a receive if its kind does.
 * R_Key and address are not checked, so wrong values do not matter; the access rights of the queue
 * pair are checked.
 * behaviours: RESP-9
 */
#include "testbench/scenario.h"

SCENARIO(rc_zero_length, "zero-length SEND, WRITE, READ; R_Key and address do not matter")
{
	const uint32_t bad = drv_mr_rkey(b->mr) ^ 0x77;
	struct drv_qp_attr attr = {.qp_access_flags = 0};

	post_recv(b, .wr_id = 1, .len = 64);
	post_send(a, .wr_id = 2);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 0xfffffe, .len = 0);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .msn = 1);
	expect_cqe(a, .wr_id = 2);
	expect_cqe(b, .wr_id = 1, .byte_len = 0);

	post_recv(b, .wr_id = 3); /* a receive without a buffer is enough */
	post_send(a, .wr_id = 4, .with_imm = true, .imm = 9);
	expect_pkt(a_to_b, RC_SEND_ONLY_IMM, .psn = 0xffffff, .len = 0);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .msn = 2);
	expect_cqe(a, .wr_id = 4);
	expect_cqe(b, .wr_id = 3, .byte_len = 0, .imm = 9);

	rdma_write(a, .wr_id = 5, .rkey = bad, .remote_addr = 1);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .psn = 0, .len = 0, .dma_len = 0);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .msn = 3);
	expect_cqe(a, .wr_id = 5);

	post_recv(b, .wr_id = 6);
	rdma_write(a, .wr_id = 7, .rkey = bad, .remote_addr = 1, .with_imm = true, .imm = 8);
	expect_pkt(a_to_b, RC_WRITE_ONLY_IMM, .psn = 1, .len = 0);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .msn = 4);
	expect_cqe(a, .wr_id = 7);
	expect_cqe(b, .wr_id = 6, .byte_len = 0, .imm = 8);

	rdma_read(a, .wr_id = 8, .rkey = bad, .remote_addr = 1);
	expect_pkt(a_to_b, RC_READ_REQUEST, .psn = 2, .dma_len = 0);
	expect_pkt(b_to_a, RC_READ_RESP_ONLY, .psn = 2, .len = 0, .msn = 5);
	expect_cqe(a, .wr_id = 8, .byte_len = 0);

	must(drv_qp_modify(b->qp[0], &attr, IBV_QP_ACCESS_FLAGS));
	rdma_read(a, .wr_id = 9);
	expect_pkt(a_to_b, RC_READ_REQUEST, .psn = 3);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 3, .nak = 1);
	expect_cqe(a, .wr_id = 9, .status = IBV_WC_REM_INV_REQ_ERR);
	expect_event(b, IBV_EVENT_QP_REQ_ERR);
}
