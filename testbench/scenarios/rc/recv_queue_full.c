/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A receive queue takes as many receives as it says, and refuses the next one. Each completion
 * makes room for one more, through several rounds of the ring. Of a list that does not fit, the
 * first receives are posted, and the driver names the first one that is not.
 */
/* behaviours: IBA-11.4.1-queue-full */
#include "testbench/services.h"

enum { ASKED = 17, LEN = 16, ROUNDS = 3 };

/* Four receives, where two fit. */
static void list_half_posted(struct tb *tb, struct tb_end *b)
{
	struct drv_sge sge = {tb_va(b, b->dst), LEN, drv_mr_lkey(b->mr)};
	struct drv_recv_wr wr[4];
	const struct drv_recv_wr *bad = NULL;

	for (unsigned i = 0; i < 4; i++)
		wr[i] = (struct drv_recv_wr){.next = i < 3 ? &wr[i + 1] : NULL,
					     .wr_id = 100 + i,
					     .sg_list = &sge,
					     .num_sge = 1};
	must_fail(-ENOMEM, drv_post_recv(b->qp[0], wr, &bad));
	expect_equal(bad ? bad->wr_id : 0, 102);
}

SCENARIO(recv_queue_full, "a receive queue is filled until it refuses, round after round",
	 .queue = ASKED, .any_packets = true)
{
	struct drv_qp_attr attr = {0};
	unsigned size, sent = 0;

	must(drv_qp_query(b->qp[0], &attr));
	size = attr.cap.max_recv_wr;
	expect_that(size, >=, ASKED);
	if (!still_right())
		return;
	for (unsigned i = 0; i < size; i++)
		post_recv(b, .wr_id = i, .len = LEN);
	post_recv(b, .len = LEN, .result = -ENOMEM);
	for (; sent < ROUNDS * size && still_right(); sent++) {
		post_send(a, .wr_id = sent, .len = LEN);
		expect_cqe(a, .wr_id = sent);
		expect_cqe(b, .wr_id = sent % size, .byte_len = LEN);
		post_recv(b, .wr_id = sent % size, .len = LEN);
		post_recv(b, .len = LEN, .result = -ENOMEM);
	}
	for (unsigned i = 0; i < 2; i++) {
		post_send(a, .len = LEN);
		expect_cqe(a);
		expect_cqe(b, .wr_id = i);
	}
	list_half_posted(tb, b);
	for (unsigned i = 0; i < size; i++) {
		post_send(a, .len = LEN);
		expect_cqe(a);
		expect_cqe(b, .wr_id = i + 2 < size ? i + 2 : 100 + i + 2 - size);
	}
	expect_data(b, .len = LEN);
	expect_stat(a, retry, rnr_waits, 0);
}
