/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel verbs on RC. Each kind of request crosses the wire as posted, moves its bytes between
 * buffers mapped by ib_dma_map_single, and completes with its own wr_id, opcode and length. A list
 * longer than the number of requests translated at once stays in order.
 */
#include "testbench/kernel_verbs.h"

#include <arpa/inet.h>

enum { LEN = 100, AT = 4096, MANY = 40, IMM = 0x12345678 };

static void two_way(struct tb *tb, struct kv *x, struct kv *y)
{
	struct ib_sge sge[2] = {kv_sge(x, 0, LEN), kv_sge(x, 1000, LEN)};
	struct ib_sge into = kv_sge(y, AT, 2 * LEN);
	struct ib_recv_wr recv = {.wr_id = 1, .sg_list = &into, .num_sge = 1};
	struct ib_send_wr send = {.wr_id = 2,
				  .sg_list = sge,
				  .num_sge = 2,
				  .opcode = IB_WR_SEND_WITH_IMM,
				  .send_flags = IB_SEND_SIGNALED,
				  .ex.imm_data = htonl(IMM)};

	must(ib_post_recv(y->qp, &recv, NULL));
	must(ib_post_send(x->qp, &send, NULL));
	expect_pkt(a_to_b, RC_SEND_ONLY_IMM, .psn = KV_PSN, .len = 2 * LEN, .imm = IMM,
		   .qpn = y->qp->qp_num);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = KV_PSN);
	kv_wait(y, 1, IB_WC_SUCCESS);
	expect_equal(y->wc.opcode, IB_WC_RECV);
	expect_equal(y->wc.byte_len, 2 * LEN);
	expect_equal(y->wc.wc_flags, IB_WC_WITH_IMM);
	expect_equal(ntohl(y->wc.ex.imm_data), IMM);
	expect_true(y->wc.qp == y->qp);
	kv_wait(x, 2, IB_WC_SUCCESS);
	expect_equal(x->wc.opcode, IB_WC_SEND);
	kv_same(x->mem, y->mem + AT, LEN);
	kv_same(x->mem + 1000, y->mem + AT + LEN, LEN);
}

static void one_sided(struct tb *tb, struct kv *x, struct kv *y, uint32_t rkey)
{
	struct ib_sge sge = kv_sge(x, 0, LEN);
	struct ib_rdma_wr wr = {.wr = {.wr_id = 3,
				       .sg_list = &sge,
				       .num_sge = 1,
				       .opcode = IB_WR_RDMA_WRITE,
				       .send_flags = IB_SEND_SIGNALED},
				.remote_addr = y->bus + 2 * AT,
				.rkey = rkey};

	must(ib_post_send(x->qp, &wr.wr, NULL));
	expect_pkt(a_to_b, RC_WRITE_ONLY, .va = (int64_t)(y->bus + 2 * AT), .rkey = rkey,
		   .dma_len = LEN);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE);
	kv_wait(x, 3, IB_WC_SUCCESS);
	kv_same(x->mem, y->mem + 2 * AT, LEN);
	wr.wr.opcode = IB_WR_RDMA_READ;
	wr.wr.wr_id = 4;
	wr.remote_addr = y->bus + 3 * AT;
	must(ib_post_send(x->qp, &wr.wr, NULL));
	expect_pkt(a_to_b, RC_READ_REQUEST, .va = (int64_t)(y->bus + 3 * AT), .dma_len = LEN);
	expect_pkt(b_to_a, RC_READ_RESP_ONLY, .len = LEN);
	kv_wait(x, 4, IB_WC_SUCCESS);
	expect_equal(x->wc.opcode, IB_WC_RDMA_READ);
	expect_equal(x->wc.byte_len, LEN);
	kv_same(x->mem, y->mem + 3 * AT, LEN);
	/* inline data is copied at the post; its memory may change afterwards */
	sge = (struct ib_sge){.addr = (uintptr_t) "inline", .length = 6};
	wr.wr.opcode = IB_WR_RDMA_WRITE;
	wr.wr.wr_id = 5;
	wr.wr.send_flags |= IB_SEND_INLINE;
	must(ib_post_send(x->qp, &wr.wr, NULL));
	expect_pkt(a_to_b, RC_WRITE_ONLY, .dma_len = 6);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE);
	kv_wait(x, 5, IB_WC_SUCCESS);
	kv_same("inline", y->mem + 3 * AT, 6);
}

static void write_with_immediate(struct tb *tb, struct kv *x, struct kv *y, uint32_t rkey)
{
	struct ib_sge sge = kv_sge(x, 0, LEN);
	const struct ib_recv_wr recv = {.wr_id = 7};
	const struct ib_rdma_wr wr = {.wr = {.wr_id = 8,
					     .sg_list = &sge,
					     .num_sge = 1,
					     .opcode = IB_WR_RDMA_WRITE_WITH_IMM,
					     .send_flags = IB_SEND_SIGNALED,
					     .ex.imm_data = htonl(IMM)},
				      .remote_addr = y->bus + 2 * AT,
				      .rkey = rkey};

	must(ib_post_recv(y->qp, &recv, NULL));
	must(ib_post_send(x->qp, &wr.wr, NULL));
	expect_pkt(a_to_b, RC_WRITE_ONLY_IMM, .imm = IMM, .dma_len = LEN);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE);
	kv_wait(y, 7, IB_WC_SUCCESS);
	expect_equal(y->wc.opcode, IB_WC_RECV_RDMA_WITH_IMM);
	expect_equal(y->wc.byte_len, LEN);
	expect_equal(ntohl(y->wc.ex.imm_data), IMM);
	kv_wait(x, 8, IB_WC_SUCCESS);
	expect_equal(x->wc.opcode, IB_WC_RDMA_WRITE);
}

static void atomics(struct tb *tb, struct kv *x, struct kv *y, uint32_t rkey)
{
	struct ib_sge sge = kv_sge(x, 0, 8);
	struct ib_atomic_wr wr = {.wr = {.wr_id = 6,
					 .sg_list = &sge,
					 .num_sge = 1,
					 .opcode = IB_WR_ATOMIC_FETCH_AND_ADD,
					 .send_flags = IB_SEND_SIGNALED},
				  .remote_addr = y->bus + AT,
				  .compare_add = 7,
				  .rkey = rkey};
	uint64_t *word = (uint64_t *)(void *)(y->mem + AT), *got = (uint64_t *)(void *)x->mem;

	*word = 100;
	must(ib_post_send(x->qp, &wr.wr, NULL));
	kv_wait(x, 6, IB_WC_SUCCESS);
	expect_equal(x->wc.opcode, IB_WC_FETCH_ADD);
	expect_equal(*got, 100);
	wr.wr.opcode = IB_WR_ATOMIC_CMP_AND_SWP;
	wr.compare_add = 107;
	wr.swap = 5;
	must(ib_post_send(x->qp, &wr.wr, NULL));
	kv_wait(x, 6, IB_WC_SUCCESS);
	expect_equal(x->wc.opcode, IB_WC_COMP_SWAP);
	expect_equal(*got, 107);
	kv_same(word, &(uint64_t){5}, 8);
	wr.wr.opcode = IB_WR_MASKED_ATOMIC_FETCH_AND_ADD;
	wr.compare_add = 3;
	wr.compare_add_mask = UINT64_C(1) << 63;
	must(ib_post_send(x->qp, &wr.wr, NULL));
	kv_wait(x, 6, IB_WC_SUCCESS);
	expect_equal(x->wc.opcode, IB_WC_MASKED_FETCH_ADD);
	expect_equal(*got, 5);
	kv_same(word, &(uint64_t){8}, 8);
}

static void long_list(struct tb *tb, struct kv *x, struct kv *y, uint32_t rkey)
{
	struct ib_rdma_wr wr[MANY];
	struct ib_sge sge[MANY];

	for (unsigned i = 0; i < MANY; i++) {
		sge[i] = kv_sge(x, i * LEN, LEN);
		wr[i] = (struct ib_rdma_wr){.wr = {.next = i + 1 < MANY ? &wr[i + 1].wr : NULL,
						   .wr_id = 100 + i,
						   .sg_list = &sge[i],
						   .num_sge = 1,
						   .opcode = IB_WR_RDMA_WRITE,
						   .send_flags = IB_SEND_SIGNALED},
					    .remote_addr = y->bus + AT + i * LEN,
					    .rkey = rkey};
	}
	must(ib_post_send(x->qp, &wr[0].wr, NULL));
	for (unsigned i = 0; i < MANY; i++)
		kv_wait(x, 100 + i, IB_WC_SUCCESS);
	kv_same(x->mem, y->mem + AT, (size_t)MANY * LEN);
}

SCENARIO(kernel_post, "kernel verbs: SEND, WRITE, READ, atomics, inline, a long list",
	 .no_qps = true)
{
	struct ib_mr *mr;
	struct kv x, y;

	if (!kv_open(a, &x, .inline_bytes = 16, .queue = 64) || !kv_open(b, &y) ||
	    !kv_connect(&x, &y))
		return;
	mr = kv_made(ib_get_dma_mr(y.pd, IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
						 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC));
	if (!mr)
		return;
	two_way(tb, &x, &y);
	one_sided(tb, &x, &y, mr->rkey);
	write_with_immediate(tb, &x, &y, mr->rkey);
	ignore_packets();
	atomics(tb, &x, &y, mr->rkey);
	long_list(tb, &x, &y, mr->rkey);
	must(ib_dereg_mr(mr));
	kv_close(&y);
	kv_close(&x);
}
