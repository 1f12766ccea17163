/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request carries its length in 32 bits. A request of 2^31 bytes, the longest message allowed, is
 * checked like any other, and here it exceeds the region. A request that is one byte longer is
 * invalid.
 * behaviours: IBA-9.7.4.1.6-DMALen
 */
#include "testbench/services.h"

static void refused(struct tb *tb, struct tb_end *b, enum bth_opcode opcode, uint32_t bytes,
		    enum nak_code nak)
{
	const struct tb_inject request = {TB_INJECT_ANY,
					  .psn = 0xfffffe,
					  .va = tb_va(b, b->dst),
					  .rkey = drv_mr_rkey(b->mr),
					  .dma_len = bytes,
					  .ack_req = true,
					  .len = opcode == BTH_RC_WRITE_FIRST ? 4096 : 0};

	tb_inject(tb, TB_HERE, b, opcode, &request);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .nak = nak);
	expect_event(b, nak == NAK_REM_ACCESS ? IBV_EVENT_QP_ACCESS_ERR : IBV_EVENT_QP_REQ_ERR);
	reconnect(0);
}

SCENARIO(dma_len_limit, "requests for 2^31 bytes, and for a byte more",
	 .settings = {"hca.log_max_msg=31"})
{
	const uint32_t most = UINT32_C(1) << 31;

	refused(tb, b, BTH_RC_READ_REQUEST, most, NAK_REM_ACCESS);
	refused(tb, b, BTH_RC_WRITE_FIRST, most, NAK_REM_ACCESS);
	refused(tb, b, BTH_RC_READ_REQUEST, most + 1, NAK_INVALID_REQ);
	refused(tb, b, BTH_RC_WRITE_FIRST, most + 1, NAK_INVALID_REQ);
	refused(tb, b, BTH_RC_READ_REQUEST, UINT32_MAX, NAK_INVALID_REQ);
	rdma_write(a, .wr_id = 1, .len = 8192);
	expect_pkt(a_to_b, RC_WRITE_FIRST, .psn = 0xfffffe);
	expect_pkt(a_to_b, RC_WRITE_LAST, .psn = 0xffffff);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xffffff);
	expect_cqe(a, .wr_id = 1);
	expect_data(b, .len = 8192);
}
