/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events that a process reads from file descriptors: an SRQ falls below its limit, a QP fails, a
 * completion channel has an event. Destroying a CQ waits until all its events are acknowledged, by
 * any thread. Events of a QP in RESET, or of another QP, do not count. An event that nobody has read
 * goes with its QP. The process sends to itself through its HCA.
 */
#include "testbench/scenarios/completion/to_itself.h"

enum { LIMIT = 2, RECEIVES = 3, ACK_DELAY_US = 300 };

static int post_all(struct all *x, enum ibv_wr_opcode opcode)
{
	struct ibv_sge sge = {(uintptr_t)x->buf, 64, x->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = opcode,
				 .send_flags = IBV_SEND_SIGNALED},
			   *bad;

	return ibv_post_send(x->qp, &wr, &bad);
}

/* Reads and acknowledges the next event through its descriptor, and returns its type. */
static int next_event(struct all *x, const void *element)
{
	struct ibv_async_event event;

	if (process_poll(x->context->async_fd, 100 * MS) != 1 ||
	    ibv_get_async_event(x->context, &event))
		return -1;
	ibv_ack_async_event(&event);
	return event.element.qp == element ? (int)event.event_type : -1;
}

static void acknowledge_late(void *arg)
{
	process_sleep_us(ACK_DELAY_US);
	ibv_ack_cq_events(arg, 1);
}

static int consume(struct all *x)
{
	struct ibv_sge sge = {(uintptr_t)x->buf, 64, x->mr->lkey};
	struct ibv_recv_wr rwr = {.sg_list = &sge, .num_sge = 1}, *bad;
	struct ibv_srq_attr limit = {.srq_limit = LIMIT};
	struct ibv_wc wc[4];

	for (unsigned i = 0; i < RECEIVES; i++)
		if (ibv_post_srq_recv(x->srq, &rwr, &bad))
			return 11;
	if (ibv_modify_srq(x->srq, &limit, IBV_SRQ_LIMIT) ||
	    process_nonblock(x->context->async_fd, true) ||
	    process_poll(x->context->async_fd, 0) != 0)
		return 12;
	if (ibv_req_notify_cq(x->cq, 0) || process_poll(x->channel->fd, 0) != 0)
		return 13;
	for (unsigned i = 0; i < RECEIVES - 1; i++)
		if (post_all(x, IBV_WR_SEND))
			return 14;
	if (process_poll(x->channel->fd, 100) != 1)
		return 15;
	if (next_event(x, x->srq) != IBV_EVENT_SRQ_LIMIT_REACHED)
		return 16;
	for (int n = 0; n < 2 * (RECEIVES - 1); process_sleep_us(1))
		n += ibv_poll_cq(x->cq, 4, wc);
	return 0;
}

/* A READ without the right to do it: the responder side of the same QP fails. */
static int fail(struct all *x)
{
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;
	struct ibv_wc wc;

	if (post_all(x, IBV_WR_RDMA_READ))
		return 21;
	if (next_event(x, x->qp) != IBV_EVENT_QP_REQ_ERR)
		return 22;
	while (!ibv_poll_cq(x->cq, 1, &wc))
		process_sleep_us(1);
	if (wc.status == IBV_WC_SUCCESS || ibv_query_qp(x->qp, &attr, IBV_QP_STATE, &init) ||
	    attr.qp_state != IBV_QPS_ERR || x->qp->state != IBV_QPS_ERR)
		return 23;
	return 0;
}

/* Its QP fails, and is destroyed before anybody reads the event. */
static int unread(void)
{
	struct all x = {0};

	if (open_all(&x) || connect_self(&x) || process_nonblock(x.context->async_fd, true) ||
	    post_all(&x, IBV_WR_RDMA_READ) || process_poll(x.context->async_fd, 100 * MS) != 1)
		return 31;
	if (ibv_destroy_qp(x.qp) || process_poll(x.context->async_fd, 0) != 0)
		return 32;
	return ibv_destroy_srq(x.srq) || ibv_destroy_cq(x.cq) || close_all(&x) ? 33 : 0;
}

static int program(void *arg)
{
	struct all x = {0};
	struct ibv_cq *cq;
	uint64_t start;
	void *context;
	int rc;

	if (open_all(&x) || connect_self(&x))
		return 1;
	rc = consume(&x);
	if (!rc)
		rc = fail(&x);
	if (!rc)
		rc = unread();
	if (rc)
		return rc;
	if (ibv_get_cq_event(x.channel, &cq, &context) || cq != x.cq || context != &x)
		return 2;
	if (ibv_destroy_qp(x.qp) || process_thread("acknowledger", acknowledge_late, cq))
		return 3;
	start = process_now_ns();
	if (ibv_destroy_cq(cq) || process_now_ns() - start < ACK_DELAY_US * 1000 / 2)
		return 4;
	return 0;
}

SCENARIO(uverbs_events,
	 "events of a process: SRQ limit, failed QP, completions; acknowledging them",
	 .no_qps = true, .any_packets = true)
{
	struct process *p = start_process(a, program, NULL);

	expect_exit(p, 0);
}
