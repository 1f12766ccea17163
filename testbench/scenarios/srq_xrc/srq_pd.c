/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of receives are checked against the SRQ's PD, whatever PD the queue pair has, for messages and for
 * datagrams. The keys of RDMA requests are checked against the queue pair's PD. */
/* behaviours: IBA-10.2.9-srq-pd MEM-1 */
#include "testbench/services.h"

enum { QKEY = 0x1234, GRH_AREA = 40 };

static void datagram(struct tb *tb, struct tb_end *a, struct tb_end *b, struct drv_pd *pd,
		     struct drv_srq *srq)
{
	const struct drv_qp_init init = {.type = IBV_QPT_UD,
					 .send_cq = b->cq,
					 .recv_cq = b->cq,
					 .srq = srq,
					 .cap = {.max_send_wr = 4, .max_send_sge = 1}};
	struct drv_ah_attr ah = ah_to(b);
	struct drv_qp *x = new_qp(a, .type = IBV_QPT_UD), *y = NULL;

	must(drv_qp_create(pd, &init, &y));
	start_ud(x, QKEY, 1);
	start_ud(y, QKEY, 1);
	if (!ah.is_global)
		must(drv_query_gid(b->dev, 1, 0, ah.dgid));
	if (!still_right())
		return;
	ah.is_global = true; /* its GRH is stored, too */
	recv_srq(b, srq, .wr_id = 2, .dst = 2000, .len = GRH_AREA + 64);
	send_on(a, x, .wr_id = 13, .len = 64, .ah = &ah, .remote_qpn = drv_qp_num(y), .qkey = QKEY);
	expect_cqe(a, .wr_id = 13);
	expect_cqe(b, .wr_id = 2, .on = y, .byte_len = GRH_AREA + 64, .flags = IBV_WC_GRH);
	expect_data(b, .dst = 2000 + GRH_AREA, .len = 64);
	ignore_data(b, .dst = 2000, .len = GRH_AREA);
	destroy_qp(y);
	destroy_qp(x);
}

SCENARIO(srq_pd, "an SRQ of another PD: its own keys count for receives")
{
	struct drv_srq *srq = new_srq(b);
	struct drv_qp *x = new_qp(a), *y = NULL;
	const struct drv_qp_init init = {
		.type = IBV_QPT_RC,
		.send_cq = b->cq,
		.recv_cq = b->cq,
		.srq = srq,
		.cap = {.max_send_wr = 4, .max_send_sge = 1},
	};
	struct drv_pd *pd = NULL;

	ignore_packets();
	must(drv_pd_alloc(b->dev, &pd));
	must(drv_qp_create(pd, &init, &y));
	connect_two(x, y);
	if (!still_right())
		return;
	recv_srq(b, srq, .wr_id = 1, .len = 64);
	send_on(a, x, .wr_id = 11, .len = 64);
	expect_cqe(b, .wr_id = 1, .on = y);
	expect_cqe(a, .wr_id = 11);
	expect_data(b, .len = 64);
	datagram(tb, a, b, pd, srq);
	send_on(a, x, .wr_id = 12, .opcode = IBV_WR_RDMA_WRITE, .dst = 1000, .len = 64);
	expect_cqe(a, .wr_id = 12, .status = IBV_WC_REM_ACCESS_ERR);
	expect_event(b, IBV_EVENT_QP_ACCESS_ERR);
	expect_event(b, IBV_EVENT_QP_LAST_WQE_REACHED);
	destroy_qp(y);
	destroy_qp(x);
	destroy_srq(srq);
	must(drv_pd_free(pd));
}
