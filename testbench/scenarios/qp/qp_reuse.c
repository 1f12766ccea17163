/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue pair is destroyed while its peer still sends to it. Nobody answers, and no packet reaches
 * the next queue pair, because it gets another number. When the peer is connected to it, the same
 * objects work again.
 * behaviours: BTH-1
 */
#include "testbench/services.h"

SCENARIO(qp_reuse, "a destroyed queue pair's packets reach nobody, its successor works",
	 .any_packets = true, .timeout = 8, .retry_cnt = 1)
{
	const struct drv_qp_init init = {.type = IBV_QPT_RC,
					 .send_cq = b->cq,
					 .recv_cq = b->cq,
					 .cap = {.max_send_wr = 16,
						 .max_recv_wr = 16,
						 .max_send_sge = 1,
						 .max_recv_sge = 1}};
	struct drv_rc_path path = path_to(a, drv_qp_num(a->qp[0]));
	const uint32_t old = drv_qp_num(b->qp[0]);

	post_recv(b, .wr_id = 1, .len = 64); /* destroyed together with its queue */
	must(drv_qp_destroy(b->qp[0]));
	b->qp[0] = NULL;
	must(drv_qp_create(b->pd, &init, &b->qp[0]));
	if (!still_right())
		return;
	expect_true(drv_qp_num(b->qp[0]) != old);
	path.rq_psn = 0xfffffe; /* the PSN of the packets from the old connection */
	path.sq_psn = 0xfffffd;
	must(drv_qp_connect(b->qp[0], &path));
	post_recv(b, .wr_id = 2, .len = 64);
	post_send(a, .wr_id = 3, .len = 64);
	expect_cqe(a, .wr_id = 3, .status = IBV_WC_RETRY_EXC_ERR);
	expect_stat(b, responder, packets, 0);
	expect_that(tb_stat(b, "responder", "dropped"), >=, 2);

	reconnect(0);
	post_recv(b, .wr_id = 4, .len = 64);
	post_send(a, .wr_id = 5, .len = 64);
	expect_cqe(a, .wr_id = 5);
	expect_cqe(b, .wr_id = 4);
	expect_data(b, .len = 64);
}
