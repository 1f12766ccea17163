/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fenced request waits until the READs and atomics before it have their data, and holds back the
 * requests behind it; a request without a fence follows at once. Here the fenced SEND sends the
 * data that the READ fetches, and the response of the READ is lost the first time.
 * behaviours: IBA-10.8.3.3-fence
 */
#include "testbench/services.h"

enum { LEN = 256 };

/* READs from the peer's src area into the local buffer from which the next request sends. */
static void read_and_send(struct tb *tb, struct tb_end *a, struct tb_end *b, bool fence)
{
	struct drv_sge sge = {tb_va(a, a->dst), LEN, drv_mr_lkey(a->mr)};
	struct drv_send_wr write = {.wr_id = 3,
				    .opcode = IBV_WR_RDMA_WRITE,
				    .send_flags = IBV_SEND_SIGNALED,
				    .remote_addr = tb_va(b, b->dst) + 4096,
				    .rkey = drv_mr_rkey(b->mr)};
	struct drv_send_wr send = {.next = &write,
				   .wr_id = 2,
				   .opcode = IBV_WR_SEND,
				   .send_flags = IBV_SEND_SIGNALED | (fence ? IBV_SEND_FENCE : 0),
				   .sg_list = &sge,
				   .num_sge = 1};
	struct drv_send_wr read = {.next = &send,
				   .wr_id = 1,
				   .opcode = IBV_WR_RDMA_READ,
				   .send_flags = IBV_SEND_SIGNALED,
				   .sg_list = &sge,
				   .num_sge = 1,
				   .remote_addr = tb_va(b, b->src),
				   .rkey = drv_mr_rkey(b->mr)};

	post_recv(b, .wr_id = 9, .len = LEN);
	must(drv_post_send(a->qp[0], &read, NULL));
}

SCENARIO(req_fence, "a fenced request waits for the READ before it, and so does what follows",
	 .timeout = 8)
{
	drop_next(b_to_a, RC_READ_RESP_ONLY);
	read_and_send(tb, a, b, true);
	expect_pkt(a_to_b, RC_READ_REQUEST, .psn = 0xfffffe, .transmission = 1);
	expect_pkt_after(a_to_b, ACK_TIMEOUT(a), RC_READ_REQUEST, .psn = 0xfffffe,
			 .transmission = 2);
	expect_pkt(b_to_a, RC_READ_RESP_ONLY, .psn = 0xfffffe);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 0xffffff, .transmission = 1);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .psn = 0, .transmission = 1);
	expect_cqe(a, .wr_id = 1);
	expect_data(a, .len = LEN);
	expect_cqe(b, .wr_id = 9);
	expect_data(b, .len = LEN, .from = b); /* b's own data, fetched by the READ and sent back */
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xffffff);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0);
	expect_cqe(a, .wr_id = 2);
	expect_cqe(a, .wr_id = 3);

	phase("without a fence nothing waits");
	drop_next(b_to_a, RC_READ_RESP_ONLY);
	read_and_send(tb, a, b, false);
	expect_pkt(a_to_b, RC_READ_REQUEST, .psn = 1);
	expect_pkt_after(a_to_b, WINDOW(0, CFG_US(5)), RC_SEND_ONLY, .psn = 2);
	expect_pkt_after(a_to_b, WINDOW(0, CFG_US(5)), RC_WRITE_ONLY, .psn = 3);
	ignore_packets();
	expect_cqe(b, .wr_id = 9);
	expect_cqe(a, .wr_id = 1);
	expect_cqe(a, .wr_id = 2);
	expect_cqe(a, .wr_id = 3);
}
