/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contexts and keys are evicted from the caches at chosen moments: in the middle of a message at
 * the sender and at the receiver, between request and answer, before the CQE, during the responses
 * of a READ. Each is read from ICM again, and the device's changes to it are not lost.
 */
/* behaviours: FAULT-icm-miss */
#include "testbench/harm.h"

enum { LEN = 5 * 4096 };

static void evict_all(struct tb *tb, struct tb_end *end)
{
	evict_qp(end, 0);
	evict(end, HCA_CQ, drv_cq_num(end->cq));
	evict_key(end, drv_mr_rkey(end->mr));
}

SCENARIO(harm_icm_miss, "contexts and keys leave the caches in the middle of messages")
{
	uint64_t misses, keys;

	post_recv(b, .wr_id = 1, .len = LEN);
	post_send(a, .wr_id = 2, .len = LEN);
	expect_pkt(a_to_b, RC_SEND_FIRST, .psn = 0xfffffe);
	misses = tb_stat(b, "context_cache", "misses");
	keys = tb_stat(b, "translate", "mpt_misses");
	evict_all(tb, b);
	expect_pkt(a_to_b, RC_SEND_MIDDLE, .psn = 0xffffff);
	evict_all(tb, a);
	evict_all(tb, b);
	expect_pkt(a_to_b, RC_SEND_MIDDLE, .psn = 0);
	expect_pkt(a_to_b, RC_SEND_MIDDLE, .psn = 1);
	evict_all(tb, b);
	expect_pkt(a_to_b, RC_SEND_LAST, .psn = 2);
	evict_all(tb, a);
	evict_all(tb, a);
	expect_cqe(b, .wr_id = 1, .byte_len = LEN);
	expect_cqe(a, .wr_id = 2);
	expect_data(b, .len = LEN);
	expect_that(tb_stat(b, "context_cache", "misses"), >, misses);
	expect_that(tb_stat(b, "translate", "mpt_misses"), >=, keys + 2);
	ignore_packets(); /* the misses decide when the ACKs arrive */
	check_packets();

	rdma_read(a, .wr_id = 3, .len = LEN);
	expect_pkt(a_to_b, RC_READ_REQUEST, .psn = 3);
	expect_pkt(b_to_a, RC_READ_RESP_FIRST, .psn = 3);
	evict_all(tb, a);
	evict_all(tb, b);
	expect_pkt(b_to_a, RC_READ_RESP_MIDDLE, .psn = 4);
	evict_all(tb, a);
	expect_pkt(b_to_a, RC_READ_RESP_MIDDLE, .psn = 5);
	expect_pkt(b_to_a, RC_READ_RESP_MIDDLE, .psn = 6);
	evict_all(tb, a);
	evict_all(tb, b);
	expect_pkt(b_to_a, RC_READ_RESP_LAST, .psn = 7);
	expect_cqe(a, .wr_id = 3);
	expect_data(a, .len = LEN);

	/* the answer is lost: the duplicate reaches a responder whose caches are empty */
	set_word(b, LEN, 40);
	drop_next(b_to_a, RC_ATOMIC_ACKNOWLEDGE);
	fetch_add(a, .wr_id = 4, .target = LEN, .dst = LEN, .compare = 2);
	expect_pkt(a_to_b, RC_FETCH_ADD, .psn = 8);
	evict_all(tb, a);
	evict_all(tb, b);
	expect_pkt(a_to_b, RC_FETCH_ADD, .psn = 8, .transmission = 2);
	expect_pkt(b_to_a, RC_ATOMIC_ACKNOWLEDGE, .psn = 8);
	expect_cqe(a, .wr_id = 4);
	expect_word(a, LEN, 40);
	expect_word(b, LEN, 42);
	expect_stat(b, responder, duplicates, 1);
}
