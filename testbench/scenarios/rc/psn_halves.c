/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First PSNs at all places of the circle of 2^24: at its beginning, its middle and its end, and another
 * one for each direction. Messages of several packets, READs and atomics go both ways, a lost packet is
 * sent again, and no timer runs out.
 */
/* behaviours: REQ-11 */
#include "model/interface/macros.h"
#include "testbench/services.h"

enum { MTU = 256, LEN = 3 * MTU, MASK = 0xffffff };

static const uint32_t firsts[] = {0,        1,        0x7ffffd, 0x7fffff, 0x800000,
				  0x800001, 0xfffffd, 0xffffff, 0xc00000};

static void messages(struct tb *tb, struct tb_end *from, struct tb_end *to, struct drv_qp *x,
		     struct drv_qp *y)
{
	recv_on(to, y, .wr_id = 1, .len = LEN);
	send_on(from, x, .wr_id = 2, .len = LEN);
	send_on(from, x, .wr_id = 3, .opcode = IBV_WR_RDMA_READ, .dst = 2048, .len = LEN);
	send_on(from, x, .wr_id = 4, .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .dst = 4096, .len = 8,
		.compare = 1);
	send_on(from, x, .wr_id = 5, .opcode = IBV_WR_RDMA_WRITE, .dst = 1024, .len = LEN);
	expect_cqe(to, .wr_id = 1, .byte_len = LEN);
	for (unsigned i = 2; i <= 5; i++)
		expect_cqe(from, .wr_id = i);
	expect_data(to, .len = LEN);
	expect_data(to, .dst = 1024, .len = LEN);
	expect_data(from, .dst = 2048, .len = LEN);
	ignore_data(from, .dst = 4096, .len = 8);
	ignore_data(to, .dst = 4096, .len = 8);
}

SCENARIO(psn_halves, "first PSNs in both halves of the circle, and at its edges",
	 .mtu = IBV_MTU_256, .any_packets = true)
{
	struct drv_qp *x = new_qp(a), *y = new_qp(b);

	for_each_row(i, firsts) {
		const uint32_t psn = firsts[i], other = firsts[(i + 4) % ARRAY_SIZE(firsts)];

		name_row("0x%x and 0x%x", psn, other);
		connect_two(x, y, .x_psn = psn, .y_psn = other, .retry_cnt = 1);
		messages(tb, a, b, x, y);
		messages(tb, b, a, y, x);
		/* the PSNs behind what has gone: 3 of a SEND, 3 of a READ, 1, and 3 of a WRITE */
		drop_next(a_to_b, RC_WRITE_FIRST, .psn = (psn + 10) & MASK);
		send_on(a, x, .wr_id = 6, .opcode = IBV_WR_RDMA_WRITE, .len = LEN);
		expect_cqe(a, .wr_id = 6);
		expect_stat(a, retry, ack_timeouts, 0);
		move_qp(x, IBV_QPS_RESET);
		move_qp(y, IBV_QPS_RESET);
	}
	destroy_qp(y);
	destroy_qp(x);
}
