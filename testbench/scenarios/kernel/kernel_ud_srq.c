/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel verbs: datagrams through an address handle, with 40 bytes of GRH before the data; two
 * queue pairs that take receives from one SRQ; a notification that comes at once because a
 * completion arrived before the CQ was armed, and one that waits for a solicited message.
 */
#include "testbench/kernel_verbs.h"

enum { LEN = 64, GRH = 40, AT = 4096 };

static void datagram(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct rdma_ah_attr to = kv_ah_to(b);
	struct ib_sge sge, into;
	struct ib_recv_wr recv = {.wr_id = 1, .sg_list = &into, .num_sge = 1};
	struct ib_ud_wr wr = {.wr = {.wr_id = 2,
				     .sg_list = &sge,
				     .num_sge = 1,
				     .opcode = IB_WR_SEND,
				     .send_flags = IB_SEND_SIGNALED},
			      .remote_qkey = KV_QKEY};
	struct kv x, y;

	if (!kv_open(a, &x, .type = IB_QPT_UD) || !kv_open(b, &y, .type = IB_QPT_UD) ||
	    !kv_connect(&x, &y))
		return;
	sge = kv_sge(&x, 0, LEN);
	into = kv_sge(&y, AT, GRH + LEN);
	wr.remote_qpn = y.qp->qp_num;
	must_fail(-EINVAL, ib_post_send(x.qp, &wr.wr, NULL));
	wr.ah = kv_made(rdma_create_ah(x.pd, &to, 0));
	if (!wr.ah)
		return;
	must(ib_post_recv(y.qp, &recv, NULL));
	must(ib_post_send(x.qp, &wr.wr, NULL));
	expect_pkt(a_to_b, UD_SEND_ONLY, .qpn = y.qp->qp_num, .len = LEN);
	kv_wait(&x, 2, IB_WC_SUCCESS);
	kv_wait(&y, 1, IB_WC_SUCCESS);
	expect_equal(y.wc.byte_len, GRH + LEN);
	expect_equal(y.wc.src_qp, x.qp->qp_num);
	expect_equal(y.wc.slid, a->lid);
	kv_same(x.mem, y.mem + AT + GRH, LEN);
	must_fail(-EBUSY, ib_dealloc_pd(x.pd));
	must(rdma_destroy_ah(wr.ah, 0));
	kv_close(&y);
	kv_close(&x);
}

static void shared(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct ib_srq_init_attr init = {.attr = {.max_wr = 8, .max_sge = 1}};
	struct kv x, y, v, w;
	struct ib_sge sge, into;
	struct ib_recv_wr recv = {.wr_id = 1, .sg_list = &into, .num_sge = 1};
	struct ib_send_wr send = {.sg_list = &sge,
				  .num_sge = 1,
				  .opcode = IB_WR_SEND,
				  .send_flags = IB_SEND_SIGNALED};
	struct ib_srq *srq;
	struct ib_pd *pd;

	pd = still_right() ? kv_made(ib_alloc_pd(ib_device_of(b), 0)) : NULL;
	srq = pd ? kv_made(ib_create_srq(pd, &init)) : NULL;
	if (!srq || !kv_open(a, &x) || !kv_open(a, &v) || !kv_open(b, &y, .pd = pd, .srq = srq) ||
	    !kv_open(b, &w, .pd = pd, .srq = srq, .cq = y.cq) || !kv_connect(&x, &y) ||
	    !kv_connect(&v, &w))
		return;
	into = kv_sge(&y, AT, LEN);
	must(ib_post_srq_recv(srq, &recv, NULL));
	recv.wr_id = 2;
	into.addr += LEN;
	must(ib_post_srq_recv(srq, &recv, NULL));
	must_fail(-EINVAL, ib_post_recv(y.qp, &recv, NULL));
	sge = kv_sge(&v, 0, LEN);
	must(ib_req_notify_cq(y.cq, IB_CQ_SOLICITED));
	must(ib_post_send(v.qp, &send, NULL));
	kv_wait(&v, 0, IB_WC_SUCCESS);
	pass_time(CFG_US(20));
	expect_equal(y.comp_events, 0);
	/* the completion is there already: armed for any, the CQ makes its event at once */
	expect_equal((uint64_t)ib_req_notify_cq(y.cq, IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS),
		     1);
	kv_until(&y.comp_events, 1);
	kv_wait(&y, 1, IB_WC_SUCCESS);
	expect_true(y.wc.qp == w.qp);
	kv_same(v.mem, y.mem + AT, LEN);
	must(ib_req_notify_cq(y.cq, IB_CQ_SOLICITED));
	sge = kv_sge(&x, 0, LEN);
	send.send_flags |= IB_SEND_SOLICITED;
	must(ib_post_send(x.qp, &send, NULL));
	kv_until(&y.comp_events, 2);
	kv_wait(&y, 2, IB_WC_SUCCESS);
	expect_true(y.wc.qp == y.qp);
	kv_wait(&x, 0, IB_WC_SUCCESS);
	must_fail(-EBUSY, ib_destroy_srq(srq));
	kv_close(&w);
	kv_close(&y);
	kv_close(&v);
	kv_close(&x);
	must(ib_destroy_srq(srq));
	must(ib_dealloc_pd(pd));
}

SCENARIO(kernel_ud_srq, "kernel verbs: datagrams, an SRQ, notifications", .no_qps = true)
{
	datagram(tb, a, b);
	ignore_packets();
	shared(tb, a, b);
}
