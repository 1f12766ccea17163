/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The RTU of a client of rdma_cm is late, and its first message comes before it. The server's
 * program has made its queue pair itself and left it in RTR. The queue pair tells it that
 * communication is established, it tells its id with rdma_notify, and that establishes the
 * connection. The RTU that comes later has no effect, and nothing is established twice.
 */
/* behaviours: IBA-12.9-communication-established */
#include "testbench/connect.h"

enum { PORT = 5, LATE_MS = 5 };

struct side {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id, *listener;
	struct ibv_cq *cq;
	struct ibv_pd *pd;
	struct ibv_qp *qp;
};

static int listens(void *arg)
{
	struct side *s = arg;

	s->channel = rdma_create_event_channel();
	return ip_listen(s->channel, PORT, 0, &s->listener);
}

static int move(struct side *s, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = {.qp_state = state};
	int mask;

	return rdma_init_qp_attr(s->id, &attr, &mask) || ibv_modify_qp(s->qp, &attr, mask);
}

static int accepts(void *arg)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC, .cap = {1, 1, 1, 1, 0}};
	struct rdma_conn_param p = {.responder_resources = 1, .initiator_depth = 1};
	struct ibv_recv_wr recv = {.wr_id = 1}, *bad;
	struct side *s = arg;

	if (ip_next(s->channel, RDMA_CM_EVENT_CONNECT_REQUEST, &s->id))
		return __LINE__;
	s->pd = ibv_alloc_pd(s->id->verbs);
	s->cq = init.send_cq = init.recv_cq = ibv_create_cq(s->id->verbs, 2, NULL, NULL, 0);
	s->qp = ibv_create_qp(s->pd, &init);
	if (!s->qp || move(s, IBV_QPS_INIT) || move(s, IBV_QPS_RTR) ||
	    ibv_post_recv(s->qp, &recv, &bad))
		return __LINE__;
	p.qp_num = s->qp->qp_num;
	return rdma_accept(s->id, &p);
}

/* The errno of a call that has failed, or -1. */
static int refused(int call)
{
	const int error = errno;

	errno = 0;
	return call == -1 ? error : -1;
}

static int notifies(void *arg)
{
	struct ibv_async_event event;
	struct side *s = arg;
	bool is_first;

	if (ip_completion(s->cq) || ibv_get_async_event(s->id->verbs, &event))
		return __LINE__;
	is_first = event.event_type == IBV_EVENT_COMM_EST && event.element.qp == s->qp;
	ibv_ack_async_event(&event);
	if (!is_first || refused(rdma_notify(s->id, IBV_EVENT_SQ_DRAINED)) != EINVAL ||
	    refused(rdma_notify(s->id, IBV_EVENT_PATH_MIG)) != EINVAL ||
	    refused(rdma_notify(s->listener, IBV_EVENT_COMM_EST)) != EINVAL)
		return __LINE__;
	if (rdma_notify(s->id, IBV_EVENT_COMM_EST) ||
	    ip_next(s->channel, RDMA_CM_EVENT_ESTABLISHED, NULL))
		return __LINE__;
	return refused(rdma_notify(s->id, IBV_EVENT_COMM_EST)) == EISCONN ? move(s, IBV_QPS_RTS)
									  : __LINE__;
}

static int is_disconnected(void *arg)
{
	struct side *s = arg;

	if (ip_next(s->channel, RDMA_CM_EVENT_DISCONNECTED, NULL) || rdma_disconnect(s->id) ||
	    ip_next(s->channel, RDMA_CM_EVENT_TIMEWAIT_EXIT, NULL))
		return __LINE__;
	return rdma_destroy_id(s->id) || rdma_destroy_id(s->listener) || ibv_destroy_qp(s->qp) ||
	       ibv_destroy_cq(s->cq) || ibv_dealloc_pd(s->pd);
}

static int asks(void *arg)
{
	struct side *s = arg;

	s->channel = rdma_create_event_channel();
	return ip_resolve(s->channel, IP_B, PORT, NULL, &s->id) ||
	       ip_next(s->channel, RDMA_CM_EVENT_ADDR_RESOLVED, NULL) ||
	       rdma_resolve_route(s->id, IP_TIMEOUT_MS) ||
	       ip_next(s->channel, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL) ||
	       ip_make_qp(s->id, &s->cq, 2) || rdma_connect(s->id, NULL);
}

static int sends(void *arg)
{
	struct ibv_send_wr send = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED}, *bad;
	struct side *s = arg;

	return ip_next(s->channel, RDMA_CM_EVENT_ESTABLISHED, NULL) ||
	       ibv_post_send(s->id->qp, &send, &bad) || ip_completion(s->cq);
}

static int disconnects(void *arg)
{
	struct side *s = arg;

	return rdma_disconnect(s->id);
}

static int ends(void *arg)
{
	struct side *s = arg;

	if (ip_next(s->channel, RDMA_CM_EVENT_DISCONNECTED, NULL))
		return __LINE__;
	rdma_destroy_qp(s->id);
	return rdma_destroy_id(s->id) || ibv_destroy_cq(s->cq);
}

SCENARIO(rdma_first_message, "the first message tells a program of rdma_cm that it is connected",
	 .no_qps = true, .any_packets = true)
{
	struct side client = {0}, server = {0};
	struct ib_cm_counters at_b;
	struct process *x, *y;

	start_cm();
	x = start_worker(a);
	y = start_worker(b);
	run_in(y, listens, &server);
	run_in(x, asks, &client);
	run_in(y, accepts, &server);
	delay_next(a_to_b, UD_SEND_ONLY, .qpn = QPN_GSI, .by_ps = CFG_MS(LATE_MS));
	run_in(x, sends, &client);
	run_in(y, notifies, &server);
	must(ib_cm_query_counters(ib_device_of(b), &at_b));
	expect_equal(at_b.rx_msgs[IB_CM_MSG_RTU], 0);
	pass_time(CFG_MS(2 * LATE_MS));
	must(ib_cm_query_counters(ib_device_of(b), &at_b));
	expect_equal(at_b.rx_duplicates[IB_CM_MSG_RTU], 1);
	run_in(x, disconnects, &client);
	run_in(y, is_disconnected, &server);
	run_in(x, ends, &client);
	end_worker(x);
	end_worker(y);
}
