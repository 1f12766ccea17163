/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process is told each kind of event of a queue pair with the queue pair that it is about: the send queue
 * is drained, the peer has sent before the queue pair was told to, the path has migrated, the last receive of
 * the SRQ is done. The event is acknowledged for that queue pair and no other, so each is destroyed at once
 * afterwards. Source: IBA 11.6.3.2, affiliated asynchronous events
 */
/* behaviours: IBA-11.6.3.2-acknowledged */
#include "testbench/scenarios/completion/to_itself.h"
#include "testbench/scenarios/programs/refuses.h"

enum { LEN = 64, ROUNDS_MAX = 100, WAIT_MS = 100 };

/* The next event is of that kind and about that queue pair, and counts for it. */
static int next_is(struct all *x, enum ibv_event_type type, struct ibv_qp *qp)
{
	const uint32_t before = qp->events_completed;
	struct ibv_async_event event;

	GIVES(process_poll(x->context->async_fd, WAIT_MS * MS), 1);
	GIVES(ibv_get_async_event(x->context, &event), 0);
	GIVES(event.event_type, type);
	if (event.element.qp != qp)
		return __LINE__;
	GIVES(qp->events_completed, before);
	ibv_ack_async_event(&event);
	GIVES(qp->events_completed, before + 1);
	return 0;
}

static int to_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = {.qp_state = state, .en_sqd_async_notify = 1};

	return ibv_modify_qp(
		qp, &attr, IBV_QP_STATE | (state == IBV_QPS_SQD ? IBV_QP_EN_SQD_ASYNC_NOTIFY : 0));
}

static int drained(struct all *x)
{
	GIVES(to_state(x->qp, IBV_QPS_SQD), 0);
	GIVES(next_is(x, IBV_EVENT_SQ_DRAINED, x->qp), 0);
	GIVES(to_state(x->qp, IBV_QPS_RTS), 0);
	return 0;
}

static int post(struct all *x, struct ibv_qp *qp, enum ibv_wr_opcode opcode, unsigned len)
{
	struct ibv_sge sge = {(uintptr_t)x->buf, len, x->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = len ? 1 : 0,
				 .opcode = opcode,
				 .send_flags = IBV_SEND_SIGNALED},
			   *bad;

	return ibv_post_send(qp, &wr, &bad);
}

/* A second queue pair, which is ready to receive only. */
static int communicates(struct all *x)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC,
					.send_cq = x->cq,
					.recv_cq = x->cq,
					.srq = x->srq,
					.cap = {.max_send_wr = 4, .max_send_sge = 1}};
	struct ibv_sge sge = {(uintptr_t)x->buf, LEN, x->mr->lkey};
	struct ibv_recv_wr recv = {.sg_list = &sge, .num_sge = 1}, *bad;
	struct ibv_qp *receiver = ibv_create_qp(x->pd, &init), *first = x->qp;
	struct ibv_port_attr port;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};

	if (!receiver || ibv_query_port(x->context, 1, &port) ||
	    ibv_post_srq_recv(x->srq, &recv, &bad))
		return __LINE__;
	GIVES(ibv_modify_qp(receiver, &attr,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
	      0);
	x->qp = ibv_create_qp(x->pd, &init);
	if (!x->qp)
		return __LINE__;
	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
				    .path_mtu = IBV_MTU_1024,
				    .dest_qp_num = x->qp->qp_num,
				    .ah_attr = {.dlid = port.lid, .port_num = 1}};
	GIVES(ibv_modify_qp(receiver, &attr,
			    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				    IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				    IBV_QP_MIN_RNR_TIMER),
	      0);
	GIVES(connect_to(x, receiver->qp_num), 0);
	GIVES(post(x, x->qp, IBV_WR_SEND, LEN), 0);
	GIVES(next_is(x, IBV_EVENT_COMM_EST, receiver), 0);
	GIVES(ibv_destroy_qp(receiver), 0);
	GIVES(ibv_destroy_qp(x->qp), 0);
	x->qp = first;
	return 0;
}

static int migrated(struct all *x)
{
	struct ibv_qp_attr attr = {
		.path_mig_state = IBV_MIG_REARM, .alt_port_num = 2, .alt_timeout = 8};
	struct ibv_qp_init_attr init;
	struct ibv_port_attr port;

	GIVES(ibv_query_port(x->context, 2, &port), 0);
	attr.alt_ah_attr = (struct ibv_ah_attr){.dlid = port.lid, .port_num = 2};
	GIVES(ibv_modify_qp(x->qp, &attr, IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE), 0);
	for (unsigned i = 0; i < ROUNDS_MAX && attr.path_mig_state != IBV_MIG_ARMED; i++) {
		GIVES(post(x, x->qp, IBV_WR_RDMA_WRITE, 0), 0);
		process_sleep_us(20);
		GIVES(ibv_query_qp(x->qp, &attr, IBV_QP_PATH_MIG_STATE, &init), 0);
		(void)ibv_poll_cq(x->cq, 1, &(struct ibv_wc){0});
	}
	GIVES(attr.path_mig_state, IBV_MIG_ARMED);
	attr.path_mig_state = IBV_MIG_MIGRATED;
	GIVES(ibv_modify_qp(x->qp, &attr, IBV_QP_PATH_MIG_STATE), 0);
	GIVES(next_is(x, IBV_EVENT_PATH_MIG, x->qp), 0);
	return 0;
}

static int program(void *arg)
{
	struct all x = {0};
	int rc;

	if (open_all(&x) || connect_self(&x))
		return __LINE__;
	rc = drained(&x);
	if (!rc)
		rc = communicates(&x);
	if (!rc)
		rc = migrated(&x);
	if (rc)
		return rc;
	GIVES(to_state(x.qp, IBV_QPS_ERR), 0);
	GIVES(next_is(&x, IBV_EVENT_QP_LAST_WQE_REACHED, x.qp), 0);
	GIVES(process_poll(x.context->async_fd, 0), 0);
	return ibv_destroy_qp(x.qp) || ibv_destroy_srq(x.srq) || ibv_destroy_cq(x.cq) ||
			       close_all(&x)
		       ? __LINE__
		       : 0;
}

SCENARIO(process_event_kinds, "each kind of event of a queue pair, as a process is told it",
	 .no_qps = true, .any_packets = true, .settings = {"hca.ports=2"})
{
	expect_exit(start_process(a, program, NULL), 0);
}
