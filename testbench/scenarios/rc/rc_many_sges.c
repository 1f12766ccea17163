/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As many gather entries as the device supports, in one packet; the entries are short, and each
 * crosses a page boundary. Then the same with zero-length entries between them, which must not
 * shift the data. Then inline sends of every length around the 64-byte boundaries.
 * behaviours: DEFECT-zero-length-sge IBA-10.8.2-gather
 */
#include "testbench/scenario.h"

enum { SGES = 62, PIECE = 10, PAGE = 4096 };

static void gather(struct tb *tb, struct tb_end *a, struct tb_end *b, unsigned n, bool holes)
{
	struct drv_sge sge[SGES];
	struct drv_send_wr wr = {.wr_id = 2,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED,
				 .sg_list = sge,
				 .num_sge = n};
	uint32_t len = 0;

	for (unsigned i = 0; i < n; i++) {
		sge[i] = (struct drv_sge){.addr = tb_va(a, a->src) + (uint64_t)(n - i) * PAGE -
						  PIECE / 2,
					  .length = holes && i % 2 ? 0 : PIECE,
					  .lkey = holes && i % 2 ? 0 : drv_mr_lkey(a->mr)};
		len += sge[i].length;
	}
	post_recv(b, .wr_id = 1, .len = SGES * PIECE);
	must(drv_post_send(a->qp[0], &wr, NULL));
	expect_pkt(a_to_b, RC_SEND_ONLY, .len = len);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE);
	expect_cqe(a, .wr_id = 2);
	expect_cqe(b, .wr_id = 1, .byte_len = len);
	for (unsigned i = 0, at = 0; i < n; i++) {
		expect_data(b, .dst = at, .len = sge[i].length,
			    .src = (uint64_t)(n - i) * PAGE - PIECE / 2);
		at += sge[i].length;
	}
}

SCENARIO(rc_many_sges,
	 "as many gather entries as there are, each across a page; empty ones; inline", .sges = 40,
	 .memory = 64 * PAGE, .inline_bytes = 256)
{
	struct drv_qp_attr attr = {0};

	must(drv_qp_query(a->qp[0], &attr));
	expect_true(attr.cap.max_send_sge > 56 && attr.cap.max_send_sge <= SGES);
	if (!still_right())
		return;
	gather(tb, a, b, attr.cap.max_send_sge, false);
	gather(tb, a, b, attr.cap.max_send_sge, true);
	gather(tb, a, b, 1, false);
	for (uint32_t len = 1; len < 256 && still_right(); len += len < 40 ? 13 : 23) {
		post_recv(b, .wr_id = 3, .len = len);
		post_send(a, .wr_id = 4, .len = len, .src = 7, .inlined = true);
		expect_pkt(a_to_b, RC_SEND_ONLY, .len = len);
		expect_pkt(b_to_a, RC_ACKNOWLEDGE);
		expect_cqe(a, .wr_id = 4);
		expect_cqe(b, .wr_id = 3, .byte_len = len);
		expect_data(b, .len = len, .src = 7);
	}
}
