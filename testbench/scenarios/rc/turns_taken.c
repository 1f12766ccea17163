/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A port sends for all its queue pairs in turn: a short message ends before a long one that began
 * earlier, and two long ones end close to each other. A queue pair that sends a long message answers its
 * peer in between: ACKs, READ responses and atomic answers do not wait for its end.
 */
/* behaviours: IBA-7.6.9-turns */
#include "testbench/services.h"

enum { MTU = 256, LONG = 128 << 10, SHORT = 64, PART = 8, WORD = 140 << 10 };

static void of_two(struct tb *tb, struct tb_end *a, struct drv_qp *x)
{
	uint64_t began, first_ps, both_ps;

	phase("two queue pairs");
	rdma_write(a, .wr_id = 1, .len = LONG);
	send_on(a, x, .wr_id = 2, .opcode = IBV_WR_RDMA_WRITE, .len = SHORT);
	expect_cqe(a, .wr_id = 2);
	expect_cqe(a, .wr_id = 1);
	began = tb_now(tb);
	rdma_write(a, .wr_id = 3, .len = LONG);
	send_on(a, x, .wr_id = 4, .opcode = IBV_WR_RDMA_WRITE, .len = LONG);
	expect_cqe(a);
	first_ps = tb_now(tb) - began;
	expect_cqe(a);
	both_ps = tb_now(tb) - began;
	expect_that(both_ps - first_ps, <, both_ps / PART);
}

static void in_between(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	const uint64_t began = tb_now(tb);
	uint64_t answered_ps;

	phase("answers in between");
	set_word(a, WORD, 7);
	post_recv(a, .wr_id = 5, .len = SHORT);
	rdma_write(a, .wr_id = 6, .len = LONG);
	post_send(b, .wr_id = 7, .len = SHORT);
	rdma_read(b, .wr_id = 8, .dst = LONG, .len = SHORT);
	fetch_add(b, .wr_id = 9, .dst = LONG + SHORT, .target = WORD, .compare = 1);
	expect_cqe(b, .wr_id = 7);
	expect_cqe(b, .wr_id = 8);
	expect_cqe(b, .wr_id = 9);
	answered_ps = tb_now(tb) - began;
	expect_cqe(a, .wr_id = 5);
	expect_cqe(a, .wr_id = 6);
	expect_that(answered_ps, <, (tb_now(tb) - began) / 2);
	expect_data(a, .len = SHORT);
	expect_data(b, .len = LONG);
	expect_data(b, .dst = LONG, .len = SHORT);
	expect_word(b, LONG + SHORT, 7);
	expect_word(a, WORD, 8);
}

SCENARIO(turns_taken, "queue pairs send in turn, and answer while they send", .mtu = IBV_MTU_256,
	 .any_packets = true, .memory = 192 << 10)
{
	struct drv_qp *x = new_qp(a), *y = new_qp(b);

	connect_two(x, y);
	of_two(tb, a, x);
	in_between(tb, a, b);
	destroy_qp(x);
	destroy_qp(y);
}
