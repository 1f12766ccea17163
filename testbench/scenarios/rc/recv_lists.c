/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Receives with fewer scatter entries than their slot has room for. Each slot had a full list in
 * the round before, whose entries still stand behind the new ones. The message goes to the entries
 * of the short list; a longer one is a length error, and nothing is written through an old entry.
 * This holds for receive queues whose slots are shorter than, as long as, and longer than those of
 * the send queue, and for an SRQ.
 */
/* behaviours: IBA-10.8.2-scatter */
#include "testbench/services.h"

enum { PIECE = 32, SLOTS = 4, OLD_AT = 8192 };

/* n pieces from dst on, in reverse order. */
static void give(struct tb *tb, struct tb_end *b, struct drv_qp *y, struct drv_srq *srq,
		 uint64_t wr_id, uint64_t dst, unsigned n)
{
	struct tb_sge list[16];

	for (unsigned i = 0; i < n; i++)
		list[i] = (struct tb_sge){dst + (uint64_t)(n - 1 - i) * PIECE, PIECE};
	if (srq)
		recv_srq(b, srq, .wr_id = wr_id, .sges = list, .n_sges = n);
	else
		recv_on(b, y, .wr_id = wr_id, .sges = list, .n_sges = n);
}

static void reversed(struct tb *tb, struct tb_end *b, uint64_t dst, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		expect_data(b, .dst = dst + (uint64_t)(n - 1 - i) * PIECE, .src = i * PIECE,
			    .len = PIECE);
}

static void lists(struct tb *tb, struct tb_end *a, struct tb_end *b, unsigned room, bool shared)
{
	struct drv_srq *srq = shared ? new_srq(b, .max_wr = SLOTS - 1, .max_sge = room) : NULL;
	struct drv_qp *x = new_qp(a);
	struct drv_qp *y = shared ? new_qp(b, .srq = srq)
				  : new_qp(b, .cap = {.max_recv_wr = SLOTS, .max_recv_sge = room});
	const unsigned slots = shared ? SLOTS - 1 : SLOTS;

	connect_two(x, y);
	if (!still_right())
		return;
	for (unsigned i = 0; i < slots; i++) {
		give(tb, b, y, srq, i, OLD_AT, room);
		send_on(a, x, .len = room * PIECE);
		expect_cqe(a);
		expect_cqe(b, .wr_id = i, .byte_len = room * PIECE);
	}
	reversed(tb, b, OLD_AT, room);
	for (unsigned n = 1; n < room && still_right(); n += n < 3 ? 1 : 4) {
		give(tb, b, y, srq, 20 + n, 0, n);
		send_on(a, x, .len = n * PIECE);
		expect_cqe(a);
		expect_cqe(b, .wr_id = 20 + n, .byte_len = n * PIECE);
		reversed(tb, b, 0, n);
	}
	give(tb, b, y, srq, 9, 0, 1);
	send_on(a, x, .wr_id = 10, .len = PIECE + 1);
	expect_cqe(b, .wr_id = 9, .status = IBV_WC_LOC_LEN_ERR);
	expect_cqe(a, .wr_id = 10, .status = IBV_WC_REM_INV_REQ_ERR);
	if (shared)
		expect_event(b, IBV_EVENT_QP_LAST_WQE_REACHED);
	ignore_data(b, .len = 16 * PIECE);
	destroy_qp(y);
	destroy_qp(x);
	if (srq)
		destroy_srq(srq);
}

SCENARIO(recv_lists, "receive lists shorter than their slots, after full ones", .any_packets = true)
{
	static const unsigned rooms[] = {2, 4, 8, 16};

	for_each_row(i, rooms) {
		name_row("%u entries", rooms[i]);
		lists(tb, a, b, rooms[i], false);
	}
	lists(tb, a, b, 3, true);
	lists(tb, a, b, 7, true);
}
