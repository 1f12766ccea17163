// SPDX-License-Identifier: Apache-2.0
/*
 * The longest message the device says it sends goes through, gathered and scattered over the same
 * memory again and again; one byte more is a length error, and no packet of it leaves.
 * behaviours: IBA-9.7.7-message-length
 */
#include "testbench/scenario.h"

enum { PIECES = 16, PIECE = 64 << 20 };

SCENARIO(rc_max_message, "a message of 2^30 bytes, and one of a byte more", .memory = PIECE,
	 .sges = PIECES + 1, .recv_sges = PIECES, .unobserved = true)
{
	struct drv_sge from[PIECES + 1], to[PIECES];
	const struct drv_recv_wr recv = {.wr_id = 1, .sg_list = to, .num_sge = PIECES};
	struct drv_send_wr send = {.wr_id = 2,
				   .opcode = IBV_WR_SEND,
				   .send_flags = IBV_SEND_SIGNALED,
				   .sg_list = from,
				   .num_sge = PIECES};
	struct drv_device_attr attr;
	uint64_t packets;

	must(drv_query_device(a->dev, &attr));
	expect_equal(attr.max_message, (uint64_t)PIECES * PIECE);
	for (unsigned i = 0; i < PIECES; i++) {
		from[i] = (struct drv_sge){tb_va(a, a->src), PIECE, drv_mr_lkey(a->mr)};
		to[i] = (struct drv_sge){tb_va(b, b->dst), PIECE, drv_mr_lkey(b->mr)};
	}
	from[PIECES] = (struct drv_sge){tb_va(a, a->src), 1, drv_mr_lkey(a->mr)};
	must(drv_post_recv(b->qp[0], &recv, NULL));
	must(drv_post_send(a->qp[0], &send, NULL));
	expect_cqe(b, .wr_id = 1, .byte_len = (int64_t)attr.max_message);
	expect_cqe(a, .wr_id = 2);
	expect_data(b, .len = PIECE);

	packets = tb_stat(a, "link_port", "tx_packets");
	send.num_sge = PIECES + 1;
	must(drv_post_send(a->qp[0], &send, NULL));
	expect_cqe(a, .wr_id = 2, .status = IBV_WC_LOC_LEN_ERR);
	expect_equal(tb_stat(a, "link_port", "tx_packets"), packets);
}
