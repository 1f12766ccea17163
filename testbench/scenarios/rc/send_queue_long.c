/* SPDX-License-Identifier: Apache-2.0 */
/*
 * More requests than the 16-bit index of a completion counts, most of them unsignaled. The driver
 * goes on to find the request of each completion, and the room that it gives back, when the index
 * starts again from 0.
 */
/* behaviours: CQ-index-wrap */
#include "testbench/services.h"

#include <errno.h>

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

/* The completion of the last one gives back the room of all, and no more. */
static void run_of(struct tb *tb, struct tb_end *a, struct drv_qp *x, unsigned most, unsigned n)
{
	struct drv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE};

	name_row("%u requests, one completion", n);
	for (unsigned i = 1; i <= n && still_right(); i++) {
		wr.wr_id = i;
		wr.send_flags = i == n ? IBV_SEND_SIGNALED : 0;
		must(drv_post_send(x, &wr, NULL));
	}
	expect_cqe(a, .wr_id = n, .on = x);
	if (!still_right())
		return;
	name_row("full, behind %u requests", n);
	for (unsigned i = 1; i <= most && still_right(); i++) {
		wr.wr_id = i;
		wr.send_flags = i == most ? IBV_SEND_SIGNALED : 0;
		must(drv_post_send(x, &wr, NULL));
	}
	must_fail(-ENOMEM, drv_post_send(x, &wr, NULL));
	expect_cqe(a, .wr_id = most, .on = x);
}

SCENARIO(send_queue_unsignaled, "hundreds of requests with one completion fill the queue again",
	 .any_packets = true)
{
	static const unsigned runs[] = {1, 255, 256, 257, 511, 600};
	struct drv_qp *x = new_qp(a, .cap = {.max_send_wr = 600}), *y = new_qp(b);
	struct drv_qp_cap cap;

	connect_two(x, y);
	if (!still_right())
		return;
	drv_qp_cap(x, &cap);
	expect_that(cap.max_send_wr, >=, 600);
	for_each_row(i, runs)
		run_of(tb, a, x, cap.max_send_wr, runs[i]);
	destroy_qp(y);
	destroy_qp(x);
}
