/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A send queue takes as many requests as it says, and refuses the next one until a completion has
 * made room, through several rounds of the ring. Of a list that does not fit, the first requests
 * are sent. The slots that the driver keeps free behind the last request are never used, so the
 * device finds no work there: each request is sent once.
 */
/* behaviours: IBA-11.4.1-queue-full */
#include "testbench/services.h"

enum { ASKED = 24, LEN = 16, ROUNDS = 4, SGES = 10 /* slots of 256 bytes: four stamps each */ };

SCENARIO(send_queue_full, "a send queue is filled until it refuses, round after round",
	 .queue = ASKED, .sges = SGES, .any_packets = true)
{
	struct drv_sge sge = {tb_va(a, a->src), LEN, drv_mr_lkey(a->mr)};
	struct drv_send_wr wr[2];
	const struct drv_send_wr *bad;
	struct drv_qp_attr attr = {0};
	unsigned size;

	must(drv_qp_query(a->qp[0], &attr));
	size = attr.cap.max_send_wr;
	expect_that(size, >=, ASKED);
	for (unsigned round = 0; round < ROUNDS && still_right(); round++) {
		for (unsigned i = 0; i + 1 < size; i++)
			rdma_write(a, .wr_id = i, .len = LEN, .dst = i * LEN, .src = i * LEN);
		for (unsigned i = 0; i < 2; i++)
			wr[i] = (struct drv_send_wr){.next = i ? NULL : &wr[1],
						     .wr_id = size - 1 + i,
						     .opcode = IBV_WR_RDMA_WRITE,
						     .send_flags = IBV_SEND_SIGNALED,
						     .sg_list = &sge,
						     .num_sge = 1,
						     .remote_addr = tb_va(b, b->dst),
						     .rkey = drv_mr_rkey(b->mr)};
		bad = NULL;
		must_fail(-ENOMEM, drv_post_send(a->qp[0], wr, &bad));
		expect_true(bad == &wr[1]);
		rdma_write(a, .len = LEN, .result = -ENOMEM);
		for (unsigned i = 0; i < size; i++)
			expect_cqe(a, .wr_id = i);
	}
	expect_data(b, .len = (size - 1) * LEN);
	expect_stat(b, responder, packets, ROUNDS * size);
}
