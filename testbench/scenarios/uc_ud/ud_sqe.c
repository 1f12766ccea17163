/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UD: a datagram longer than the MTU ends with a length error and SQE, and no packet leaves. The
 * requests behind it are flushed, and receives go on. The transition from SQE to RTS works.
 * behaviours: ST-5 UD-3
 */
#include "testbench/services.h"

#include <errno.h>

enum { QKEY = 0x1234, GRH = 40 };

struct sides {
	struct drv_qp *from, *to;
	struct drv_ah_attr ah;
};

static void send(struct tb *tb, struct tb_end *a, const struct sides *s, uint64_t wr_id,
		 uint32_t len)
{
	struct drv_sge sge = {tb_va(a, a->src), len, drv_mr_lkey(a->mr)};
	const struct drv_send_wr wr = {.wr_id = wr_id,
				       .opcode = IBV_WR_SEND,
				       .send_flags = IBV_SEND_SIGNALED,
				       .sg_list = &sge,
				       .num_sge = 1,
				       .ah = &s->ah,
				       .remote_qpn = drv_qp_num(s->to),
				       .remote_qkey = QKEY};

	must(drv_post_send(s->from, &wr, NULL));
}

SCENARIO(ud_sqe, "UD send error: SQE, flush, receives go on, back to RTS", .any_packets = true)
{
	const struct drv_qp_attr rts = {.qp_state = IBV_QPS_RTS};
	struct drv_qp_init init = {.type = IBV_QPT_UD,
				   .cap = {.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1}};
	struct sides s = {.ah = ah_to(b)};
	struct drv_sge sge = {tb_va(b, b->dst), GRH + 64, drv_mr_lkey(b->mr)};
	const struct drv_recv_wr recv = {.wr_id = 1, .sg_list = &sge, .num_sge = 1};
	struct drv_qp_attr attr = {0};
	uint64_t packets;

	init.cap.max_recv_sge = 1;
	init.send_cq = init.recv_cq = a->cq;
	must(drv_qp_create(a->pd, &init, &s.from));
	init.send_cq = init.recv_cq = b->cq;
	must(drv_qp_create(b->pd, &init, &s.to));
	if (!still_right())
		return;
	must(drv_ud_qp_start(s.from, 1, 0, QKEY, 5));
	must(drv_ud_qp_start(s.to, 1, 0, QKEY, 6));
	packets = tb_stat(a, "link_port", "tx_packets");
	send(tb, a, &s, 2, 4097);
	send(tb, a, &s, 3, 64);
	expect_cqe(a, .wr_id = 2, .status = IBV_WC_LOC_LEN_ERR);
	expect_cqe(a, .wr_id = 3, .status = IBV_WC_WR_FLUSH_ERR);
	expect_equal(tb_stat(a, "link_port", "tx_packets"), packets);
	must(drv_qp_query(s.from, &attr));
	expect_equal(attr.qp_state, IBV_QPS_SQE);

	must(drv_qp_modify(s.from, &rts, IBV_QP_STATE));
	must(drv_post_recv(s.to, &recv, NULL));
	send(tb, a, &s, 4, 64);
	expect_cqe(a, .wr_id = 4);
	expect_cqe(b, .wr_id = 1, .byte_len = GRH + 64);
	expect_data(b, .len = 64, .dst = GRH);
	must(drv_qp_destroy(s.from));
	must(drv_qp_destroy(s.to));
}
