/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The properties of requests and completions that a scenario can state: gather pieces, fences, a
 * key to invalidate, target addresses; completions in any order, errors of any kind, receives in
 * chosen places.
 */
#include "testbench/services.h"

enum { N = 3 };

SCENARIO(words_requests, "requests in pieces, completions in any order", .sges = 3, .recv_sges = 2)
{
	struct drv_qp *x = new_qp(a, .cap.max_send_sge = 3), *y = new_qp(b), *u = new_qp(a),
		      *v = new_qp(b);

	post_recv(b, .wr_id = 1, SGES({0, 100}, {1000, 28}));
	post_send(a, .wr_id = 2, SGES({0, 50}, {500, 50}, {2000, 28}));
	expect_pkt(a_to_b, RC_SEND_ONLY, .len = 128);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE);
	expect_cqe(a, .wr_id = 2);
	expect_cqe(b, .wr_id = 1, .byte_len = 128);
	expect_data(b, .len = 50);
	expect_data(b, .dst = 50, .src = 500, .len = 50);
	expect_data(b, .dst = 1000, .src = 2000, .len = 28);

	/* the same word in both: a place for each */
	ignore_packets();
	connect_two(x, y);
	post_recv(b, .wr_id = 10, .dst = 4096, .len = 32, .repeat = N);
	recv_on(b, y, .wr_id = 20, .dst = 8192, .len = 32, .repeat = N);
	for (unsigned i = 0; i < N; i++) {
		post_send(a, .wr_id = 10 + i, .src = 100 * i, .len = 32);
		send_on(a, x, .wr_id = 20 + i, .src = 100 * i, .len = 32);
	}
	expect_cqes_of(a, CQE(.wr_id = 22), CQE(.wr_id = 12), CQE(.opcode = IBV_WC_SEND), CQE(),
		       CQE(.wr_id = 11), CQE(.qp = 0));
	expect_cqes_of(b, CQE(.on = y), CQE(.wr_id = 10), CQE(.wr_id = 22, .byte_len = 32),
		       CQE(.on = y, .wr_id = 20), CQE(.wr_id = 11), CQE(.wr_id = 12));
	for (unsigned i = 0; i < N; i++) {
		expect_data(b, .dst = 4096 + 32 * i, .src = 100 * i, .len = 32);
		expect_data(b, .dst = 8192 + 32 * i, .src = 100 * i, .len = 32);
	}

	/* the fenced one waits for the READ */
	check_packets();
	set_word(b, 512, 1);
	send_on(a, x, .opcode = IBV_WR_RDMA_READ, .wr_id = 30, .dst = 16384, .len = 8);
	send_on(a, x, .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .wr_id = 31, .target = 512, .dst = 256,
		.len = 8, .compare = 5, .fence = true);
	expect_pkt(a_to_b, RC_READ_REQUEST);
	expect_pkt(b_to_a, RC_READ_RESP_ONLY);
	expect_pkt(a_to_b, RC_FETCH_ADD, .swap_add = 5);
	expect_pkt(b_to_a, RC_ATOMIC_ACKNOWLEDGE, .original = 1);
	expect_cqe(a, .wr_id = 30);
	expect_cqe(a, .wr_id = 31);
	expect_data(a, .dst = 16384, .len = 8);
	expect_word(a, 256, 1);
	expect_word(b, 512, 6);

	connect_two(u, v);
	recv_on(b, v, .wr_id = 40, .len = 64);
	send_on(a, u, .opcode = IBV_WR_SEND_WITH_INV, .wr_id = 41, .inv_rkey = 0x1234);
	expect_pkt(a_to_b, RC_SEND_ONLY_INV, .inv_rkey = 0x1234);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .nak = TB_SOME);
	expect_cqe(a, .wr_id = 41, .status = ANY_ERROR);
	expect_cqe(b, .wr_id = 40, .status = ANY_ERROR);
	ignore_events(b);
	destroy_qp(u);
	destroy_qp(v);
	destroy_qp(x);
	destroy_qp(y);
}
