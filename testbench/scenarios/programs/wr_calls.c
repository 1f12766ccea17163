/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each request of a reliable and of an unreliable connection, posted by calls: what the peer is told of it
 * and every byte of memory are compared. The values of a request are those of the last ibv_wr_set_ call
 * before the next one, a list that is aborted posts nothing, and a list that is shorter than the one before
 * it posts only its own requests. Inline bytes may be used again at once. A request that is used again has
 * room for more entries and more bytes than it had before. No other scenario posts by calls and compares all
 * of the memory.
 */
/* behaviours: POST-calls */
#include "testbench/scenarios/programs/by_calls.h"

#include <stdlib.h>

enum { IMM = 0x12345678, AT_WORD = HALF + 4096, LISTED = 4, PIECE = 17 };

#define ADDEND UINT64_C(0xff22334455)

/* Sends from two places, from inline pieces, and from none. */
static int sends(struct by_calls *x)
{
	const struct ibv_sge two[2] = {{at(x, 8), 100, x->mr->lkey},
				       {at(x, 4096), 28, x->mr->lkey}};
	const struct ibv_data_buf pieces[3] = {{x->image + 3, 7}, {NULL, 0}, {x->image + 77, 5}};

	if (receive(x, 21, HALF, 500) || receive(x, 22, HALF + 500, 12) ||
	    receive(x, 23, HALF + 600, 64))
		return __LINE__;
	ibv_wr_start(x->calls);
	x->calls->wr_id = 1;
	x->calls->wr_flags = 0;
	ibv_wr_send(x->calls);
	ibv_wr_set_sge_list(x->calls, 2, two);
	x->calls->wr_id = 2;
	x->calls->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send_imm(x->calls, htonl(IMM));
	ibv_wr_set_inline_data_list(x->calls, 3, pieces);
	x->calls->wr_id = 3;
	ibv_wr_send(x->calls);
	ibv_wr_set_sge_list(x->calls, 0, NULL);
	if (ibv_wr_complete(x->calls))
		return __LINE__;
	memcpy(x->image + HALF, x->image + 8, 100);
	memcpy(x->image + HALF + 100, x->image + 4096, 28);
	memcpy(x->image + HALF + 500, x->image + 3, 7);
	memcpy(x->image + HALF + 507, x->image + 77, 5);
	if (IS(x, 0, .wr_id = 2, .opcode = IBV_WC_SEND) ||
	    IS(x, 0, .wr_id = 3, .opcode = IBV_WC_SEND))
		return __LINE__;
	if (IS(x, 1, .wr_id = 21, .opcode = IBV_WC_RECV, .byte_len = 128) ||
	    IS(x, 1, .wr_id = 22, .opcode = IBV_WC_RECV, .byte_len = 12,
	       .wc_flags = IBV_WC_WITH_IMM, .imm_data = htonl(IMM)) ||
	    IS(x, 1, .wr_id = 23, .opcode = IBV_WC_RECV))
		return __LINE__;
	return nothing_else(x) ? __LINE__ : 0;
}

static int writes(struct by_calls *x)
{
	uint8_t bytes[INLINE];

	memcpy(bytes, x->image + 900, INLINE);
	if (receive(x, 24, HALF, 0))
		return __LINE__;
	ibv_wr_start(x->calls);
	x->calls->wr_id = 4;
	ibv_wr_rdma_write(x->calls, x->mr->rkey, at(x, HALF + 1000));
	ibv_wr_set_sge(x->calls, x->mr->lkey, at(x, 50), 1);
	/* the last one counts */
	ibv_wr_set_sge(x->calls, x->mr->lkey, at(x, 200), 1500);
	x->calls->wr_id = 5;
	ibv_wr_rdma_write_imm(x->calls, x->mr->rkey, at(x, HALF + 2600), htonl(IMM + 1));
	ibv_wr_set_inline_data(x->calls, bytes, INLINE);
	/* they are copied, so they may be used again (ibv_wr_post(3)) */
	memset(bytes, 0, sizeof(bytes));
	if (ibv_wr_complete(x->calls))
		return __LINE__;
	memcpy(x->image + HALF + 1000, x->image + 200, 1500);
	memcpy(x->image + HALF + 2600, x->image + 900, INLINE);
	if (IS(x, 0, .wr_id = 4, .opcode = IBV_WC_RDMA_WRITE) ||
	    IS(x, 0, .wr_id = 5, .opcode = IBV_WC_RDMA_WRITE) ||
	    IS(x, 1, .wr_id = 24, .opcode = IBV_WC_RECV_RDMA_WITH_IMM, .byte_len = INLINE,
	       .wc_flags = IBV_WC_WITH_IMM, .imm_data = htonl(IMM + 1)))
		return __LINE__;
	return nothing_else(x) ? __LINE__ : 0;
}

static uint64_t word(const struct by_calls *x, unsigned offset)
{
	uint64_t value;

	memcpy(&value, x->image + offset, sizeof(value));
	return value;
}

/* A READ, two atomics that change the same word, and one that finds another value there. */
static int answers(struct by_calls *x)
{
	const uint64_t first = word(x, AT_WORD), second = first + ADDEND, third = 77;
	const uint64_t before[3] = {first, second, third};

	ibv_wr_start(x->calls);
	x->calls->wr_id = 6;
	ibv_wr_rdma_read(x->calls, x->mr->rkey, at(x, HALF + 1000));
	ibv_wr_set_sge(x->calls, x->mr->lkey, at(x, 2048), 33);
	x->calls->wr_id = 7;
	ibv_wr_atomic_fetch_add(x->calls, x->mr->rkey, at(x, AT_WORD), ADDEND);
	ibv_wr_set_sge(x->calls, x->mr->lkey, at(x, 2200), 8);
	x->calls->wr_id = 8;
	ibv_wr_atomic_cmp_swp(x->calls, x->mr->rkey, at(x, AT_WORD), second, third);
	ibv_wr_set_sge(x->calls, x->mr->lkey, at(x, 2208), 8);
	x->calls->wr_id = 9;
	ibv_wr_atomic_cmp_swp(x->calls, x->mr->rkey, at(x, AT_WORD), second, 1);
	ibv_wr_set_sge(x->calls, x->mr->lkey, at(x, 2216), 8);
	if (ibv_wr_complete(x->calls))
		return __LINE__;
	memcpy(x->image + 2048, x->image + HALF + 1000, 33);
	memcpy(x->image + 2200, before, sizeof(before));
	memcpy(x->image + AT_WORD, &third, sizeof(third));
	if (IS(x, 0, .wr_id = 6, .opcode = IBV_WC_RDMA_READ, .byte_len = 33) ||
	    IS(x, 0, .wr_id = 7, .opcode = IBV_WC_FETCH_ADD, .byte_len = 8) ||
	    IS(x, 0, .wr_id = 8, .opcode = IBV_WC_COMP_SWAP, .byte_len = 8) ||
	    IS(x, 0, .wr_id = 9, .opcode = IBV_WC_COMP_SWAP, .byte_len = 8))
		return __LINE__;
	return nothing_else(x) ? __LINE__ : 0;
}

/* What was built before the abort is gone; the next list begins anew. */
static int aborts(struct by_calls *x)
{
	ibv_wr_start(x->calls);
	for (unsigned i = 0; i < 4; i++) {
		x->calls->wr_id = 40 + i;
		ibv_wr_rdma_write(x->calls, x->mr->rkey, at(x, HALF + 3000 + i));
		ibv_wr_set_inline_data(x->calls, x->image, 1);
	}
	ibv_wr_abort(x->calls);
	if (nothing_else(x) || ibv_wr_complete(x->calls) || nothing_else(x))
		return __LINE__;
	ibv_wr_start(x->calls);
	x->calls->wr_id = 50;
	ibv_wr_rdma_write(x->calls, x->mr->rkey, at(x, HALF + 3100));
	ibv_wr_set_inline_data(x->calls, x->image + 1, 2);
	if (ibv_wr_complete(x->calls) || IS(x, 0, .wr_id = 50, .opcode = IBV_WC_RDMA_WRITE))
		return __LINE__;
	memcpy(x->image + HALF + 3100, x->image + 1, 2);
	return nothing_else(x) ? __LINE__ : 0;
}

/* Requests of a list as places in the next one: each with that many entries, or minus that many bytes
 * inline. The list grows and shrinks, and so does each place. */
static const struct {
	unsigned n;
	int of[LISTED];
} lists[] = {
	{2, {1, -3}}, {4, {3, -INLINE, 2, -1}},     {3, {-5, 1, 0}}, {4, {-INLINE, 3, 3, 2}},
	{1, {2}},     {4, {2, -INLINE + 1, -9, 3}},
};

static void add_write(struct by_calls *x, int of, unsigned from, unsigned to)
{
	struct ibv_sge sges[SGES];
	struct ibv_data_buf pieces[2] = {{x->image + from, 1}, {x->image + from + 1, 0}};

	ibv_wr_rdma_write(x->calls, x->mr->rkey, at(x, to));
	for (int k = 0; k < of; k++) {
		const unsigned skip = (unsigned)k * 2 * PIECE;

		sges[k] = (struct ibv_sge){at(x, from + skip), PIECE, x->mr->lkey};
		memcpy(x->image + to + (unsigned)k * PIECE, x->image + from + skip, PIECE);
	}
	if (of > 0) {
		ibv_wr_set_sge_list(x->calls, (size_t)of, sges);
	} else if (of < 0) {
		pieces[1].length = (size_t)-of - 1;
		ibv_wr_set_inline_data_list(x->calls, 2, pieces);
		memcpy(x->image + to, x->image + from, (size_t)-of);
	}
}

static int reuses(struct by_calls *x)
{
	for (unsigned i = 0; i < ARRAY_SIZE(lists); i++) {
		ibv_wr_start(x->calls);
		for (unsigned k = 0; k < lists[i].n; k++) {
			x->calls->wr_id = 60 + k;
			x->calls->wr_flags = IBV_SEND_SIGNALED;
			add_write(x, lists[i].of[k], 3000 + 11 * i + 300 * k,
				  HALF + 5000 + (LISTED * i + k) * INLINE);
		}
		if (ibv_wr_complete(x->calls))
			return __LINE__;
		for (unsigned k = 0; k < lists[i].n; k++)
			if (IS(x, 0, .wr_id = 60 + k, .opcode = IBV_WC_RDMA_WRITE))
				return __LINE__;
		if (nothing_else(x))
			return __LINE__;
	}
	return 0;
}

static int post_all(struct by_calls *x)
{
	int rc = open_by_calls(x);

	if (!rc)
		rc = sends(x);
	if (!rc)
		rc = writes(x);
	if (!rc && x->type == IBV_QPT_RC)
		rc = answers(x);
	if (!rc)
		rc = aborts(x);
	if (!rc)
		rc = reuses(x);
	return rc ? rc : close_by_calls(x);
}

enum {
	OPS_UC = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_WRITE |
		 IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM,
	OPS_RC = OPS_UC | IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
		 IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD,
};

static int program(void *arg)
{
	const enum ibv_qp_type type = *(const enum ibv_qp_type *)arg;
	struct by_calls *x = calloc(1, sizeof(*x));
	int rc;

	*x = (struct by_calls){.type = type, .ops = type == IBV_QPT_RC ? OPS_RC : OPS_UC};
	rc = post_all(x);
	free(x);
	return rc;
}

SCENARIO(wr_calls, "each request of a connection, posted by calls", .no_qps = true,
	 .any_packets = true)
{
	enum ibv_qp_type types[] = {IBV_QPT_RC, IBV_QPT_UC};

	for_each_row(i, types)
		expect_exit(start_process(a, program, &types[i]), 0);
}
