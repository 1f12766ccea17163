/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The demonstration of `make run`: RC traffic of every kind and size in both directions between two
 * linked HCAs. Packets are lost on purpose and recovered, every byte is checked, and nothing is
 * left at the end. Sizes run from 1 byte to 4 MiB in steps that are not powers of two, so that
 * padding and odd lengths occur.
 */
#include "testbench/scenario.h"

enum { LARGEST = 4 << 20 };

static size_t next_size(size_t len)
{
	return len == LARGEST ? LARGEST + 1u : len * 5 + 3 > LARGEST ? LARGEST : len * 5 + 3;
}

static void sends(struct tb *tb, struct tb_end *from, struct tb_end *to)
{
	for (size_t len = 1; len <= LARGEST && still_right(); len = next_size(len)) {
		post_recv(to, .wr_id = len, .len = LARGEST);
		post_send(from, .wr_id = len, .len = (uint32_t)len);
		expect_cqe(to, .wr_id = (int64_t)len, .byte_len = (int64_t)len);
		expect_cqe(from, .wr_id = (int64_t)len, .opcode = IBV_WC_SEND);
		expect_data(to, .len = len);
	}
}

static void rdma(struct tb *tb, struct tb_end *from, struct tb_end *to, bool read)
{
	for (size_t len = 1; len <= LARGEST && still_right(); len = next_size(len)) {
		size_t src = LARGEST - len;

		if (read)
			rdma_read(from, .wr_id = len, .len = (uint32_t)len, .src = src);
		else
			rdma_write(from, .wr_id = len, .len = (uint32_t)len, .src = src);
		expect_cqe(from, .wr_id = (int64_t)len);
		expect_data(read ? from : to, .len = len, .src = src);
	}
}

SCENARIO(tour,
	 "bring-up, RC traffic from 1 byte to 4 MiB both ways, losses and recovery, tear-down",
	 .memory = LARGEST, .timeout = 10, .any_packets = true, .interrupts = true)
{
	phase("SEND, 1 B to 4 MiB, both ways");
	sends(tb, a, b);
	sends(tb, b, a);
	phase("RDMA WRITE, 1 B to 4 MiB, both ways");
	rdma(tb, a, b, false);
	rdma(tb, b, a, false);
	phase("RDMA READ, 1 B to 4 MiB, both ways");
	rdma(tb, a, b, true);
	rdma(tb, b, a, true);
	phase("losses: request, ACK, READ response");
	drop_next(a_to_b, RC_WRITE_MIDDLE);
	rdma_write(a, .wr_id = 1, .len = 3 * 4096, .src = 17);
	expect_cqe(a, .wr_id = 1);
	expect_data(b, .len = 3 * 4096, .src = 17);
	drop_next(b_to_a, RC_ACKNOWLEDGE);
	rdma_write(a, .wr_id = 2, .len = 100, .src = 18);
	expect_cqe(a, .wr_id = 2);
	expect_data(b, .len = 100, .src = 18);
	drop_next(b_to_a, RC_READ_RESP_MIDDLE);
	rdma_read(a, .wr_id = 3, .len = 3 * 4096, .src = 19);
	expect_cqe(a, .wr_id = 3);
	expect_data(a, .len = 3 * 4096, .src = 19);
	show_ladder();
}
