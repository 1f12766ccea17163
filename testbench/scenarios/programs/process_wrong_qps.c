/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrong arguments for calls of libibverbs that make or open a queue pair: each is refused with the errno of
 * the manual pages, the right call after it succeeds, and in the end the driver holds what it held before.
 * Nothing can be posted to a handle of a target.
 */
/* behaviours: PROCESS-wrong-arguments */
#include "host_driver/uverbs/lib.h"
#include "model/interface/macros.h"
#include "testbench/programs.h"
#include "testbench/scenarios/programs/heap_pieces.h"
#include "testbench/scenarios/programs/refuses.h"

enum {
	NO_SUCH = 0x7fffff,
	UNKNOWN = 1 << 20,
	TOO_MANY = 1 << 24,

	LEN = 64,
	NO_QP = 0xfffffe
};

static struct ibv_qp_init_attr_ex datagram(const struct program *p)
{
	return (struct ibv_qp_init_attr_ex){
		.qp_type = IBV_QPT_UD,
		.send_cq = p->cq,
		.recv_cq = p->cq,
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = p->pd};
}

static int creation(void *arg)
{
	struct program *p = arg;
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_XRC_RECV};
	struct ibv_qp_init_attr_ex ex = datagram(p);
	struct ibv_qp *qp;

	REFUSED(ibv_create_qp(p->pd, &init), EINVAL);
	init.qp_type = IBV_QPT_RC;
	REFUSED(ibv_create_qp(p->pd, &init), EINVAL); /* without CQs */
	ex.comp_mask = 0;
	REFUSED(ibv_create_qp_ex(p->context, &ex), EINVAL);
	ex.comp_mask = IBV_QP_INIT_ATTR_PD | UNKNOWN;
	REFUSED(ibv_create_qp_ex(p->context, &ex), EOPNOTSUPP);
	ex.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS;
	ex.create_flags = 1;
	REFUSED(ibv_create_qp_ex(p->context, &ex), EINVAL);
	ex.create_flags = 0;
	ex.pd = NULL;
	REFUSED(ibv_create_qp_ex(p->context, &ex), EINVAL);
	ex.pd = p->pd;
	ex.cap.max_send_wr = TOO_MANY;
	REFUSED(ibv_create_qp_ex(p->context, &ex), EINVAL);
	GIVES(ex.cap.max_send_wr, TOO_MANY);
	ex.cap.max_send_wr = 4;
	ex.create_flags = 1; /* without their bits these do not count */
	ex.send_ops_flags = UINT64_MAX;
	ex.comp_mask = IBV_QP_INIT_ATTR_PD;
	qp = ibv_create_qp_ex(p->context, &ex);
	if (!qp || ibv_qp_to_qp_ex(qp) || qp->qp_type != IBV_QPT_UD || qp->state != IBV_QPS_RESET ||
	    qp->pd != p->pd)
		return __LINE__;
	GIVES(ibv_destroy_qp(qp), 0);
	return 0;
}

/* A target has a domain, and neither queues nor an SRQ of its own: what stands there does not count. */
static int target(void *arg)
{
	struct program *p = arg;
	struct ibv_srq_init_attr srq_init = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ibv_srq *srq = ibv_create_srq(p->pd, &srq_init);
	struct ibv_qp_init_attr_ex init = {.qp_type = IBV_QPT_XRC_RECV,
					   .send_cq = p->cq,
					   .recv_cq = p->cq,
					   .srq = srq,
					   .comp_mask = IBV_QP_INIT_ATTR_XRCD};
	struct ibv_qp *qp;

	if (!srq)
		return __LINE__;
	REFUSED(ibv_create_qp_ex(p->context, &init), EINVAL);
	init.xrcd = p->xrcd;
	init.comp_mask = IBV_QP_INIT_ATTR_PD;
	init.pd = p->pd;
	REFUSED(ibv_create_qp_ex(p->context, &init), EINVAL);
	init.comp_mask = IBV_QP_INIT_ATTR_XRCD;
	qp = ibv_create_qp_ex(p->context, &init);
	if (!qp || qp->pd || qp->send_cq || qp->recv_cq || qp->srq)
		return __LINE__;
	GIVES(ibv_destroy_srq(srq), 0);
	GIVES(ibv_destroy_qp(qp), 0);
	return 0;
}

/* A receive QP is not made of a PD or a domain that there is not. */
static int receivers(void *arg)
{
	struct program *p = arg;
	struct ibv_xrc_domain no_domain = {.context = p->context, .handle = NO_SUCH},
			      *domain = (struct ibv_xrc_domain *)p->xrcd;
	struct ibv_pd no_pd = {.context = p->context, .handle = NO_SUCH};
	struct ibv_qp_init_attr init = {.xrc_domain = &no_domain};
	struct ibv_qp_attr attr;
	const int mask = program_rcv_attr(p, &attr);
	uint32_t qpn = NO_QP;

	for (unsigned i = 0; i < 2; i++) {
		GIVES(ibv_alloc_xrc_rcv_qp(&no_pd, domain, &attr, mask, &qpn), EINVAL);
		GIVES(ibv_alloc_xrc_rcv_qp(p->pd, &no_domain, &attr, mask, &qpn), EINVAL);
		GIVES(ibv_alloc_xrc_rcv_qp(NULL, domain, &attr, mask, &qpn), EINVAL);
		GIVES(ibv_alloc_xrc_rcv_qp(p->pd, NULL, &attr, mask, &qpn), EINVAL);
		GIVES(ibv_create_xrc_rcv_qp(&init, &qpn), EINVAL);
		GIVES(ibv_reg_xrc_rcv_qp(&no_domain, 1), EINVAL);
		GIVES(ibv_unreg_xrc_rcv_qp(&no_domain, 1), EINVAL);
		GIVES(ibv_modify_xrc_rcv_qp(&no_domain, 1, &attr, mask), EINVAL);
		GIVES(ibv_query_xrc_rcv_qp(&no_domain, 1, &attr, mask, NULL), EINVAL);
		GIVES(qpn, NO_QP);
		/* now the handles of objects of another kind */
		no_pd.handle = p->cq->handle;
		no_domain.handle = p->pd->handle;
	}
	init.xrc_domain = NULL;
	GIVES(ibv_create_xrc_rcv_qp(&init, &qpn), EINVAL);
	return 0;
}

/* Posting by calls: operations that the type of queue pair does not have. */
static int impossible(void *arg)
{
	struct program *p = arg;
	static const struct {
		enum ibv_qp_type type;
		uint64_t ops;
	} rows[] = {
		{IBV_QPT_RC, IBV_QP_EX_WITH_TSO},
		{IBV_QPT_XRC_SEND, IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_TSO},
		{IBV_QPT_UC, IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_READ},
		{IBV_QPT_UC, IBV_QP_EX_WITH_SEND_WITH_INV},
		{IBV_QPT_UD, IBV_QP_EX_WITH_RDMA_WRITE},
		{IBV_QPT_UD, IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_LOCAL_INV},
		{IBV_QPT_XRC_RECV, IBV_QP_EX_WITH_SEND},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct ibv_qp_init_attr_ex init = {.qp_type = rows[i].type,
						   .send_cq = p->cq,
						   .recv_cq = p->cq,
						   .comp_mask = IBV_QP_INIT_ATTR_PD |
								IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
						   .pd = p->pd,
						   .send_ops_flags = rows[i].ops};

		REFUSED(ibv_create_qp_ex(p->context, &init), EOPNOTSUPP);
	}
	return 0;
}

/* A handle of a target has no queues. */
static int opening(void *arg)
{
	struct program *p = arg;
	const unsigned all = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE;
	struct ibv_qp_open_attr open = {
		.xrcd = p->xrcd, .qp_type = IBV_QPT_XRC_RECV, .qp_context = p};
	struct ibv_send_wr send = {.opcode = IBV_WR_SEND}, *bad_send = NULL;
	struct ibv_recv_wr recv = {.num_sge = 0}, *bad_recv = NULL;
	struct ibv_qp *qp;

	if (program_target(p))
		return __LINE__;
	open.qp_num = p->qpn;
	for (unsigned bit = 1; bit <= all; bit <<= 1) {
		open.comp_mask = all & ~bit;
		if (all & bit)
			REFUSED(ibv_open_qp(p->context, &open), EINVAL);
	}
	open.comp_mask = all | IBV_QP_OPEN_ATTR_RESERVED;
	REFUSED(ibv_open_qp(p->context, &open), EOPNOTSUPP);
	open.comp_mask = all;
	open.qp_type = IBV_QPT_RC;
	REFUSED(ibv_open_qp(p->context, &open), EINVAL);
	open.qp_type = IBV_QPT_XRC_RECV;
	open.xrcd = NULL;
	REFUSED(ibv_open_qp(p->context, &open), EINVAL);
	open.xrcd = p->xrcd;
	open.qp_num = NO_SUCH;
	REFUSED(ibv_open_qp(p->context, &open), EINVAL);
	open.qp_num = p->qpn;
	qp = ibv_open_qp(p->context, &open);
	if (!qp || qp->qp_num != p->qpn || qp->qp_type != IBV_QPT_XRC_RECV || qp->qp_context)
		return __LINE__;
	if (ibv_post_send(qp, &send, &bad_send) != EINVAL || bad_send != &send ||
	    ibv_post_recv(qp, &recv, &bad_recv) != EINVAL || bad_recv != &recv)
		return __LINE__;
	GIVES(ibv_destroy_qp(qp), 0);
	open.comp_mask = all | IBV_QP_OPEN_ATTR_CONTEXT;
	qp = ibv_open_qp(p->context, &open);
	if (!qp || qp->qp_context != p)
		return __LINE__;
	GIVES(ibv_close_xrcd(p->xrcd), EBUSY);
	GIVES(ibv_destroy_qp(p->qp), 0);
	GIVES(ibv_close_xrcd(p->xrcd), EBUSY); /* the handle alone holds it */
	GIVES(ibv_destroy_qp(qp), 0);
	return 0;
}

static int close_all(void *arg)
{
	struct program *p = arg;

	return program_close_xrcd(p) || ibv_dereg_mr(p->mr) || ibv_destroy_cq(p->cq) ||
	       ibv_dealloc_pd(p->pd) || ibv_close_device(p->context);
}

SCENARIO(process_wrong_qps, "wrong arguments for calls that make or open a queue pair",
	 .no_qps = true, .any_packets = true)
{
	static int (*const groups[])(void *arg) = {creation, target, receivers, impossible,
						   opening};
	struct program p = {.file = "domain", .peer_lid = 1, .peer_qpn = NO_QP};
	struct process *worker = start_worker(a);
	const struct uv_process *process;
	unsigned before, pieces;

	run_in(worker, program_open, &p);
	run_in(worker, program_open_xrcd, &p);
	if (!still_right())
		return;
	process = uv_process_of(p.context);
	pieces = heap_pieces(process);
	before = driver_holds(a->dev);
	for_each_row(i, groups) {
		run_in(worker, groups[i], &p);
		expect_equal(driver_holds(a->dev), before);
	}
	expect_equal(heap_pieces(process), pieces);
	run_in(worker, close_all, &p);
	end_worker(worker);
}
