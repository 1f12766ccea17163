/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a creation promises holds to the last: queues of several sizes take as many requests, and as
 * many entries in each, as the driver says that they have. Every piece of the data arrives at its
 * place, so no entry lay in the next request's slot. One entry more is refused.
 */
/* behaviours: IBA-11.2.4.1-created-sizes */
#include "testbench/services.h"

enum { ASKED_REQUESTS = 3, PIECE = 12, SGES_MAX = 64, REQUESTS_MAX = 8 };

struct sizes {
	uint32_t requests, sges;
};

/* The pieces of request i, the last one first. */
static void pieces(struct tb_sge *sges, unsigned n, unsigned i)
{
	for (unsigned k = 0; k < n; k++)
		sges[k] = (struct tb_sge){(i * n + n - 1 - k) * PIECE, PIECE};
}

/* Receives with as many entries as there may be, into a queue pair's own queue or an SRQ. */
static void receives(struct tb *tb, struct tb_end *b, struct drv_qp *y, struct drv_srq *srq,
		     const struct sizes *size, unsigned count)
{
	struct tb_sge sges[SGES_MAX];
	struct tb_wr wr = {TB_WR_DEFAULTS, .sges = sges, .n_sges = size->sges};

	for (unsigned i = 0; i < count && still_right(); i++) {
		pieces(sges, size->sges, i);
		wr.wr_id = i;
		tb_recv_said(tb, TB_HERE, b, y, srq, &wr);
	}
	pieces(sges, size->sges + 1, 0);
	wr.n_sges = size->sges + 1;
	wr.result = -EINVAL;
	tb_recv_said(tb, TB_HERE, b, y, srq, &wr);
}

/* One send for each receive; it fills the receive, with as few or as many entries as x may have. */
static void sends(struct tb *tb, struct tb_end *a, struct tb_end *b, struct drv_qp *x,
		  const struct sizes *receive, unsigned count, unsigned most)
{
	struct tb_sge sges[SGES_MAX];
	const unsigned n = most < receive->sges ? most : receive->sges;
	const uint32_t len = receive->sges * PIECE;

	for (unsigned i = 0; i < count && still_right(); i++) {
		for (unsigned k = 0; k < n; k++)
			sges[k] = (struct tb_sge){i * len + k * PIECE,
						  k + 1 < n ? PIECE : len - k * PIECE};
		send_on(a, x, .wr_id = 100 + i, .sges = sges, .n_sges = n);
	}
	for (unsigned i = 0; i < count && still_right(); i++) {
		expect_cqe(a, .wr_id = 100 + i);
		expect_cqe(b, .wr_id = i, .byte_len = len);
		for (unsigned k = 0; k < receive->sges; k++)
			expect_data(b, .dst = i * len + (receive->sges - 1 - k) * PIECE,
				    .src = i * len + k * PIECE, .len = PIECE);
	}
	for (unsigned k = 0; k <= most; k++)
		sges[k] = (struct tb_sge){k * PIECE, PIECE};
	send_on(a, x, .wr_id = 99, .sges = sges, .n_sges = most + 1, .result = -EINVAL);
}

static void queues_of(struct tb *tb, struct tb_end *a, struct tb_end *b, unsigned sges, bool shared)
{
	const struct drv_srq_init init = {.max_wr = ASKED_REQUESTS, .max_sge = sges};
	struct drv_qp_cap cap;
	struct sizes receive;
	struct drv_srq *srq = NULL;
	struct drv_qp *x = new_qp(a, .cap = {.max_send_wr = REQUESTS_MAX, .max_send_sge = sges}),
		      *y;
	unsigned most, count;

	if (shared)
		must(drv_srq_create(b->pd, &init, &srq));
	y = new_qp(b, .srq = srq,
		   .cap = {.max_send_wr = 1,
			   .max_send_sge = 1,
			   .max_recv_wr = shared ? 0 : ASKED_REQUESTS,
			   .max_recv_sge = shared ? 0 : sges});
	connect_two(x, y);
	if (!still_right())
		return;
	drv_qp_cap(x, &cap);
	most = cap.max_send_sge;
	expect_that(most, >=, sges);
	if (shared) {
		drv_srq_size(srq, &receive.requests, &receive.sges);
	} else {
		drv_qp_cap(y, &cap);
		receive = (struct sizes){cap.max_recv_wr, cap.max_recv_sge};
	}
	expect_that(receive.requests, >=, ASKED_REQUESTS);
	expect_that(receive.sges, >=, sges);
	count = receive.requests < REQUESTS_MAX ? receive.requests : REQUESTS_MAX;
	receives(tb, b, y, srq, &receive, count);
	sends(tb, a, b, x, &receive, count, most);
	destroy_qp(y);
	destroy_qp(x);
	if (srq)
		must(drv_srq_destroy(srq));
}

/* The requests with the longest headers, with as many entries as there may be: all but one are empty. */
static void atomics(struct tb *tb, struct tb_end *a, struct tb_end *b, unsigned asked, bool xrc)
{
	const enum ibv_qp_type type = xrc ? IBV_QPT_XRC_SEND : IBV_QPT_RC;
	struct drv_xrcd *xrcd = xrc ? new_xrcd(b) : NULL;
	struct drv_qp *x = new_qp(a, .type = type,
				  .cap = {.max_send_wr = ASKED_REQUESTS, .max_send_sge = asked}),
		      *y = new_qp(b, .type = xrc ? IBV_QPT_XRC_RECV : IBV_QPT_RC, .xrcd = xrcd);
	struct drv_srq *srq = xrc ? new_srq(b, .max_wr = 1, .xrcd = xrcd) : NULL;
	struct drv_sge sges[SGES_MAX];
	struct drv_qp_cap cap;

	connect_two(x, y);
	if (!still_right())
		return;
	drv_qp_cap(x, &cap);
	for (unsigned i = 0; i < REQUESTS_MAX && still_right(); i++) {
		const struct drv_send_wr wr = {.wr_id = 100 + i,
					       .opcode = xrc ? IBV_WR_ATOMIC_CMP_AND_SWP
							     : IBV_WR_MASKED_ATOMIC_CMP_AND_SWP,
					       .send_flags = IBV_SEND_SIGNALED,
					       .sg_list = sges,
					       .num_sge = cap.max_send_sge,
					       .remote_addr = tb_va(b, b->dst),
					       .remote_srqn = xrc ? drv_srq_num(srq) : 0,
					       .rkey = drv_mr_rkey(b->mr),
					       .compare_add = i,
					       .compare_add_mask = UINT64_MAX,
					       .swap = i + 1,
					       .swap_mask = UINT64_MAX};

		for (unsigned k = 0; k < cap.max_send_sge; k++)
			sges[k] = (struct drv_sge){tb_va(a, a->dst), k ? 0 : 8, drv_mr_lkey(a->mr)};
		if (!i)
			set_word(b, 0, 0);
		must(drv_post_send(x, &wr, NULL));
		expect_cqe(a, .wr_id = 100 + i, .on = x);
		expect_word(a, 0, i);
		expect_word(b, 0, i + 1);
	}
	destroy_qp(x);
	destroy_qp(y);
	if (xrc) {
		destroy_srq(srq);
		destroy_xrcd(xrcd);
	}
}

SCENARIO(promised_atomics, "atomics with as many entries as a queue promises", .any_packets = true,
	 .of_mlx4 = "masked atomics and XRC")
{
	static const unsigned asked[] = {1, 2, 3, 4, 5, 8, 12, 13, 27};

	for_each_row(i, asked) {
		name_row("%u entries", asked[i]);
		atomics(tb, a, b, asked[i], false);
		atomics(tb, a, b, asked[i], true);
	}
}

/* Inline data of a WRITE begins behind the remote address, so less of it fits into a slot. */
static void inlines(struct tb *tb, struct tb_end *a, struct tb_end *b, unsigned asked,
		    enum ibv_qp_type type, enum ibv_wr_opcode opcode)
{
	struct drv_qp *y = new_qp(b, .type = type,
				  .cap = {.max_send_wr = 1,
					  .max_send_sge = 1,
					  .max_recv_wr = REQUESTS_MAX,
					  .max_recv_sge = 1});
	struct drv_qp *x = new_qp(a, .type = type,
				  .cap = {.max_send_wr = ASKED_REQUESTS,
					  .max_send_sge = 1,
					  .max_inline_data = asked});
	const bool is_send = opcode == IBV_WR_SEND;
	struct drv_qp_cap cap;
	uint32_t len;

	connect_two(x, y);
	if (!still_right())
		return;
	drv_qp_cap(x, &cap);
	len = cap.max_inline_data;
	expect_that(len, >=, asked);
	if (is_send)
		recv_on(b, y, .wr_id = 0, .len = len, .repeat = REQUESTS_MAX);
	for (unsigned i = 0; i < REQUESTS_MAX && still_right(); i++) {
		send_on(a, x, .opcode = opcode, .wr_id = 100 + i, .src = i, .dst = i * len,
			.len = len, .inlined = true);
		expect_cqe(a, .wr_id = 100 + i);
		if (is_send)
			expect_cqe(b, .wr_id = i, .byte_len = len);
		expect_data(b, .dst = i * len, .src = i, .len = len);
	}
	send_on(a, x, .opcode = opcode, .wr_id = 99, .len = len + 1, .inlined = true,
		.result = -EINVAL);
	destroy_qp(x);
	destroy_qp(y);
}

SCENARIO(promised_sizes,
	 "queues take as many requests, entries and inline bytes as their creation promised")
{
	static const unsigned asked[] = {1, 2, 3, 4, 7, 8, 15, 16, 27};
	static const unsigned bytes[] = {1, 12, 13, 28, 29, 44, 45, 60, 61, 100, 200, 400, 600};

	ignore_packets();
	for (unsigned i = 0; i < sizeof(asked) / sizeof(asked[0]) && still_right(); i++) {
		queues_of(tb, a, b, asked[i], false);
		queues_of(tb, a, b, asked[i], true);
	}
	for (unsigned i = 0; i < sizeof(bytes) / sizeof(bytes[0]) && still_right(); i++) {
		inlines(tb, a, b, bytes[i], IBV_QPT_RC, IBV_WR_SEND);
		inlines(tb, a, b, bytes[i], IBV_QPT_RC, IBV_WR_RDMA_WRITE);
		inlines(tb, a, b, bytes[i], IBV_QPT_UC, IBV_WR_SEND);
		inlines(tb, a, b, bytes[i], IBV_QPT_UC, IBV_WR_RDMA_WRITE);
	}
}
