/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unreliable services, where one message follows another closely. UC: a message begins before the one before
 * has ended, although no PSN is missing. That one is dropped, and its receive serves the new one, from its
 * first byte. A message that has begun goes on when a send of its queue pair fails. UD: a datagram that cannot be sent stands behind good ones. These complete before it, in their
 * order, and what stands behind it is flushed.
 */
/* behaviours: UC-1 ST-5 */
#include "testbench/services.h"

enum {
	MTU = 256,
	GOOD = 5,
	LEN = 32,
	QKEY = 0x1234,
	TOO_LONG = 4097,
	ANYBODY = 0x123,
	IMM = 0x1234
};

static void uc_begins_anew(struct tb *tb, struct tb_end *b)
{
	phase("UC");
	post_recv(b, .wr_id = 1, .len = 2 * MTU);
	inject(b, UC_SEND_FIRST, .psn = 0xfffffe, .len = MTU, .src = 1024);
	inject(b, UC_SEND_ONLY, .psn = 0xffffff, .len = LEN);
	expect_cqe(b, .wr_id = 1, .byte_len = LEN);
	post_recv(b, .wr_id = 2, .dst = 4096, .len = 2 * MTU);
	inject(b, UC_SEND_FIRST, .psn = 0, .len = MTU, .src = 1024);
	inject(b, UC_SEND_FIRST, .psn = 1, .len = MTU);
	inject(b, UC_SEND_LAST, .psn = 2, .len = LEN, .src = MTU);
	expect_cqe(b, .wr_id = 2, .byte_len = MTU + LEN);
	/* a WRITE takes the receive of a SEND that is lost; a packet that comes twice ends a message */
	post_recv(b, .wr_id = 3, .dst = 8192, .len = 2 * MTU);
	inject(b, UC_SEND_FIRST, .psn = 3, .len = MTU, .src = 1024);
	inject(b, UC_WRITE_ONLY_IMM, .psn = 5, .va = tb_va(b, b->dst) + 12288,
	       .rkey = drv_mr_rkey(b->mr), .dma_len = LEN, .len = LEN, .imm = IMM);
	expect_cqe(b, .wr_id = 3, .opcode = IBV_WC_RECV_RDMA_WITH_IMM, .byte_len = LEN, .imm = IMM);
	post_recv(b, .wr_id = 4, .dst = 8192, .len = 4 * MTU);
	inject(b, UC_SEND_FIRST, .psn = 6, .len = MTU, .src = 1024);
	inject(b, UC_SEND_MIDDLE, .psn = 7, .len = MTU, .src = 1024);
	inject(b, UC_SEND_MIDDLE, .psn = 7, .len = MTU, .src = 1024);
	inject(b, UC_SEND_LAST, .psn = 8, .len = LEN, .src = 1024);
	expect_no_more(CFG_US(20));
	inject(b, UC_SEND_ONLY, .psn = 9, .len = LEN);
	expect_cqe(b, .wr_id = 4, .byte_len = LEN);
	ignore_data(b, .dst = 8192, .len = 2 * MTU);
	expect_data(b, .dst = 8192, .len = LEN);
	expect_data(b, .dst = 12288, .len = LEN);
	ignore_data(b, .len = MTU);
	expect_data(b, .len = LEN);
	expect_data(b, .dst = 4096, .len = MTU + LEN);
}

/* A send fails while a message comes: that one goes on, and so do the receives behind it. */
static void uc_send_fails_meanwhile(struct tb *tb, struct tb_end *b)
{
	struct drv_qp_attr attr = {0};

	phase("UC in SQE");
	post_recv(b, .wr_id = 3, .dst = 8192, .len = 2 * MTU);
	post_recv(b, .wr_id = 4, .dst = 12000, .len = LEN);
	inject(b, UC_SEND_FIRST, .psn = 3, .len = MTU);
	pass_time(CFG_US(5));
	post_send(b, .wr_id = 5, .len = LEN, .lkey = drv_mr_lkey(b->mr) + 1);
	expect_cqe(b, .wr_id = 5, .status = IBV_WC_LOC_PROT_ERR);
	must(drv_qp_query(b->qp[0], &attr));
	expect_equal(attr.qp_state, IBV_QPS_SQE);
	inject(b, UC_SEND_LAST, .psn = 4, .len = LEN, .src = MTU);
	expect_cqe(b, .wr_id = 3, .byte_len = MTU + LEN);
	expect_data(b, .dst = 8192, .len = MTU + LEN);
	inject(b, UC_SEND_ONLY, .psn = 5, .len = LEN);
	expect_cqe(b, .wr_id = 4, .byte_len = LEN);
	expect_data(b, .dst = 12000, .len = LEN);
}

static void ud_fails_behind(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct drv_cq *cq = new_cq(a, 64, 0);
	struct drv_qp *u = new_qp(a, .type = IBV_QPT_UD, .send_cq = cq);
	const struct drv_ah_attr ah = ah_to(b);

	phase("UD");
	start_ud(u, QKEY, 1);
	for (unsigned i = 0; i < GOOD + 3; i++)
		send_on(a, u, .wr_id = i, .len = i == GOOD ? TOO_LONG : LEN, .ah = &ah,
			.remote_qpn = ANYBODY, .qkey = QKEY, .unsignaled = i == GOOD - 2);
	for (unsigned i = 0; i < GOOD + 3; i++)
		if (i != GOOD - 2)
			expect_cqe(a, .cq = cq, .wr_id = i,
				   .status = i < GOOD    ? IBV_WC_SUCCESS
					     : i == GOOD ? IBV_WC_LOC_LEN_ERR
							 : IBV_WC_WR_FLUSH_ERR);
	expect_empty(cq);
	destroy_qp(u);
	destroy_cq(cq);
}

SCENARIO(unreliable_order,
	 "UC messages that begin anew, and UD requests that fail behind good ones",
	 .type = IBV_QPT_UC, .mtu = IBV_MTU_256, .any_packets = true)
{
	uc_begins_anew(tb, b);
	uc_send_fails_meanwhile(tb, b);
	ud_fails_behind(tb, a, b);
}
