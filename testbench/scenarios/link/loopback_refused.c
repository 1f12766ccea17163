/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to the own LID that the responder refuses fail at the requester just as over the cable:
 * a WRITE with a wrong R_Key, a WRITE beyond the region, a WRITE with immediate that finds no
 * receive. A correct WRITE with immediate is delivered.
 */
/* behaviours: DEFECT-loopback-refused DEFECT-write-imm-delivered RESP-7 */
#include "testbench/scenario.h"

SCENARIO(loopback_refused, "to the own LID: what the responder refuses does not succeed",
	 .loopback = true, .any_packets = true, .rnr_retry = 1)
{
	rdma_write(a, .wr_id = 1, .len = 64, .rkey = drv_mr_rkey(b->mr) ^ 1);
	expect_cqe(a, .wr_id = 1, .status = IBV_WC_REM_ACCESS_ERR);
	expect_event(b, IBV_EVENT_QP_ACCESS_ERR);
	reconnect(0);
	rdma_write(a, .wr_id = 2, .len = 64, .remote_addr = tb_va(b, b->dst) + (1 << 30));
	expect_cqe(a, .wr_id = 2, .status = IBV_WC_REM_ACCESS_ERR);
	expect_event(b, IBV_EVENT_QP_ACCESS_ERR);
	reconnect(0);
	rdma_write(a, .wr_id = 3, .len = 64, .with_imm = true);
	expect_cqe(a, .wr_id = 3, .status = IBV_WC_RNR_RETRY_EXC_ERR);
	reconnect(0);
	post_recv(b, .wr_id = 4);
	rdma_write(a, .wr_id = 5, .len = 64, .with_imm = true, .imm = 0xabcd);
	expect_cqe(a, .wr_id = 5);
	expect_cqe(b, .wr_id = 4, .byte_len = 64, .imm = 0xabcd,
		   .opcode = IBV_WC_RECV_RDMA_WITH_IMM);
	expect_data(b, .len = 64);
}
