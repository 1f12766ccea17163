/* SPDX-License-Identifier: Apache-2.0 */
/*
 * More requests than the 16-bit index of a completion counts, most of them unsignaled. The driver
 * goes on to find the request of each completion, and the room that it gives back, when the index
 * starts again from 0.
 */
/* behaviours: CQ-index-wrap */
#include "testbench/scenario.h"

/* 65,536 is no multiple of it, so the index starts again amid a list */
enum { LIST = 60, LISTS = (1 << 16) / LIST + 20, LEN = 8 };

SCENARIO(send_queue_long, "66,720 requests on one queue pair, one of 60 signaled",
	 .unobserved = true)
{
	struct drv_sge sge = {tb_va(a, a->src), LEN, drv_mr_lkey(a->mr)};
	struct drv_send_wr wr[LIST];

	for (unsigned i = 0; i < LIST; i++)
		wr[i] = (struct drv_send_wr){.next = i + 1 < LIST ? &wr[i + 1] : NULL,
					     .opcode = IBV_WR_RDMA_WRITE,
					     .send_flags = i + 1 < LIST ? 0 : IBV_SEND_SIGNALED,
					     .sg_list = &sge,
					     .num_sge = 1,
					     .remote_addr = tb_va(b, b->dst),
					     .rkey = drv_mr_rkey(b->mr)};
	for (unsigned i = 0; i < LISTS && still_right(); i++) {
		wr[LIST - 1].wr_id = i;
		must(drv_post_send(a->qp[0], wr, NULL));
		expect_cqe(a, .wr_id = i);
	}
	expect_data(b, .len = LEN);
}
