/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Short queues, whose slots hold requests of all kinds in turn, and lists of all lengths: a short request
 * behind a long one, a list of no entries behind a full one. Nothing of what a slot held before is left in
 * the next request, for receives of a queue pair and of a shared receive queue.
 */
/* behaviours: WQE-slot-reuse */
#include "testbench/services.h"

enum { QUEUE = 3, SGES = 4, PIECE = 8, ROUNDS = 70, INLINE = 64, SWAP_AT = 4096 };

static const uint8_t lengths[] = {4, 1, 3, 0, 2, 4, 0, 1, 4, 3, 2}; /* of lists; a prime number */

static unsigned pieces(struct tb_sge *sges, uint64_t at, unsigned n)
{
	for (unsigned k = 0; k < n; k++)
		sges[k] = (struct tb_sge){at + (n - 1 - k) * PIECE, PIECE};
	return n;
}

static void receives(struct tb *tb, struct tb_end *a, struct tb_end *b, bool shared)
{
	struct drv_srq *srq = shared ? new_srq(b, .max_wr = QUEUE, .max_sge = SGES) : NULL;
	struct drv_qp *x = new_qp(a, .cap = {.max_send_wr = QUEUE, .max_send_sge = SGES}),
		      *y = new_qp(b, .srq = srq,
				  .cap = {.max_recv_wr = shared ? TB_NONE : QUEUE,
					  .max_recv_sge = shared ? TB_NONE : SGES});

	connect_two(x, y);
	for (unsigned i = 0; i < ROUNDS && still_right(); i++) {
		struct tb_sge sges[SGES];
		const unsigned n = lengths[i % sizeof(lengths)];
		const uint64_t at = i % 16 * SGES * PIECE;
		struct tb_wr wr = {TB_WR_DEFAULTS, .wr_id = i, .sges = sges, .n_sges = n};

		pieces(sges, at, n);
		if (!n)
			wr.sges = NULL;
		tb_recv_said(tb, TB_HERE, b, shared ? NULL : y, srq, &wr);
		send_on(a, x, .wr_id = i, .src = 0, .len = n * PIECE);
		expect_cqe(a, .wr_id = i);
		expect_cqe(b, .wr_id = i, .byte_len = n * PIECE);
		for (unsigned k = 0; k < n; k++)
			expect_data(b, .dst = at + (n - 1 - k) * PIECE, .src = k * PIECE,
				    .len = PIECE);
	}
	destroy_qp(x);
	destroy_qp(y);
	if (shared)
		destroy_srq(srq);
}

static void sends(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct drv_qp *x = new_qp(a, .cap = {.max_send_wr = 2,
					     .max_send_sge = SGES,
					     .max_inline_data = INLINE}),
		      *y = new_qp(b);

	connect_two(x, y);
	for (unsigned i = 0; i < ROUNDS && still_right(); i++) {
		static const enum ibv_wr_opcode kinds[] = {
			IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_ATOMIC_CMP_AND_SWP,
			IBV_WR_SEND, IBV_WR_RDMA_READ,  IBV_WR_ATOMIC_FETCH_AND_ADD,
			IBV_WR_NOP,
		};
		const unsigned kind = i % (sizeof(kinds) / sizeof(kinds[0]));
		const bool atomic = kind == 2 || kind == 5, receives = !(kind % 3) && kind < 6;
		struct tb_sge sges[SGES];
		struct tb_wr wr = {TB_WR_DEFAULTS, .opcode = kinds[kind], .wr_id = i, .len = PIECE};

		if (!kind) {
			wr.n_sges = pieces(sges, 0, SGES);
			wr.sges = sges;
		}
		wr.inlined = kind == 3;
		wr.compare = kind == 5 ? 1 : TB_CLEAR_WORD;
		wr.swap = UINT64_C(0x1111222233334444);
		if (atomic) {
			set_word(b, SWAP_AT, TB_CLEAR_WORD);
			wr.target = SWAP_AT;
		}
		if (receives)
			recv_on(b, y, .wr_id = i, .len = SGES * PIECE);
		tb_send_said(tb, TB_HERE, a, x, &wr);
		expect_cqe(a, .wr_id = i);
		if (receives)
			expect_cqe(b, .wr_id = i, .byte_len = kind ? PIECE : SGES * PIECE);
		if (atomic) {
			expect_word(a, 0, TB_CLEAR_WORD);
			expect_word(b, SWAP_AT, kind == 5 ? TB_CLEAR_WORD + 1 : wr.swap);
		}
		ignore_data(a, .len = PIECE);
		ignore_data(b, .len = SGES * PIECE);
	}
	destroy_qp(x);
	destroy_qp(y);
}

SCENARIO(slots_reused, "slots of short queues hold requests of each kind and length in turn",
	 .any_packets = true)
{
	phase("receives");
	receives(tb, a, b, false);
	phase("receives of a shared queue");
	receives(tb, a, b, true);
	phase("sends");
	sends(tb, a, b);
}
