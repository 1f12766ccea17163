/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opcodes in a wrong order: a middle or last packet without a first one, a new first packet inside
 * a message, a SEND packet inside a WRITE. The NAK is "invalid request", the queue pair fails with
 * a request error, and a receive in use completes in error. When the cable turns a first packet
 * into a middle one, the requester reports a remote error.
 */
/* behaviours: RESP-3 */
#include "testbench/services.h"

enum { MTU = 256, OPCODE_AT = LRH_BYTES, FIRST_TO_MIDDLE = BTH_RC_SEND_FIRST ^ BTH_RC_SEND_MIDDLE };

#define REFUSED(at_psn)                                                                            \
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = at_psn, .nak = NAK_INVALID_REQ);                 \
	expect_event(b, IBV_EVENT_QP_REQ_ERR);                                                     \
	reconnect(0)

SCENARIO(resp_sequence, "opcodes out of sequence are refused", .mtu = IBV_MTU_256)
{
	const uint32_t rkey = still_right() ? drv_mr_rkey(b->mr) : 0;
	const uint64_t dst = tb_va(b, b->dst);

	inject(b, RC_SEND_MIDDLE, .psn = 0xfffffe, .len = MTU);
	REFUSED(0xfffffe);
	inject(b, RC_SEND_LAST, .psn = 0xfffffe, .len = 10);
	REFUSED(0xfffffe);
	inject(b, RC_WRITE_MIDDLE, .psn = 0xfffffe, .len = MTU);
	REFUSED(0xfffffe);
	inject(b, RC_READ_RESP_ONLY, .psn = 0xfffffc, .len = 10); /* not a request: ignored */
	post_recv(b, .wr_id = 1, .len = 3 * MTU);
	inject(b, RC_SEND_FIRST, .psn = 0xfffffe, .len = MTU);
	inject(b, RC_SEND_FIRST, .psn = 0xffffff, .len = MTU);
	expect_cqe(b, .wr_id = 1, .status = IBV_WC_REM_INV_REQ_ERR);
	expect_data(b, .len = MTU);
	REFUSED(0xffffff);
	inject(b, RC_WRITE_FIRST, .psn = 0xfffffe, .va = dst + 1000, .rkey = rkey,
	       .dma_len = 2 * MTU, .len = MTU);
	inject(b, RC_SEND_LAST, .psn = 0xffffff, .len = MTU);
	expect_data(b, .dst = 1000, .len = MTU);
	REFUSED(0xffffff);
	inject(b, RC_WRITE_FIRST, .psn = 0xfffffe, .va = dst + 1000, .rkey = rkey,
	       .dma_len = 2 * MTU, .len = MTU);
	inject(b, RC_READ_REQUEST, .psn = 0xffffff, .va = dst, .rkey = rkey, .dma_len = 8);
	REFUSED(0xffffff);
	/* lengths that do not match the position of the packet in its message */
	inject(b, RC_WRITE_FIRST, .psn = 0xfffffe, .va = dst + 1000, .rkey = rkey,
	       .dma_len = 2 * MTU, .len = MTU - 4);
	REFUSED(0xfffffe);
	inject(b, RC_WRITE_ONLY, .psn = 0xfffffe, .va = dst + 2000, .rkey = rkey, .dma_len = 9,
	       .len = 8);
	REFUSED(0xfffffe);
	inject(b, RC_WRITE_ONLY, .psn = 0xfffffe, .va = dst + 2000, .rkey = rkey,
	       .dma_len = MTU + 4, .len = MTU + 4);
	REFUSED(0xfffffe);

	corrupt_next(a_to_b, RC_SEND_FIRST, .offset = OPCODE_AT, .mask = FIRST_TO_MIDDLE,
		     .fix = FAULT_FIX_BOTH);
	ignore_packets();
	post_send(a, .wr_id = 7, .len = 2 * MTU);
	expect_cqe(a, .wr_id = 7, .status = IBV_WC_REM_INV_REQ_ERR);
	expect_event(b, IBV_EVENT_QP_REQ_ERR);
}
