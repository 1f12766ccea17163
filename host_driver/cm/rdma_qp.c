// SPDX-License-Identifier: Apache-2.0
/* The library's side of rdma_cm: queue pairs that belong to an id and change state with it. */
#include "host_driver/cm/rdma_lib.h"

int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *qp_attr, int *qp_attr_mask)
{
	struct ib_qp_attr attr = {.qp_state = (enum ib_qp_state)qp_attr->qp_state};
	int mask, rc = CALL(cma_init_qp_attr(LIB_ID(id)->kernel, &attr, &mask));

	if (rc)
		return rc;
	uv_attr_from_ib(&attr, qp_attr);
	*qp_attr_mask = mask;
	return 0;
}

/* `resources` replaces those of the attributes; RDMA_MAX_RESP_RES keeps the kernel's values. 0 or
 * -1. */
static int move(struct rdma_cm_id *id, enum ibv_qp_state state, uint8_t resources)
{
	struct ibv_qp_attr attr = {.qp_state = state};
	int mask, rc = rdma_init_qp_attr(id, &attr, &mask);

	if (rc)
		return rc;
	if (resources != RDMA_MAX_RESP_RES && mask & IBV_QP_MAX_DEST_RD_ATOMIC)
		attr.max_dest_rd_atomic = resources;
	if (resources != RDMA_MAX_RESP_RES && mask & IBV_QP_MAX_QP_RD_ATOMIC)
		attr.max_rd_atomic = resources;
	return rdma_minus_one(-ibv_modify_qp(id->qp, &attr, mask));
}

int rdma_move_to_rts(struct rdma_cm_id *id, uint8_t responder_resources, uint8_t initiator_depth)
{
	return move(id, IBV_QPS_INIT, RDMA_MAX_RESP_RES) ||
			       move(id, IBV_QPS_RTR, responder_resources) ||
			       move(id, IBV_QPS_RTS, initiator_depth)
		       ? -1
		       : 0;
}

int rdma_move_to_error(struct rdma_cm_id *id)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	return id->qp && LIB_ID(id)->own_qp
		       ? rdma_minus_one(-ibv_modify_qp(id->qp, &attr, IBV_QP_STATE))
		       : 0;
}

static struct ibv_pd *default_pd(struct rdma_cm_id *id)
{
	struct cma_process *p = rdma_process_of(id)->rdma;

	if (!p->pd)
		p->pd = ibv_alloc_pd(id->verbs);
	return p->pd;
}

/* Makes a CQ for `entries` completions, with a channel of its own. */
static struct ibv_cq *cq_new(struct rdma_cm_id *id, uint32_t entries)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(id->verbs);
	struct ibv_cq *cq = NULL;

	if (channel)
		cq = ibv_create_cq(id->verbs, (int)(entries ? entries : 1), id, channel, 0);
	if (channel && !cq)
		ibv_destroy_comp_channel(channel);
	return cq;
}

static void cq_drop(struct ibv_cq **cq)
{
	struct ibv_comp_channel *channel = *cq ? (*cq)->channel : NULL;

	if (!*cq || ibv_destroy_cq(*cq))
		return;
	ibv_destroy_comp_channel(channel);
	*cq = NULL;
}

static void cqs_drop(struct lib_id *id)
{
	cq_drop(&id->own_send_cq);
	cq_drop(&id->own_recv_cq);
}

static int cqs_make(struct lib_id *id, struct ibv_qp_init_attr_ex *attr)
{
	if (!attr->send_cq)
		attr->send_cq = id->own_send_cq = cq_new(&id->rdma, attr->cap.max_send_wr);
	if (!attr->recv_cq)
		attr->recv_cq = id->own_recv_cq = cq_new(&id->rdma, attr->cap.max_recv_wr);
	return attr->send_cq && attr->recv_cq ? 0 : -1;
}

/* A datagram queue pair needs no peer, so it goes through INIT and RTR to RTS at once. */
static int move_ud(struct rdma_cm_id *id)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR};

	if (move(id, IBV_QPS_INIT, RDMA_MAX_RESP_RES) ||
	    rdma_minus_one(-ibv_modify_qp(id->qp, &attr, IBV_QP_STATE)))
		return -1;
	attr.qp_state = IBV_QPS_RTS;
	return rdma_minus_one(-ibv_modify_qp(id->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN));
}

int rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attr)
{
	struct lib_id *lib = LIB_ID(id);
	struct ibv_qp *qp = NULL;

	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD))
		attr->pd = NULL;
	if (!id->verbs || id->qp || (attr->pd && attr->pd->context != id->verbs) ||
	    attr->qp_type != id->qp_type)
		return rdma_minus_one(-EINVAL);
	if (!attr->pd)
		attr->pd = default_pd(id);
	attr->comp_mask |= IBV_QP_INIT_ATTR_PD;
	if (attr->pd && !cqs_make(lib, attr))
		qp = ibv_create_qp_ex(id->verbs, attr);
	id->qp = qp;
	if (!qp || (rdma_is_ud(id) ? move_ud(id) : move(id, IBV_QPS_INIT, RDMA_MAX_RESP_RES))) {
		const int error = errno;

		id->qp = NULL;
		if (qp)
			ibv_destroy_qp(qp);
		cqs_drop(lib);
		return rdma_minus_one(-error);
	}
	id->pd = attr->pd;
	id->send_cq = qp->send_cq;
	id->recv_cq = qp->recv_cq;
	id->send_cq_channel = lib->own_send_cq ? lib->own_send_cq->channel : NULL;
	id->recv_cq_channel = lib->own_recv_cq ? lib->own_recv_cq->channel : NULL;
	id->srq = qp->srq;
	lib->own_qp = true;
	return 0;
}

int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex ex = {.qp_context = attr->qp_context,
					 .send_cq = attr->send_cq,
					 .recv_cq = attr->recv_cq,
					 .srq = attr->srq,
					 .cap = attr->cap,
					 .qp_type = attr->qp_type,
					 .sq_sig_all = attr->sq_sig_all,
					 .comp_mask = IBV_QP_INIT_ATTR_PD,
					 .pd = pd};
	int rc = rdma_create_qp_ex(id, &ex);

	if (!rc)
		attr->cap = ex.cap;
	return rc;
}

void rdma_destroy_qp(struct rdma_cm_id *id)
{
	if (!id->qp || ibv_destroy_qp(id->qp))
		return;
	id->qp = NULL;
	LIB_ID(id)->own_qp = false;
	cqs_drop(LIB_ID(id));
}
