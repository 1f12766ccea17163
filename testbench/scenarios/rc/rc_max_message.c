/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The longest message that the device supports gets through, gathered from and scattered to the
 * same memory again and again. One byte more is a length error, and no packet of that message
 * leaves. The same works with -s hca.log_max_msg=31, the limit of the specification (dma_len_limit
 * tests requests around this limit). The capture keeps the headers only; the devices make and check
 * the CRCs.
 * behaviours: IBA-9.7.7-message-length
 */
#include "testbench/scenario.h"

enum { PIECES = 32, PIECE = 64 << 20, MTU = 4096 };

SCENARIO(rc_max_message, "the longest message, and one of a byte more", .memory = PIECE,
	 .sges = PIECES + 1, .recv_sges = PIECES, .unobserved = true,
	 .settings = {"sim.pcapng.snaplen=128", "hca.crc.eager=true"})
{
	struct drv_sge from[PIECES + 1], to[PIECES];
	struct drv_recv_wr recv = {.wr_id = 1, .sg_list = to};
	struct drv_send_wr send = {.wr_id = 2,
				   .opcode = IBV_WR_SEND,
				   .send_flags = IBV_SEND_SIGNALED,
				   .sg_list = from};
	struct drv_device_attr attr;
	unsigned pieces;
	uint64_t packets;

	must(drv_query_device(a->dev, &attr));
	pieces = (unsigned)(attr.max_message / PIECE);
	expect_true(pieces && pieces <= PIECES);
	if (!still_right())
		return;
	recv.num_sge = send.num_sge = (int)pieces;
	for (unsigned i = 0; i < pieces; i++) {
		from[i] = (struct drv_sge){tb_va(a, a->src), PIECE, drv_mr_lkey(a->mr)};
		to[i] = (struct drv_sge){tb_va(b, b->dst), PIECE, drv_mr_lkey(b->mr)};
	}
	from[pieces] = (struct drv_sge){tb_va(a, a->src), 1, drv_mr_lkey(a->mr)};
	packets = tb_stat(a, "link_port", "tx_packets");
	must(drv_post_recv(b->qp[0], &recv, NULL));
	must(drv_post_send(a->qp[0], &send, NULL));
	expect_cqe(b, .wr_id = 1, .byte_len = (int64_t)attr.max_message);
	expect_cqe(a, .wr_id = 2);
	expect_data(b, .len = PIECE);
	expect_equal(tb_stat(a, "link_port", "tx_packets") - packets, attr.max_message / MTU);
	expect_stat(a, retry, retransmitted, 0);
	expect_stat(b, port1, rcv_errors, 0);

	packets = tb_stat(a, "link_port", "tx_packets");
	send.num_sge = (int)pieces + 1;
	must(drv_post_send(a->qp[0], &send, NULL));
	expect_cqe(a, .wr_id = 2, .status = IBV_WC_LOC_LEN_ERR);
	expect_equal(tb_stat(a, "link_port", "tx_packets"), packets);
}
