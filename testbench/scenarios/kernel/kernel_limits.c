/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel verbs: each argument at its limit is taken, and one beyond it is refused. The attributes of a
 * queue pair are tried one at a time, so that no other one refuses the step.
 */
/* behaviours: IBA-11.2.1.2-limits */
#include "testbench/kernel_verbs.h"

enum {
	RTR_MASK = IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
		   IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER,
	RTS_MASK = IB_QP_STATE | IB_QP_SQ_PSN | IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
		   IB_QP_MAX_QP_RD_ATOMIC,
	INIT_MASK = IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS
};

#define must_refuse(call) must_fail(-EINVAL, (int)PTR_ERR(call))

static void completion_queues(struct tb *tb, struct ib_device *device)
{
	const unsigned vectors = (unsigned)device->num_comp_vectors;
	struct ib_cq_init_attr attr = {.cqe = 1, .comp_vector = vectors - 1};
	struct ib_cq *cq = kv_made(ib_create_cq(device, NULL, NULL, NULL, &attr));

	if (!cq)
		return;
	must_fail(-EINVAL, ib_resize_cq(cq, 0));
	must_fail(-EINVAL, ib_resize_cq(cq, (int)device->attrs.max_cqe + 1));
	must(ib_resize_cq(cq, 2 * cq->cqe));
	ib_destroy_cq(cq);
	attr.comp_vector = vectors;
	must_refuse(ib_create_cq(device, NULL, NULL, NULL, &attr));
	attr = (struct ib_cq_init_attr){.cqe = 0};
	must_refuse(ib_create_cq(device, NULL, NULL, NULL, &attr));
	attr.cqe = device->attrs.max_cqe + 1;
	must_refuse(ib_create_cq(device, NULL, NULL, NULL, &attr));
}

static void regions(struct tb *tb, struct kv *x)
{
	const uint32_t most = x->device->attrs.max_fast_reg_page_list_len;
	struct ib_mr *mr;

	if (!most)
		return;
	mr = kv_made(ib_alloc_mr(x->pd, IB_MR_TYPE_MEM_REG, most));
	if (mr)
		must(ib_dereg_mr(mr));
	must_refuse(ib_alloc_mr(x->pd, IB_MR_TYPE_MEM_REG, most + 1));
	must_refuse(ib_alloc_mr(x->pd, IB_MR_TYPE_MEM_REG, 0));
}

static void port_tables(struct tb *tb, struct ib_device *device)
{
	struct ib_port_attr port;
	union ib_gid gid;
	uint16_t pkey;

	must_fail(-EINVAL, ib_query_port(device, 0, &port));
	must_fail(-EINVAL, ib_query_port(device, device->phys_port_cnt + 1u, &port));
	must(ib_query_port(device, device->phys_port_cnt, &port));
	must(ib_query_gid(device, 1, (int)device->attrs.gids[1] - 1, &gid));
	must_fail(-EINVAL, ib_query_gid(device, 1, (int)device->attrs.gids[1], &gid));
	must_fail(-EINVAL, ib_query_gid(device, 1, -1, &gid));
	must(ib_query_pkey(device, 1, device->attrs.pkeys[1] - 1, &pkey));
	must_fail(-EINVAL, ib_query_pkey(device, 1, device->attrs.pkeys[1], &pkey));
}

/* An Ethernet port has a priority in place of the service level, and only the GIDs that have addresses. */
static struct rdma_ah_attr longest_way(struct kv *x)
{
	struct rdma_ah_attr ah = kv_ah_to(x->end->peer);

	ah.sl = x->end->ethernet ? 7 : 15;
	ah.ah_flags = IB_AH_GRH;
	if (!x->end->ethernet)
		ah.grh.sgid_index = (uint8_t)(x->device->attrs.gids[1] - 1);
	return ah;
}

static void address_handles(struct tb *tb, struct kv *x)
{
	const struct rdma_ah_attr right = longest_way(x);
	struct rdma_ah_attr wrong = right;
	struct ib_ah *ah = kv_made(rdma_create_ah(x->pd, &right, 0));

	if (ah)
		must(rdma_destroy_ah(ah, 0));
	wrong.sl = 16;
	must_refuse(rdma_create_ah(x->pd, &wrong, 0));
	wrong = right;
	wrong.grh.sgid_index = (uint8_t)x->device->attrs.gids[1];
	must_refuse(rdma_create_ah(x->pd, &wrong, 0));
	wrong = right;
	wrong.port_num = 0;
	must_refuse(rdma_create_ah(x->pd, &wrong, 0));
	wrong.port_num = (uint8_t)(x->device->phys_port_cnt + 1);
	must_refuse(rdma_create_ah(x->pd, &wrong, 0));
}

/* One step of a queue pair: refused with one attribute beyond its limit, then taken. */
#define beyond(x, right, mask, member, value)                                                      \
	do {                                                                                       \
		struct ib_qp_attr wrong = right;                                                   \
		name_row(#member " is one beyond its limit");                                      \
		wrong.member = value;                                                              \
		must_fail(-EINVAL, ib_modify_qp((x)->qp, &wrong, mask));                           \
	} while (0)

static void queue_pair(struct tb *tb, struct kv *x)
{
	const struct ib_device *device = x->device;
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = 1,
		.pkey_index = (uint16_t)(device->attrs.pkeys[1] - 1),
		.ah_attr = longest_way(x),
		.path_mtu = IB_MTU_4096,
		.dest_qp_num = 0xffffff,
		.rq_psn = 0xffffff,
		.sq_psn = 0xffffff,
		.max_rd_atomic = (uint8_t)device->attrs.max_rd_atomic,
		.max_dest_rd_atomic = (uint8_t)device->attrs.max_dest_rd_atomic,
		.min_rnr_timer = 31,
		.timeout = 31,
		.retry_cnt = 7,
		.rnr_retry = 7,
	};
	struct ib_qp_init_attr made;
	struct ib_qp_attr got;

	beyond(x, attr, INIT_MASK, port_num, 0);
	beyond(x, attr, INIT_MASK, port_num, (uint8_t)(device->phys_port_cnt + 1));
	beyond(x, attr, INIT_MASK, pkey_index, (uint16_t)device->attrs.pkeys[1]);
	must(ib_modify_qp(x->qp, &attr, INIT_MASK));
	attr.qp_state = IB_QPS_RTR;
	beyond(x, attr, RTR_MASK, min_rnr_timer, 32);
	beyond(x, attr, RTR_MASK, path_mtu, IB_MTU_4096 + 1);
	beyond(x, attr, RTR_MASK, ah_attr.sl, 16);
	beyond(x, attr, RTR_MASK, ah_attr.port_num, 0);
	beyond(x, attr, RTR_MASK, max_dest_rd_atomic,
	       (uint8_t)(device->attrs.max_dest_rd_atomic + 1));
	must(ib_modify_qp(x->qp, &attr, RTR_MASK));
	attr.qp_state = IB_QPS_RTS;
	beyond(x, attr, RTS_MASK, timeout, 32);
	beyond(x, attr, RTS_MASK, retry_cnt, 8);
	beyond(x, attr, RTS_MASK, rnr_retry, 8);
	beyond(x, attr, RTS_MASK, max_rd_atomic, (uint8_t)(device->attrs.max_rd_atomic + 1));
	must(ib_modify_qp(x->qp, &attr, RTS_MASK));
	must(ib_query_qp(x->qp, &got, RTS_MASK | RTR_MASK | INIT_MASK, &made));
	expect_equal(got.min_rnr_timer, attr.min_rnr_timer);
	expect_equal(got.timeout, attr.timeout);
	expect_equal(got.retry_cnt, attr.retry_cnt);
	expect_equal(got.rnr_retry, attr.rnr_retry);
	expect_equal(got.max_rd_atomic, attr.max_rd_atomic);
	expect_equal(got.max_dest_rd_atomic, attr.max_dest_rd_atomic);
	expect_equal(got.ah_attr.sl, attr.ah_attr.sl);
	expect_equal(got.ah_attr.grh.sgid_index, attr.ah_attr.grh.sgid_index);
	expect_equal(got.pkey_index, attr.pkey_index);
}

/* As many pieces as the queue pair has, and one more. */
static void pieces(struct tb *tb, struct kv *x, struct kv *y)
{
	enum { MANY = 64 };
	struct ib_qp_init_attr made;
	struct ib_sge sge[MANY];
	struct ib_send_wr send = {
		.wr_id = 1, .sg_list = sge, .opcode = IB_WR_SEND, .send_flags = IB_SEND_SIGNALED};
	struct ib_recv_wr recv = {.wr_id = 2, .sg_list = sge};
	struct ib_qp_attr got;

	must(ib_query_qp(y->qp, &got, IB_QP_CAP, &made));
	expect_true(got.cap.max_recv_sge < MANY);
	for (unsigned i = 0; i < MANY; i++)
		sge[i] = kv_sge(y, 64 * i, 64);
	recv.num_sge = (int)got.cap.max_recv_sge + 1;
	must_fail(-EINVAL, ib_post_recv(y->qp, &recv, NULL));
	recv.num_sge--;
	must(ib_post_recv(y->qp, &recv, NULL));
	must(ib_query_qp(x->qp, &got, IB_QP_CAP, &made));
	expect_true(got.cap.max_send_sge < MANY);
	for (unsigned i = 0; i < MANY; i++)
		sge[i] = kv_sge(x, 64 * i, 1);
	send.num_sge = (int)got.cap.max_send_sge + 1;
	must_fail(-EINVAL, ib_post_send(x->qp, &send, NULL));
	send.num_sge--;
	must(ib_post_send(x->qp, &send, NULL));
	kv_wait(x, 1, IB_WC_SUCCESS);
	kv_wait(y, 2, IB_WC_SUCCESS);
	expect_equal(y->wc.byte_len, send.num_sge);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = KV_PSN);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = KV_PSN);
}

SCENARIO(kernel_limits, "kernel verbs take each argument at its limit, and refuse one beyond it")
{
	struct kv x, y;

	kv_open(a, &x);
	kv_open(b, &y);
	if (!still_right())
		return;
	completion_queues(tb, x.device);
	port_tables(tb, x.device);
	regions(tb, &x);
	address_handles(tb, &x);
	queue_pair(tb, &x);
	must(ib_modify_qp(x.qp, &(struct ib_qp_attr){.qp_state = IB_QPS_RESET}, IB_QP_STATE));
	kv_connect(&x, &y);
	pieces(tb, &x, &y);
	kv_close(&y);
	kv_close(&x);
}
