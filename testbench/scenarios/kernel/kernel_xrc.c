/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel verbs over XRC. The initiator names the SRQ in the request. The completion of the receive
 * arrives at the SRQ's own CQ, its done() is called from there, and it names the target queue pair.
 * The initiator is drained like any other send queue. A target has no queue, so draining it does
 * nothing.
 */
#include "model/interface/macros.h"
#include "testbench/kernel_verbs.h"

enum { LEN = 200, AT = 4096 };

struct receive {
	struct ib_cqe cqe;
	unsigned done, bytes;
	struct ib_qp *qp;
};

static void receive_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct receive *r = container_of(wc->wr_cqe, struct receive, cqe);

	r->done++;
	r->bytes = wc->byte_len;
	r->qp = wc->qp;
}

static struct ib_qp *target_open(struct tb *tb, struct ib_xrcd *xrcd, const struct kv *x)
{
	struct ib_qp_init_attr init = {.qp_type = IB_QPT_XRC_TGT, .xrcd = xrcd};
	struct ib_qp_attr attr = {.qp_state = IB_QPS_INIT,
				  .port_num = 1,
				  .path_mtu = IB_MTU_4096,
				  .dest_qp_num = x->qp->qp_num,
				  .rq_psn = KV_PSN,
				  .ah_attr = kv_ah_to(x->end)};
	struct ib_qp *qp = kv_made(ib_create_qp(NULL, &init));

	if (!qp)
		return NULL;
	must(ib_modify_qp(qp, &attr,
			  IB_QP_STATE | IB_QP_PORT | IB_QP_PKEY_INDEX | IB_QP_ACCESS_FLAGS));
	attr.qp_state = IB_QPS_RTR;
	must(ib_modify_qp(qp, &attr,
			  IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
				  IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER |
				  IB_QP_PKEY_INDEX));
	return qp;
}

SCENARIO(kernel_xrc, "kernel verbs: XRC, an SRQ with its own CQ and done()", .no_qps = true,
	 .any_packets = true)
{
	struct receive r = {.cqe = {receive_done}};
	struct ib_srq_init_attr init = {.srq_type = IB_SRQT_XRC,
					.attr = {.max_wr = 8, .max_sge = 1}};
	struct kv x, y, target = {.end = b};
	struct ib_sge into, from;
	struct ib_recv_wr recv = {.wr_cqe = &r.cqe, .sg_list = &into, .num_sge = 1};
	struct ib_send_wr send = {.wr_id = 1,
				  .sg_list = &from,
				  .num_sge = 1,
				  .opcode = IB_WR_SEND,
				  .send_flags = IB_SEND_SIGNALED};
	struct ib_srq *srq;

	/* y has the PD, the CQ and the memory; its own queue pair stays idle */
	if (!kv_open(a, &x, .type = IB_QPT_XRC_INI) || !kv_open(b, &y, .alloc_cq = true))
		return;
	init.ext.xrc.xrcd = kv_made(ib_alloc_xrcd(y.device));
	init.ext.cq = y.cq;
	srq = still_right() ? kv_made(ib_create_srq(y.pd, &init)) : NULL;
	target.qp = srq ? target_open(tb, init.ext.xrc.xrcd, &x) : NULL;
	if (!target.qp || !kv_start(&x, &target))
		return;
	into = kv_sge(&y, AT, LEN);
	from = kv_sge(&x, 0, LEN);
	send.xrc_remote_srq_num = srq->ext.xrc.srq_num;
	must(ib_post_srq_recv(srq, &recv, NULL));
	must(ib_post_send(x.qp, &send, NULL));
	kv_wait(&x, 1, IB_WC_SUCCESS);
	kv_until(&r.done, 1);
	expect_equal(r.bytes, LEN);
	expect_true(r.qp == target.qp->real_qp);
	kv_same(x.mem, y.mem + AT, LEN);
	must_fail(-EINVAL, ib_post_send(target.qp, &send, NULL));
	must_fail(-EINVAL, ib_post_recv(target.qp, &recv, NULL));
	ib_drain_qp(target.qp);
	must(ib_destroy_qp(target.qp));
	must_fail(-EBUSY, ib_dealloc_xrcd(init.ext.xrc.xrcd));
	must(ib_destroy_srq(srq));
	must(ib_dealloc_xrcd(init.ext.xrc.xrcd));
	kv_close(&y);
	kv_close(&x);
}
