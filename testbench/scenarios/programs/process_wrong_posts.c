/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list of requests of a process with a wrong one in it posts those before it, and names the wrong one: of
 * sends and of receives. An address handle with a port, a service level or a sender's GID that does not
 * exist is refused, the right one after it is made, and the driver holds what it held before.
 */
/* behaviours: PROCESS-wrong-arguments */
#include "model/interface/macros.h"
#include "testbench/programs.h"
#include "testbench/scenarios/programs/refuses.h"

enum { NO_OPCODE = 1 << 20, QKEY = 5, LEN = 64, NO_QP = 0xfffffe };

static int addresses(void *arg)
{
	struct program *p = arg;
	struct ibv_ah_attr attr = {.dlid = 1}, other;
	struct ibv_wc wc = {.wc_flags = IBV_WC_GRH, .slid = 1};
	struct ibv_grh grh = {.hop_limit = 1};
	struct ibv_ah *ah;

	REFUSED(ibv_create_ah(p->pd, &attr), EINVAL); /* port 0 */
	attr.port_num = 1;
	attr.sl = 16;
	REFUSED(ibv_create_ah(p->pd, &attr), EINVAL);
	attr.sl = 15;
	ah = ibv_create_ah(p->pd, &attr);
	if (!ah || ah->pd != p->pd || ah->context != p->context || ibv_destroy_ah(ah))
		return __LINE__;
	/* a datagram to a GID that the port does not have */
	GIVES(ibv_init_ah_from_wc(p->context, 1, &wc, &grh, &other), -1);
	if (ibv_create_ah_from_wc(p->pd, &wc, &grh, 1) ||
	    ibv_query_gid(p->context, 1, 0, &grh.dgid) ||
	    ibv_init_ah_from_wc(p->context, 1, &wc, &grh, &other))
		return __LINE__;
	return other.is_global && other.dlid == 1 ? 0 : __LINE__;
}

static int to_send(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};
	int rc = ibv_modify_qp(qp, &attr,
			       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);

	attr.qp_state = IBV_QPS_RTR;
	if (!rc)
		rc = ibv_modify_qp(qp, &attr, IBV_QP_STATE);
	attr.qp_state = IBV_QPS_RTS;
	return rc ? rc : ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
}

/* The second of three requests is wrong in one way after the other. */
static int sends(struct program *p, struct ibv_qp *qp, struct ibv_ah *ah)
{
	struct ibv_sge sges[64] = {{(uintptr_t)p->buf, LEN, p->mr->lkey}};
	struct ibv_send_wr wr[3], *bad;

	for (unsigned i = 0; i < 5; i++) {
		for (unsigned j = 0; j < 3; j++)
			wr[j] = (struct ibv_send_wr){.wr_id = j,
						     .next = j < 2 ? &wr[j + 1] : NULL,
						     .opcode = IBV_WR_SEND,
						     .send_flags = IBV_SEND_SIGNALED,
						     .sg_list = sges,
						     .num_sge = 1,
						     .wr.ud = {ah, NO_QP, QKEY}};
		if (i == 0)
			wr[1].num_sge = -1;
		else if (i == 1)
			wr[1].wr.ud.ah = NULL;
		else if (i == 2)
			wr[1].opcode = (enum ibv_wr_opcode)NO_OPCODE;
		else if (i == 3)
			wr[1].num_sge = 64;
		else
			wr[1].opcode = IBV_WR_BIND_MW; /* of no window */
		bad = NULL;
		if (ibv_post_send(qp, wr, &bad) != EINVAL || bad != &wr[1] || program_wait(p) ||
		    p->wc.wr_id)
			return __LINE__;
	}
	return 0;
}

static int receives(struct program *p, struct ibv_qp *qp)
{
	struct ibv_sge sge = {(uintptr_t)p->buf, LEN, p->mr->lkey};
	struct ibv_recv_wr wr[2], *bad = NULL;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	for (unsigned j = 0; j < 2; j++)
		wr[j] = (struct ibv_recv_wr){.wr_id = 10 + j,
					     .next = j ? NULL : &wr[1],
					     .sg_list = &sge,
					     .num_sge = j ? -1 : 1};
	if (ibv_post_recv(qp, wr, &bad) != EINVAL || bad != &wr[1] ||
	    ibv_modify_qp(qp, &attr, IBV_QP_STATE))
		return __LINE__;
	return program_wait(p) == IBV_WC_WR_FLUSH_ERR && p->wc.wr_id == 10 &&
			       !ibv_poll_cq(p->cq, 1, &p->wc)
		       ? 0
		       : __LINE__;
}

static int posts(void *arg)
{
	struct program *p = arg;
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_UD,
		.send_cq = p->cq,
		.recv_cq = p->cq,
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1}};
	struct ibv_qp *qp = ibv_create_qp(p->pd, &init);
	struct ibv_ah_attr attr = {.dlid = (uint16_t)p->peer_lid, .port_num = 1};
	struct ibv_ah *ah = ibv_create_ah(p->pd, &attr);

	if (!qp || !ah || to_send(qp) || sends(p, qp, ah) || receives(p, qp))
		return __LINE__;
	return ibv_destroy_ah(ah) || ibv_destroy_qp(qp) ? __LINE__ : 0;
}

static int close_all(void *arg)
{
	struct program *p = arg;

	return ibv_dereg_mr(p->mr) || ibv_destroy_cq(p->cq) || ibv_dealloc_pd(p->pd) ||
	       ibv_close_device(p->context);
}

SCENARIO(process_wrong_posts, "wrong addresses, and lists of requests with a wrong one in them",
	 .no_qps = true, .any_packets = true)
{
	static int (*const groups[])(void *arg) = {addresses, posts};
	struct program p = {.peer_lid = b->lid};
	struct process *worker = start_worker(a);
	unsigned before;

	run_in(worker, program_open, &p);
	before = driver_holds(a->dev);
	for_each_row(i, groups) {
		run_in(worker, groups[i], &p);
		expect_equal(driver_holds(a->dev), before);
	}
	run_in(worker, close_all, &p);
	end_worker(worker);
}
