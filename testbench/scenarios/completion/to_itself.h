/* SPDX-License-Identifier: Apache-2.0 */
/* A process that sends to itself: all that it has, and its asynchronous events. */
#ifndef TESTBENCH_SCENARIOS_COMPLETION_TO_ITSELF_H
#define TESTBENCH_SCENARIOS_COMPLETION_TO_ITSELF_H

#include "testbench/process.h"

#include <infiniband/verbs.h>

enum { BYTES = 4096, MS = 1000 };

struct all {
	struct ibv_context *context;
	struct ibv_comp_channel *channel;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	uint8_t *buf;
};

static int open_all(struct all *x)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_srq_init_attr srq = {.attr = {.max_wr = 10, .max_sge = 1}};
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC,
					.cap = {.max_send_wr = 40, .max_send_sge = 1}};

	x->buf = process_memory(BYTES);
	x->context = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	x->channel = ibv_create_comp_channel(x->context);
	x->pd = ibv_alloc_pd(x->context);
	x->mr = ibv_reg_mr(x->pd, x->buf, BYTES, IBV_ACCESS_LOCAL_WRITE);
	x->cq = ibv_create_cq(x->context, 10, x, x->channel, 0);
	x->srq = ibv_create_srq(x->pd, &srq);
	init.send_cq = init.recv_cq = x->cq;
	init.srq = x->srq;
	x->qp = ibv_create_qp(x->pd, &init);
	return x->qp ? 0 : -1;
}

/* What is left when the queue pair, the SRQ and the CQ are gone. */
static int close_all(struct all *x)
{
	return ibv_dereg_mr(x->mr) || ibv_dealloc_pd(x->pd) ||
			       ibv_destroy_comp_channel(x->channel) || ibv_close_device(x->context)
		       ? -1
		       : 0;
}

static int connect_to(struct all *x, uint32_t qpn)
{
	struct ibv_port_attr port;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .path_mtu = IBV_MTU_1024,
				   .dest_qp_num = qpn,
				   .qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
				   .max_dest_rd_atomic = 1,
				   .max_rd_atomic = 1,
				   .port_num = 1,
				   .retry_cnt = 7,
				   .rnr_retry = 7,
				   .timeout = 14};

	if (ibv_query_port(x->context, 1, &port) ||
	    ibv_modify_qp(x->qp, &attr,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		return -1;
	attr.qp_state = IBV_QPS_RTR;
	attr.ah_attr = (struct ibv_ah_attr){.dlid = port.lid, .port_num = 1};
	if (ibv_modify_qp(x->qp, &attr,
			  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
		return -1;
	attr.qp_state = IBV_QPS_RTS;
	return ibv_modify_qp(x->qp, &attr,
			     IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

static int connect_self(struct all *x)
{
	return connect_to(x, x->qp->qp_num);
}

static inline int destroy_qp_of(struct all *x)
{
	return ibv_destroy_qp(x->qp);
}

static inline int destroy_srq_of(struct all *x)
{
	return ibv_destroy_srq(x->srq);
}

static inline int destroy_cq_of(struct all *x)
{
	return ibv_destroy_cq(x->cq);
}

#endif
